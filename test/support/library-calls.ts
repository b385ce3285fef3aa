// Tests of the library share this: random positions, and the code of the error that a call throws.
import { expect } from 'vitest';
import { HexcodesError } from '#hexcodes';
import { randomFrom } from './open-world.js';

/** The code of the HexcodesError that a call throws; `no error` if it throws none. */
export function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(HexcodesError);
    expect((error as HexcodesError).message).toMatch(/^[A-Z].+/);
    return (error as HexcodesError).code;
  }
  return 'no error';
}

/** lat, lng, lat, lng, … in degrees, in and around Viet Nam. */
export function randomPositions(count: number, seed: number): Float64Array {
  const random = randomFrom(seed);
  return Float64Array.from({ length: 2 * count }, (_, i) =>
    i % 2 === 0 ? 8 + 15 * random() : 102 + 14 * random(),
  );
}
