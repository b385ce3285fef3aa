// A server with the shipped data, and requests made from the description that it serves.
import fc from 'fast-check';
import { type Described, DescribedApi, type Operation, valuesOf } from './described-api.js';
import { startServer, type TestServer } from './server.js';
import { shippedFiles } from './shipped.js';

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
