// The operations of /v1: their parameters, bodies and possible answers. docs/http.md says the same in sentences.

import { EXTRAS, forExtras } from '../../hexcodes/extras.js';
import { MAX_BATCH_BYTES, MAX_BATCH_ITEMS } from '../../hexcodes/wire/limits.js';
import { ofOperation, type ParameterName } from '../../hexcodes/wire/params/parameters.js';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: object;
  readonly example?: unknown;
}

const query = (name: string, description: string, schema: object, example?: unknown): Parameter => ({
  name,
  in: 'query',
  description,
  schema,
  ...(example === undefined ? {} : { example }),
});
const required = (parameter: Parameter): Parameter => ({ ...parameter, required: true });
/** Generated clients send a default, which then contradicts the body. */
const withoutDefault = (parameter: Parameter): Parameter => {
  const { default: _, ...schema } = parameter.schema as { default?: unknown };
  return { ...parameter, schema };
};

const LATITUDE = { type: 'number', format: 'double', minimum: -90, maximum: 90 };
const LONGITUDE = { type: 'number', format: 'double', minimum: -180, maximum: 180 };

/** @param name of the parameter */
const latitude = (name: string): Parameter => query(name, 'Degrees north (WGS 84)', LATITUDE, 21.0288);
const longitude = (name: string): Parameter => query(name, 'Degrees east (WGS 84)', LONGITUDE, 105.8525);
const RESOLUTION = query('resolution', 'Resolution of H3, written without sign, point or leading zero', {
  type: 'integer',
  format: 'int32',
  minimum: 0,
  maximum: 15,
  default: 13,
});
const ADMIN_V2 = query('admin_v2', 'Without effect: codes are always of the structure of 2025', {
  type: 'boolean',
});
const EXTRA_PARAMETERS = forExtras((name) =>
  query(name, EXTRAS[name].does, { type: 'boolean', default: false }),
);
const NEAR = query(
  'near',
  'lat,lng: the nearest come first, with distance_m',
  {
    type: 'string',
    pattern: '^-?(90(\\.0+)?|[0-8]?[0-9](\\.[0-9]+)?),-?(180(\\.0+)?|(1[0-7][0-9]|[0-9]?[0-9])(\\.[0-9]+)?)$',
  },
  '21.03,105.85',
);
const PLACE_NAME = query(
  'q',
  'A name or its beginning, with or without diacritics and words like "tp.", "tỉnh", "phường" in front',
  { type: 'string', minLength: 1, maxLength: 100, pattern: '\\S' },
  'ha long',
);
const LIMIT = query('limit', 'Answers at most', {
  type: 'integer',
  format: 'int32',
  minimum: 1,
  maximum: 100,
  default: 10,
});
const REVERSE_FORMAT = query('format', 'The same answer for both', {
  type: 'string',
  enum: ['json', 'jsonv2'],
  default: 'json',
});
const ADDRESS_DETAILS = query('addressdetails', 'Whether the answer has `address`', {
  type: 'integer',
  format: 'int32',
  enum: [0, 1],
  default: 1,
});
const HEXCODES = query(
  'hexcodes',
  'The code in any spelling that docs/code-format.md allows',
  { type: 'string', minLength: 1 },
  'HN-6GHP4-83RFR',
);
const DELIMITER = query('delimiter', 'Of a CSV body; by default the header row shows it', {
  type: 'string',
  enum: ['comma', 'semicolon', 'tab', 'pipe'],
});
const PREFIX = query('prefix', 'Put before the names of the columns that a CSV answer adds', {
  type: 'string',
  pattern: '^[A-Za-z0-9_.-]{0,64}$',
});
const columnOf = (name: string, what: string): Parameter =>
  query(name, `Column of a CSV body that holds ${what}: its name, or its number from 1`, {
    type: 'string',
    minLength: 1,
  });
const COLUMNS = {
  encode: [columnOf('lat', 'the latitude'), columnOf('lng', 'the longitude')],
  decode: [columnOf('column', 'the codes')],
};
export const DATA_VERSION: Parameter = {
  name: 'Hexcodes-Data',
  in: 'header',
  description:
    'Version of the boundary data that is to answer: the sha256 of `/v1/meta`, or 8 digits of its beginning and more. By default the current one',
  schema: { type: 'string', pattern: '^([0-9A-Fa-f]{8,64})?$' },
};
const CODE_IN_PATH: Parameter = {
  name: 'code',
  in: 'path',
  required: true,
  description: 'A code in any spelling, percent-encoded in UTF-8',
  schema: { type: 'string', minLength: 1 },
  example: 'HN-6GHP4-83RFR',
};
/** Columns and rows of the finest zoom. */
const MAX_TILES = 2 ** 22;
const tileNumber = (name: string, description: string, maximum: number, example: number): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'integer', format: 'int32', minimum: 0, maximum },
  example,
});
const TILE: readonly Parameter[] = [
  tileNumber('z', 'Zoom', 22, 12),
  tileNumber('x', 'Column, from 0 in the west', MAX_TILES - 1, 3252),
  tileNumber('y', 'Row, from 0 in the north', MAX_TILES - 1, 1803),
];

export interface Operation {
  readonly path: string;
  readonly method: 'get' | 'post';
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  /** Media types of the body: a schema's name, or text for a body that is not JSON. */
  readonly body?: { readonly required: boolean; readonly types: Readonly<Record<string, string>> };
  /** The schema of 200, by its name; media types for answers that are not JSON. */
  readonly answers: readonly string[];
  /** Error statuses besides those of every operation. */
  readonly errors: readonly number[];
  /** The schema of its errors. */
  readonly errorSchema?: string;
  /** Clients may cache its answers: they have an entity tag, and may be 304. */
  readonly isKept?: boolean;
}

/** Every operation may answer these: a broken request, keys, Accept, target, limits, a defect, overload. */
export const COMMON_ERRORS = [400, 401, 403, 406, 414, 429, 500, 503] as const;

export const VECTOR_TILE = 'application/vnd.mapbox-vector-tile';
const FORM = 'application/x-www-form-urlencoded';
const BULK_TYPES = [
  'text/csv',
  'text/tab-separated-values',
  'application/x-ndjson',
  'application/vnd.hexcodes.frames',
];
const BULK_BODY = { required: true, types: Object.fromEntries(BULK_TYPES.map((type) => [type, 'text'])) };
const OF_TRACCAR =
  'docs/traccar.md has its settings. The answer comes once the position is on disk; a position in no province is kept, too, and answered 200. The key may also be the query parameter `key`.';
const IN_ANY_PART = 'Parameters travel in the query, in a JSON or form body, or in several of them at once.';

const SINGLE: Readonly<Record<ParameterName, Parameter>> = {
  lat: latitude('lat'),
  lng: longitude('lng'),
  resolution: RESOLUTION,
  hexcodes: HEXCODES,
  ...EXTRA_PARAMETERS,
  admin_v2: ADMIN_V2,
};

const single = (id: 'encode' | 'decode', summary: string): Operation[] => {
  const parameters = [...Object.values(ofOperation(id, SINGLE)), DATA_VERSION];
  const path = `/v1/hexcodes/${id}`;
  const common = {
    path,
    summary,
    description:
      id === 'encode'
        ? 'The cell that holds the position. 404 where the position lies in no province.'
        : 'A text that is not a code is answered 200, with the status INVALID_HEXCODES.',
    tag: 'One at a time',
    answers: [id === 'encode' ? 'Encoded' : 'DecodeAnswer'],
    errorSchema: id === 'encode' ? 'EncodeError' : 'DecodeError',
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
      description: `${common.description} ${IN_ANY_PART}`,
      errors,
      parameters: parameters.map(withoutDefault),
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
    parameters: [DATA_VERSION],
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
    description:
      'gzip both ways. With the header Hexcodes-Answer: after-body the answer waits for the end of the body. A form with one file (`multipart/form-data`) is read, too; docs/bulk.md has it, the columns, lines and frames.',
    tag: 'Many at a time',
    parameters: [
      ...(operation === 'encode' ? [RESOLUTION, ...Object.values(EXTRA_PARAMETERS)] : []),
      ...COLUMNS[operation],
      DELIMITER,
      PREFIX,
      DATA_VERSION,
    ],
    body: BULK_BODY,
    answers: BULK_TYPES,
    errors: [408, 413, 415],
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
  ...single('encode', 'A position to its code'),
  ...single('decode', 'A code to the centre of its cell'),
  ...many('encode'),
  ...many('decode'),
  look('/v1/hexcodes/{code}', 'codeInfo', 'What one code says', 'CodeInfo', {
    description:
      'Its province, cell and size; `boundary`, a GeoJSON feature; `parent`, the code one resolution coarser in the same province, null at resolution 0; `neighbors`, up to six codes with the province of their own centre, or else of this code. A `+` in the path stands for itself. A text that is not a hexcode is 404 with INVALID_HEXCODES.',
    parameters: [CODE_IN_PATH],
    errors: [404],
  }),
  look(
    '/v1/hexcodes/{code}/suggestions',
    'suggestions',
    'Valid codes one slip away from a text',
    'Suggestions',
    {
      description:
        'Show them to a person to choose from: at most ten, likelier slips first, or with `near` the nearest. An empty list: no code is so close. Costs 10 points.',
      parameters: [CODE_IN_PATH, NEAR],
    },
  ),
  look('/v1/places', 'places', 'Provinces, towns and landmarks by name', 'Places', {
    description:
      'Some 700 provinces of today and before 2025, towns and landmarks, by names as people type them, older names, misspellings and codes. No geocoder: streets, houses and shops are not among them.',
    parameters: [required(PLACE_NAME), NEAR, LIMIT],
  }),
  look('/v1/grid/{z}/{x}/{y}', 'grid', 'The cells that touch a tile of a map, with their codes', 'Grid', {
    description:
      'GeoJSON, tiles in Mercator with rows from the north. The resolutions of zoom 0 to 22 are 0, 0, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13, 13, 14, 15. `y` may end in .geojson; an `Accept` that prefers the vector tile gets that. Cells are whole hexagons, at most 256, with the province of their centre, or else of a corner; the `id` of a feature is its code. A tile that the zoom does not have is 400. While 200 new tiles wait, another is 503. Costs a point for each cell.',
    parameters: TILE,
  }),
  look('/v1/grid/{z}/{x}/{y}.mvt', 'gridTile', 'The same as a vector tile', VECTOR_TILE, {
    description:
      'Mapbox Vector Tile 2.1 with one layer, `grid`, whose properties are `hexcodes`, `resolution` and `admin_code`; `promoteId` of maps takes `hexcodes`.',
    parameters: TILE,
  }),
  look('/v1/admin-units', 'adminUnits', 'The 34 provinces', 'AdminUnits', {
    description:
      'Each with those of before July 2025 that were merged into it. Their order never changes: the index of a province is its admin number in frames.',
  }),
  look('/v1/admin-units/former', 'formerProvinces', 'The 63 provinces before July 2025', 'FormerProvinces', {
    description: 'Each with the province of today that holds it.',
  }),
  look('/v1/admin-units/{admin_code}', 'adminUnit', 'One province and its boundary', 'AdminUnit', {
    description: 'GeoJSON, the sea included. Show `notice` wherever the boundary is shown.',
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
      'For products with a setting for a Nominatim server. Province and code, no streets; `lat` and `lon` are the centre of the cell. A position in no province is 200 with an `error`, as with Nominatim. `lng`, `latitude` and `longitude` are read, too. The key may also be the query parameter `key`.',
    tag: 'Looking up',
    parameters: [
      required(latitude('lat')),
      required(longitude('lon')),
      RESOLUTION,
      REVERSE_FORMAT,
      ADDRESS_DETAILS,
    ],
    answers: ['ReverseAnswer'],
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
    answers: ['Tracked'],
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
      required(
        query(
          'uniqueId',
          'Of the device',
          { type: 'string', minLength: 1, maxLength: 128 },
          '860123456789012',
        ),
      ),
      required(latitude('latitude')),
      required(longitude('longitude')),
      query(
        'fixTime',
        'Milliseconds since 1970',
        { type: 'integer', format: 'int64', minimum: 0, maximum: 253402300799999 },
        1795335302000,
      ),
      RESOLUTION,
    ],
    answers: ['Tracked'],
    errors: [],
  },
  look('/v1/meta', 'meta', 'Versions and the source of the boundaries', 'Meta', {
    description: '`sha256` is the version that the header Hexcodes-Data names.',
  }),
  look('/v1/usage', 'usage', 'What the key has used today and this month, and its limits', 'Usage', {
    description: 'Points and requests of the calendar day and month in `time_zone`.',
    isKept: false,
  }),
];
