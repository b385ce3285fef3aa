// The client's stream against a scripted service: lost connections, refusals, overload, slow readers, aborts. The
// real service is met in the stream tests; here it misbehaves on purpose.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket as UndiciWebSocket } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { HexcodesClient, HexcodesClientError } from '#hexcodes/client';

const READY = {
  type: 'ready',
  format: 1,
  max_frame_bytes: 1_310_736,
  max_points: 65_536,
  window: 16,
  window_bytes: 4_194_304,
};

interface Script {
  /** Answers a frame; by default with its answer. */
  onFrame?(frame: Buffer, socket: WebSocket, answer: () => void, nth: number): void;
  /** An HTTP answer instead of the upgrade. */
  refuse?(nth: number): { status: number; headers?: Record<string, string>; body: string } | undefined;
  ready?: string;
}

let server: Server | undefined;
let sockets: WebSocketServer | undefined;
let upgrades: IncomingMessage[] = [];
let frames: Buffer[] = [];

afterEach(async () => {
  for (const socket of sockets?.clients ?? []) socket.terminate();
  server?.closeAllConnections();
  await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  server = undefined;
});

async function serve(script: Script): Promise<string> {
  upgrades = [];
  frames = [];
  const accepting = new WebSocketServer({ noServer: true, handleProtocols: () => 'hexcodes.v1.binary' });
  sockets = accepting;
  server = createServer((_, res) => {
    const refusal = script.refuse?.(upgrades.length) ?? { status: 426, body: '' };
    res.writeHead(refusal.status, 'headers' in refusal ? refusal.headers : {}).end(refusal.body);
  });
  server.on('upgrade', (req, socket, head) => {
    upgrades.push(req);
    const refusal = script.refuse?.(upgrades.length);
    if (refusal !== undefined) {
      const headers = Object.entries(refusal.headers ?? {}).map(([k, v]) => `${k}: ${v}\r\n`);
      socket.end(
        `HTTP/1.1 ${refusal.status} No\r\nContent-Length: ${refusal.body.length}\r\n${headers.join('')}\r\n${refusal.body}`,
      );
      return;
    }
    accepting.handleUpgrade(req, socket, head, (ws) => {
      ws.on('error', () => {});
      ws.send(script.ready ?? JSON.stringify(READY));
      ws.on('message', (frame: Buffer) => {
        frames.push(frame);
        const answer = (): void => ws.send(answerOf(frame));
        if (script.onFrame) script.onFrame(frame, ws, answer, frames.length);
        else answer();
      });
    });
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Writes each point's latitude as its "hexcode", so that a lost, doubled or displaced point shows. */
function answerOf(frame: Buffer, frameStatus = 0): Buffer {
  const count = frameStatus === 0 ? frame.readUInt32LE(8) : 0;
  const answer = Buffer.alloc(16 + count * 20);
  answer.set([1, 1, frameStatus, 0]);
  answer.writeUInt32LE(frame.readUInt32LE(4), 4);
  answer.writeUInt32LE(count, 8);
  for (let i = 0; i < count; i++) answer.write(`P${frame.readDoubleLE(16 + i * 16)}`, 16 + i * 20, 'latin1');
  return answer;
}

function* pointsInChunks(total: number, chunkPoints: number): Generator<Float64Array> {
  for (let first = 0; first < total; first += chunkPoints) {
    const points = Math.min(chunkPoints, total - first);
    yield Float64Array.from({ length: points * 2 }, (_, i) => (i % 2 === 0 ? first + i / 2 : 105));
  }
}

async function collect(
  answers: AsyncIterable<{ hexcodes(): (string | null)[] }>,
): Promise<(string | null)[]> {
  const codes: (string | null)[] = [];
  for await (const answer of answers) codes.push(...answer.hexcodes());
  return codes;
}

const expected = (total: number): string[] => Array.from({ length: total }, (_, i) => `P${i}`);

test('answers every point once and in order while connections die at random places', async () => {
  // Every seventh frame the connection is cut, in turn before and after the answer has gone out.
  const url = await serve({
    onFrame: (_, socket, answer, nth) => {
      if (nth % 14 !== 7) answer();
      if (nth % 7 === 0) socket.terminate();
    },
  });
  const stream = new HexcodesClient({ baseUrl: url }).stream({
    operation: 'encode',
    source: pointsInChunks(2000, 70),
    framePoints: 25,
  });
  expect(await collect(stream)).toEqual(expected(2000));
  expect(stream.reconnections).toBeGreaterThan(3);
});

test('works as a Web Streams pair, and keeps to the window when nobody reads', async () => {
  const url = await serve({});
  const stream = new HexcodesClient({ baseUrl: url }).stream({ operation: 'encode', framePoints: 10 });
  const writer = stream.writable.getWriter();
  let written = 0;
  const writing = (async () => {
    for (const chunk of pointsInChunks(400, 10)) {
      await writer.write(chunk);
      written++;
    }
    await writer.close();
  })();
  // Nobody reads: exactly the window may have been sent, however long we wait.
  while (frames.length < READY.window) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(frames.length).toBe(READY.window);
  expect(written).toBeLessThanOrEqual(READY.window);
  const codes: (string | null)[] = [];
  await stream.readable.pipeTo(
    new WritableStream({
      write: (answer) => {
        codes.push(...answer.hexcodes());
      },
    }),
  );
  await writing;
  expect(codes).toEqual(expected(400));
});

test('frames refused as overloaded or over limit are sent again and keep their order', async () => {
  const seen = new Map<number, number>();
  const url = await serve({
    onFrame: (frame, socket, answer) => {
      const seq = frame.readUInt32LE(4);
      const times = (seen.get(seq) ?? 0) + 1;
      seen.set(seq, times);
      if (seq % 3 === 1 && times === 1) socket.send(answerOf(frame, seq % 2 === 0 ? 3 : 2));
      else answer();
    },
  });
  const stream = new HexcodesClient({ baseUrl: url }).stream({
    operation: 'encode',
    source: pointsInChunks(120, 12),
    framePoints: 12,
  });
  expect(await collect(stream)).toEqual(expected(120));
  expect(stream.reconnections).toBe(0);
});

test.each([
  ['the standard WebSocket', UndiciWebSocket],
  ['ws', undefined],
])('a refused upgrade is told as the service tells it, with %s', async (_, WebSocket) => {
  const url = await serve({
    refuse: () => ({
      status: 401,
      body: '{"status":"REQUEST_DENIED","message":"unknown key","request_id":"r1"}',
    }),
  });
  const client = new HexcodesClient({
    baseUrl: url,
    apiKey: 'k',
    ...(WebSocket ? { WebSocket } : {}),
  } as never);
  const stream = client.stream({ operation: 'encode', source: pointsInChunks(1, 1) });
  await expect(collect(stream)).rejects.toMatchObject({
    name: 'HexcodesClientError',
    code: 'REQUEST_DENIED',
    httpStatus: 401,
    message: 'unknown key',
    requestId: 'r1',
  });
  expect(upgrades.length).toBe(1);
});

test('the standard WebSocket streams as well, its key in the query; ws carries it in a header', async () => {
  const url = await serve({});
  for (const WebSocket of [UndiciWebSocket, undefined]) {
    const client = new HexcodesClient({
      baseUrl: url,
      apiKey: 'a key',
      ...(WebSocket ? { WebSocket } : {}),
    } as never);
    const stream = client.stream({ operation: 'encode', source: pointsInChunks(50, 7) });
    expect(await collect(stream)).toEqual(expected(50));
  }
  expect(upgrades.map((req) => [req.url, req.headers['x-api-key']])).toEqual([
    ['/v1/hexcodes/stream?apikey=a+key', undefined],
    ['/v1/hexcodes/stream', 'a key'],
  ]);
});

test('comes back after 503, and gives up after the attempts allowed', async () => {
  const url = await serve({
    refuse: (nth) =>
      nth <= 2
        ? { status: 503, headers: { 'Retry-After': '0' }, body: '{"status":"UNAVAILABLE"}' }
        : undefined,
  });
  const client = new HexcodesClient({ baseUrl: url });
  const patient = client.stream({ operation: 'encode', source: pointsInChunks(9, 9) });
  expect(await collect(patient)).toEqual(expected(9));
  const down = new HexcodesClient({ baseUrl: await serve({ refuse: () => ({ status: 503, body: '' }) }) });
  const hasty = down.stream({ operation: 'encode', source: pointsInChunks(9, 9), maxAttempts: 2 });
  await expect(collect(hasty)).rejects.toMatchObject({ code: 'UNAVAILABLE', httpStatus: 503 });
  expect(upgrades.length).toBe(2);
});

test.each([
  [4001, 'REQUEST_DENIED'],
  [4002, 'OVER_QUERY_LIMIT'],
  [4003, 'PROTOCOL'],
  [1009, 'PROTOCOL'],
])('close %i ends the stream with %s at both sides', async (closeCode, code) => {
  const url = await serve({ onFrame: (_, socket) => socket.close(closeCode) });
  const stream = new HexcodesClient({ baseUrl: url }).stream({ operation: 'encode' });
  const writer = stream.writable.getWriter();
  await writer.write(Float64Array.of(1, 2));
  await expect(stream.readable.getReader().read()).rejects.toMatchObject({ code, closeCode });
  await expect(writer.closed).rejects.toMatchObject({ code, closeCode });
  expect(upgrades.length).toBe(1);
});

test('an idle connection that the service ends is opened again by the next points', async () => {
  let socketOf: WebSocket | undefined;
  const url = await serve({
    onFrame: (_, socket, answer) => {
      socketOf = socket;
      answer();
    },
  });
  const stream = new HexcodesClient({ baseUrl: url }).stream({ operation: 'encode' });
  const writer = stream.writable.getWriter();
  const reader = stream.readable.getReader();
  await writer.write(Float64Array.of(0, 0));
  expect((await reader.read()).value?.hexcodes()).toEqual(['P0']);
  const gone = new Promise((resolve) => socketOf!.once('close', resolve));
  socketOf!.close(1001);
  await gone;
  await writer.write(Float64Array.of(1, 0));
  expect((await reader.read()).value?.hexcodes()).toEqual(['P1']);
  await writer.close();
  expect((await reader.read()).done).toBe(true);
  expect(upgrades.length).toBe(2);
});

test('silence with frames unanswered is taken as a dead peer', async () => {
  const url = await serve({ onFrame: (_, __, answer, nth) => (nth > 1 ? answer() : undefined) });
  const stream = new HexcodesClient({ baseUrl: url }).stream({
    operation: 'encode',
    source: pointsInChunks(3, 3),
    answerTimeoutMs: 100,
  });
  expect(await collect(stream)).toEqual(expected(3));
  expect(stream.reconnections).toBe(1);
});

test('a peer that is no hexcodes service is an error at once', async () => {
  const url = await serve({ ready: 'hello' });
  const stream = new HexcodesClient({ baseUrl: url }).stream({
    operation: 'encode',
    source: pointsInChunks(3, 3),
  });
  await expect(collect(stream)).rejects.toMatchObject({ code: 'PROTOCOL' });
});

test('abort, a failing source and a loop that is left early end the connection', async () => {
  const url = await serve({});
  const client = new HexcodesClient({ baseUrl: url });
  const abort = new AbortController();
  const aborted = client.stream({ operation: 'encode', signal: abort.signal });
  abort.abort();
  await expect(aborted.readable.getReader().read()).rejects.toMatchObject({ code: 'ABORTED' });

  const failing = client.stream({
    operation: 'encode',
    source: (function* () {
      yield Float64Array.of(0, 0);
      throw new Error('the disk is gone');
    })(),
  });
  await expect(collect(failing)).rejects.toMatchObject({
    code: 'ABORTED',
    cause: new Error('the disk is gone'),
  });

  const left = client.stream({ operation: 'encode', source: pointsInChunks(1000, 1) });
  for await (const answer of left) {
    expect(answer.hexcode(0)).toBe('P0');
    break;
  }
  // The service sees the goodbye.
  while (sockets!.clients.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('misuse is named before anything is sent', async () => {
  const client = new HexcodesClient({ baseUrl: 'http://127.0.0.1:9/v1' });
  expect(() => client.stream({ operation: 'encode', resolution: 16 })).toThrow(/resolution 16/);
  for (const given of [
    {},
    undefined,
    9,
    { operation: 'x' },
    { operation: 'encode', output: 'foo' },
    { operation: 'decode', output: 'cells' },
    { operation: 'encode', source: 'HN-6GHP4-83RFR' },
    { operation: 'encode', source: Float64Array.of(1, 2) },
    { operation: 'encode', source: [[1, 2]] },
    { operation: 'encode', source: [Float64Array.of(1, 2), Float64Array.of(1)] },
    { operation: 'decode', source: 'HN-6GHP4-83RFR' },
    { operation: 'decode', source: ['HN-6GHP4-83RFR'] },
    { operation: 'decode', source: new Uint8Array(20) },
    { operation: 'decode', source: [new Uint8Array(19)] },
    { operation: 'decode', source: null },
    { operation: 'decode', source: 7 },
  ])
    expect([given, codeOf(() => client.stream(given as never))]).toEqual([given, 'BAD_ARGUMENT']);
  // Other iterables are looked at as they are written.
  const odd = client.stream({ operation: 'encode', source: new Set([Float64Array.of(1)]) });
  await expect(collect(odd)).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  const letters = client.stream({ operation: 'decode', source: new Set(['HN-6GHP4-83RFR']) as never });
  await expect(letters.readable.getReader().read()).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
});

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(HexcodesClientError);
    return (error as HexcodesClientError).code;
  }
  return 'no error';
}
