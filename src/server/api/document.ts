// The OpenAPI 3.1 document of the service, made at build time of operations.ts and bodies.ts; build.mjs writes it to
// dist/openapi.json.

import { readFileSync } from 'node:fs';
import { VERSION } from '../../hexcodes/version.js';
import { ASKED_AGAIN, KEPT, VARY } from '../http/freshness.js';
import { TARGET_LIMIT_BYTES } from '../transport/request-head.js';
import { BODIES } from './bodies.js';
import { COMMON_ERRORS, DATA_VERSION, OPERATIONS, type Operation, VECTOR_TILE } from './operations.js';

const JSON_TYPE = 'application/json';
/** Answers of the service to the example of each operation, by media type, as tools/answers.mjs has recorded them. */
const RECORDED_ANSWERS = JSON.parse(readFileSync('src/server/api/recorded-answers.json', 'utf8')) as Readonly<
  Record<string, Readonly<Record<string, unknown>>>
>;
/** Stands for the address of the service, which puts its own in its place (routes/meta.ts). */
const LOCAL_ADDRESS = 'http://127.0.0.1:8080';

const HEADERS = {
  RequestId: {
    description: 'The X-Request-Id of the request, or one made for it; stands in the log',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
    required: true,
  },
  AllowOrigin: { description: 'CORS', schema: { type: 'string', enum: ['*'] }, required: true },
  ExposeHeaders: { description: 'CORS', schema: { type: 'string', enum: ['*'] }, required: true },
  CacheControl: {
    description:
      'Where the key is in the URL nothing is to be stored; else, how long an answer of a look-up holds',
    schema: { type: 'string', enum: ['private, no-store', KEPT, ASKED_AGAIN] },
  },
  RateLimitPolicy: {
    description: 'Limits of the key, if it has any (draft-ietf-httpapi-ratelimit-headers-11)',
    schema: { type: 'string' },
  },
  RateLimit: { description: 'What is left of them', schema: { type: 'string' } },
  LimitOfLeast: {
    description: 'The limit of the key of which the least is left: how many there may be',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
  },
  LimitRemaining: {
    description: 'Left of that limit',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
  },
  LimitReset: {
    description: 'Seconds until all of it is there again',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
  },
  RetryAfter: {
    description: 'Seconds',
    schema: { type: 'integer', format: 'int32', minimum: 1 },
    required: true,
  },
  Authenticate: { schema: { type: 'string', enum: ['ApiKey realm="hexcodes"'] }, required: true },
  Vary: { schema: { type: 'string', enum: ['Accept, Accept-Encoding'] } },
  EntityTag: {
    description:
      'Of this version and its data; to be sent back as If-None-Match. None where the key is in the URL',
    schema: { type: 'string', pattern: '^"[0-9a-f]{16}"$' },
  },
  VaryKey: { schema: { type: 'string', enum: [VARY] } },
  DataVersion: {
    description:
      'The boundary data that were used, where the service has two versions or the request names one',
    schema: { type: 'string', pattern: '^[0-9a-f]{12}$' },
  },
  VaryKeyAndType: { schema: { type: 'string', enum: [`Accept, ${VARY}`] } },
  ContentEncoding: { schema: { type: 'string', enum: ['gzip'] } },
  Hint: {
    description: 'Names in the request that no parameter has, and what was probably meant',
    schema: { type: 'string' },
  },
} as const;

const header = (name: keyof typeof HEADERS): object => ({ $ref: `#/components/headers/${name}` });
const EVERY_ANSWER = {
  'X-Request-Id': header('RequestId'),
  'Access-Control-Allow-Origin': header('AllowOrigin'),
  'Access-Control-Expose-Headers': header('ExposeHeaders'),
  'Cache-Control': header('CacheControl'),
  'RateLimit-Policy': header('RateLimitPolicy'),
  RateLimit: header('RateLimit'),
  'X-RateLimit-Limit': header('LimitOfLeast'),
  'X-RateLimit-Remaining': header('LimitRemaining'),
  'X-RateLimit-Reset': header('LimitReset'),
  'Hexcodes-Hint': header('Hint'),
};

const REASONS: Readonly<Record<number, string>> = {
  400: 'A parameter or the body is wrong; `details` names every fault. Correct the request.',
  401: 'The key is missing, unknown, expired or revoked. Use another.',
  403: 'The key is disabled, or may not do this. Ask who gave it.',
  404: 'Nothing is there: no province at this position, no such code.',
  406: 'The Accept header refuses the media type of the answer.',
  408: 'The body took too long.',
  413: 'The body is too large. Send less at a time, or use /bulk.',
  414: `Path and query have more than ${TARGET_LIMIT_BYTES} bytes. Send a body.`,
  415: 'The body is of another media type, charset or encoding.',
  429: 'A limit of the key is reached. Try again after Retry-After.',
  500: 'A defect. Report it with the request id.',
  503: 'Overloaded or restarting. Try again, more slowly each time.',
};

const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
const response = (name: string): object => ({ $ref: `#/components/responses/${name}` });

function errorResponse(status: number, schema: string): object {
  const more = {
    ...(status === 401 ? { 'WWW-Authenticate': header('Authenticate') } : {}),
    ...(status === 429 || status === 503 ? { 'Retry-After': header('RetryAfter') } : {}),
  };
  return {
    description: REASONS[status],
    headers: { ...EVERY_ANSWER, ...more },
    content: { [JSON_TYPE]: { schema: ref(schema) } },
  };
}

/** The media types whose bytes are not text. */
const BINARY: readonly string[] = [VECTOR_TILE, 'application/vnd.hexcodes.frames'];
const schemaOf = (type: string): object => ({
  type: 'string',
  format: BINARY.includes(type) ? 'binary' : undefined,
});
const OF_KEPT = { ETag: header('EntityTag'), Vary: header('VaryKey') };
const OF_TILE = { ...OF_KEPT, Vary: header('VaryKeyAndType') };
const isTile = ({ id }: Operation): boolean => id === 'grid' || id === 'gridTile';

/** Operations whose answer is recorded with few of its features and positions. */
const SHORTENED: readonly string[] = ['grid', 'adminUnit'];

function okResponse(operation: Operation): object {
  const { answers, id, isKept } = operation;
  const isBulk = id.endsWith('Bulk');
  const recorded = RECORDED_ANSWERS[id];
  const withExample = (type: string, schema: object): [string, object] => [
    type,
    { schema, example: recorded?.[type] },
  ];
  const content = Object.fromEntries(
    answers.map((name) =>
      name.includes('/') ? withExample(name, schemaOf(name)) : withExample(JSON_TYPE, ref(name)),
    ),
  );
  const more = isBulk
    ? { Vary: header('Vary'), 'Content-Encoding': header('ContentEncoding') }
    : isTile(operation)
      ? OF_TILE
      : isKept
        ? OF_KEPT
        : {};
  const data = operation.parameters.includes(DATA_VERSION) ? { 'Hexcodes-Data': header('DataVersion') } : {};
  const description = SHORTENED.includes(id) ? 'Done; the example is shortened' : 'Done';
  return { description, headers: { ...EVERY_ANSWER, ...more, ...data }, content };
}

const notModified = (headers: object): object => ({
  description: 'Nothing has changed since the answer whose ETag the request has in If-None-Match',
  headers: { ...EVERY_ANSWER, ...headers },
});

const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';
/** Bodies of any length by operation and media type. */
const BULK_BODIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  encodeBulk: {
    [CSV]: 'id,lat,lng\n1,21.0288,105.8525\n',
    [NDJSON]: '{"id":"1","lat":21.0288,"lng":105.8525}\n',
  },
  decodeBulk: {
    [CSV]: 'id,hexcodes\n1,HN-6GHP4-83RFR\n',
    [NDJSON]: '{"id":"1","hexcodes":"HN-6GHP4-83RFR"}\n',
  },
};

interface ExampleRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Media type of the body, if it has one. */
  readonly type: string | undefined;
  readonly body: string | undefined;
}

/** The example requests of an operation, one for each media type of the body that has an example. */
export function exampleRequests({ id, path, method, parameters, body }: Operation): ExampleRequest[] {
  const query =
    body === undefined ? parameters.filter((each) => each.in === 'query' && each.example !== undefined) : [];
  const filled = parameters
    .filter((each) => each.in === 'path')
    .reduce((text, { name, example }) => text.replace(`{${name}}`, String(example)), path);
  const search = query
    .map(({ name, example }) => `${name}=${String(example).replaceAll(' ', '%20')}`)
    .join('&');
  const head = { method: method.toUpperCase(), target: `${filled}${search === '' ? '' : `?${search}`}` };
  if (body === undefined) return [{ ...head, type: undefined, body: undefined }];
  const schema = body.types['application/json'];
  const { examples } = (schema === undefined ? {} : BODIES[schema]) as { examples?: object[] };
  const bodies = BULK_BODIES[id] ?? { 'application/json': JSON.stringify(examples?.[0]) };
  return Object.entries(bodies).map(([type, text]) => ({ ...head, type, body: text }));
}

/** The example of a body that is not JSON: schemas hold those of others. */
function exampleOfBody(operation: Operation, type: string): string | undefined {
  if (operation.body?.types[type] !== 'text') return undefined;
  return exampleRequests(operation).find((each) => each.type === type)?.body;
}

function operationObject(operation: Operation): object {
  const { id, summary, description, tag, parameters, body } = operation;
  const { errors, errorSchema = 'Error', isKept } = operation;
  const statuses = [...COMMON_ERRORS, ...errors].sort((a, b) => a - b);
  const responses = Object.fromEntries([
    ['200', okResponse(operation)],
    ...(isKept ? [['304', response(isTile(operation) ? 'TypeNotModified' : 'NotModified')]] : []),
    ...statuses.map((status) => [String(status), response(`${errorSchema}${status}`)]),
  ]);
  const content = Object.entries(body?.types ?? {}).map(([type, name]) => [
    type,
    { schema: name === 'text' ? schemaOf(type) : ref(name), example: exampleOfBody(operation, type) },
  ]);
  const requestBody = body && { required: body.required, content: Object.fromEntries(content) };
  return { operationId: id, summary, description, tags: [tag], parameters, requestBody, responses };
}

/** An answer of each error schema and status that some operation has. */
function errorResponses(): Record<string, object> {
  const found: Record<string, object> = {};
  for (const { errors, errorSchema = 'Error' } of OPERATIONS)
    for (const status of [...COMMON_ERRORS, ...errors])
      found[errorSchema + status] = errorResponse(status, errorSchema);
  return found;
}

/** The document as an object that JSON.stringify writes. */
export function openApiDocument(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hexcodes',
      version: VERSION,
      summary: 'GPS positions in Viet Nam to short codes, and back',
      description:
        'HEAD is answered wherever GET is, OPTIONS on every path. The bulk stream is a WebSocket at /v1/hexcodes/stream: docs/stream.md.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: LOCAL_ADDRESS }],
    security: [{ header: [] }, { query: [] }],
    tags: [
      { name: 'One at a time', description: 'A position or a code in a call' },
      { name: 'Many at a time', description: 'Thousands in a body, or a body without end' },
      { name: 'Trackers', description: 'Servers that track vehicles' },
      { name: 'Looking up', description: 'Codes, provinces, versions, usage' },
    ],
    paths,
    components: {
      schemas: BODIES,
      headers: HEADERS,
      responses: {
        NotModified: notModified(OF_KEPT),
        TypeNotModified: notModified(OF_TILE),
        ...errorResponses(),
      },
      securitySchemes: {
        header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        query: {
          type: 'apiKey',
          in: 'query',
          name: 'apikey',
          description: 'Addresses end up in logs: prefer the header',
        },
      },
    },
  };
}
