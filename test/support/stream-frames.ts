// Frames and corpora for the tests of the bulk stream.
import { randomFrom } from './open-world.js';

/** Points all over the open world, some of them outside it or no coordinates. */
export function pointsOf(seed: number, count: number): Float64Array {
  const random = randomFrom(seed);
  return Float64Array.from({ length: count * 2 }, (_, i) => {
    if (random() < 0.01) return Number.NaN;
    return i % 2 === 0 ? 3.8 + random() * 23 : 98.8 + random() * 21.5;
  });
}

export function encodeFrame(seq: number, pairsDeg: Float64Array, resolution = 13, output = 0): Buffer {
  return requestFrame(1, seq, pairsDeg.length / 2, new Uint8Array(pairsDeg.buffer), resolution, output);
}

export function decodeFrame(seq: number, records: Uint8Array): Buffer {
  return requestFrame(2, seq, records.length / 20, records, 0, 0);
}

function requestFrame(
  operation: number,
  seq: number,
  count: number,
  body: Uint8Array,
  resolution: number,
  output: number,
): Buffer {
  const head = Buffer.alloc(16);
  head.set([1, operation, resolution, output]);
  head.writeUInt32LE(seq, 4);
  head.writeUInt32LE(count, 8);
  return Buffer.concat([head, body]);
}
