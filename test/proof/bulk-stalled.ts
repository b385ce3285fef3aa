// A healthy client beside 100 HTTP and 100 WebSocket readers that take nothing: its rate there and at a server without
// them, in turns, and the memory of the one that has them.
import { HexcodesClient } from '#hexcodes/client';
import { csvBody, RawBulkPeer, requestHead } from '../support/bulk-bodies.js';
import { pointsOf } from '../support/open-world.js';
import { clientFrame, handshake, RawWebSocket } from '../support/raw-websocket.js';
import { ServerProcess } from '../support/server-process.js';
import { encodeFrame } from '../support/stream-frames.js';
import type { BulkProofOptions } from './bulk-part.js';

const ROUNDS = 5;
/** Pairs of spells in a round, one at each server: a single one is at the mercy of the machine. */
const PAIRS = 8;
const SPELL_POINTS = 4_000_000;

export default async function stalled({ size = 100 }: BulkProofOptions): Promise<string> {
  const quiet = await ServerProcess.start();
  const crowded = await ServerProcess.start();
  try {
    const idleMb = crowded.memoryMb().now;
    crowded.resetPeak();
    const body = csvBody(1, 100_000);
    const frame = clientFrame(encodeFrame(1, pointsOf(1, 4096)));
    const ratios: number[] = [];
    await rate(quiet);
    await rate(crowded);
    for (let round = 0; round < ROUNDS; round++) {
      const http = await Promise.all(
        Array.from({ length: size }, async () => {
          const peer = await RawBulkPeer.connect(crowded.port);
          peer.socket.pause();
          const request = { path: '/v1/hexcodes/encode/bulk', key: crowded.key, format: 'csv' } as const;
          peer.socket.write(requestHead(request, body.length * 2));
          peer.socket.write(body);
          return peer;
        }),
      );
      const sockets = await Promise.all(
        Array.from({ length: size }, async () => {
          const peer = await RawWebSocket.open(crowded.port, handshake(crowded.key));
          peer.socket.pause();
          for (let i = 0; i < 16; i++) peer.socket.write(frame);
          return peer;
        }),
      );
      // Waits until they all make no progress.
      await new Promise((resolve) => setTimeout(resolve, 5000));
      for (let pair = 0; pair < PAIRS; pair++) {
        const order = pair % 2 === 0 ? [quiet, crowded] : [crowded, quiet];
        const rates = new Map<ServerProcess, number>();
        for (const server of order) rates.set(server, await rate(server));
        ratios.push(rates.get(crowded)! / rates.get(quiet)!);
      }
      for (const peer of http) peer.socket.destroy();
      for (const peer of sockets) peer.end();
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    const ratio = median(ratios);
    const { peak } = crowded.memoryMb();
    if (ratio < 0.9) throw new Error(`the healthy client kept ${ratio.toFixed(2)} of its rate`);
    return `beside ${size} + ${size} stalled readers a client kept ${ratio.toFixed(2)} of its rate (median of ${ROUNDS} × ${PAIRS} pairs); memory ${idleMb.toFixed(0)} MB idle, ${peak.toFixed(0)} MB at most`;
  } finally {
    await quiet.stop();
    await crowded.stop();
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
