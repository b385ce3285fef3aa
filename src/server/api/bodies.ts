// The bodies of /v1 as JSON Schema (2020-12), by the names that the document gives them. Compiled at build time only:
// the service checks requests by hand and writes answers as bytes, and tests hold both to these schemas.

import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { MAX_BATCH_ITEMS } from '../../hexcodes/wire/limits.js';

/** A schema of bodies.ts, by its name. */
const named = (name: string): TSchema => Type.Unsafe({ $ref: `#/components/schemas/${name}` });

const orNull = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()]);
/** Schema of an answer: all members are there, and further ones may come. */
const answer = (members: TProperties): TObject => Type.Object(members);
const word = (status: string): TSchema => Type.Literal(status);
const oneOf = (values: readonly string[]): TSchema => Type.Unsafe({ type: 'string', enum: [...values] });

const lat = Type.Number({ minimum: -90, maximum: 90, description: 'Degrees north, WGS 84' });
const lng = Type.Number({ minimum: -180, maximum: 180, description: 'Degrees east, WGS 84' });
const resolution = Type.Integer({ minimum: 0, maximum: 15, description: 'Resolution of H3' });
const code = named('Code');
const adminCode = named('AdminCode');
/** Position of GeoJSON. */
const position = Type.Array(Type.Number(), {
  minItems: 2,
  maxItems: 2,
  description: 'Longitude, latitude',
});

const GRID_BODIES: Readonly<Record<string, TSchema>> = {
  Grid: answer({
    type: Type.Literal('FeatureCollection'),
    status: word('OK'),
    resolution,
    features: Type.Array(
      answer({
        type: Type.Literal('Feature'),
        id: code,
        geometry: Type.Object({
          type: Type.Literal('Polygon'),
          coordinates: Type.Array(Type.Array(position, { minItems: 7 }), { minItems: 1, maxItems: 1 }),
        }),
        properties: answer({ hexcodes: code, resolution, admin_code: adminCode }),
      }),
      { maxItems: 256 },
    ),
  }),
};

const knownNumber = Type.Optional(orNull(Type.Number()));
const time = orNull(
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:?\\d\\d)$' }),
);
const tracked = {
  id: Type.String({
    pattern: '^[0-9a-f]{32}$',
    description: 'The same where the position comes again; sinks get it, too',
  }),
  resolution,
  forwarded: Type.Boolean({ description: 'Whether it goes on to a sink' }),
};

const TRACKER_BODIES: Readonly<Record<string, TSchema>> = {
  Reversed: answer({
    licence: Type.String({ description: 'The line to show wherever the boundaries are shown' }),
    lat: Type.String({ description: 'Centre of the cell, degrees north' }),
    lon: Type.String({ description: 'Centre of the cell, degrees east' }),
    name: code,
    display_name: Type.String({ description: 'Code, province, country' }),
    address: Type.Optional(
      answer({ state: Type.String(), country: word('Việt Nam'), country_code: word('vn') }),
    ),
    boundingbox: Type.Array(Type.String(), {
      minItems: 4,
      maxItems: 4,
      description: 'Of the cell: south, north, west, east',
    }),
    hexcodes: code,
    resolution,
    admin_code: adminCode,
    status: word('OK'),
  }),
  NotReversed: answer({ error: Type.Literal('Unable to geocode') }),
  TraccarRequest: Type.Object(
    {
      position: Type.Object({
        latitude: lat,
        longitude: lng,
        fixTime: Type.Optional(time),
        deviceTime: Type.Optional(time),
        serverTime: Type.Optional(time),
        speed: knownNumber,
        course: knownNumber,
        altitude: knownNumber,
        accuracy: knownNumber,
        valid: Type.Optional(orNull(Type.Boolean())),
        protocol: Type.Optional(orNull(Type.String())),
        attributes: Type.Optional(orNull(Type.Object({}))),
      }),
      device: Type.Object({
        uniqueId: Type.String({ minLength: 1, maxLength: 128 }),
        name: Type.Optional(orNull(Type.String())),
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
  Tracked: answer({ ...tracked, hexcodes: code, admin_code: adminCode, status: word('OK') }),
  TrackedOutside: answer({
    ...tracked,
    hexcodes: Type.Null(),
    admin_code: Type.Null(),
    status: word('NOT_FOUND'),
  }),
};

const anyNumber = orNull(Type.Number());
const id = Type.Union([Type.String({ maxLength: 128 }), Type.Number()], {
  description: 'Of the caller; comes back as it was spelled',
});
const message = Type.String({ description: 'For people; may be worded differently in another version' });
const requestId = Type.String({ pattern: '^[A-Za-z0-9._-]{1,128}$' });
const details = Type.Array(named('Fault'), { description: 'Every fault at once' });

/** The members of an encode answer that failed: null for what was not read or not understood. */
const failedEncode = {
  hexcodes: Type.Null(),
  lat: anyNumber,
  lng: anyNumber,
  resolution: orNull(resolution),
  admin_code: Type.Null(),
};
const formerProvince = Type.Optional(
  Type.String({ description: 'Where `former` asks for it: the province before July 2025' }),
);
const border = {
  border_m: Type.Optional(
    orNull(
      Type.Integer({
        minimum: 0,
        maximum: 5000,
        description:
          'Where `certainty` asks for it: metres to the nearest border between two provinces; null beyond 5 km',
      }),
    ),
  ),
  certainty: Type.Optional(
    orNull(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Where `certainty` asks for it: the share of positions on land so far from a border whose province is right, as measured; null where the boundary data say none',
      }),
    ),
  ),
};
const noDecoded = { lat: Type.Null(), lng: Type.Null(), resolution: Type.Null() };
const noneAsked = {
  former_province: Type.Optional(Type.Null()),
  border_m: Type.Optional(Type.Null()),
  certainty: Type.Optional(Type.Null()),
};
const ring = Type.Array(position, { minItems: 4 });
const shape = (geometry: TSchema, properties: TProperties): TObject =>
  Type.Object({ type: Type.Literal('Feature'), geometry, properties: answer(properties) });
const unitMembers = {
  admin_code: adminCode,
  name: Type.String(),
  merged_units: Type.Array(Type.String(), { description: 'Provinces and cities before the merger of 2025' }),
};
const count = Type.Integer({ minimum: 0 });
const limit = Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()], {
  description: 'null: no limit',
});

const boundaryData = answer({
  source: Type.String(),
  date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  licence: Type.String(),
  notice: Type.String(),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  bands: Type.Optional(
    Type.Array(
      answer({
        below_m: orNull(Type.Integer({ minimum: 1 })),
        certainty: Type.Number({ minimum: 0, maximum: 1 }),
      }),
      {
        description:
          'What `certainty` says of distances to a border below so many metres; null: of all others',
      },
    ),
  ),
  bands_note: Type.Optional(
    Type.String({ description: 'What the shares were measured on, and how good any source of borders is' }),
  ),
});

export const BODIES: Readonly<Record<string, TSchema>> = {
  Code: Type.String({
    pattern: '^[A-Z]{2,3}-([2-9CFGHJKMPQRVX]{5}-){0,2}[2-9CFGHJKMPQRVX]{1,5}$',
    description: 'A hexcode in its canonical spelling',
    examples: ['HN-6GHP4-83RFR'],
  }),
  AdminCode: Type.Unsafe({
    ...oneOf(ADMIN_UNITS.map((unit) => unit.code)),
    description: 'One of the 34 provinces since 2025',
  }),
  EncodeRequest: Type.Object(
    {
      lat,
      lng,
      resolution: Type.Optional(resolution),
      former: Type.Optional(Type.Boolean()),
      certainty: Type.Optional(Type.Boolean()),
      admin_v2: Type.Optional(Type.Boolean()),
    },
    { examples: [{ lat: 21.0288, lng: 105.8525 }] },
  ),
  Encoded: answer({
    hexcodes: code,
    lat,
    lng,
    resolution,
    admin_code: adminCode,
    former_province: formerProvince,
    ...border,
    status: word('OK'),
  }),
  DecodeRequest: Type.Object(
    { hexcodes: Type.String({ minLength: 1 }), admin_v2: Type.Optional(Type.Boolean()) },
    { examples: [{ hexcodes: 'HN-6GHP4-83RFR' }] },
  ),
  Decoded: answer({ lat, lng, resolution, hexcodes: Type.String(), status: word('OK') }),
  NotDecoded: answer({ ...noDecoded, hexcodes: Type.String(), status: word('INVALID_HEXCODES') }),
  FileForm: Type.Object({
    file: Type.String({
      contentMediaType: 'application/octet-stream',
      description: 'One file. Its Content-Type says its format, else its extension.',
    }),
  }),
  EncodeBatchRequest: Type.Object(
    {
      resolution: Type.Optional(resolution),
      former: Type.Optional(Type.Boolean()),
      certainty: Type.Optional(Type.Boolean()),
      points: Type.Array(
        Type.Union([
          Type.Unsafe({
            type: 'array',
            prefixItems: [lat, lng],
            // Without it linters and generators of older drafts find no type.
            items: { type: 'number' },
            minItems: 2,
            maxItems: 2,
            description: 'lat, lng',
          }),
          Type.Object({ lat, lng, resolution: Type.Optional(resolution), id: Type.Optional(id) }),
        ]),
        { maxItems: MAX_BATCH_ITEMS },
      ),
    },
    { examples: [{ points: [[21.0288, 105.8525]] }] },
  ),
  EncodeBatchAnswer: answer({
    status: word('OK'),
    summary: named('Summary'),
    results: Type.Array(named('EncodeResult')),
  }),
  EncodeResult: Type.Union([
    answer({
      hexcodes: code,
      lat,
      lng,
      resolution,
      admin_code: adminCode,
      former_province: formerProvince,
      ...border,
      status: word('OK'),
      id: Type.Optional(id),
    }),
    answer({ ...failedEncode, ...noneAsked, status: word('NOT_FOUND'), message, id: Type.Optional(id) }),
    answer({
      ...failedEncode,
      ...noneAsked,
      status: word('INVALID_REQUEST'),
      message,
      details,
      id: Type.Optional(id),
    }),
  ]),
  DecodeBatchRequest: Type.Object(
    {
      hexcodes: Type.Array(
        Type.Union([Type.String(), Type.Object({ hexcodes: Type.String(), id: Type.Optional(id) })]),
        { maxItems: MAX_BATCH_ITEMS },
      ),
    },
    { examples: [{ hexcodes: ['HN-6GHP4-83RFR'] }] },
  ),
  DecodeBatchAnswer: answer({
    status: word('OK'),
    summary: named('Summary'),
    results: Type.Array(named('DecodeResult')),
  }),
  DecodeResult: Type.Union([
    answer({ lat, lng, resolution, hexcodes: Type.String(), status: word('OK'), id: Type.Optional(id) }),
    answer({
      ...noDecoded,
      hexcodes: Type.String(),
      status: word('INVALID_HEXCODES'),
      id: Type.Optional(id),
    }),
    answer({ status: word('INVALID_REQUEST'), message, details, id: Type.Optional(id) }),
  ]),
  Summary: answer({ total: count, ok: count, failed: count }),
  CodeInfo: answer({
    status: word('OK'),
    hexcodes: code,
    resolution,
    admin_code: adminCode,
    province: Type.String(),
    h3_cell: Type.String({ pattern: '^8[0-9a-f]{14}$', description: 'H3 index, hexadecimal' }),
    lat,
    lng,
    area_m2: Type.Number({ exclusiveMinimum: 0, description: 'Square metres' }),
    edge_m: Type.Number({ exclusiveMinimum: 0, description: 'Mean length of an edge in metres' }),
    boundary: shape(
      Type.Object({
        type: Type.Literal('Polygon'),
        coordinates: Type.Array(ring, { minItems: 1, maxItems: 1 }),
      }),
      { hexcodes: code, resolution, admin_code: adminCode },
    ),
    parent: orNull(code),
    neighbors: Type.Array(code, { maxItems: 6 }),
  }),
  Suggestions: answer({
    status: word('OK'),
    hexcodes: Type.String({ description: 'The text as it was sent' }),
    suggestions: Type.Array(
      answer({
        hexcodes: code,
        resolution,
        admin_code: adminCode,
        lat,
        lng,
        slip: Type.Union(
          ['none', 'twin', 'swap', 'substitution', 'extra', 'missing', 'province'].map((slip) =>
            Type.Literal(slip),
          ),
        ),
        distance_m: Type.Optional(
          Type.Number({ minimum: 0, description: 'From `near` to the centre, metres' }),
        ),
      }),
      { maxItems: 10 },
    ),
  }),
  Places: answer({
    status: word('OK'),
    licence: Type.String({ description: 'The line to show where many of these names are shown' }),
    places: Type.Array(
      answer({
        name: Type.String(),
        kind: Type.Union(
          ['province', 'former_province', 'town', 'landmark'].map((kind) => Type.Literal(kind)),
        ),
        lat,
        lng,
        radius_m: Type.Number({ exclusiveMinimum: 0, description: 'About half its width, metres' }),
        admin_code: adminCode,
        distance_m: Type.Optional(
          Type.Number({ minimum: 0, description: 'From `near` to the middle, metres' }),
        ),
      }),
      { maxItems: 100 },
    ),
  }),
  AdminUnits: answer({
    status: word('OK'),
    admin_units: Type.Array(answer(unitMembers), {
      minItems: ADMIN_UNITS.length,
      maxItems: ADMIN_UNITS.length,
    }),
  }),
  FormerProvinces: answer({
    status: word('OK'),
    former_provinces: Type.Array(
      answer({
        former_province: Type.String({ description: 'A province before July 2025' }),
        admin_code: adminCode,
        name: Type.String({ description: 'The province of today that holds it' }),
      }),
      { minItems: 63, maxItems: 63 },
    ),
  }),
  AdminUnit: answer({
    status: word('OK'),
    ...unitMembers,
    boundary: shape(
      Type.Object({
        type: Type.Literal('MultiPolygon'),
        coordinates: Type.Array(Type.Array(ring, { minItems: 1 }), { minItems: 1 }),
      }),
      unitMembers,
    ),
    notice: Type.String({ description: 'The line to show wherever the boundary is shown' }),
  }),
  Meta: answer({
    status: word('OK'),
    service: answer({ name: Type.Literal('hexcodes'), version: Type.String() }),
    code_format: Type.Literal(1),
    transport: answer({ name: Type.String(), version: Type.String() }),
    boundary_data: boundaryData,
    previous_boundary_data: Type.Optional(boundaryData),
  }),
  Usage: answer({
    status: word('OK'),
    key: answer({ id: Type.String(), name: Type.String() }),
    day: answer({ date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), requests: count, points: count }),
    month: answer({ month: Type.String({ pattern: '^\\d{4}-\\d{2}$' }), requests: count, points: count }),
    time_zone: Type.String({ description: 'Of the IANA; day and month begin in it' }),
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
  Error: answer({
    status: oneOf([
      'INVALID_HEXCODES',
      'INVALID_REQUEST',
      'NOT_FOUND',
      'REQUEST_DENIED',
      'OVER_QUERY_LIMIT',
      'UNAVAILABLE',
      'INTERNAL_ERROR',
    ]),
    message,
    request_id: requestId,
    details: Type.Optional(details),
  }),
  EncodeError: Type.Intersect([Type.Object(failedEncode), named('Error')]),
  ...TRACKER_BODIES,
  ...GRID_BODIES,
};
