// The bulk stream of the real server: answers equal to the library's, in order, through the client and through raw
// sockets that may misbehave.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HexcodesClient } from '#dist/client/node.js';
import { KeyStore } from '#dist/keys/store.js';
import { Hexcodes } from '#dist/library/hexcodes.js';
import type { Pool } from '#dist/pool/pool.js';
import { answerFrame } from '#dist/wire/frames/answer-frame.js';
import { openKernel, pointsOf } from '../../../support/open-world.js';
import {
  BINARY,
  clientFrame,
  handshake,
  isCutOfTheTransport,
  RawWebSocket,
  TEXT,
} from '../../../support/raw-websocket.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { decodeFrame, encodeFrame } from '../../../support/stream-frames.js';

const kernel = openKernel();
const library = new Hexcodes(openKernel());

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const open = (...lines: string[]): Promise<RawWebSocket> =>
  RawWebSocket.open(server.port, lines.length > 0 ? handshake(server.key, lines) : handshake(server.key));

const due = (frame: Uint8Array): Buffer => Buffer.from(answerFrame(kernel, frame));

describe('handshake', () => {
  const status = async (opening: string): Promise<number> => {
    const peer = await RawWebSocket.connect(server.port, opening);
    while (peer.head === '') await new Promise((resolve) => setTimeout(resolve, 2));
    peer.end();
    return Number(peer.head.split(' ')[1]);
  };

  test('key, version and protocol are checked before the upgrade', async () => {
    const k = server.key;
    expect(await status(handshake(undefined))).toBe(401);
    expect(await status(handshake('nobody'))).toBe(401);
    expect(await status(handshake(k, [], '12'))).toBe(426);
    expect(await status(handshake(k, [], ''))).toBe(426);
    expect(await status(handshake(undefined, [], '12'))).toBe(401);
    expect(await status(handshake(k).replace('Upgrade: websocket\r\n', ''))).toBe(426);
    expect(await status(handshake(k).replace('Connection: Upgrade', 'Connection: close'))).toBe(426);
    expect(await status(handshake(k, ['Sec-WebSocket-Protocol: soap, hexcodes.v2.binary']))).toBe(400);
    expect(await status(handshake(k).replace(/GET (\S+)/, `GET $1?apikey=${k}x`))).toBe(400);
    expect(await status(handshake(k))).toBe(101);
  });

  test.each(['', 'short', 'dGhlIHNhbXBsZSBub25jZQ=!', 'dGhlIHNhbXBsZSBub25jZQ==AAAA'])(
    'a handshake whose Sec-WebSocket-Key is “%s” is 400',
    async (text) => {
      const opening = handshake(server.key).replace('dGhlIHNhbXBsZSBub25jZQ==', text);
      const peer = await RawWebSocket.connect(server.port, opening);
      while (peer.head === '') await new Promise((resolve) => setTimeout(resolve, 2));
      peer.end();
      expect(Number(peer.head.split(' ')[1])).toBe(400);
      expect(peer.head).toContain('Sec-WebSocket-Key');
    },
  );

  test('one without Sec-WebSocket-Key too; of another version it stays 426', async () => {
    const keyless = /Sec-WebSocket-Key: .*\r\n/;
    expect(await status(handshake(server.key).replace(keyless, ''))).toBe(400);
    expect(await status(handshake(server.key, [], '12').replace(keyless, ''))).toBe(426);
    expect(await status(handshake(server.key, [], '12').replace('dGhlIHNhbXBsZSBub25jZQ==', 'x'))).toBe(426);
  });

  test('a text frame that is not UTF-8 ends its own connection and nobody else’s', async () => {
    const witness = await open('Sec-WebSocket-Protocol: hexcodes.v1.json');
    const broken = await open('Sec-WebSocket-Protocol: hexcodes.v1.json');
    broken.send(Buffer.from([0x7b, 0xff, 0x7d]), TEXT);
    expect(await broken.closed).toBe(1006);
    witness.send('{"seq":1,"op":"decode","hexcodes":["HN-6GHP4-83RFR"]}', TEXT);
    expect((await witness.next()).payload.toString()).toContain('"seq":1');
    witness.end();
  });

  // The binary does not look at the bit: it takes the first four bytes of the payload for the mask.
  test('frames without a mask end or stall their own connection and nobody else’s', async () => {
    const witness = await open();
    const frame = encodeFrame(3, pointsOf(3, 10));
    for (const [payload, opcode] of [
      [encodeFrame(1, pointsOf(1, 10)), BINARY],
      [Buffer.alloc(0), BINARY],
      [Buffer.from('{"seq":1,"op":"decode","hexcodes":[]}'), TEXT],
      [Buffer.from('hello'), 9],
    ] as const) {
      const broken = await open();
      const masked = clientFrame(payload, opcode);
      const head = Buffer.from(masked.subarray(0, masked.length - payload.length - 4));
      head[1]! &= 0x7f;
      broken.socket.write(Buffer.concat([head, payload, head, payload]));
      witness.send(frame);
      expect((await witness.next()).payload.equals(due(frame))).toBe(true);
      // Whatever the bytes are taken for, a next frame does not get the answer of a good one.
      broken.send(frame);
      await Promise.race([broken.closed, new Promise((resolve) => setTimeout(resolve, 100))]);
      expect(broken.messages.filter((message) => message.payload.equals(due(frame)))).toEqual([]);
      broken.end();
    }
    witness.send(frame);
    expect((await witness.next()).payload.equals(due(frame))).toBe(true);
    witness.end();
  });

  test('426 says which version, and a plain GET gets it too; other methods 405', async () => {
    const plain = await fetch(`${server.base}/v1/hexcodes/stream`, { headers: { 'X-API-Key': server.key } });
    expect([plain.status, plain.headers.get('sec-websocket-version'), plain.headers.get('upgrade')]).toEqual([
      426,
      '13',
      'websocket',
    ]);
    const post = await fetch(`${server.base}/v1/hexcodes/stream?apikey=${server.key}`, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test.each([
    [['Sec-WebSocket-Protocol: hexcodes.v1.json, hexcodes.v1.binary'], 'hexcodes.v1.json'],
    [['Sec-WebSocket-Protocol: soap,hexcodes.v1.binary,hexcodes.v1.json'], 'hexcodes.v1.binary'],
    [['Sec-WebSocket-Protocol: soap', 'Sec-WebSocket-Protocol: hexcodes.v1.json'], 'hexcodes.v1.json'],
  ])('%j gets %s', async (lines, chosen) => {
    const peer = await open(...lines);
    expect(/sec-websocket-protocol: (\S+)/i.exec(peer.head)?.[1]).toBe(chosen);
    expect(peer.head).not.toMatch(/sec-websocket-extensions/i);
    peer.end();
  });

  test('no offer means JSON, and the ready frame comes first', async () => {
    const peer = await RawWebSocket.connect(server.port, handshake(server.key, []));
    const ready = await peer.next();
    expect(ready.opcode).toBe(TEXT);
    expect(ready.payload.toString()).toBe(
      '{"type":"ready","format":1,"max_frame_bytes":1310736,"max_points":65536,"window":16,"window_bytes":4194304}',
    );
    expect(peer.head).not.toMatch(/sec-websocket-protocol/i);
    peer.send(Buffer.alloc(16));
    expect(await peer.closed).toBe(1003);
  });
});

describe('answers', () => {
  test.each([1, 100, 4096, 65_536])(
    'equal the library through the client, %i points a frame',
    async (framePoints) => {
      const pairs = pointsOf(framePoints, 70_000 / (framePoints === 1 ? 100 : 1));
      const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
      const records = library.encodeBatch(pairs, 12);
      const texts = Buffer.alloc(records.length);
      const encoding = client.stream({ operation: 'encode', resolution: 12, source: [pairs], framePoints });
      for await (const answer of encoding) texts.set(answer.records, answer.firstIndex * 20);
      expect(texts.equals(records)).toBe(true);

      let next = 0;
      for await (const answer of client.stream({
        operation: 'encode',
        resolution: 12,
        output: 'cells',
        source: [pairs],
        framePoints,
      })) {
        expect(answer.firstIndex).toBe(next);
        for (let i = 0; i < answer.count; i++) {
          const record = texts.subarray((next + i) * 20, (next + i) * 20 + 20);
          const code = record.subarray(0, 19).toString('latin1').replace(/\0+$/, '');
          const read = code === '' ? null : library.read(code);
          if (answer.cell(i) !== (read?.cell ?? 0n)) expect.fail(`cell of point ${next + i}`);
          if (answer.adminCode(i) !== (read?.admin_code ?? null))
            expect.fail(`province of point ${next + i}`);
        }
        next += answer.count;
      }
      expect(next).toBe(pairs.length / 2);

      const decoded = library.decodeBatch(records);
      const positions = new Float64Array(pairs.length);
      for await (const answer of client.stream({ operation: 'decode', source: [texts], framePoints })) {
        for (let i = 0; i < answer.count; i++) {
          positions[(answer.firstIndex + i) * 2] = answer.latDeg(i);
          positions[(answer.firstIndex + i) * 2 + 1] = answer.lngDeg(i);
        }
      }
      expect(positions).toEqual(decoded.latLngDeg);
    },
  );

  test('come in the order of the frames, small ones behind large ones', async () => {
    const peer = await open();
    const sizes = [30_000, 1, 0, 20_000, 2, 4096, 4097, 5];
    const frames = sizes.map((size, i) => encodeFrame(1000 - i, pointsOf(i, size)));
    for (const frame of frames) peer.send(frame);
    for (const frame of frames) {
      const { payload, opcode } = await peer.next();
      expect(opcode).toBe(BINARY);
      expect(payload.equals(due(frame))).toBe(true);
    }
    peer.end();
  });

  test('a bad frame is answered and the connection goes on', async () => {
    const peer = await open();
    const good = encodeFrame(7, pointsOf(7, 3));
    const bad = [Buffer.alloc(0), Buffer.alloc(15), good.subarray(0, 40), Buffer.from(good).fill(9, 1, 2)];
    for (const frame of bad) {
      peer.send(frame);
      peer.send(good);
      expect((await peer.next()).payload.equals(due(frame))).toBe(true);
      expect((await peer.next()).payload.equals(due(good))).toBe(true);
    }
    peer.end();
  });

  test('a message in fragments is one frame, with a ping between them', async () => {
    const peer = await open();
    const frame = encodeFrame(5, pointsOf(5, 300));
    const parts = [clientFrame(frame.subarray(0, 7), BINARY, false), clientFrame('are you there', 9)];
    parts.push(clientFrame(frame.subarray(7, 1000), 0, false), clientFrame(frame.subarray(1000), 0));
    peer.socket.write(Buffer.concat(parts));
    expect((await peer.next()).payload.toString()).toBe('are you there');
    expect((await peer.next()).payload.equals(due(frame))).toBe(true);
    peer.end();
  });

  test('every cut into two segments gives the same answer', async () => {
    const opening = Buffer.from(handshake(server.key), 'latin1');
    const frame = encodeFrame(1, pointsOf(1, 4));
    const frames = [frame, decodeFrame(2, due(frame).subarray(16))];
    const bytes = Buffer.concat(frames.map((f) => clientFrame(f)));
    const segment = () => new Promise((resolve) => setTimeout(resolve, 3));
    let openingCut = 0;
    let frameCut = 0;
    const peers = Array.from({ length: 16 }, async () => {
      // A handshake has one cut, so each takes a connection; then frames are cut on the last one.
      let peer: RawWebSocket | undefined;
      while (openingCut < opening.length - 1) {
        const cut = ++openingCut;
        peer?.end();
        peer = await RawWebSocket.connect(server.port, opening.toString('latin1', 0, cut));
        await segment();
        peer.socket.write(opening.subarray(cut));
        if (isCutOfTheTransport(opening, cut)) {
          // A busy machine may put the two segments together again.
          await Promise.race([peer.closed, peer.next().catch(() => {})]);
          expect(peer.head, `handshake cut at ${cut}`).toMatch(/^HTTP\/1.1 (505|101) /);
        } else {
          expect((await peer.next()).opcode, `handshake cut at ${cut}`).toBe(TEXT);
        }
      }
      while (frameCut < bytes.length - 1) {
        const cut = ++frameCut;
        peer!.socket.write(bytes.subarray(0, cut));
        await segment();
        peer!.socket.write(bytes.subarray(cut));
        for (const f of frames) {
          expect((await peer!.next()).payload.equals(due(f)), `frames cut at ${cut}`).toBe(true);
        }
      }
      peer!.end();
    });
    await Promise.all(peers);
  });
});

describe('JSON', () => {
  const openJson = (): Promise<RawWebSocket> => open('Sec-WebSocket-Protocol: hexcodes.v1.json');
  const ask = async (peer: RawWebSocket, frame: string): Promise<Record<string, unknown>> => {
    peer.send(frame, TEXT);
    const { payload, opcode } = await peer.next();
    expect(opcode).toBe(TEXT);
    return JSON.parse(payload.toString()) as Record<string, unknown>;
  };

  test.each([3, 9000])('%i points and codes are answered as by the batch endpoints', async (count) => {
    const pairs = pointsOf(31, count);
    const points = Array.from({ length: count }, (_, i) =>
      i % 3 === 0
        ? [pairs[2 * i] || 1, pairs[2 * i + 1] || 'x']
        : {
            lat: pairs[2 * i] || null,
            lng: pairs[2 * i + 1] || null,
            id: i,
            ...(i % 5 === 0 ? { resolution: i % 20 } : {}),
          },
    );
    const batch = async (path: string, body: object): Promise<object> => {
      const answer = await fetch(`${server.base}/v1/hexcodes/${path}/batch`, {
        method: 'POST',
        headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as object;
    };
    const peer = await openJson();
    const encoded = await ask(peer, JSON.stringify({ seq: 7, op: 'encode', resolution: 9, points }));
    expect(encoded).toEqual({ seq: 7, ...(await batch('encode', { resolution: 9, points })) });
    const hexcodes = (encoded.results as { hexcodes: string | null }[]).map((r) => r.hexcodes ?? 'no code');
    const decoded = await ask(peer, JSON.stringify({ seq: -8, op: 'decode', hexcodes }));
    expect(decoded).toEqual({ seq: -8, ...(await batch('decode', { hexcodes })) });
    peer.end();
  });

  test('answers come in the order of the frames', async () => {
    const peer = await openJson();
    const sizes = [5000, 1, 4000, 0, 2];
    for (const [seq, size] of sizes.entries()) {
      peer.send(JSON.stringify({ seq, op: 'encode', points: new Array(size).fill([21, 105]) }), TEXT);
    }
    for (const [seq, size] of sizes.entries()) {
      const answer = JSON.parse((await peer.next()).payload.toString()) as {
        seq: number;
        results: unknown[];
      };
      expect([answer.seq, answer.results.length]).toEqual([seq, size]);
    }
    peer.end();
  });

  test.each([
    ['{', null],
    ['[]', null],
    ['"x"', null],
    ['{"op":"encode","points":[]}', null],
    ['{"seq":"1","op":"encode","points":[]}', null],
    ['{"seq":1.5,"op":"encode","points":[]}', null],
    ['{"seq":1}', 1],
    ['{"seq":2,"op":"ENCODE","points":[]}', 2],
    ['{"seq":3,"op":"encode"}', 3],
    ['{"seq":4,"op":"encode","points":{}}', 4],
    ['{"seq":5,"op":"encode","resolution":16,"points":[]}', 5],
    ['{"seq":6,"op":"encode","points":[1,]}', 6],
    ['{"seq":7,"op":"decode","points":[]}', 7],
    [`{"seq":8,"op":"encode","points":[${'0,'.repeat(65_536)}0]}`, 8],
  ])('%.40s is answered and the connection goes on', async (frame, seq) => {
    const peer = await openJson();
    const answer = await ask(peer, frame);
    expect(Object.keys(answer)).toEqual(['seq', 'status', 'message']);
    expect([answer.seq, answer.status]).toEqual([seq, 'INVALID_REQUEST']);
    expect(await ask(peer, '{"seq":9,"op":"decode","hexcodes":[]}')).toEqual({
      seq: 9,
      status: 'OK',
      summary: { total: 0, ok: 0, failed: 0 },
      results: [],
    });
    peer.end();
  });
});

describe('goodbyes', () => {
  test('1003: a frame of the other subprotocol', async () => {
    const binary = await open();
    binary.send('{"seq":1}', TEXT);
    expect(await binary.closed).toBe(1003);
    const json = await open('Sec-WebSocket-Protocol: hexcodes.v1.json');
    json.send(encodeFrame(1, pointsOf(1, 1)));
    expect(await json.closed).toBe(1003);
  });

  test('1009: one byte over max_frame_bytes; exactly max_frame_bytes is answered', async () => {
    const peer = await open();
    const largest = decodeFrame(3, new Uint8Array(65_536 * 20));
    peer.send(largest);
    expect((await peer.next()).payload.equals(due(largest))).toBe(true);
    peer.send(Buffer.concat([largest, Buffer.alloc(1)]));
    expect(await peer.closed).toBe(1009);
  });

  test('4003: a peer that sends on and reads nothing', async () => {
    const peer = await open();
    peer.socket.pause();
    const frame = clientFrame(encodeFrame(1, pointsOf(1, 4096)));
    // 80 KB of answer each; the kernel's socket buffers take the first few dozen.
    for (let i = 0; i < 16 + 128; i++) peer.socket.write(frame);
    await new Promise((resolve) => setTimeout(resolve, 500));
    peer.socket.resume();
    expect(await peer.closed).toBe(4003);
    // Every answer that came is whole and in its place.
    for (const { payload } of peer.messages) expect(payload.length).toBe(16 + 4096 * 20);
  });

  test('a reader that is merely slow stays within the window and gets every answer', async () => {
    const peer = await open();
    const frames = Array.from({ length: 200 }, (_, i) => encodeFrame(i, pointsOf(i % 3, 4096)));
    const answers = [0, 1, 2].map((i) => due(frames[i]!).subarray(16));
    let sent = 0;
    for (let answered = 0; answered < frames.length; answered++) {
      while (sent < frames.length && sent - answered < 16) peer.send(frames[sent++]!);
      peer.socket.pause();
      if (answered % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      peer.socket.resume();
      const { payload } = await peer.next();
      expect(payload.readUInt32LE(4)).toBe(answered);
      expect(payload.subarray(16).equals(answers[answered % 3]!)).toBe(true);
    }
    peer.end();
  });

  test('1006: over the transport limit there is no goodbye', async () => {
    const peer = await open();
    peer.socket.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x7f, 0, 0, 0, 0, 0, 0, 0]));
    expect(await peer.closed).toBe(1006);
  });

  test('1001 for an idle connection, 1013 for one that takes no answers, by clocks of our own', async () => {
    const hasty = await startServer({}, undefined, {
      stream: { idleMs: 300, noProgressMs: 300, sweepMs: 20 },
    });
    try {
      const idle = await RawWebSocket.open(hasty.port, handshake(hasty.key));
      const stalled = await RawWebSocket.open(hasty.port, handshake(hasty.key));
      stalled.socket.pause();
      // The sockets' own buffers must be full before an answer waits; what waits then stays inside the window.
      const frame = clientFrame(encodeFrame(1, pointsOf(1, 16_384)));
      for (let i = 0; i < 45; i++) {
        stalled.socket.write(frame);
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      expect(await idle.closed).toBe(1001);
      stalled.socket.resume();
      expect(await stalled.closed).toBe(1013);
    } finally {
      await hasty.stop();
    }
  });

  test.each(['disabled', 'revoked'] as const)('4001: the key is %s', async (state) => {
    const own = await startServer({}, undefined, { stream: { sweepMs: 20 } });
    try {
      const peer = await RawWebSocket.open(own.port, handshake(own.key));
      const frame = encodeFrame(1, pointsOf(1, 10));
      peer.send(frame);
      expect((await peer.next()).payload.equals(due(frame))).toBe(true);
      const store = new KeyStore(own.dataDir, 'not needed to change a state');
      store.setState(store.list()[0]!.id, state);
      store.close();
      expect(await peer.closed).toBe(4001);
    } finally {
      await own.stop();
    }
  });

  test('1012 at stop, after everything accepted is answered', async () => {
    const own = await startServer();
    const peer = await RawWebSocket.open(own.port, handshake(own.key));
    const frames = [40_000, 10, 40_000, 4096].map((size, i) => encodeFrame(i, pointsOf(i, size)));
    for (const frame of frames) peer.send(frame);
    // The last of them is accepted when the first is answered at the latest: they were sent together.
    const first = await peer.next();
    const stopped = own.stop();
    expect(first.payload.equals(due(frames[0]!))).toBe(true);
    for (const frame of frames.slice(1)) expect((await peer.next()).payload.equals(due(frame))).toBe(true);
    expect(await peer.closed).toBe(1012);
    await stopped;
  });

  test('1000 is answered with 1000', async () => {
    const peer = await open();
    peer.send(Buffer.from([0x03, 0xe8]), 8);
    expect(await peer.closed).toBe(1000);
  });
});

test('a full pool: frame status 3 or UNAVAILABLE for an open stream, 503 with Retry-After for all that is new', async () => {
  let pool: Pool | undefined;
  const own = await startServer({}, undefined, {
    withPool: (made) => {
      pool = made;
    },
  });
  try {
    const peer = await RawWebSocket.open(own.port, handshake(own.key));
    const json = await RawWebSocket.open(
      own.port,
      handshake(own.key, ['Sec-WebSocket-Protocol: hexcodes.v1.json']),
    );
    Object.defineProperty(pool, 'mayTakeBlock', { get: () => false, configurable: true });
    const large = encodeFrame(1, pointsOf(1, 60_000));
    peer.send(large);
    expect([...(await peer.next()).payload]).toEqual([1, 1, 3, 0, 1, ...new Array(11).fill(0)]);
    json.send(
      JSON.stringify({ seq: 1, op: 'encode', points: new Array(9000).fill([21.00001, 105.00001]) }),
      TEXT,
    );
    expect(JSON.parse((await json.next()).payload.toString())).toMatchObject({
      seq: 1,
      status: 'UNAVAILABLE',
    });
    // Small frames need no pool.
    const small = encodeFrame(2, pointsOf(2, 5));
    peer.send(small);
    expect((await peer.next()).payload.equals(due(small))).toBe(true);

    const refused = await RawWebSocket.connect(own.port, handshake(own.key));
    while (refused.head === '') await new Promise((resolve) => setTimeout(resolve, 2));
    expect(refused.head).toMatch(/^HTTP\/1.1 503 .*Retry-After: \d+/is);
    const post = (path: string, type: string, body: string): Promise<Response> =>
      fetch(`${own.base}/v1/hexcodes/encode/${path}`, {
        method: 'POST',
        headers: { 'X-API-Key': own.key, 'Content-Type': type },
        body,
      });
    const points = JSON.stringify({ points: new Array(9000).fill([21.00001, 105.00001]) });
    for (const answer of [
      await post('batch', 'application/json', points),
      await post('bulk', 'text/csv', 'lat,lng\n1,2\n'),
    ]) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    }
    // And again as soon as there is room.
    Object.defineProperty(pool, 'mayTakeBlock', { get: () => true });
    peer.send(large);
    expect((await peer.next()).payload.equals(due(large))).toBe(true);
    for (const socket of [peer, json, refused]) socket.end();
  } finally {
    await own.stop();
  }
});
