// Ten million points through one WebSocket: every one answered, in order, equal to the library's answer.

import { Hexcodes } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { randomFrom } from '../support/open-world.js';
import { ServerProcess } from '../support/server-process.js';
import type { BulkProofOptions } from './bulk-part.js';

const CHUNK_POINTS = 65_536;

export default async function stream({ size = 10_000_000, seed }: BulkProofOptions): Promise<string> {
  const library = await Hexcodes.load();
  const server = await ServerProcess.start();
  try {
    const idleMb = server.memoryMb().now;
    server.resetPeak();
    const client = new HexcodesClient({ baseUrl: server.base, apiKey: server.key });
    const answers = client.stream({ operation: 'encode', source: chunks(size, seed) });
    // The same points once more, to be encoded here.
    const again = chunks(size, seed);
    let due = new Uint8Array(0);
    let dueAt = 0;
    let points = 0;
    for await (const answer of answers) {
      if (answer.firstIndex !== points)
        throw new Error(`answers to ${answer.firstIndex} where ${points} was due`);
      const { records } = answer;
      for (let at = 0; at < records.length; ) {
        if (dueAt === due.length) {
          due = new Uint8Array(library.encodeBatch(again.next().value as Float64Array));
          dueAt = 0;
        }
        const count = Math.min(records.length - at, due.length - dueAt);
        const isEqual =
          Buffer.compare(records.subarray(at, at + count), due.subarray(dueAt, dueAt + count)) === 0;
        if (!isEqual) throw new Error(`an answer near point ${points} differs from the library's`);
        at += count;
        dueAt += count;
      }
      points += answer.count;
    }
    if (points !== size) throw new Error(`${points} of ${size} points answered`);
    const { peak } = server.memoryMb();
    const grownMb = peak - idleMb;
    if (grownMb > 64) throw new Error(`memory grew from ${idleMb} to ${peak} MB`);
    return `${points} points equal to the library's, in order; memory ${idleMb.toFixed(0)} MB idle, ${peak.toFixed(0)} MB at most`;
  } finally {
    await server.stop();
  }
}

function* chunks(size: number, seed: number): Generator<Float64Array, undefined> {
  const random = randomFrom(seed);
  for (let first = 0; first < size; first += CHUNK_POINTS) {
    const pairsDeg = new Float64Array(2 * Math.min(CHUNK_POINTS, size - first));
    for (let i = 0; i < pairsDeg.length; i += 2) {
      pairsDeg[i] = 8 + random() * 15.5;
      pairsDeg[i + 1] = 102 + random() * 8;
    }
    yield pairsDeg;
  }
}
