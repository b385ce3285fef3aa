// The operations of /v1: what each reads, and what it may answer. docs/http.md says the same in sentences.
import { MAX_BATCH_BYTES, MAX_BATCH_ITEMS } from '../wire/rows/batch.js';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: object;
  readonly example?: unknown;
}

export interface Operation {
  readonly path: string;
  readonly method: 'get' | 'post';
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  /** Media types of the body: a schema's name, or text for a body that is no JSON. */
  readonly body?: { readonly required: boolean; readonly types: Readonly<Record<string, string>> };
  /** Names of the schemas that 200 may have; media types for answers that are no JSON. */
  readonly answers: readonly string[];
  /** Beside those that every operation has. */
  readonly errors: readonly number[];
  /** The schema of its errors. */
  readonly errorSchema?: string;
  /** Clients may keep its answers: they have an entity tag, and 304 is one of them. */
  readonly isKept?: boolean;
}

/** Every operation may answer these: a broken request, keys, Accept, target, limits, a defect, overload. */
export const COMMON_ERRORS = [400, 401, 403, 406, 414, 429, 500, 503] as const;

const LAT: Parameter = {
  name: 'lat',
  in: 'query',
  description: 'Degrees north (WGS 84)',
  schema: { type: 'number', minimum: -90, maximum: 90 },
  example: 21.0288,
};
const LNG: Parameter = {
  name: 'lng',
  in: 'query',
  description: 'Degrees east (WGS 84)',
  schema: { type: 'number', minimum: -180, maximum: 180 },
  example: 105.8525,
};
const RESOLUTION: Parameter = {
  name: 'resolution',
  in: 'query',
  description: 'Resolution of H3, written without sign, point or leading zero',
  schema: { type: 'integer', minimum: 0, maximum: 15, default: 13 },
};
const ADMIN_V2: Parameter = {
  name: 'admin_v2',
  in: 'query',
  description: 'Without effect: codes are always of the structure of 2025',
  schema: { type: 'boolean' },
};
const FORMER: Parameter = {
  name: 'former',
  in: 'query',
  description: 'Whether answers name the province before July 2025, as `former_province`',
  schema: { type: 'boolean', default: false },
};
const query = (name: string, description: string, schema: object, example: unknown): Parameter => ({
  ...{ name, in: 'query', description, schema, example },
});
const OF_TRACCAR =
  'docs/traccar.md has its settings. The answer comes once the position is on disk; a position in no province is kept, too, and answered 200. The key may also be the query parameter `key`.';
const REVERSE_FORMAT: Parameter = {
  name: 'format',
  in: 'query',
  description: 'The same answer for both',
  schema: { type: 'string', enum: ['json', 'jsonv2'], default: 'json' },
};
const ADDRESS_DETAILS: Parameter = {
  name: 'addressdetails',
  in: 'query',
  description: 'Whether the answer has `address`',
  schema: { type: 'integer', enum: [0, 1], default: 1 },
};
const HEXCODES: Parameter = {
  name: 'hexcodes',
  in: 'query',
  description: 'The code in any spelling that docs/code-format.md allows',
  schema: { type: 'string', minLength: 1 },
  example: 'HN-6GHP4-83RFR',
};
const CODE_IN_PATH: Parameter = {
  name: 'code',
  in: 'path',
  required: true,
  description: 'A code in any spelling, percent-encoded in UTF-8',
  schema: { type: 'string', minLength: 1 },
  example: 'HN-6GHP4-83RFR',
};
const DELIMITER: Parameter = {
  name: 'delimiter',
  in: 'query',
  description: 'Of a CSV body; by default the header row shows it',
  schema: { type: 'string', enum: ['comma', 'semicolon', 'tab', 'pipe'] },
};
const PREFIX: Parameter = {
  name: 'prefix',
  in: 'query',
  description: 'Put before the names of the columns that a CSV answer adds',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_.-]{0,64}$' },
};

const required = (parameter: Parameter): Parameter => ({ ...parameter, required: true });
const FORM = 'application/x-www-form-urlencoded';
const BULK_TYPES = ['text/csv', 'application/x-ndjson', 'application/vnd.hexcodes.frames'];
const BULK_BODY = { required: true, types: Object.fromEntries(BULK_TYPES.map((type) => [type, 'text'])) };
const IN_ANY_PLACE = 'Parameters travel in the query, in a JSON or form body, or in several of them at once.';

const single = (id: 'encode' | 'decode', parameters: readonly Parameter[], summary: string): Operation[] => {
  const path = `/v1/hexcodes/${id}`;
  const common = {
    path,
    summary,
    tag: 'One at a time',
    answers: id === 'encode' ? ['Encoded'] : ['Decoded', 'NotDecoded'],
    ...(id === 'encode' ? { errorSchema: 'EncodeError' } : {}),
  };
  const errors = [...(id === 'encode' ? [404] : []), 408, 413, 415];
  const schema = id === 'encode' ? 'EncodeRequest' : 'DecodeRequest';
  const mandatory = id === 'encode' ? ['lat', 'lng'] : ['hexcodes'];
  return [
    {
      ...common,
      method: 'get',
      id,
      errors,
      parameters: parameters.map((each) => (mandatory.includes(each.name) ? required(each) : each)),
    },
    {
      ...common,
      method: 'post',
      id: `${id}Post`,
      description: IN_ANY_PLACE,
      errors,
      parameters,
      body: { required: false, types: { 'application/json': schema, [FORM]: schema } },
    },
  ];
};

const many = (operation: 'encode' | 'decode'): Operation[] => [
  {
    path: `/v1/hexcodes/${operation}/batch`,
    method: 'post',
    id: `${operation}Batch`,
    summary: `${operation === 'encode' ? 'Positions to codes' : 'Codes to positions'}, up to ${MAX_BATCH_ITEMS} in one body`,
    description: `At most ${MAX_BATCH_BYTES} bytes. One result for each item, in order; a failed item never fails the batch.`,
    tag: 'Many at a time',
    parameters: [],
    body: {
      required: true,
      types: { 'application/json': operation === 'encode' ? 'EncodeBatchRequest' : 'DecodeBatchRequest' },
    },
    answers: [operation === 'encode' ? 'EncodeBatchAnswer' : 'DecodeBatchAnswer'],
    errors: [408, 413, 415],
  },
  {
    path: `/v1/hexcodes/${operation}/bulk`,
    method: 'post',
    id: `${operation}Bulk`,
    summary: `${operation === 'encode' ? 'Positions to codes' : 'Codes to positions'} of a body of any length, answered row by row while it is sent`,
    description: 'gzip both ways. docs/bulk.md has the columns, lines and frames.',
    tag: 'Many at a time',
    parameters: [...(operation === 'encode' ? [RESOLUTION, FORMER] : []), DELIMITER, PREFIX],
    body: BULK_BODY,
    answers: BULK_TYPES,
    errors: [408, 415],
  },
];

const look = (
  path: string,
  id: string,
  summary: string,
  answer: string,
  more: Partial<Operation> = {},
): Operation => ({
  path,
  method: 'get',
  id,
  summary,
  tag: 'Looking up',
  parameters: [],
  answers: [answer],
  errors: [],
  isKept: true,
  ...more,
});

export const OPERATIONS: readonly Operation[] = [
  ...single('encode', [LAT, LNG, RESOLUTION, FORMER, ADMIN_V2], 'A position to its code'),
  ...single('decode', [HEXCODES, ADMIN_V2], 'A code to the centre of its cell'),
  ...many('encode'),
  ...many('decode'),
  look('/v1/hexcodes/{code}', 'codeInfo', 'What one code says', 'CodeInfo', {
    parameters: [CODE_IN_PATH],
    errors: [404],
  }),
  look(
    '/v1/hexcodes/{code}/suggestions',
    'suggestions',
    'Valid codes one slip away from a text',
    'Suggestions',
    {
      parameters: [
        CODE_IN_PATH,
        {
          name: 'near',
          in: 'query',
          description: 'lat,lng: the nearest come first, with distance_m',
          schema: { type: 'string' },
          example: '21.03,105.85',
        },
      ],
    },
  ),
  look('/v1/admin-units', 'adminUnits', 'The 34 provinces', 'AdminUnits'),
  look('/v1/admin-units/former', 'formerProvinces', 'The 63 provinces before July 2025', 'FormerProvinces'),
  look('/v1/admin-units/{admin_code}', 'adminUnit', 'One province and its boundary', 'AdminUnit', {
    parameters: [
      {
        name: 'admin_code',
        in: 'path',
        required: true,
        description: 'In either case',
        schema: { type: 'string', pattern: '^[A-Za-z]{2,3}$' },
        example: 'HN',
      },
    ],
    errors: [404],
  }),
  {
    path: '/v1/reverse',
    method: 'get',
    id: 'reverse',
    summary: 'A position to province and code, in the shape of Nominatim',
    description:
      'For products with a setting for a Nominatim server. Province and code, no streets. The key may also be the query parameter `key`.',
    tag: 'Looking up',
    parameters: [
      required(LAT),
      required({ ...LNG, name: 'lon' }),
      RESOLUTION,
      REVERSE_FORMAT,
      ADDRESS_DETAILS,
    ],
    answers: ['Reversed', 'NotReversed'],
    errors: [],
  },
  {
    path: '/v1/traccar',
    method: 'post',
    id: 'traccar',
    summary: 'A position as Traccar forwards it, kept for the sink of the service',
    description: `${OF_TRACCAR} The body is that of the forward type \`json\`: further members are ignored.`,
    tag: 'Trackers',
    parameters: [RESOLUTION],
    body: { required: true, types: { 'application/json': 'TraccarRequest' } },
    answers: ['Tracked', 'TrackedOutside'],
    errors: [408, 413, 415],
  },
  {
    path: '/v1/traccar',
    method: 'get',
    id: 'traccarUrl',
    summary: 'The same of the forward type `url`',
    description: `${OF_TRACCAR} Parameters have the names of Traccar's placeholders. HEAD keeps nothing.`,
    tag: 'Trackers',
    parameters: [
      query('uniqueId', 'Of the device', { type: 'string', minLength: 1, maxLength: 128 }, '860123456789012'),
      query('latitude', LAT.description, LAT.schema, LAT.example),
      query('longitude', LNG.description, LNG.schema, LNG.example),
      query('fixTime', 'Milliseconds since 1970', { type: 'integer', minimum: 0 }, 1795335302000),
      RESOLUTION,
    ].map((each) => (each === RESOLUTION || each.name === 'fixTime' ? each : required(each))),
    answers: ['Tracked', 'TrackedOutside'],
    errors: [],
  },
  look('/v1/meta', 'meta', 'Versions and the source of the boundaries', 'Meta'),
  look('/v1/usage', 'usage', 'What the key has used today and this month, and its limits', 'Usage', {
    isKept: false,
  }),
];
