// How uWS itself treats WebSockets: facts U9, U16, U30, U32, U34 and U35 of src/server/transport/README.md. A test that
// fails here means that uWS has changed, and that our answer to the fact may go.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { UwsWebSocket } from '#dist/server/transport/uws.js';
import { type BareUws, openBareUws } from '../../../support/bare-uws.js';
import { clientFrame, TEXT } from '../../../support/raw-websocket.js';
import { sendRaw } from '../../../support/server.js';

const MAX_PAYLOAD_BYTES = 1000;
const MAX_BACKPRESSURE_BYTES = 4 * 2 ** 20;

let bare: BareUws;
let heldMessage: ArrayBuffer | undefined;
let drainCalls = 0;
let pongs = 0;
const lengths: number[] = [];
const PONG = 10;
let socket: UwsWebSocket<unknown>;

beforeAll(async () => {
  bare = await openBareUws((app, uws) => {
    app.ws('/', {
      maxPayloadLength: MAX_PAYLOAD_BYTES,
      maxBackpressure: MAX_BACKPRESSURE_BYTES,
      idleTimeout: 0,
      maxLifetime: 0,
      closeOnBackpressureLimit: false,
      sendPingsAutomatically: false,
      compression: uws.DISABLED,
      upgrade: (res, req, context) => res.upgrade({}, req.getHeader('sec-websocket-key'), '', '', context),
      open: (ws) => {
        socket = ws;
      },
      message: (_ws, message) => {
        heldMessage = message;
        lengths.push(message.byteLength);
      },
      pong: () => {
        pongs++;
      },
      drain: () => {
        drainCalls++;
      },
      close: () => {},
    });
    app.get('/', (res) => void res.end('a plain request'));
  });
});
afterAll(() => bare.close());

async function openSocket(): Promise<WebSocket> {
  const client = new WebSocket(`ws://127.0.0.1:${bare.port}/`);
  await once(client, 'open');
  return client;
}

const handshake = (key: string, version: number) =>
  `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: ${version}\r\n\r\n`;

test('U16: the version of a handshake is not checked, and one with a key of another length is a plain request', async () => {
  expect(await sendRaw(bare.port, handshake('x'.repeat(24), 12))).toMatch(/^HTTP\/1\.1 101 /);
  expect(await sendRaw(bare.port, handshake('x'.repeat(23), 13))).toContain('a plain request');
});

test('U9: a message is empty after its callback', async () => {
  const client = await openSocket();
  client.send('text');
  await expect.poll(() => heldMessage?.byteLength).toBe(0);
  client.terminate();
});

test('U30: send returns 1 while the socket takes everything, then 0, and 2 for a message that is dropped', async () => {
  const client = await openSocket();
  client.pause();
  const message = Buffer.alloc(100_000);
  const results: number[] = [];
  do {
    results.push(socket.send(message, true));
  } while (results.at(-1) !== 2);
  expect([...new Set(results)]).toEqual([1, 0, 2]);
  expect(socket.getBufferedAmount()).toBeGreaterThan(MAX_BACKPRESSURE_BYTES);
  client.resume();
  let received = 0;
  client.on('message', () => received++);
  await expect.poll(() => drainCalls).toBeGreaterThan(0);
  await expect.poll(() => received).toBe(results.length - 1);
  client.terminate();
});

test('U32: a message over maxPayloadLength ends the connection without a close frame', async () => {
  const client = await openSocket();
  client.send(Buffer.alloc(MAX_PAYLOAD_BYTES + 1));
  const [code] = await once(client, 'close');
  expect(code).toBe(1006);
});

test('U34: a pong inside a frame that has not come whole is payload, and one between two fragments is a pong', async () => {
  const client = connect(bare.port, '127.0.0.1');
  client.on('error', () => {});
  client.resume();
  client.write(handshake('x'.repeat(24), 13));
  await once(client, 'data');
  const pong = clientFrame('', PONG);
  const whole = clientFrame('a'.repeat(100));
  pongs = 0;
  lengths.length = 0;
  client.write(Buffer.concat([whole.subarray(0, 50), pong]));
  client.write(whole.subarray(50 + pong.length));
  await expect.poll(() => lengths).toEqual([100]);
  expect(pongs).toBe(0);
  client.write(Buffer.concat([clientFrame('ab', TEXT, false), pong, clientFrame('cd', 0)]));
  await expect.poll(() => lengths).toEqual([100, 4]);
  expect(pongs).toBe(1);
  client.destroy();
});

test('U35: a connection that is closed in the filter is counted as any other, and has no answer', async () => {
  let connections = 0;
  const own = await openBareUws((app) => {
    app.get('/', (res) => void res.end('an answer'));
    // biome-ignore lint/suspicious/useIterableCallbackReturn: this filter is uWS's
    app.filter((res, change) => {
      connections += change;
      if (change > 0 && connections > 1) res.close();
    });
  });
  const first = connect(own.port, '127.0.0.1');
  await once(first, 'connect');
  await expect.poll(() => connections).toBe(1);
  const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  expect(await sendRaw(own.port, request)).toBe('');
  expect(connections).toBe(1);
  first.destroy();
  await expect.poll(() => connections).toBe(0);
  expect(await sendRaw(own.port, request)).toContain('an answer');
  own.close();
});
