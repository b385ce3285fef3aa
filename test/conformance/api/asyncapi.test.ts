// The description of the stream at /asyncapi.json: valid by the schema of AsyncAPI, and messages of the JSON
// subprotocol are as it says.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startServer, type TestServer } from '../../support/server.js';

interface Described {
  components: { messages: Record<string, { payload: object }> };
}

let server: TestServer;
let described: Described;
beforeAll(async () => {
  server = await startServer({ logLevel: 'silent' });
  described = (await (await fetch(`http://127.0.0.1:${server.port}/asyncapi.json`)).json()) as Described;
});
afterAll(() => server.stop());

test('is valid by the schema of AsyncAPI 3', () => {
  const path = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.validate(JSON.parse(readFileSync(path, 'utf8')), described);
  expect(ajv.errors).toBeNull();
  const references = [...JSON.stringify(described).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    (match) => match[1]!,
  );
  const missing = references.filter(
    (reference) =>
      reference
        .split('/')
        .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], described) ===
      undefined,
  );
  expect(missing).toEqual([]);
});

test('messages both ways are as described', async () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(described, 'api');
  const faultOf = (name: string, message: unknown): string | undefined => {
    const text = JSON.stringify(described.components.messages[name]!.payload);
    const isRight = ajv.validate(JSON.parse(text.replaceAll('"#/', '"api#/')) as object, message);
    return isRight ? undefined : ajv.errorsText();
  };
  const requests: [string, object][] = [
    [
      'encodeFrame',
      { seq: 1, op: 'encode', resolution: 9, points: [[21.0288, 105.8525], { lat: 0, lng: 0, id: 'b' }] },
    ],
    ['decodeFrame', { seq: 2, op: 'decode', hexcodes: ['HN-6GHP4-83RFR', { hexcodes: 'nope', id: 7 }] }],
  ];
  for (const [name, request] of requests) expect(faultOf(name, request), name).toBeUndefined();
  const wrong = [{ op: 'x' }, [], { seq: 3, op: 'encode' }];
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/hexcodes/stream`, 'hexcodes.v1.json', {
    headers: { 'X-API-Key': server.key },
  });
  const messages: unknown[] = [];
  const sent = [...requests.map(([, request]) => request), ...wrong];
  await new Promise<void>((done, failed) => {
    socket.on('error', failed);
    socket.on('message', (data) => {
      messages.push(JSON.parse(String(data)));
      if (messages.length === 1) for (const each of sent) socket.send(JSON.stringify(each));
      if (messages.length === 1 + sent.length) done();
    });
  });
  socket.close();
  expect(faultOf('ready', messages[0])).toBeUndefined();
  for (const answer of messages.slice(1))
    expect(faultOf('answerFrame', answer), JSON.stringify(answer)).toBeUndefined();
});
