// The bodies of /v1 as JSON Schema (2020-12), by their names in the document. Compiled at build time only: the
// service checks requests by hand and writes answers as bytes, and tests compare both with these schemas.

import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { forExtras } from '../../hexcodes/extras.js';
import { MAX_BATCH_ITEMS } from '../../hexcodes/wire/limits.js';
import { ofOperation, type ParameterName } from '../../hexcodes/wire/params/parameters.js';

/** A schema of bodies.ts, by its name. */
const named = (name: string): TSchema => Type.Unsafe({ $ref: `#/components/schemas/${name}` });

/** A number of 64 bits: without a format, generators take 32 bits, which give other codes. */
const double = (more: object = {}): TSchema => Type.Unsafe({ type: 'number', format: 'double', ...more });
const int32 = (more: object = {}): TSchema => Type.Unsafe({ type: 'integer', format: 'int32', ...more });
const int64 = (more: object = {}): TSchema => Type.Unsafe({ type: 'integer', format: 'int64', ...more });
/** The schema or null: as a second type, which generators know, where the schema is not a reference. */
const orNull = (schema: TSchema): TSchema => {
  const { type } = schema as { type?: string };
  return type === undefined
    ? Type.Union([schema, Type.Null()])
    : Type.Unsafe({ ...schema, type: [type, 'null'] });
};
const text = (description: string): TSchema => Type.String({ description });
const maybe = <T extends TSchema>(schema: T) => Type.Optional(schema);
/** Schema of an answer: all members are present, and further ones may be added. */
const answer = (members: TProperties): TObject => Type.Object(members);
/** Schema of an answer to a call that succeeded. */
const done = (members: TProperties): TObject => answer({ status: oneOf('OK'), ...members });
/** Enums, never constants or unions of them: generators ignore constants and make a class of each union member. */
const oneOf = (...values: readonly string[]): TSchema => Type.Unsafe({ type: 'string', enum: values });

const lat = double({ minimum: -90, maximum: 90, description: 'Degrees north, WGS 84' });
const lng = double({ minimum: -180, maximum: 180, description: 'Degrees east, WGS 84' });
const resolution = int32({ minimum: 0, maximum: 15, description: 'Resolution of H3' });
const CODE = {
  type: 'string',
  pattern: '^[A-Z]{2,3}-([2-9CFGHJKMPQRVX]{5}-){0,2}[2-9CFGHJKMPQRVX]{1,5}$',
  description: 'A hexcode in its canonical spelling',
};
const code = named('Code');
/** Inlined in place of a reference, beside which generators do not accept null. */
const codeOrNull = orNull(Type.Unsafe(CODE));
const adminCode = named('AdminCode');
const adminCodeOrNull = orNull(
  Type.Unsafe({ type: 'string', pattern: '^[A-Z]{2,3}$', description: 'One of `AdminCode`' }),
);
/** Position of GeoJSON. */
const position = Type.Array(double(), {
  minItems: 2,
  maxItems: 2,
  description: 'Longitude, latitude',
});

const GRID_BODIES: Readonly<Record<string, TSchema>> = {
  Grid: answer({
    type: oneOf('FeatureCollection'),
    status: oneOf('OK'),
    resolution,
    features: Type.Array(
      answer({
        type: oneOf('Feature'),
        id: code,
        geometry: Type.Object({
          type: oneOf('Polygon'),
          coordinates: Type.Array(Type.Array(position, { minItems: 7 }), { minItems: 1, maxItems: 1 }),
        }),
        properties: answer({ hexcodes: code, resolution, admin_code: adminCode }),
      }),
      { maxItems: 256 },
    ),
  }),
};

const knownNumber = maybe(orNull(double()));
/** Pattern of the dates that the service reads, with the number of days of each month. */
const DATE =
  '\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))';
const CLOCK = '([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?';
/** The time, or null. */
const time = Type.Union([named('TrackerTime'), Type.Null()]);
const tracked = {
  id: Type.String({
    pattern: '^[0-9a-f]{32}$',
    description: 'The same where the position comes again; sinks get it, too',
  }),
  resolution,
  forwarded: Type.Boolean({ description: 'Whether it goes on to a sink' }),
};

const TRACKER_BODIES: Readonly<Record<string, TSchema>> = {
  ReverseAnswer: Type.Object({
    error: maybe(text('In place of all other members: "Unable to geocode"')),
    licence: maybe(text('The line to show wherever the boundaries are shown')),
    lat: maybe(text('Centre of the cell, degrees north')),
    lon: maybe(text('Centre of the cell, degrees east')),
    name: maybe(code),
    display_name: maybe(text('Code, province, country')),
    address: maybe(answer({ state: Type.String(), country: oneOf('Việt Nam'), country_code: oneOf('vn') })),
    boundingbox: maybe(
      Type.Array(Type.String(), {
        minItems: 4,
        maxItems: 4,
        description: 'Of the cell: south, north, west, east',
      }),
    ),
    hexcodes: maybe(code),
    resolution: maybe(resolution),
    admin_code: maybe(adminCode),
    status: maybe(oneOf('OK')),
  }),
  TrackerTime: Type.Union([
    Type.String({
      pattern: `^${DATE}T${CLOCK}(Z|[+-]([01]\\d|2[0-3]):?[0-5]\\d)$`,
      description: 'ISO 8601',
    }),
    double({
      minimum: -62167219200000,
      maximum: 253402300799999,
      description: 'Milliseconds since 1970, of the years 0 to 9999',
    }),
  ]),
  TraccarRequest: Type.Object(
    {
      position: Type.Object({
        latitude: lat,
        longitude: lng,
        fixTime: maybe(time),
        deviceTime: maybe(time),
        serverTime: maybe(time),
        speed: knownNumber,
        course: knownNumber,
        altitude: knownNumber,
        accuracy: knownNumber,
        valid: maybe(orNull(Type.Boolean())),
        protocol: maybe(orNull(Type.String())),
        attributes: maybe(orNull(Type.Object({}))),
      }),
      device: Type.Object({
        uniqueId: Type.String({ minLength: 1, maxLength: 128 }),
        name: maybe(orNull(Type.String())),
      }),
    },
    {
      examples: [
        {
          position: { fixTime: '2026-11-22T08:15:02.000+00:00', latitude: 21.0288, longitude: 105.8525 },
          device: { uniqueId: '860123456789012', name: '51C-123.45' },
        },
      ],
    },
  ),
  Tracked: answer({
    ...tracked,
    hexcodes: codeOrNull,
    admin_code: adminCodeOrNull,
    status: oneOf('OK', 'NOT_FOUND'),
  }),
};

const anyNumber = orNull(double());
const id = named('ItemId');
const message = text('For people; may be worded differently in another version');
const requestId = Type.String({ pattern: '^[A-Za-z0-9._-]{1,128}$' });
const details = Type.Array(named('Fault'), { description: 'Every fault at once' });

const itemFault = {
  code: maybe(text('Why the item failed: a code of `Error`')),
  index: maybe(int32({ minimum: 0, description: 'Of an item that failed, in its list' })),
  message: maybe(message),
  details: maybe(details),
};

/** The members of an encode answer that may have failed: null for members that were not understood. */
const triedEncode = {
  hexcodes: codeOrNull,
  lat: anyNumber,
  lng: anyNumber,
  resolution: orNull(resolution),
  admin_code: adminCodeOrNull,
};
const formerProvince = maybe(orNull(text('Where `former` asks for it: the province before July 2025')));
const border = {
  border_m: maybe(
    orNull(
      int32({
        minimum: 0,
        maximum: 5000,
        description:
          'Where `certainty` asks for it: metres to the nearest border between two provinces; null beyond 5 km',
      }),
    ),
  ),
  certainty: maybe(
    orNull(
      double({
        minimum: 0,
        maximum: 1,
        description:
          'Where `certainty` asks for it: the share of positions on land so far from a border whose province is right, as measured; null where the boundary data say none',
      }),
    ),
  ),
};
const extras = forExtras(() => maybe(Type.Boolean()));
/** Members of the bodies of single calls. */
const SINGLE: Readonly<Record<ParameterName, TSchema>> = {
  lat,
  lng,
  resolution: maybe(resolution),
  hexcodes: Type.String({ minLength: 1 }),
  ...extras,
  admin_v2: maybe(Type.Boolean()),
};
const triedDecode = { lat: orNull(lat), lng: orNull(lng), resolution: orNull(resolution) };
const ring = Type.Array(position, { minItems: 4 });
const shape = (geometry: TSchema, properties: TProperties): TObject =>
  Type.Object({ type: oneOf('Feature'), geometry, properties: answer(properties) });
const unitMembers = {
  admin_code: adminCode,
  name: Type.String(),
  merged_units: Type.Array(Type.String(), { description: 'Provinces and cities before the merger of 2025' }),
};
const count = int64({ minimum: 0 });
const limit = orNull(double({ exclusiveMinimum: 0, description: 'null: no limit' }));

const errorMembers = {
  status: oneOf(
    'INVALID_HEXCODES',
    'INVALID_REQUEST',
    'NOT_FOUND',
    'REQUEST_DENIED',
    'OVER_QUERY_LIMIT',
    'UNAVAILABLE',
    'INTERNAL_ERROR',
  ),
  message,
  request_id: requestId,
  details: maybe(details),
};
const errorObject = answer({
  code: text('For programs, finer than `status`: docs/reference/http.md lists them. Further ones may come'),
  message,
  param: orNull(text('The first parameter at fault')),
});

const boundaryData = answer({
  source: Type.String(),
  date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  licence: Type.String(),
  notice: Type.String(),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  bands: maybe(
    Type.Array(
      answer({
        below_m: orNull(int32({ minimum: 1 })),
        certainty: double({ minimum: 0, maximum: 1 }),
      }),
      {
        description:
          'What `certainty` says of distances to a border below so many metres; null: of all others',
      },
    ),
  ),
  bands_note: maybe(text('What the shares were measured on, and how good any source of borders is')),
});

export const BODIES: Readonly<Record<string, TSchema>> = {
  Code: Type.Unsafe({ ...CODE, examples: ['HN-6GHP4-83RFR'] }),
  AdminCode: Type.Unsafe({
    ...oneOf(...ADMIN_UNITS.map((unit) => unit.code)),
    description: 'One of the 34 provinces since 2025',
  }),
  EncodeRequest: Type.Object(ofOperation('encode', SINGLE), {
    examples: [{ lat: 21.0288, lng: 105.8525 }],
  }),
  Encoded: answer({
    hexcodes: code,
    lat,
    lng,
    resolution,
    admin_code: adminCode,
    former_province: formerProvince,
    ...border,
    status: oneOf('OK'),
  }),
  ItemId: Type.Union([Type.String({ maxLength: 128 }), double()], {
    description: 'Of the caller; comes back as it was spelled',
  }),
  Point: Type.Object({ lat, lng, resolution: maybe(resolution), id: maybe(id) }),
  CodeItem: Type.Object({ hexcodes: Type.String(), id: maybe(id) }),
  DecodeRequest: Type.Object(ofOperation('decode', SINGLE), {
    examples: [{ hexcodes: 'HN-6GHP4-83RFR' }],
  }),
  DecodeAnswer: answer({
    ...triedDecode,
    hexcodes: text('As it was sent'),
    status: oneOf('OK', 'INVALID_HEXCODES'),
  }),
  EncodeBatchRequest: Type.Object(
    {
      resolution: maybe(resolution),
      ...extras,
      points: Type.Array(
        Type.Union([
          Type.Unsafe({
            type: 'array',
            prefixItems: [lat, lng],
            // Without it linters and generators of older drafts find no type.
            items: { type: 'number', format: 'double' },
            minItems: 2,
            maxItems: 2,
            description: 'lat, lng',
          }),
          named('Point'),
        ]),
        { maxItems: MAX_BATCH_ITEMS },
      ),
    },
    { examples: [{ points: [[21.0288, 105.8525]] }] },
  ),
  EncodeBatchAnswer: done({
    summary: named('Summary'),
    results: Type.Array(named('EncodeResult')),
  }),
  EncodeResult: answer({
    ...triedEncode,
    former_province: formerProvince,
    ...border,
    status: oneOf('OK', 'NOT_FOUND', 'INVALID_REQUEST'),
    ...itemFault,
    id: maybe(id),
  }),
  DecodeBatchRequest: Type.Object(
    {
      hexcodes: Type.Array(Type.Union([Type.String(), named('CodeItem')]), { maxItems: MAX_BATCH_ITEMS }),
    },
    { examples: [{ hexcodes: ['HN-6GHP4-83RFR'] }] },
  ),
  DecodeBatchAnswer: done({
    summary: named('Summary'),
    results: Type.Array(named('DecodeResult')),
  }),
  DecodeResult: Type.Object({
    lat: maybe(triedDecode.lat),
    lng: maybe(triedDecode.lng),
    resolution: maybe(triedDecode.resolution),
    hexcodes: maybe(text('As it was sent')),
    status: oneOf('OK', 'INVALID_HEXCODES', 'INVALID_REQUEST'),
    ...itemFault,
    id: maybe(id),
  }),
  Summary: answer({ total: count, ok: count, failed: count }),
  CodeInfo: done({
    hexcodes: code,
    resolution,
    admin_code: adminCode,
    province: Type.String(),
    h3_cell: Type.String({ pattern: '^8[0-9a-f]{14}$', description: 'H3 index, hexadecimal' }),
    lat,
    lng,
    area_m2: double({ exclusiveMinimum: 0, description: 'Square metres' }),
    edge_m: double({ exclusiveMinimum: 0, description: 'Mean length of an edge in metres' }),
    boundary: shape(
      Type.Object({
        type: oneOf('Polygon'),
        coordinates: Type.Array(ring, { minItems: 1, maxItems: 1 }),
      }),
      { hexcodes: code, resolution, admin_code: adminCode },
    ),
    parent: codeOrNull,
    neighbors: Type.Array(code, { maxItems: 6 }),
  }),
  Suggestions: done({
    hexcodes: text('The text as it was sent'),
    suggestions: Type.Array(
      answer({
        hexcodes: code,
        resolution,
        admin_code: adminCode,
        lat,
        lng,
        slip: oneOf('none', 'twin', 'swap', 'substitution', 'extra', 'missing', 'province'),
        distance_m: maybe(double({ minimum: 0, description: 'From `near` to the centre, metres' })),
      }),
      { maxItems: 10 },
    ),
  }),
  Places: done({
    licence: text('The line to show where many of these names are shown'),
    places: Type.Array(
      answer({
        name: Type.String(),
        kind: oneOf('province', 'former_province', 'town', 'landmark'),
        lat,
        lng,
        radius_m: double({ exclusiveMinimum: 0, description: 'About half its width, metres' }),
        admin_code: adminCode,
        distance_m: maybe(double({ minimum: 0, description: 'From `near` to the middle, metres' })),
      }),
      { maxItems: 100 },
    ),
  }),
  AdminUnits: done({
    admin_units: Type.Array(answer(unitMembers), {
      minItems: ADMIN_UNITS.length,
      maxItems: ADMIN_UNITS.length,
    }),
  }),
  FormerProvinces: done({
    former_provinces: Type.Array(
      answer({
        former_province: text('A province before July 2025'),
        admin_code: adminCode,
        name: text('The province of today that holds it'),
      }),
      { minItems: 63, maxItems: 63 },
    ),
  }),
  AdminUnit: done({
    ...unitMembers,
    boundary: shape(
      Type.Object({
        type: oneOf('MultiPolygon'),
        coordinates: Type.Array(Type.Array(ring, { minItems: 1 }), { minItems: 1 }),
      }),
      unitMembers,
    ),
    notice: text('The line to show wherever the boundary is shown'),
  }),
  Meta: done({
    service: answer({ name: Type.String(), version: Type.String() }),
    code_format: int32({ minimum: 1 }),
    transport: answer({ name: Type.String(), version: Type.String() }),
    boundary_data: boundaryData,
    previous_boundary_data: maybe(boundaryData),
  }),
  Usage: done({
    key: answer({ id: Type.String(), name: Type.String() }),
    day: answer({ date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), requests: count, points: count }),
    month: answer({ month: Type.String({ pattern: '^\\d{4}-\\d{2}$' }), requests: count, points: count }),
    time_zone: text('Of the IANA; day and month begin in it'),
    limits: answer({
      points_per_second: limit,
      points_burst: limit,
      requests_per_second: limit,
      requests_burst: limit,
      points_per_day: limit,
      points_per_month: limit,
    }),
  }),
  Fault: answer({ parameter: Type.String(), message: Type.String() }),
  Error: answer({ ...errorMembers, error: named('ErrorObject') }),
  ErrorObject: errorObject,
  DecodeError: answer(errorMembers),
  EncodeError: answer({ ...triedEncode, ...errorMembers }),
  ...TRACKER_BODIES,
  ...GRID_BODIES,
};
