// The parameters of the operations in operations.ts.

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: object;
  readonly example?: unknown;
}

export const LAT: Parameter = {
  name: 'lat',
  in: 'query',
  description: 'Degrees north (WGS 84)',
  schema: { type: 'number', minimum: -90, maximum: 90 },
  example: 21.0288,
};
export const LNG: Parameter = {
  name: 'lng',
  in: 'query',
  description: 'Degrees east (WGS 84)',
  schema: { type: 'number', minimum: -180, maximum: 180 },
  example: 105.8525,
};
export const RESOLUTION: Parameter = {
  name: 'resolution',
  in: 'query',
  description: 'Resolution of H3, written without sign, point or leading zero',
  schema: { type: 'integer', minimum: 0, maximum: 15, default: 13 },
};
export const ADMIN_V2: Parameter = {
  name: 'admin_v2',
  in: 'query',
  description: 'Without effect: codes are always of the structure of 2025',
  schema: { type: 'boolean' },
};
export const FORMER: Parameter = {
  name: 'former',
  in: 'query',
  description: 'Whether answers name the province before July 2025, as `former_province`',
  schema: { type: 'boolean', default: false },
};
export const query = (name: string, description: string, schema: object, example: unknown): Parameter => ({
  ...{ name, in: 'query', description, schema, example },
});
export const OF_TRACCAR =
  'docs/traccar.md has its settings. The answer comes once the position is on disk; a position in no province is kept, too, and answered 200. The key may also be the query parameter `key`.';
export const REVERSE_FORMAT: Parameter = {
  name: 'format',
  in: 'query',
  description: 'The same answer for both',
  schema: { type: 'string', enum: ['json', 'jsonv2'], default: 'json' },
};
export const ADDRESS_DETAILS: Parameter = {
  name: 'addressdetails',
  in: 'query',
  description: 'Whether the answer has `address`',
  schema: { type: 'integer', enum: [0, 1], default: 1 },
};
export const HEXCODES: Parameter = {
  name: 'hexcodes',
  in: 'query',
  description: 'The code in any spelling that docs/code-format.md allows',
  schema: { type: 'string', minLength: 1 },
  example: 'HN-6GHP4-83RFR',
};
export const CODE_IN_PATH: Parameter = {
  name: 'code',
  in: 'path',
  required: true,
  description: 'A code in any spelling, percent-encoded in UTF-8',
  schema: { type: 'string', minLength: 1 },
  example: 'HN-6GHP4-83RFR',
};
export const DELIMITER: Parameter = {
  name: 'delimiter',
  in: 'query',
  description: 'Of a CSV body; by default the header row shows it',
  schema: { type: 'string', enum: ['comma', 'semicolon', 'tab', 'pipe'] },
};
export const PREFIX: Parameter = {
  name: 'prefix',
  in: 'query',
  description: 'Put before the names of the columns that a CSV answer adds',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_.-]{0,64}$' },
};

const TILE_NUMBER = {
  in: 'path',
  required: true,
  schema: { type: 'string', pattern: '^[0-9]{1,7}$' },
} as const;

export const required = (parameter: Parameter): Parameter => ({ ...parameter, required: true });
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
