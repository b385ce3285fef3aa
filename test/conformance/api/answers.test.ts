// The answers that /openapi.json and /docs show beside each operation: what a service says today, as the schemas say.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATIONS } from '#dist/server/api/operations.js';
import { RECORDED_ANSWERS } from '#dist/server/api/recorded-answers.js';
import { DescribedServer } from '../../support/described-server.js';

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
