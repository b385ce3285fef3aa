// Five thousand streams of one address, as a gateway or a carrier's address translation has them: each shows its key,
// and so gives its opening back.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { KeylessPeers } from '../../../support/crowd.js';
import { pointsOf } from '../../../support/open-world.js';
import { encodeFrame, handshake, RawWebSocket } from '../../../support/raw-stream.js';
import { startServer } from '../../../support/server.js';

const KEY = 'one_key_0123456789abcdef';
const STREAMS = 5000;
const AT_ONCE = 250;

test('5,000 keyed streams of one address open and stay, though nearly all connections are theirs', async () => {
  const limits = {
    maxKeylessPerAddress: AT_ONCE + 50,
    maxConnections: STREAMS + 50,
    logLevel: 'warn' as const,
  };
  const server = await startServer({ apiKeys: [{ name: 'one', secret: KEY }], ...limits });
  const peers = new KeylessPeers(server.port, '127.0.0.2');
  const streams: RawWebSocket[] = [];
  onTestFinished(async () => {
    peers.close();
    for (const stream of streams) stream.socket.destroy();
    await server.stop();
  });
  await peers.open(100, 500, true);
  while (streams.length < STREAMS) {
    const opening = Array.from({ length: AT_ONCE }, () => RawWebSocket.open(server.port, handshake(KEY)));
    // On a busy machine the first streams are pinged before the last ones are open.
    for (const stream of await Promise.all(opening)) {
      stream.onPing = () => stream.pong();
      streams.push(stream);
    }
  }
  await sleep(1500);
  const frame = encodeFrame(1, pointsOf(1, 2));
  const answers = streams.map(async (stream) => {
    stream.send(frame);
    return (await stream.next()).payload.length;
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set([16 + 2 * 20]));
});
