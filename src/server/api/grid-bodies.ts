// The bodies of the grid's tiles as JSON Schema.
import Type, { type TSchema } from 'typebox';
import { adminCode, answer, code, position, resolution, word } from './body-parts.js';

export const GRID_BODIES: Readonly<Record<string, TSchema>> = {
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
