// Parts of which the schemas of bodies are made.
import Type, { type TObject, type TProperties, type TSchema } from 'typebox';

/** A schema of bodies.ts, by its name. */
export const named = (name: string): TSchema => Type.Unsafe({ $ref: `#/components/schemas/${name}` });

export const orNull = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()]);
/** Schema of an answer: all members are there, and further ones may come. */
export const answer = (members: TProperties): TObject => Type.Object(members);
export const word = (status: string): TSchema => Type.Literal(status);
export const oneOf = (values: readonly string[]): TSchema =>
  Type.Unsafe({ type: 'string', enum: [...values] });

export const lat = Type.Number({ minimum: -90, maximum: 90, description: 'Degrees north, WGS 84' });
export const lng = Type.Number({ minimum: -180, maximum: 180, description: 'Degrees east, WGS 84' });
export const resolution = Type.Integer({ minimum: 0, maximum: 15, description: 'Resolution of H3' });
export const code = named('Code');
export const adminCode = named('AdminCode');
/** Position of GeoJSON. */
export const position = Type.Array(Type.Number(), {
  ...{ minItems: 2, maxItems: 2, description: 'Longitude, latitude' },
});
