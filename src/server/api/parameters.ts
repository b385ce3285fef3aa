// The parameters of the operations in operations.ts.

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: object;
  readonly example?: unknown;
}

export const query = (name: string, description: string, schema: object, example?: unknown): Parameter => ({
  ...{ name, in: 'query', description, schema },
  ...(example === undefined ? {} : { example }),
});
export const required = (parameter: Parameter): Parameter => ({ ...parameter, required: true });

const LATITUDE = { type: 'number', minimum: -90, maximum: 90 };
const LONGITUDE = { type: 'number', minimum: -180, maximum: 180 };

/** @param name of the parameter */
export const latitude = (name: string): Parameter => query(name, 'Degrees north (WGS 84)', LATITUDE, 21.0288);
export const longitude = (name: string): Parameter =>
  query(name, 'Degrees east (WGS 84)', LONGITUDE, 105.8525);
export const RESOLUTION = query(
  'resolution',
  'Resolution of H3, written without sign, point or leading zero',
  { type: 'integer', minimum: 0, maximum: 15, default: 13 },
);
export const ADMIN_V2 = query('admin_v2', 'Without effect: codes are always of the structure of 2025', {
  type: 'boolean',
});
export const FORMER = query(
  'former',
  'Whether answers name the province before July 2025, as `former_province`',
  { type: 'boolean', default: false },
);
export const CERTAINTY = query(
  'certainty',
  'Whether answers say how sure the province is, as `border_m` and `certainty`',
  { type: 'boolean', default: false },
);
export const NEAR = query(
  'near',
  'lat,lng: the nearest come first, with distance_m',
  { type: 'string' },
  '21.03,105.85',
);
export const REVERSE_FORMAT = query('format', 'The same answer for both', {
  ...{ type: 'string', enum: ['json', 'jsonv2'], default: 'json' },
});
export const ADDRESS_DETAILS = query('addressdetails', 'Whether the answer has `address`', {
  ...{ type: 'integer', enum: [0, 1], default: 1 },
});
export const HEXCODES = query(
  'hexcodes',
  'The code in any spelling that docs/code-format.md allows',
  { type: 'string', minLength: 1 },
  'HN-6GHP4-83RFR',
);
export const DELIMITER = query('delimiter', 'Of a CSV body; by default the header row shows it', {
  ...{ type: 'string', enum: ['comma', 'semicolon', 'tab', 'pipe'] },
});
export const PREFIX = query('prefix', 'Put before the names of the columns that a CSV answer adds', {
  ...{ type: 'string', pattern: '^[A-Za-z0-9_.-]{0,64}$' },
});
export const CODE_IN_PATH: Parameter = {
  name: 'code',
  in: 'path',
  required: true,
  description: 'A code in any spelling, percent-encoded in UTF-8',
  schema: { type: 'string', minLength: 1 },
  example: 'HN-6GHP4-83RFR',
};
const TILE_NUMBER = {
  in: 'path',
  required: true,
  schema: { type: 'string', pattern: '^[0-9]{1,7}$' },
} as const;

export const TILE: readonly Parameter[] = [
  {
    ...TILE_NUMBER,
    name: 'z',
    description: 'Zoom, 0 to 22',
    schema: { type: 'string', pattern: '^(?:1?[0-9]|2[0-2])$' },
    example: '12',
  },
  { ...TILE_NUMBER, name: 'x', description: 'Column, from 0 in the west', example: '3252' },
  {
    ...TILE_NUMBER,
    name: 'y',
    description: 'Row, from 0 in the north',
    schema: { type: 'string', pattern: '^[0-9]{1,7}(?:\\.mvt|\\.geojson)?$' },
    example: '1803',
  },
];
