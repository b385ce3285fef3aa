// Readers that rest for longer than the timeouts of uWS and then go on: they get every byte (transport README U24).
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { chunkOf, dueAnswer, RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { call } from '../../../support/http-calls.js';
import { openKernel, pointsOf } from '../../../support/open-world.js';
import { encodeFrame } from '../../../support/raw-stream.js';
import { sharedServer } from '../../../support/shared.js';

const server = sharedServer();

// An answer of more bytes than the sockets of both ends buffer on loopback.
const body = Buffer.concat(Array.from({ length: 12 }, (_, seq) => encodeFrame(seq, pointsOf(1, 65_536))));

/** The bytes of an answer whose reader rests before its first byte. */
async function afterRest(restMs: number, headers: readonly string[], isChunked = false): Promise<unknown[]> {
  const peer = await RawBulkPeer.connect(server.port);
  peer.socket.pause();
  const hash = createHash('sha256');
  peer.onBody = (bytes) => hash.update(bytes);
  const asText = ['Accept: application/x-ndjson', ...headers];
  const ask = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'frames' as const };
  peer.socket.write(requestHead({ ...ask, headers: asText }, isChunked ? undefined : body.length));
  peer.socket.write(isChunked ? Buffer.concat([chunkOf(body), chunkOf(Buffer.alloc(0))]) : body);
  await sleep(restMs);
  peer.socket.resume();
  await peer.done;
  return [peer.status, peer.isWhole, peer.sizeBytes, hash.digest('hex')];
}

test('answers in chunks, and of known length', async () => {
  const due = dueAnswer(openKernel(), 'encode', 'frames', body, { output: 'ndjson' });
  const whole = [200, true, due.length, createHash('sha256').update(due).digest('hex')];
  const { transport } = (await call(server, '/v1/meta')).body;
  // Longer than the timeout of uWS, in steps of four seconds: ten in uws-pack, thirty in 20.57.0.
  const restMs = transport.name === 'uws-pack' ? 15_000 : 40_000;
  const answers = await Promise.all([
    afterRest(restMs, []),
    afterRest(restMs, ['Hexcodes-Answer: after-body']),
    afterRest(restMs, ['Hexcodes-Answer: after-body'], true),
  ]);
  expect(answers).toEqual([whole, whole, whole]);
});
