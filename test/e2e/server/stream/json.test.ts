// JSON frames on the real server: answers equal those of the batch endpoints, in order.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pointsOf } from '../../../support/open-world.js';
import { handshake, RawWebSocket, TEXT } from '../../../support/raw-websocket.js';
import { startServer, type TestServer } from '../../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const open = (...lines: string[]): Promise<RawWebSocket> =>
  RawWebSocket.open(server.port, lines.length > 0 ? handshake(server.key, lines) : handshake(server.key));

const openJson = (): Promise<RawWebSocket> => open('Sec-WebSocket-Protocol: hexcodes.v1.json');
const ask = async (peer: RawWebSocket, frame: string): Promise<Record<string, unknown>> => {
  peer.send(frame, TEXT);
  const { payload, opcode } = await peer.next();
  expect(opcode).toBe(TEXT);
  return JSON.parse(payload.toString()) as Record<string, unknown>;
};

test.each([3, 9000])('%i points and codes get the answers of the batch endpoints', async (count) => {
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
    const whole = (await answer.json()) as { results: Record<string, unknown>[] };
    // Items of HTTP have these members beside those of the stream.
    const results = whole.results.map(({ code: _, index: __, ...result }) => result);
    return { ...whole, results };
  };
  const peer = await openJson();
  const encoded = await ask(peer, JSON.stringify({ seq: 7, op: 'encode', resolution: 9, points }));
  expect(encoded).toEqual({ seq: 7, ...(await batch('encode', { resolution: 9, points })) });
  const hexcodes = (encoded.results as { hexcodes: string | null }[]).map((r) => r.hexcodes ?? 'no code');
  const decoded = await ask(peer, JSON.stringify({ seq: -8, op: 'decode', hexcodes }));
  expect(decoded).toEqual({ seq: -8, ...(await batch('decode', { hexcodes })) });
  peer.end();
});

test('answers arrive in the order of the frames', async () => {
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
])('%.40s is answered, and so is the frame behind it', async (frame, seq) => {
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
