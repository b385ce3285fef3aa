// A peer that sends a part of its body, reads late, and sends the next part once all of the last one is answered: bytes
// that the socket did not take at first must leave although nothing is written behind them.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { encodeFrame } from '../../../support/stream-frames.js';

const HEADER_BYTES = 16;
let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** More than the buffers of both sockets hold. */
const TURN_ANSWER_BYTES = 14e6;

test.each([65_536, 16_000, 4096])('frames of %i points, answered turn by turn', async (points) => {
  const frame = encodeFrame(
    1,
    Float64Array.from({ length: 2 * points }, (_, i) => (i % 2 === 0 ? 16 : 106) + i / 1e6),
  );
  const answerBytes = HEADER_BYTES + 20 * points;
  const turnFrames = Math.ceil(TURN_ANSWER_BYTES / answerBytes);
  const peer = await RawBulkPeer.connect(server.port);
  let receivedBytes = 0;
  peer.onBody = (bytes) => {
    receivedBytes += bytes.length;
  };
  const ask = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'frames' as const };
  peer.socket.write(requestHead(ask, 3 * turnFrames * frame.length));
  for (let turn = 1; turn <= 3; turn++) {
    peer.socket.pause();
    for (let n = 0; n < turnFrames; n++) peer.socket.write(frame);
    await sleep(300);
    peer.socket.resume();
    await expect.poll(() => receivedBytes).toBe(turn * turnFrames * answerBytes);
  }
  await peer.done;
  expect([peer.status, peer.isWhole]).toEqual([200, true]);
});
