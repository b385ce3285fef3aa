// The description of the service: recorded answers, errors, and what trackers may send.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROW_STATUSES } from '#dist/hexcodes/wire/job.js';
import { wordOf } from '#dist/server/answers.js';
import { REASONS } from '#dist/server/api/document.js';
import { STATUS_CATALOGUE } from '#dist/server/api/error-catalogue.js';
import { OPERATIONS } from '#dist/server/api/operations.js';
import { apiPage } from '#dist/server/api/page/page.js';
import { RECORDED_ANSWERS } from '#dist/server/api/recorded-answers.js';
import type { DescribedApi } from '../../support/described-api.js';
import { DescribedServer } from '../../support/described-server.js';
import { valuesOf } from '../../support/schema-values.js';

// The answers that /openapi.json and /docs show beside each operation: what a service says today, as the schemas say.
describe('answers', async () => {
  const program = pathToFileURL(resolve('tools/answers.mjs')).href;
  const { recordAnswers } = (await import(program)) as {
    recordAnswers(base: string, key: string): Promise<typeof RECORDED_ANSWERS>;
  };

  let described: DescribedServer;
  beforeAll(async () => {
    described = await DescribedServer.start();
  });
  afterAll(() => described.stop());

  test('every operation has an answer, and it is the one that a service gives', async () => {
    const { server } = described;
    const answers = await recordAnswers(`http://127.0.0.1:${server.port}`, server.key);
    expect(Object.keys(RECORDED_ANSWERS)).toEqual(OPERATIONS.map(({ id }) => id));
    for (const { id } of OPERATIONS) expect(RECORDED_ANSWERS[id], id).toEqual(answers[id]);
  });

  test('the document shows them, and they are as its schemas say', async () => {
    const { api } = described;
    let shown = 0;
    for (const [path, methods] of Object.entries(api.document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const { content } = operation.responses[200]!;
        // A vector tile is no text.
        if (operation.operationId === 'gridTile') continue;
        const examples = Object.entries(content!).filter(([, media]) => 'example' in media);
        expect(examples, `${method} ${path}`).not.toEqual([]);
        for (const [type, { schema, example }] of examples) {
          expect(example).toEqual(RECORDED_ANSWERS[operation.operationId]![type]);
          expect(api.schemaFaultOf(schema, example), `${method} ${path} ${type}`).toBeUndefined();
          shown++;
        }
      }
    }
    expect(shown).toBe(OPERATIONS.length + 1);
  });

  test('the page says which of them are shortened', async () => {
    const page = await (await fetch(`http://127.0.0.1:${described.server.port}/docs`)).text();
    expect(page.match(/<summary>An answer, /g)).toHaveLength(OPERATIONS.length + 1);
    const whole = await Promise.all(
      ['/v1/grid/12/3252/1803', '/v1/admin-units/HN', '/v1/hexcodes/HN-6GHP4-83RFR'].map((path) =>
        described.send(path, 'get', {}).then((answer) => answer.json()),
      ),
    );
    const isWhole = ['grid', 'adminUnit', 'codeInfo'].map(
      (id, i) => JSON.stringify(RECORDED_ANSWERS[id]!['application/json']) === JSON.stringify(whole[i]),
    );
    expect(isWhole).toEqual([false, false, true]);
    expect(page.match(/<summary>An answer, application\/json, shortened</g)).toHaveLength(2);
  });
});

// The catalogue of status words on /docs: every word of the service and of its rows, under every HTTP status that has
// it.
describe('errors', () => {
  const entryOf = (word: string) => STATUS_CATALOGUE.find((entry) => entry.word === word);

  test('every HTTP status of an error stands under its word', () => {
    // Beside those of the description: a wrong method, and a stream without its handshake.
    for (const status of [...Object.keys(REASONS).map(Number), 405, 426]) {
      expect(entryOf(wordOf(status))?.http, `${status}`).toContain(status);
    }
    const errors = STATUS_CATALOGUE.filter(({ word }) => word !== 'OK' && word !== 'INVALID_HEXCODES');
    for (const { word, http } of errors) expect([...new Set(http.map(wordOf))]).toEqual([word]);
  });

  test('every status of a row has its entry, and every entry says what to do, on the page too', () => {
    const { html } = apiPage([]);
    for (const word of ROW_STATUSES) expect(entryOf(word), word).toBeDefined();
    for (const { word, meaning, remedy } of STATUS_CATALOGUE) {
      expect(meaning.length * remedy.length).toBeGreaterThan(0);
      expect(html).toContain(`id="status-${word}"`);
    }
  });
});

// The calls for products that track vehicles, made from the description at /openapi.json and answered as it says.
describe('trackers', () => {
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
});
