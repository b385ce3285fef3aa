// The calls for products that track vehicles, made from the description at /openapi.json and answered as it says.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DescribedApi } from '../../support/described-api.js';
import { DescribedServer } from '../../support/described-server.js';
import { valuesOf } from '../../support/schema-values.js';

const settings = { seed: 23, numRuns: 100 };
let described: DescribedServer;
let api: DescribedApi;
beforeAll(async () => {
  described = await DescribedServer.start();
  api = described.api;
});
afterAll(() => described.stop());

test('POST /v1/traccar: what is allowed is taken, each of its times too; all else is refused as described', async () => {
  const operation = api.operation('/v1/traccar', 'post');
  const { schema } = operation.requestBody!.content['application/json']!;
  const post = (body: unknown): Promise<globalThis.Response> =>
    described.send('/v1/traccar', 'post', {}, { type: 'application/json', text: JSON.stringify(body) });
  await fc.assert(
    fc.asyncProperty(valuesOf(schema, api.resolve), async (body) => {
      const answer = await post(body);
      expect(answer.status, JSON.stringify(body)).toBe(200);
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
  await fc.assert(
    fc.asyncProperty(described.queries(operation), async (query) => {
      // Traccar writes null for a text that it does not have.
      fc.pre(query.uniqueId !== 'null');
      const answer = await described.send('/v1/traccar', 'get', query);
      expect(answer.status, JSON.stringify(query)).toBe(200);
      expect(await api.faultOf(operation, answer), JSON.stringify(query)).toBeUndefined();
    }),
    settings,
  );
});

test('GET /v1/reverse: allowed values are accepted, all others refused', async () => {
  const operation = api.operation('/v1/reverse', 'get');
  const requiredKeys = operation.parameters.filter((each) => each.required).map(({ name }) => name);
  expect(requiredKeys).toEqual(['lat', 'lon']);
  await fc.assert(
    fc.asyncProperty(described.queries(operation), async (query) => {
      const answer = await described.send('/v1/reverse', 'get', query);
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
    const answer = await described.send('/v1/reverse', 'get', { lat: 21, lon: 105, ...wrong });
    expect(answer.status).toBe(400);
    expect(await api.faultOf(operation, answer)).toBeUndefined();
  }
});
