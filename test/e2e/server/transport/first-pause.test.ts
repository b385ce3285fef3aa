// The first body that the process ever pauses is paused while uWS holds bytes of its answer, and resumed when it holds
// none. Unprepared, uWS would never read it again (transport README U27). Needs a process of its own, which vitest
// gives each file.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { encodeFrame } from '../../../support/raw-stream.js';
import { sharedServer } from '../../../support/shared.js';

const FRAMES = 400;
const POINTS = 4096;
const HEADER_BYTES = 16;
const pairsDeg = Float64Array.from({ length: 2 * POINTS }, (_, i) => (i % 2 === 0 ? 21 : 105) + i / 1e5);
const server = sharedServer();

test('a client that reads late from the start, before any other request, gets every frame', async () => {
  const peer = await RawBulkPeer.connect(server.port);
  peer.socket.pause();
  const frame = encodeFrame(1, pairsDeg);
  const ask = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'frames' as const };
  peer.socket.write(requestHead(ask, FRAMES * frame.length));
  // One frame at a time is answered as it is received, until the client's unread answers stop the reading.
  let sent = 0;
  for (; sent < FRAMES && !peer.socket.writableNeedDrain; sent++) {
    peer.socket.write(frame);
    await sleep(2);
  }
  for (; sent < FRAMES; sent++) peer.socket.write(frame);
  await sleep(300);
  expect(peer.socket.writableLength).toBeGreaterThan(0);
  peer.socket.resume();
  await peer.done;
  expect([peer.status, peer.isWhole, peer.sizeBytes]).toEqual([
    200,
    true,
    FRAMES * (HEADER_BYTES + 20 * POINTS),
  ]);
});
