// A healthy client beside 100 HTTP and 100 WebSocket readers that take nothing: its rate with them and without, in
// turns, and the server's memory.
import { HexcodesClient } from '#dist/client/node.js';
import { csvBody, RawBulkPeer, requestHead } from '../e2e/bulk-bodies.js';
import { clientFrame, handshake, RawWebSocket } from '../e2e/raw-websocket.js';
import { encodeFrame, pointsOf } from '../e2e/stream-frames.js';
import type { BulkProofOptions } from './bulk.js';
import { ServerProcess } from './bulk-server.js';

const ROUNDS = 5;
/** Times that the rate is taken in a round, with the readers and without: a single one is at the mercy of the machine. */
const SPELLS = 5;
const SPELL_POINTS = 4_000_000;

export default async function stalled({ size = 100 }: BulkProofOptions): Promise<string> {
  const server = await ServerProcess.start();
  try {
    const idleMb = server.memoryMb().now;
    server.resetPeak();
    const body = csvBody(1, 100_000);
    const frame = clientFrame(encodeFrame(1, pointsOf(1, 4096)));
    const alone: number[] = [];
    const beside: number[] = [];
    await rate(server);
    for (let round = 0; round < ROUNDS; round++) {
      for (let spell = 0; spell < SPELLS; spell++) alone.push(await rate(server));
      const http = await Promise.all(
        Array.from({ length: size }, async () => {
          const peer = await RawBulkPeer.connect(server.port);
          peer.socket.pause();
          const request = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'csv' } as const;
          peer.socket.write(requestHead(request, body.length * 2));
          peer.socket.write(body);
          return peer;
        }),
      );
      const sockets = await Promise.all(
        Array.from({ length: size }, async () => {
          const peer = await RawWebSocket.open(server.port, handshake(server.key));
          peer.socket.pause();
          for (let i = 0; i < 16; i++) peer.socket.write(frame);
          return peer;
        }),
      );
      // Until they have all come to a stand.
      await new Promise((resolve) => setTimeout(resolve, 5000));
      for (let spell = 0; spell < SPELLS; spell++) beside.push(await rate(server));
      for (const peer of http) peer.socket.destroy();
      for (const peer of sockets) peer.end();
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    const ratio = median(beside) / median(alone);
    const { peak } = server.memoryMb();
    if (ratio < 0.9) throw new Error(`the healthy client kept ${ratio.toFixed(2)} of its rate`);
    return `beside ${size} + ${size} stalled readers a client kept ${ratio.toFixed(2)} of its rate (medians of ${ROUNDS} × ${SPELLS}); memory ${idleMb.toFixed(0)} MB idle, ${peak.toFixed(0)} MB at most`;
  } finally {
    await server.stop();
  }
}

/** Points a second of one healthy stream. */
async function rate(server: ServerProcess): Promise<number> {
  const pairsDeg = pointsOf(2, 65_536);
  const source = Array.from({ length: Math.ceil(SPELL_POINTS / 65_536) }, () => pairsDeg);
  const client = new HexcodesClient({ baseUrl: server.base, apiKey: server.key });
  const start = performance.now();
  let points = 0;
  for await (const answer of client.stream({ operation: 'encode', source })) points += answer.count;
  return points / (performance.now() - start);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
