// Random numbers by a seed, and random damage to bytes.

/** 0 to 1, 1 left out. */
export type Random = () => number;

/** mulberry32, public domain, two draws a number: 53 bits in [0, 1). */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  const draw = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  return () => (draw() * 2 ** 21 + (draw() >>> 11)) / 2 ** 53;
}

// Random damage to bytes, the same for every fuzzer: a byte changed, bytes dropped, doubled or cut off, a splice put
// in.

export const pick = <T>(items: readonly T[], random: Random): T =>
  items[Math.floor(random() * items.length)] as T;

/** A number from 0 to below `end`. */
export const below = (end: number, random: Random): number => Math.floor(random() * end);

/** Up to `most` edits, at times none. The bytes given stay as they are. */
export function mutated(
  original: Buffer,
  random: Random,
  splices: readonly (string | Uint8Array)[],
  most = 4,
): Buffer {
  let bytes = original;
  for (let edits = below(most + 1, random); edits > 0; edits--) {
    const at = below(bytes.length, random);
    const kind = random();
    if (kind < 0.3 && bytes.length > 0) {
      bytes = Buffer.from(bytes);
      bytes[at] = below(256, random);
    } else if (kind < 0.5) {
      const sizeBytes = below(random() < 0.8 ? 4 : 60, random);
      bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + sizeBytes)]);
    } else if (kind < 0.6) {
      const sizeBytes = below(200, random);
      bytes = Buffer.concat([bytes.subarray(0, at + sizeBytes), bytes.subarray(at)]);
    } else if (kind < 0.63) {
      bytes = bytes.subarray(0, at);
    } else {
      const splice = Buffer.from(pick(splices, random) as string, 'latin1');
      bytes = Buffer.concat([bytes.subarray(0, at), splice, bytes.subarray(at)]);
    }
  }
  return bytes;
}

/** Cuts bytes into up to `most` pieces at random places. */
export function inPieces(bytes: Buffer, random: Random, most: number): Buffer[] {
  const cuts = Array.from({ length: below(most, random) }, () => below(bytes.length + 1, random)).sort(
    (a, b) => a - b,
  );
  return [0, ...cuts].map((from, i) => bytes.subarray(from, cuts[i] ?? bytes.length));
}
