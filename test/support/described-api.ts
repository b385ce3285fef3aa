// The description at /openapi.json as tests use it: operations, schemas, what is wrong with an answer by it, and a
// server that is asked by it.

import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { startServer, type TestServer } from './server.js';
import { shippedFiles } from './shipped.js';

// Values of a JSON schema, and values one step outside it, for requests that are made from the served description.
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

interface Response {
  description: string;
  $ref?: string;
  headers: Record<string, { $ref: string }>;
  /** Absent of an answer that has no body. */
  content?: Record<string, { schema: object; example?: unknown }>;
}
export interface Operation {
  operationId: string;
  parameters: { name: string; in: 'query' | 'path'; required?: boolean; schema: Schema; example?: unknown }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, Response>;
}
export interface Described {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    headers: Record<string, { schema: object; required?: boolean }>;
  };
}

/** Headers of every HTTP answer, which a description leaves out. */
const TRANSPORT_HEADERS = [
  'connection',
  'content-length',
  'content-type',
  'date',
  'transfer-encoding',
  'keep-alive',
  'uwebsockets',
];

/** Formats that are there for generators: they add nothing to types and bounds. */
const FORMATS = { double: true, int32: true, int64: true, binary: true } as const;
const JSON_TYPE = 'application/json';

export class DescribedApi {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false, formats: FORMATS });

  constructor(readonly document: Described) {
    this.#ajv.addSchema(document, 'api');
  }

  operations(): Operation[] {
    return Object.values(this.document.paths).flatMap((methods) => Object.values(methods));
  }

  operation(path: string, method: string): Operation {
    return this.document.paths[path]![method]!;
  }

  /** The schema that a `$ref` names. */
  readonly resolve = (ref: string): Schema => this.document.components.schemas[lastOf(ref)]!;

  /** How a value departs from a schema of the description; undefined if it does not. */
  schemaFaultOf(schema: object, value: unknown): string | undefined {
    return this.#ajv.validate(asWhole(schema), value) ? undefined : this.#ajv.errorsText();
  }

  /** How an answer departs from the description; undefined if it does not. */
  async faultOf(operation: Operation, answer: globalThis.Response): Promise<string | undefined> {
    const declared = operation.responses[String(answer.status)];
    if (declared === undefined) return `status ${answer.status} is not declared`;
    const { headers, content } =
      declared.$ref === undefined ? declared : this.document.components.responses[lastOf(declared.$ref)]!;
    const headerFault = this.#headerFault(headers, answer.headers);
    if (headerFault !== undefined) return headerFault;
    const type = answer.headers.get('content-type') ?? '';
    if (content === undefined)
      return type === '' && (await answer.text()) === '' ? undefined : 'a body where none is declared';
    const media = content[type.split(';')[0]!];
    if (media === undefined) return `media type ${type} is not declared`;
    const text = await answer.text();
    if (type !== JSON_TYPE) return undefined;
    const isRight = this.#ajv.validate(asWhole(media.schema), JSON.parse(text));
    return isRight ? undefined : `${this.#ajv.errorsText()} in ${text.slice(0, 300)}`;
  }

  #headerFault(declared: Response['headers'], sent: Headers): string | undefined {
    const refs = new Map(
      Object.entries(declared).map(([name, { $ref }]) => [name.toLowerCase(), lastOf($ref)]),
    );
    for (const [name, ref] of refs) {
      const { required, schema } = this.document.components.headers[ref]!;
      const value = sent.get(name);
      if (value === null && required) return `header ${name} is missing`;
      const typed = (schema as Schema).type === 'integer' ? Number(value) : value;
      if (value !== null && !this.#ajv.validate(schema, typed)) return `header ${name}: ${value}`;
    }
    const others = [...sent.keys()].filter((name) => !refs.has(name) && !TRANSPORT_HEADERS.includes(name));
    return others.length > 0 ? `headers that are not declared: ${others}` : undefined;
  }
}

const lastOf = (ref: string): string => ref.split('/').at(-1)!;

/** References within the description, for ajv. */
const asWhole = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components')) as object;

// A server with the shipped data, and requests made from the description that it serves.

export type Values = Readonly<Record<string, unknown>>;

export interface Body {
  readonly type: string;
  readonly text: string;
}

export const queryOf = (values: Values): string =>
  new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)])).toString();

export class DescribedServer {
  private constructor(
    readonly server: TestServer,
    readonly api: DescribedApi,
  ) {}

  static async start(): Promise<DescribedServer> {
    const server = await startServer({ logLevel: 'silent' }, shippedFiles());
    const document = await fetch(`http://127.0.0.1:${server.port}/openapi.json`);
    return new DescribedServer(server, new DescribedApi((await document.json()) as Described));
  }

  send(path: string, method: string, query: Values, body?: Body): Promise<globalThis.Response> {
    return fetch(`http://127.0.0.1:${this.server.port}${path}?${queryOf(query)}`, {
      method: method.toUpperCase(),
      headers: {
        'X-API-Key': this.server.key,
        ...(body === undefined ? {} : { 'Content-Type': body.type }),
      },
      ...(body === undefined ? {} : { body: body.text }),
    });
  }

  /** Parameters of the query with values that the description allows. */
  queries({ parameters }: Operation): fc.Arbitrary<Values> {
    const inQuery = parameters.filter((each) => each.in === 'query');
    const model = Object.fromEntries(
      inQuery.map(({ name, schema }) => [name, valuesOf(schema, this.api.resolve)]),
    );
    return fc.record(model, {
      requiredKeys: inQuery.filter((each) => each.required).map(({ name }) => name),
    });
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}
