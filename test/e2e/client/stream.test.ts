// The client of the package on the real server: streams, bodies of /bulk, look-ups.

import { createReadStream, openAsBlob, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { WebSocket as UndiciWebSocket } from 'undici';
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { type BulkOptions, type BulkSource, HexcodesClient, HexcodesClientError } from '#hexcodes/client';
import { HexcodesClient as WebClient } from '#hexcodes/client/web';
import { area, boundary, edge, neighbors, parent, suggest } from '#hexcodes/geometry';
import { listening } from '../../support/network.js';
import { openKernel } from '../../support/open-world.js';
import { sharedServer } from '../../support/shared.js';

const library = new Hexcodes(openKernel());

const server = sharedServer();

let client: HexcodesClient;

beforeAll(async () => {
  client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
});

describe('streams', () => {
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
    vi.restoreAllMocks();
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
    for (let i = 0; i < count; i++)
      answer.write(`P${frame.readDoubleLE(16 + i * 16)}`, 16 + i * 20, 'latin1');
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

  test('frames refused as overloaded or over limit are sent again in order, though the clock is set back', async () => {
    let wallMs = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => {
      wallMs -= 3_600_000;
      return wallMs;
    });
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

  test('a peer that is not a hexcodes service is an error at once', async () => {
    const url = await serve({ ready: 'hello' });
    const stream = new HexcodesClient({ baseUrl: url }).stream({
      operation: 'encode',
      source: pointsInChunks(3, 3),
    });
    await expect(collect(stream)).rejects.toMatchObject({ code: 'PROTOCOL' });
    const texts = await serve({});
    const cells = new HexcodesClient({ baseUrl: texts }).stream({ operation: 'encode', output: 'cells' });
    void cells.writable
      .getWriter()
      .write(new Float64Array(2))
      .catch(() => {});
    await expect(cells.readable.getReader().read()).rejects.toMatchObject({ code: 'PROTOCOL' });
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
    const transferred = (array: Uint8Array<ArrayBuffer> | Float64Array<ArrayBuffer>): typeof array => {
      structuredClone(array.buffer, { transfer: [array.buffer] });
      return array;
    };
    const source = transferred(new Uint8Array(20)) as Uint8Array;
    await expect(client.bulk({ operation: 'encode', format: 'csv', source })).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
    });
    expect(() => client.stream({ operation: 'encode', resolution: 16 })).toThrow(/resolution 16/);
    for (const given of [
      {},
      undefined,
      9,
      { operation: 'x' },
      { operation: 'encode', output: 'foo' },
      { operation: 5n },
      { operation: 'encode', output: 5n },
      { operation: 'encode', resolution: 5n },
      { operation: 'encode', resolution: Symbol('5') },
      { operation: 'encode', signal: {} },
      { operation: 'encode', framePoints: null },
      ...[0, 0.5, Number.NaN, 2 ** 31, Number.POSITIVE_INFINITY].map((answerTimeoutMs) => ({
        operation: 'encode',
        answerTimeoutMs,
      })),
      ...[0, 1.5, Number.NaN].map((maxAttempts) => ({ operation: 'encode', maxAttempts })),
      ...[0, 1.5, Number.NaN].map((framePoints) => ({ operation: 'encode', framePoints })),
      { operation: 'decode', output: 'cells' },
      { operation: 'encode', source: 'HN-6GHP4-83RFR' },
      { operation: 'encode', source: Float64Array.of(1, 2) },
      { operation: 'encode', source: [[1, 2]] },
      { operation: 'encode', source: [Float64Array.of(1, 2), Float64Array.of(1)] },
      { operation: 'decode', source: 'HN-6GHP4-83RFR' },
      { operation: 'decode', source: ['HN-6GHP4-83RFR'] },
      { operation: 'decode', source: new Uint8Array(20) },
      { operation: 'decode', source: [new Uint8Array(19)] },
      { operation: 'encode', source: [transferred(new Float64Array(2))] },
      { operation: 'decode', source: [transferred(new Uint8Array(20))] },
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
});

describe('bulk', () => {
  const ROWS = 20_000;

  const points = Array.from({ length: ROWS }, (_, i) => [8 + i / 5000, 105 + (i % 100) / 100] as const);

  const CSV = `id,lat,lng\n${points.map(([lat, lng], i) => `${i},${lat},${lng}\n`).join('')}`;

  const EXPECTED = `id,lat,lng,hexcodes,resolution,admin_code,status\n${points
    .map(([lat, lng], i) => {
      const { hexcodes, admin_code } = library.encode(lat, lng, 9);
      return `${i},${lat},${lng},${hexcodes},9,${admin_code},OK\n`;
    })
    .join('')}`;

  async function against(listener: RequestListener): Promise<HexcodesClient> {
    const { base, close } = await listening(listener);
    onTestFinished(close);
    return new HexcodesClient({ baseUrl: `${base}/v1` });
  }

  async function textOf(answer: AsyncIterable<Uint8Array>): Promise<string> {
    const parts: Uint8Array[] = [];
    for await (const part of answer) parts.push(part);
    return Buffer.concat(parts).toString();
  }

  /** The text in pieces that end anywhere. */
  function* piecesOf(text: string): Generator<string> {
    for (let at = 0; at < text.length; at += 65_521) yield text.slice(at, at + 65_521);
  }

  const encode = { operation: 'encode', format: 'csv', resolution: 9 } as const;

  test('files, bytes and every kind of stream give one answer, in Node and in the build for the web', async () => {
    const file = `${server.dataDir}/points.csv`;
    writeFileSync(file, CSV);
    const sources: (() => Promise<BulkSource>)[] = [
      () => openAsBlob(file),
      async () => createReadStream(file),
      async () => new TextEncoder().encode(CSV),
      async () => piecesOf(CSV),
      async () => new Blob([CSV]).stream(),
    ];
    const web = new WebClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
    for (const source of sources)
      for (const each of [client, web]) {
        const answer = await each.bulk({ ...encode, source: await source() });
        expect(answer.format).toBe('csv');
        expect((await textOf(answer)) === EXPECTED).toBe(true);
      }
  });

  test('texts that end within a character, and an array that is filled again, arrive as they were given', async () => {
    const text = `\u{20000},lat,lng\n${'\u{1f600},21.0288,105.8525\n'.repeat(200)}`;
    const { hexcodes, admin_code } = library.encode(21.0288, 105.8525, 9);
    const expected = text
      .replace('lng\n', 'lng,hexcodes,resolution,admin_code,status\n')
      .replaceAll('105.8525', `105.8525,${hexcodes},9,${admin_code},OK`);
    const pieces = Array.from({ length: text.length }, (_, at) => text[at]!);
    const bytes = new TextEncoder().encode(text);
    const again = new Uint8Array(8);
    function* filled(): Generator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += again.length) {
        const part = bytes.subarray(at, at + again.length);
        again.set(part);
        yield again.subarray(0, part.length);
      }
    }
    const web = new WebClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
    for (const source of [
      () => pieces,
      () => ['', ...pieces, ''],
      () => [text.slice(0, 1), text.slice(1)],
      filled,
    ])
      for (const each of [client, web])
        expect(await textOf(await each.bulk({ ...encode, source: source() }))).toBe(expected);
    const half = ['lat,lng,\ud83d', new TextEncoder().encode('\n21.0288,105.8525,\n'), '\ud83d'];
    expect(await textOf(await client.bulk({ ...encode, source: half }))).toMatch(/^lat,lng,\ufffd,hexcodes/);
  });

  test('the answer begins while the source is still giving', async () => {
    let wasRead = (): void => {};
    const read = new Promise<void>((resolve) => {
      wasRead = resolve;
    });
    async function* source(): AsyncGenerator<string> {
      const half = CSV.indexOf('\n', CSV.length / 2) + 1;
      yield CSV.slice(0, half);
      await read;
      yield CSV.slice(half);
    }
    const answer = await client.bulk({ ...encode, source: source() });
    const reader = answer.readable.getReader();
    let text = Buffer.from((await reader.read()).value!).toString();
    wasRead();
    for (let next = await reader.read(); !next.done; next = await reader.read())
      text += Buffer.from(next.value);
    expect(text === EXPECTED).toBe(true);
  });

  test('gzip, another format of the answer, a prefix, and decode', async () => {
    const gzipped = await client.bulk({ ...encode, source: gzipSync(CSV), isGzipped: true });
    expect((await textOf(gzipped)) === EXPECTED).toBe(true);
    const lines = await client.bulk({
      ...encode,
      source: ['id,lat,lng\n1,0,0\n'],
      answerFormat: 'ndjson',
    });
    // The rows are the service's, in the words of HTTP.
    expect(JSON.parse(await textOf(lines))).toMatchObject({ lat: 0, lng: 0, status: 'NOT_FOUND' });
    const { hexcodes, lat, lng } = {
      ...library.encode(21.0288, 105.8525),
      ...library.decode('HN-6GHP4-83RFR'),
    };
    const source = [`status,hexcodes\nnew,${hexcodes}\n`];
    const decoded = await client.bulk({ operation: 'decode', format: 'csv', source, prefix: 'hx_' });
    const centre = library.decode(hexcodes) ?? { lat, lng };
    expect(await textOf(decoded)).toBe(
      `status,hexcodes,hx_lat,hx_lng,hx_resolution,hx_status\nnew,${hexcodes},${centre.lat},${centre.lng},13,OK\n`,
    );
  });

  test('refusals carry what the service said', async () => {
    const source = ['a,b\n1,2\n'];
    await expect(client.bulk({ ...encode, source })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      httpStatus: 400,
      message: expect.stringContaining('lat'),
    });
    const nobody = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: 'nobody' });
    await expect(nobody.bulk({ ...encode, source })).rejects.toMatchObject({ code: 'REQUEST_DENIED' });
    const lost = new HexcodesClient({ baseUrl: server.base, apiKey: server.key });
    await expect(lost.bulk({ ...encode, source })).rejects.toMatchObject({ code: 'PROTOCOL' });
    const stranger = await against((req, res) => {
      req.resume();
      res.end('<html>hello</html>');
    });
    await expect(stranger.bulk({ ...encode, source })).rejects.toMatchObject({ code: 'PROTOCOL' });
    const { base, close } = await listening((_, res) => res.writeHead(413).write('{'));
    onTestFinished(close);
    const endless = new HexcodesClient({ baseUrl: `${base}/v1`, timeoutMs: 100 });
    await expect(endless.bulk({ ...encode, source })).rejects.toMatchObject({ httpStatus: 413 });
    const signal = AbortSignal.timeout(50);
    await expect(endless.bulk({ ...encode, source, signal })).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test.each<[string, Partial<Record<keyof BulkOptions, unknown>>]>([
    ['a path as source', { source: 'points.csv' }],
    ['no source', { source: undefined }],
    ['numbers as source', { source: Float64Array.of(1, 2) }],
    ['another operation', { operation: 'x' }],
    ['no format', { format: undefined }],
    ['another format', { format: 'xlsx' }],
    ['another format of the answer', { answerFormat: 'toString' }],
  ])('%s is BAD_ARGUMENT before anything is sent', async (_, wrong) => {
    const unasked = await against(() => expect.fail('a request was sent'));
    await expect(unasked.bulk({ ...encode, source: [CSV], ...wrong } as never)).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
    });
  });

  test('a source that fails, an abort and an answer that is cut off end the answer with a reason', async () => {
    async function* failing(): AsyncGenerator<string> {
      yield CSV;
      throw new Error('the disk is gone');
    }
    await expect(client.bulk({ ...encode, source: failing() }).then(textOf)).rejects.toMatchObject({
      code: 'ABORTED',
      cause: new Error('the disk is gone'),
    });
    await expect(client.bulk({ ...encode, source: [7 as never] }).then(textOf)).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
    });
    const abort = new AbortController();
    async function* endless(): AsyncGenerator<string> {
      yield CSV;
      await new Promise(() => {});
    }
    const answer = await client.bulk({ ...encode, source: endless(), signal: abort.signal });
    const reading = textOf(answer);
    abort.abort();
    await expect(reading).rejects.toMatchObject({ code: 'ABORTED' });
    const cutting = await against((req, res) => {
      req.resume();
      res.writeHead(200, { 'Content-Type': 'text/csv' });
      res.write('id,lat\n', () => setImmediate(() => req.socket.destroy()));
    });
    await expect(cutting.bulk({ ...encode, source: [CSV] }).then(textOf)).rejects.toMatchObject({
      code: 'NETWORK',
      message: expect.stringContaining('127.0.0.1'),
    });
    // fetch refuses port 9 by itself.
    const nowhere = new HexcodesClient({ baseUrl: 'http://127.0.0.1:9/v1' });
    await expect(nowhere.bulk({ ...encode, source: [CSV] })).rejects.toMatchObject({ code: 'NETWORK' });
  });

  test('a loop that is left early ends the request', async () => {
    let ended = false;
    async function* source(): AsyncGenerator<string> {
      try {
        for (;;) yield CSV.slice(CSV.indexOf('\n') + 1);
      } finally {
        ended = true;
      }
    }
    async function* endless(): AsyncGenerator<string> {
      yield 'id,lat,lng\n';
      yield* source();
    }
    for await (const part of await client.bulk({ ...encode, source: endless() })) {
      expect(part.length).toBeGreaterThan(0);
      break;
    }
    await expect.poll(() => ended).toBe(true);
  });
});

const CODE = library.encode(21.0288, 105.8525).hexcodes;

test('read describes a code in any spelling', async () => {
  const read = library.read(CODE)!;
  for (const spelling of [
    CODE,
    ` ${CODE.toLowerCase()}+`.replace('+', ''),
    CODE.replaceAll('-', '／').replaceAll('／', '．'),
  ]) {
    const answer = await client.read(spelling);
    expect(answer).toMatchObject({
      status: 'OK',
      hexcodes: CODE,
      resolution: 13,
      admin_code: read.admin_code,
      province: ADMIN_UNITS.find(({ code }) => code === read.admin_code)?.name,
      h3_cell: read.cell.toString(16),
      lat: read.lat,
      lng: read.lng,
      area_m2: area(library, CODE),
      edge_m: edge(library, CODE),
      parent: parent(library, CODE),
      neighbors: neighbors(library, CODE),
    });
    if (answer.status === 'OK')
      expect(answer.boundary.geometry.coordinates[0]?.[0]).toEqual(
        [...boundary(library, CODE)[0]!].reverse(),
      );
  }
});

test.each([
  '',
  '.',
  '..',
  '../meta',
  'a/b?c#d',
  '%',
  'encode',
  'decode',
  'stream',
  'nope',
  'x'.repeat(9000),
  '\ud800',
  'Đà Nẵng',
])('read of %j, which is not a hexcode, is an answer, and suggest finds nothing', async (text) => {
  const answer = await client.read(text);
  expect(answer).toEqual({
    status: 'INVALID_HEXCODES',
    hexcodes: text,
    message: expect.stringContaining('is not a hexcode'),
  });
  expect(await client.suggest(text)).toEqual(suggest(library, text));
});

test('suggest answers as the library does', async () => {
  const typed = `${CODE.slice(0, -1)}${CODE.endsWith('2') ? '3' : '2'}`;
  expect(suggest(library, typed).length).toBeGreaterThan(1);
  expect(await client.suggest(typed)).toEqual(suggest(library, typed));
  expect(await client.suggest(typed, { limit: 1 })).toEqual(suggest(library, typed, { limit: 1 }));
  for (const near of [[21.03, 105.85], { lat: 21.03, lng: 105.85 }] as const)
    expect(await client.suggest(typed, { near })).toEqual(suggest(library, typed, { near }));
  for (const near of [[21], '21,105', null, { lat: Number.NaN, lng: 1 }] as never[])
    await expect(client.suggest(typed, { near })).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  for (const limit of [0, -1, 1.5, Number.NaN])
    await expect(client.suggest(typed, { limit })).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  await expect(client.suggest(7 as never)).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
});

test('the provinces, and one with its boundary', async () => {
  const units = await client.adminUnits();
  expect(units.map((unit) => unit.admin_code)).toEqual(ADMIN_UNITS.map((unit) => unit.code));
  const unit = await client.adminUnit(ADMIN_UNITS[0]!.code);
  expect(unit).toMatchObject({ ...units[0], status: 'OK' });
  expect(unit.boundary.geometry.type).toBe('MultiPolygon');
  for (const code of ['XX', 'hn', '', '..'])
    await expect(client.adminUnit(code)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('meta names the service and its boundaries', async () => {
  const meta = await client.meta();
  expect(meta.code_format).toBe(1);
  expect(meta.boundary_data.sha256).toMatch(/^[0-9a-f]{64}$/);
});
