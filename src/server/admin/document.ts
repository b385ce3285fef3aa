// The OpenAPI 3.1 document of the admin port, at GET /openapi.json there. test/e2e/keys/admin-document.test.ts holds it
// and the routes together.
import { VERSION } from '../../hexcodes/version.js';
import { SCOPES } from '../keys/key-record.js';
import { LIMIT_NAMES } from '../keys/manage/key-input.js';
import type { AdminRoute } from './port.js';

type Json = Readonly<Record<string, unknown>>;

const JSON_TYPE = 'application/json';
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const texts = (description: string, items: Json = { type: 'string' }): Json => ({
  type: 'array',
  items,
  description,
});
const time = (description: string): Json => ({ type: ['string', 'null'], format: 'date-time', description });

const ID_HEADER = {
  'X-Request-Id': {
    description: 'The X-Request-Id of the request, or one made for it',
    schema: { type: 'string' },
    required: true,
  },
};
const jsonAnswer = (description: string, schema: Json, type = JSON_TYPE): Json => ({
  description,
  headers: ID_HEADER,
  content: { [type]: { schema } },
});
const textAnswer = (description: string): Json => jsonAnswer(description, { type: 'string' }, 'text/plain');
const fault = (description: string): Json => jsonAnswer(description, ref('Error'));

/** Errors that every call on keys may have. */
const FAULTS = {
  400: fault('The request is at fault; details names each member'),
  401: fault('No key, or one that is not valid'),
  403: fault('The key has no scope admin, is disabled, or is used from elsewhere'),
  413: fault('The body exceeds 16 KiB'),
  415: fault('The body has a Content-Encoding'),
  421: fault('The host is a name that the port does not know'),
  503: fault('The store cannot be used just now, or too many calls are under way'),
};
const ABOUT_ONE = {
  404: fault('There is no such key'),
  409: fault('The key is revoked, and that is for good'),
};

const LIMITS = {
  type: 'object',
  description: '0 is no limit; one that is absent is the default of the service',
  properties: Object.fromEntries(
    LIMIT_NAMES.map(([, name]) => [
      name,
      name.endsWith('_per_second')
        ? { type: ['number', 'null'], format: 'double', minimum: 0, maximum: 1e15 }
        : { type: ['integer', 'null'], format: 'int64', minimum: 0, maximum: 1e15 },
    ]),
  ),
  additionalProperties: false,
};
const SETTINGS = {
  name: { type: 'string', minLength: 1, maxLength: 200 },
  scopes: texts('What the key may do', { type: 'string', enum: SCOPES }),
  expires: {
    type: ['string', 'null'],
    description: 'A time as 2027-01-31 or 2027-01-31T17:00:00Z, a duration as 90d; null or never: never',
  },
  origins: texts('Web origins from which the key may be used, as https://*.a.vn; none: all'),
  cidrs: texts('Networks from which the key may be used, as 192.0.2.0/24; none: all'),
  limits: LIMITS,
};
const KEY = {
  id: { type: 'string' },
  name: { type: 'string' },
  state: { type: 'string', enum: ['active', 'disabled', 'revoked'] },
  scopes: SETTINGS.scopes,
  created: { type: 'string', format: 'date-time' },
  expires: time('When the key ends'),
  last_used: time('When the key was used last, as far as it is known'),
  origins: SETTINGS.origins,
  cidrs: SETTINGS.cidrs,
  limits: LIMITS,
  generation: {
    type: 'integer',
    format: 'int32',
    minimum: 1,
    description: 'Number of secrets that the key has had',
  },
  overlap_until: time('Until when the secret before the last rotation is accepted'),
};

const object = (properties: Json, required: readonly string[]): Json => ({
  type: 'object',
  properties,
  required,
});
const OK = { status: { type: 'string', enum: ['OK'] } };

const SCHEMAS: Json = {
  Key: object(KEY, Object.keys(KEY)),
  KeyAnswer: object({ ...OK, ...KEY }, ['status', ...Object.keys(KEY)]),
  MadeKey: object(
    { ...OK, ...KEY, key: { type: 'string', description: 'The secret of the key, shown only once' } },
    ['status', ...Object.keys(KEY), 'key'],
  ),
  Keys: object(
    {
      ...OK,
      keys: { type: 'array', items: ref('Key') },
      next: { type: 'string', description: 'Value of after for the next page; absent on the last page' },
    },
    ['status', 'keys'],
  ),
  NewKey: { ...object(SETTINGS, ['name']), additionalProperties: false },
  Settings: { ...object(SETTINGS, []), additionalProperties: false },
  Rotation: {
    ...object({ overlap: { type: 'string', pattern: '^(?:0|[0-9]{1,6}[smhdw])$' } }, []),
    additionalProperties: false,
  },
  Activity: object(
    {
      keys: {
        type: 'array',
        items: object(
          {
            id: { type: 'string' },
            requests: { type: 'integer', format: 'int64' },
            points: { type: 'integer', format: 'int64' },
          },
          ['id', 'requests', 'points'],
        ),
      },
    },
    ['keys'],
  ),
  Error: object(
    {
      status: { type: 'string' },
      message: { type: 'string' },
      request_id: { type: 'string' },
      details: {
        type: 'array',
        items: object({ parameter: { type: 'string' }, message: { type: 'string' } }, [
          'parameter',
          'message',
        ]),
      },
      error: object(
        { code: { type: 'string' }, message: { type: 'string' }, param: { type: ['string', 'null'] } },
        ['code', 'message', 'param'],
      ),
    },
    ['status', 'message', 'request_id', 'error'],
  ),
};

const parameter = (where: string, name: string, description: string, schema: Json): Json => ({
  name,
  in: where,
  description,
  schema,
});
const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const PAGE = { type: 'integer', format: 'int32', minimum: 1, maximum: 1000 };
const BUSY = { 421: FAULTS[421], 503: FAULTS[503] };

/** An operation without a key. */
const open = (operationId: string, summary: string, responses: Json): Json => ({
  operationId,
  summary,
  security: [],
  responses,
});
const operation = (operationId: string, summary: string, answer: Json, more: Json = {}): Json => ({
  operationId,
  summary,
  ...more,
  responses: { ...answer, ...FAULTS, ...(more.responses as Json | undefined) },
});
const body = (schema: string, isRequired: boolean): Json => ({
  required: isRequired,
  content: { [JSON_TYPE]: { schema: ref(schema) } },
});
const ofOne = (operationId: string, summary: string, more: Json = {}, schema = 'KeyAnswer'): Json =>
  operation(
    operationId,
    summary,
    { 200: jsonAnswer('The key', ref(schema)) },
    { responses: ABOUT_ONE, ...more },
  );

const PATHS: Readonly<Record<string, Json>> = {
  '/livez': {
    get: open('livez', 'Whether the event loop runs', {
      200: textAnswer('alive'),
      503: textAnswer('not alive'),
    }),
  },
  '/readyz': {
    get: open('readyz', 'Whether requests may be sent here', {
      200: textAnswer('ready, and a line for each warning'),
      503: textAnswer('not ready, and a line for each reason'),
    }),
  },
  '/metrics': {
    get: open('metrics', 'Metrics for Prometheus', { 200: textAnswer('Text format 0.0.4'), ...BUSY }),
  },
  '/activity': {
    get: open('activity', 'Keys in use in the last 10 s', {
      200: jsonAnswer('The keys', ref('Activity')),
      ...BUSY,
    }),
  },
  '/openapi.json': {
    get: open('openapi', 'This document', { 200: jsonAnswer('OpenAPI 3.1', { type: 'object' }), ...BUSY }),
  },
  '/admin/v1/keys': {
    get: operation(
      'listKeys',
      'Keys in the order they were made',
      { 200: jsonAnswer('A page', ref('Keys')) },
      {
        parameters: [
          parameter('query', 'limit', 'Keys of a page; without it all', PAGE),
          parameter('query', 'after', 'next of the previous page', { type: 'string' }),
        ],
      },
    ),
    post: operation(
      'createKey',
      'Makes a key',
      { 201: jsonAnswer('The key and its text', ref('MadeKey')) },
      {
        parameters: [
          parameter(
            'header',
            'Idempotency-Key',
            'A second call of the same path and body in 10 minutes gets the first answer',
            { type: 'string' },
          ),
        ],
        requestBody: body('NewKey', true),
        responses: { 409: fault('Another call had this Idempotency-Key') },
      },
    ),
  },
  '/admin/v1/keys/{id}': {
    parameters: [ID],
    get: ofOne('showKey', 'One key', { responses: { 404: ABOUT_ONE[404] } }),
    patch: ofOne('changeKey', 'Changes settings', { requestBody: body('Settings', true) }),
    delete: ofOne('deleteKey', 'Revokes the key for good, as /revoke'),
  },
  '/admin/v1/keys/{id}/rotate': {
    parameters: [ID],
    post: ofOne(
      'rotateKey',
      'Replaces the secret of the key',
      { requestBody: body('Rotation', false) },
      'MadeKey',
    ),
  },
  '/admin/v1/keys/{id}/enable': { parameters: [ID], post: ofOne('enableKey', 'Enables the key again') },
  '/admin/v1/keys/{id}/disable': { parameters: [ID], post: ofOne('disableKey', 'Disables the key') },
  '/admin/v1/keys/{id}/revoke': { parameters: [ID], post: ofOne('revokeKey', 'Revokes the key for good') },
};

/** @param address of the port, as http://127.0.0.1:9090 */
const documentOf = (address: string): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: {
      title: 'hexcodes, admin port',
      version: VERSION,
      description:
        'Health, metrics and keys, for the machine and its operators: docs/keys.md, docs/operations.md#the-admin-port.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0.html' },
    },
    servers: [{ url: address }],
    security: [{ ApiKey: [] }, { Bearer: [] }],
    paths: PATHS,
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'A key of scope admin' },
        Bearer: { type: 'http', scheme: 'bearer', description: 'The same key' },
      },
    },
  });

export const documentRoute: AdminRoute = {
  method: 'GET',
  path: '/openapi.json',
  handle: (request) => {
    const host = request.header('host') ?? '127.0.0.1:9090';
    return { status: 200, type: JSON_TYPE, body: documentOf(`http://${host}`) };
  },
};
