// How uWS itself writes answers and pauses requests: facts U20 to U23, U26 and U29 of src/server/transport/README.md. A
// test that fails here means that uWS has changed, and that our answer to the fact may go.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CorkHolder } from '#dist/server/transport/cork-holder.js';
import type { UwsResponse } from '#dist/server/transport/uws.js';
import { type BareUws, CountingClient, openBareUws } from '../../../support/bare-uws.js';
import { sendRaw } from '../../../support/server.js';

/** More than the sockets of both ends buffer on loopback. */
const MUCH_BYTES = 24 * 2 ** 20;
/** Two of them do not fit the cork. */
const PART_BYTES = 10_000;
const PAIRS = 3000;
const MAX_HEAD_BYTES = 300;
const POLLING = { timeout: 20_000 };
const corkHolder = new CorkHolder();
const much = Buffer.alloc(MUCH_BYTES, '-');

let bare: BareUws;
/** The response of the request sent last. */
let res: UwsResponse;
let writableCalls = 0;
let bodyBytes = 0;

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const writeUncorked = (bytes: Uint8Array): boolean => {
  let isTaken = false;
  corkHolder.runUncorked(() => {
    isTaken = res.write(bytes);
  });
  return isTaken;
};

function keepOpen(response: UwsResponse): void {
  res = response;
  writableCalls = 0;
  bodyBytes = 0;
  response.onAborted(() => {});
  response.onWritable(() => {
    writableCalls++;
    return true;
  });
}

/** Writes pairs of parts, each pair in a cork of its own, waiting for the socket after backpressure. */
function writePairs(response: UwsResponse): void {
  const bytes = much.subarray(0, PART_BYTES);
  let left = PAIRS;
  const step = (): void => {
    while (left > 0) {
      let isTaken = true;
      left--;
      response.cork(() => {
        isTaken = response.write(bytes);
        isTaken = response.write(bytes) && isTaken;
      });
      if (!isTaken) return;
    }
    response.cork(() => void response.end());
  };
  response.onAborted(() => {
    left = 0;
  });
  response.onWritable(() => {
    response.cork(() => {});
    step();
    return true;
  });
  setImmediate(step);
}

beforeAll(async () => {
  bare = await openBareUws((app) => {
    app.get('/open', keepOpen);
    app.get('/small', (response) => void response.end('small'));
    app.get('/pairs', (response) => writePairs(response));
    app.post('/body', (response) => {
      keepOpen(response);
      response.onData((chunk) => {
        bodyBytes += chunk.byteLength;
      });
    });
    app.post('/ended', (response) => {
      keepOpen(response);
      response.onData((_chunk, isLast) => {
        if (isLast) return;
        response.pause();
        setImmediate(() => response.cork(() => void response.end('early')));
      });
    });
  });
  await corkHolder.open(bare.uws);
});
afterAll(() => {
  corkHolder.close();
  bare.close();
});

/** All bytes of the answer to one request for /pairs, whose reader pauses often. */
async function readPairs(): Promise<number> {
  const client = await CountingClient.connect(bare.port, get('/pairs'));
  const reading = setInterval(() => {
    client.socket.pause();
    setTimeout(() => client.socket.resume(), 3);
  }, 6);
  while (!client.tail.endsWith('\r\n0\r\n\r\n')) await client.untilIdle(20);
  clearInterval(reading);
  client.socket.destroy();
  return client.receivedBytes;
}

test('U20: of two writes that overflow the cork together the second may be lost', async () => {
  let leastBytes = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 20 && leastBytes >= 2 * PAIRS * PART_BYTES; attempt++) {
    leastBytes = Math.min(leastBytes, await readPairs());
  }
  expect(leastBytes).toBeLessThan(2 * PAIRS * PART_BYTES);
});

test('U22: after onWritable uWS sends nothing of what it holds until the next write or cork', async () => {
  const client = await CountingClient.connect(bare.port, get('/open'));
  await client.untilIdle();
  client.socket.pause();
  expect(writeUncorked(much)).toBe(false);
  client.socket.resume();
  await expect.poll(() => writableCalls, POLLING).toBe(1);
  await client.untilIdle();
  const { receivedBytes } = client;
  expect(receivedBytes).toBeLessThan(MUCH_BYTES);
  expect(writableCalls).toBe(1);
  res.cork(() => {});
  await expect.poll(() => client.receivedBytes, POLLING).toBeGreaterThan(receivedBytes);
  client.socket.destroy();
});

test('U21, U22: uncorked, and with an empty cork at each onWritable, nothing is lost', async () => {
  const client = await CountingClient.connect(bare.port, get('/open'));
  await client.untilIdle();
  client.socket.pause();
  res.onWritable(() => {
    res.cork(() => {});
    return true;
  });
  writeUncorked(much);
  writeUncorked(much);
  client.socket.resume();
  await expect.poll(() => client.receivedBytes, POLLING).toBeGreaterThan(2 * MUCH_BYTES);
  client.socket.destroy();
});

test('U23: tryEnd sends what the socket takes, says how much, and holds nothing', async () => {
  const client = await CountingClient.connect(bare.port, get('/open'));
  await client.untilIdle();
  client.socket.pause();
  let isTaken = true;
  res.cork(() => {
    [isTaken] = res.tryEnd(much, MUCH_BYTES);
  });
  expect(isTaken).toBe(false);
  const takenBytes = res.getWriteOffset();
  expect(takenBytes).toBeGreaterThan(0);
  client.socket.resume();
  await expect.poll(() => client.receivedBytes, POLLING).toBeGreaterThan(takenBytes);
  res.cork(() => {});
  await client.untilIdle();
  expect(client.receivedBytes - takenBytes).toBeLessThan(MAX_HEAD_BYTES);
  client.socket.destroy();
});

test('U26: a write that meets backpressure undoes pause, and after a second pause onWritable is not called', async () => {
  const client = await CountingClient.connect(
    bare.port,
    `POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: ${4 * MUCH_BYTES}\r\n\r\n`,
  );
  await client.untilIdle();
  res.pause();
  client.socket.pause();
  client.socket.write(much);
  await client.untilIdle();
  expect(bodyBytes).toBe(0);
  expect(writeUncorked(much)).toBe(false);
  await expect.poll(() => bodyBytes, POLLING).toBe(MUCH_BYTES);
  expect(writeUncorked(much)).toBe(false);
  res.pause();
  client.socket.resume();
  client.socket.write(much);
  await client.untilIdle();
  expect([bodyBytes, writableCalls]).toEqual([MUCH_BYTES, 0]);
  client.socket.destroy();
});

test('U29: a connection that is paused when its answer ends is never read again', async () => {
  const body = 'x'.repeat(1_000_000);
  const request = `POST /ended HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const received = await sendRaw(bare.port, [request, get('/small')], { gapMs: 200 });
  expect(received.match(/early|small/g)).toEqual(['early']);
});
