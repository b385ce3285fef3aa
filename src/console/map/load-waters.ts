// Lakes and wide rivers: data/waters.bin, which data/map/waters.ts draws. They come with the first near view.
import type { Desk } from '../desk.js';
import { bytesOf } from '../shipped.js';
import type { Ring } from './shapes.js';
import { varintsOf } from './varints.js';

const STEPS_PER_DEGREE = 2000;

export async function loadWaters({ waters }: Desk): Promise<void> {
  waters.set(readWaters(await bytesOf('waters')));
}

/** Areas, each with its islands behind its outline. */
export function readWaters(bytes: Uint8Array): Ring[][] {
  const { next, step } = varintsOf(bytes);
  let [x, y] = [0, 0];
  return Array.from({ length: next() }, () =>
    Array.from({ length: next() }, () => {
      const ring = Array.from({ length: next() }, (): Ring[0] => {
        x += step();
        y += step();
        return [x / STEPS_PER_DEGREE, y / STEPS_PER_DEGREE];
      });
      ring.push(ring[0]!);
      return ring;
    }),
  );
}
