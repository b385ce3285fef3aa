// The description of the service: recorded answers, errors, and what trackers may send.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type DescribedApi, DescribedServer, valuesOf } from '../../support/described-api.js';
import { sharedOf } from '../../support/shared.js';

const described = sharedOf(
  () => DescribedServer.start(),
  (made) => made.stop(),
);

// The answers that /openapi.json shows beside each operation: what a service says today, as the schemas say.
describe('answers', async () => {
  const program = pathToFileURL(resolve('tools/answers.mjs')).href;
  const { recordAnswers } = (await import(program)) as {
    recordAnswers(base: string, key: string): Promise<Record<string, Record<string, unknown>>>;
  };

  test('every operation shows one, as a service gives it and as its schema says; it says which are shortened', async () => {
    const { api, server } = described;
    const answers = await recordAnswers(`http://127.0.0.1:${server.port}`, server.key);
    const shown: string[] = [];
    for (const { operationId: id, responses } of api.operations()) {
      // A vector tile is not text.
      if (id === 'gridTile') continue;
      const examples = Object.entries(responses[200]!.content!).filter(([, media]) => 'example' in media);
      for (const [type, { schema, example }] of examples) {
        shown.push(id);
        expect(example, `${id} ${type}`).toEqual(answers[id]![type]);
        expect(api.schemaFaultOf(schema, example), `${id} ${type}`).toBeUndefined();
      }
    }
    const ids = api.operations().map(({ operationId }) => operationId);
    expect(ids.filter((id) => !shown.includes(id))).toEqual(['gridTile']);
    const whole = await Promise.all(
      ['/v1/grid/12/3252/1803', '/v1/admin-units/HN', '/v1/hexcodes/HN-6GHP4-83RFR'].map((path) =>
        described.send(path, 'get', {}).then((answer) => answer.json()),
      ),
    );
    const isWhole = ['grid', 'adminUnit', 'codeInfo'].map(
      (id, i) => JSON.stringify(answers[id]!['application/json']) === JSON.stringify(whole[i]),
    );
    expect(isWhole).toEqual([false, false, true]);
    const said = api
      .operations()
      .filter(({ responses }) => responses[200]!.description.includes('shortened'));
    expect(said.map(({ operationId }) => operationId)).toEqual(['grid', 'adminUnit']);
  });

  // Every word of the service and of its rows is in docs/reference/http.md, under every HTTP status that has it.
  test('the table of status words', () => {
    const text = readFileSync('docs/reference/http.md', 'utf8');
    const row = /^\| `([A-Z_]+)` \| ([\d, ]*) \| .*? \| (.*?) \| (.*?) \|$/gm;
    const rows = [...text.matchAll(row)].map(([, word, http, meaning, remedy]) => ({
      ...{ word: word!, http: (http!.match(/\d+/g) ?? []).map(Number), meaning: meaning!, remedy: remedy! },
    }));
    for (const word of [
      ...['OK', 'NOT_FOUND', 'INVALID_REQUEST', 'INVALID_HEXCODES', 'OVER_QUERY_LIMIT', 'UNAVAILABLE'],
    ])
      expect(rows.map((each) => each.word)).toContain(word);
    for (const { meaning, remedy } of rows) expect(meaning.length * remedy.length).toBeGreaterThan(0);
    const ofErrors = rows.filter(({ word }) => word !== 'OK' && word !== 'INVALID_HEXCODES');
    const WORDS: Record<number, string> = {
      ...{ 401: 'REQUEST_DENIED', 403: 'REQUEST_DENIED', 404: 'NOT_FOUND', 429: 'OVER_QUERY_LIMIT' },
      ...{ 500: 'INTERNAL_ERROR', 503: 'UNAVAILABLE' },
    };
    for (const { word, http } of ofErrors)
      for (const status of http) expect([status, word]).toEqual([status, WORDS[status] ?? 'INVALID_REQUEST']);
    // Beside those of the description: a wrong method, and a stream without its handshake.
    const statuses = described.api
      .operations()
      .flatMap(({ responses }) => Object.keys(responses).map(Number));
    for (const status of new Set([...statuses.filter((each) => each >= 400), 405, 426]))
      expect(ofErrors.flatMap(({ http }) => http)).toContain(status);
  });
});

// The calls for products that track vehicles, made from the description at /openapi.json and answered as it says.
describe('trackers', () => {
  const settings = { seed: 23, numRuns: 40 };
  let api: DescribedApi;
  beforeAll(() => {
    api = described.api;
  });

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
});
