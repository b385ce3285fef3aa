// A key that is revoked or disabled while its /bulk bodies run: none of their answers ever looks whole, and the log
// says why.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { setKeyState } from '../../../support/keys.js';
import { pointsOf } from '../../../support/open-world.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { encodeFrame } from '../../../support/stream-frames.js';

const ENCODE = '/v1/hexcodes/encode/bulk';
const ROWS = Buffer.from('21.03,105.85\n'.repeat(100));

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.stop());

test.each(['revoked', 'disabled'] as const)(
  'an upload that is answered as it comes is cut off when its key is %s',
  async (state) => {
    const peer = await RawBulkPeer.connect(server.port);
    await peer.send(requestHead({ path: ENCODE, key: server.key, format: 'csv' }, 1e9));
    await peer.send('lat,lng\n');
    const sending = setInterval(() => peer.socket.write(ROWS), 20);
    peer.socket.once('data', () => void setKeyState(server.dataDir, state));
    await peer.done;
    clearInterval(sending);
    expect([peer.status, peer.sizeBytes > 0, peer.isWhole]).toEqual([200, true, false]);
    expect(server.log()).toMatch(/"reason":"the key is no longer valid".*an answer was cut off/);
  },
);

test('an upload that has no answer yet is answered 401', async () => {
  const peer = await RawBulkPeer.connect(server.port);
  await peer.send(requestHead({ path: ENCODE, key: server.key, format: 'csv' }, 1e9));
  await peer.send('lat,');
  const sending = setInterval(() => peer.socket.write(','), 20);
  await setKeyState(server.dataDir, 'revoked');
  await peer.done;
  clearInterval(sending);
  expect(peer.status).toBe(401);
  expect(peer.head.toLowerCase()).toContain('connection: close');
  expect(server.log()).toContain('the key is no longer valid');
});

test('an answer of known length whose reader has not taken it stays short of its length', async () => {
  const frames = Buffer.concat(Array.from({ length: 40 }, (_, i) => encodeFrame(i, pointsOf(i, 65_536))));
  const peer = await RawBulkPeer.connect(server.port);
  const request = { path: ENCODE, key: server.key, format: 'frames' } as const;
  peer.socket.once('data', () => {
    peer.socket.pause();
    void setKeyState(server.dataDir, 'revoked');
  });
  await peer.send(requestHead(request, frames.length));
  await peer.send(frames);
  while (!server.log().includes('an answer was cut off')) await new Promise((done) => setTimeout(done, 20));
  peer.socket.resume();
  await peer.done;
  expect(peer.isWhole).toBe(false);
});
