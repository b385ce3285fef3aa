// The calls for products that track vehicles, made from the description at /openapi.json and answered as it says.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Described, DescribedApi } from '../../support/described-api.js';
import { valuesOf } from '../../support/schema-values.js';
import { startServer, type TestServer } from '../../support/server.js';
import { shippedFiles } from '../../support/shipped.js';

const settings = { seed: 23, numRuns: 100 };
let server: TestServer;
let api: DescribedApi;
beforeAll(async () => {
  server = await startServer({ logLevel: 'silent' }, shippedFiles());
  const document = await fetch(`http://127.0.0.1:${server.port}/openapi.json`);
  api = new DescribedApi((await document.json()) as Described);
});
afterAll(() => server.stop());

function get(path: string, query: object): Promise<globalThis.Response> {
  const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
  const url = `http://127.0.0.1:${server.port}${path}?${new URLSearchParams(texts)}`;
  return fetch(url, { headers: { 'X-API-Key': server.key } });
}

test('POST /v1/traccar: what is allowed is taken, but for dates that there are not; all else is refused as described', async () => {
  const operation = api.operation('/v1/traccar', 'post');
  const { schema } = operation.requestBody!.content['application/json']!;
  const post = (body: unknown): Promise<globalThis.Response> =>
    fetch(`http://127.0.0.1:${server.port}/v1/traccar`, {
      method: 'POST',
      headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const isDate = (text: unknown): boolean => !Number.isNaN(Date.parse(String(text ?? '1970-01-01')));
  await fc.assert(
    fc.asyncProperty(valuesOf(schema, api.resolve), async (body) => {
      const { position } = body as { position: Record<string, unknown> };
      const { fixTime, deviceTime, serverTime } = position;
      const isRight = [fixTime, deviceTime, serverTime].every(isDate);
      const answer = await post(body);
      expect(answer.status, JSON.stringify(body)).toBe(isRight ? 200 : 400);
      expect(await api.faultOf(operation, answer), JSON.stringify(body)).toBeUndefined();
    }),
    settings,
  );
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (body) => {
      const answer = await post(body);
      expect(answer.status, JSON.stringify(body)).toBe(400);
      expect(await api.faultOf(operation, answer), JSON.stringify(body)).toBeUndefined();
    }),
    settings,
  );
});

test('GET /v1/traccar: allowed values are taken', async () => {
  const operation = api.operation('/v1/traccar', 'get');
  const names = operation.parameters.map(({ name, schema }) => [name, valuesOf(schema, api.resolve)]);
  const queries = fc.record(Object.fromEntries(names) as Record<string, fc.Arbitrary<unknown>>);
  await fc.assert(
    fc.asyncProperty(queries, async (query) => {
      const answer = await get('/v1/traccar', query);
      // Traccar writes null for a text that it does not have.
      fc.pre((query as { uniqueId: string }).uniqueId !== 'null');
      expect(answer.status, JSON.stringify(query)).toBe(200);
      expect(await api.faultOf(operation, answer), JSON.stringify(query)).toBeUndefined();
    }),
    settings,
  );
});

test('GET /v1/reverse: allowed values are accepted, all others refused', async () => {
  const operation = api.operation('/v1/reverse', 'get');
  const names = operation.parameters.map(({ name, schema }) => [name, valuesOf(schema, api.resolve)]);
  const requiredKeys = operation.parameters.filter((each) => each.required).map(({ name }) => name);
  expect(requiredKeys).toEqual(['lat', 'lon']);
  const queries = fc.record(Object.fromEntries(names) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys,
  });
  await fc.assert(
    fc.asyncProperty(queries, async (query) => {
      const answer = await get('/v1/reverse', query);
      expect(answer.status, JSON.stringify(query)).toBe(200);
      expect(await api.faultOf(operation, answer), JSON.stringify(query)).toBeUndefined();
    }),
    settings,
  );
  for (const wrong of [
    { lat: 91 },
    { lon: 'x' },
    { format: 'xml' },
    { resolution: 16 },
    { addressdetails: 2 },
  ]) {
    const answer = await get('/v1/reverse', { lat: 21, lon: 105, ...wrong });
    expect(answer.status).toBe(400);
    expect(await api.faultOf(operation, answer)).toBeUndefined();
  }
});
