// Random numbers by a seed.

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
