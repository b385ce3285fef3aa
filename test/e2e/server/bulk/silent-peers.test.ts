// Peers of /bulk that neither send nor read for too long, on the real server: with 408, or cut off once rows are
// answered.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { startServer, type TestServer } from '../../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({}, undefined, { bulk: { noProgressMs: 3000, sweepMs: 20 } });
});
afterAll(() => server.stop());

async function upload(part: string): Promise<RawBulkPeer> {
  const peer = await RawBulkPeer.connect(server.port);
  const request = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'csv' } as const;
  await peer.send(requestHead(request, 1e6));
  await peer.send(part);
  return peer;
}

test('a body that stops before a row is answered is 408', async () => {
  const peer = await upload('lat,');
  await peer.done;
  expect(peer.status).toBe(408);
  expect(peer.head.toLowerCase()).toContain('connection: close');
  expect(server.log()).toContain('the peer neither sends nor reads');
});

test('a body that stops later is cut off, and one that goes on is not', async () => {
  const silent = await upload('lat,lng\n21.03,105.85\n');
  const steady = await upload('lat,lng\n');
  const sending = setInterval(() => steady.socket.write('21.03,105.85\n'), 50);
  await silent.done;
  expect([silent.status, silent.isWhole]).toEqual([200, false]);
  expect(steady.socket.destroyed).toBe(false);
  clearInterval(sending);
  await steady.done;
  expect(steady.isWhole).toBe(false);
});
