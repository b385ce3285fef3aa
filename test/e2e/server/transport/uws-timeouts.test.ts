// Which connections uWS closes by itself: facts U24 and U25 of src/server/transport/README.md. A test that fails here
// means that uWS has changed, and that our answer to the fact may go.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CorkHolder } from '#dist/server/transport/cork-holder.js';
import type { UwsResponse } from '#dist/server/transport/load-uws.js';
import { type BareUws, CountingClient, isUwsPack, openBareUws } from '../../../support/bare-uws.js';

/** More than the sockets of both ends buffer on loopback. */
const much = Buffer.alloc(24 * 2 ** 20);
/** Longer than uWS's timeout, which is counted in steps of four seconds: ten in uws-pack, thirty in 20.57.0. */
const WAIT_MS = isUwsPack ? 15_000 : 40_000;

let bare: BareUws;
const corkHolder = new CorkHolder();
const closed = new Set<string>();
const timers: NodeJS.Timeout[] = [];

function writeMuch(res: UwsResponse): void {
  res.onWritable(() => true);
  setImmediate(() => corkHolder.runUncorked(() => void res.write(much)));
}

beforeAll(async () => {
  bare = await openBareUws((app) => {
    app.get('/not-answered', (res) => void res.onAborted(() => closed.add('not answered')));
    app.post('/slow-body', (res) => {
      res.onAborted(() => closed.add('slow body'));
      res.onData(() => {});
    });
    app.post('/slow-body-paused', (res) => {
      res.onAborted(() => closed.add('slow body, paused'));
      res.onData(() => void res.pause());
    });
    app.post('/slow-body-paused-at-once', (res) => {
      res.onAborted(() => closed.add('slow body, paused in the handler'));
      res.onData(() => {});
      res.pause();
    });
    app.get('/resting-reader', (res) => {
      res.onAborted(() => closed.add('resting reader'));
      writeMuch(res);
    });
    app.get('/resting-reader-reset', (res) => {
      res.onAborted(() => {
        closed.add('resting reader, timeout reset');
        clearInterval(reset);
      });
      writeMuch(res);
      const reset = setInterval(() => {
        res.pause();
        res.resume();
      }, 4000);
      timers.push(reset);
    });
    app.get('/ended', (res) => void res.end(much));
  });
  await corkHolder.open(bare.uws);
});
afterAll(() => {
  for (const timer of timers) clearInterval(timer);
  corkHolder.close();
  bare.close();
});

test('U24, U25: readers that rest and bodies that come slowly are cut off, unless the timeout is reset or stopped', async () => {
  const clients: CountingClient[] = [];
  const open = async (method: string, path: string, lines = ''): Promise<CountingClient> => {
    const request = `${method} ${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
    const client = await CountingClient.connect(bare.port, request);
    clients.push(client);
    return client;
  };
  await open('GET', '/not-answered');
  for (const path of ['/slow-body', '/slow-body-paused', '/slow-body-paused-at-once']) {
    const { socket } = await open('POST', path, 'Content-Length: 1000\r\n');
    timers.push(setInterval(() => socket.write('x'), 500));
  }
  for (const path of ['/resting-reader', '/resting-reader-reset', '/ended']) {
    (await open('GET', path)).socket.pause();
  }
  await sleep(WAIT_MS);
  expect([...closed].sort()).toEqual(['resting reader', 'slow body', 'slow body, paused in the handler']);
  // An answer that is ended is cut off without a call of onAborted.
  const ended = clients.at(-1) as CountingClient;
  ended.socket.resume();
  await expect.poll(() => ended.isClosed).toBe(true);
  expect(ended.receivedBytes).toBeLessThan(much.length);
  for (const { socket } of clients) socket.destroy();
});
