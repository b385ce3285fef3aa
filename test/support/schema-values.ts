// Values of a JSON schema, and values one step outside it, for requests that are made from the served description.
import fc from 'fast-check';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

/** Arrays longer than this are tested elsewhere. */
const MAX_ITEMS = 6;

/** @param resolve the schema that a `$ref` names */
export function valuesOf(schema: Schema, resolve: (ref: string) => Schema): fc.Arbitrary<unknown> {
  const of = (inner: Schema): fc.Arbitrary<unknown> => valuesOf(inner, resolve);
  if (schema.$ref !== undefined) return of(resolve(schema.$ref));
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(of));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type: string) => of({ ...schema, type })));
  const { minimum: min = -1e9, maximum: max = 1e9 } = schema;
  switch (schema.type) {
    case 'object': {
      const members = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, of(inner)]);
      const requiredKeys = [...(schema.required ?? [])];
      return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
        requiredKeys,
      });
    }
    case 'array': {
      if (schema.prefixItems !== undefined) return fc.tuple(...schema.prefixItems.map(of));
      const { minItems = 0, maxItems = MAX_ITEMS } = schema;
      return fc.array(of(schema.items ?? {}), {
        minLength: minItems,
        maxLength: Math.min(maxItems, Math.max(minItems, MAX_ITEMS)),
      });
    }
    case 'integer':
      return fc.integer({ min, max });
    case 'number':
      return fc.oneof(fc.double({ min, max, noNaN: true }), fc.constantFrom(min, max, 0));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
      return fc.string({
        minLength: schema.minLength ?? 0,
        maxLength: schema.maxLength ?? 40,
        unit: 'grapheme',
      });
    default:
      throw new Error(`no values of ${JSON.stringify(schema)}`);
  }
}

/** Values that differ from the schema in one thing: a bound that is passed, or another type. */
export function outsideOf({ minimum, maximum, type, minLength }: Schema): fc.Arbitrary<unknown> {
  const outside: fc.Arbitrary<unknown>[] = [];
  if (minimum !== undefined) outside.push(fc.constantFrom(minimum - 1, minimum - 1e-9, -1e300));
  if (maximum !== undefined) outside.push(fc.constantFrom(maximum + 1, maximum + 1e-9, 1e300));
  if (type === 'integer') outside.push(fc.constantFrom(0.5, 12.000001));
  if (minLength === 1) outside.push(fc.constant(''));
  outside.push(fc.constantFrom([], {}, [1]));
  if (type !== 'string') outside.push(fc.constantFrom('x', '1 ', 'NaN'));
  if (type === 'string') outside.push(fc.constantFrom(7, true));
  return fc.oneof(...outside);
}
