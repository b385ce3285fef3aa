// Lines and rings that carry a number, their tag: a former province, a province or an island, as the caller likes. A
// line is a straight segment between two grid points; the area that its tag names is on its left.
import { type Ring, ringArea } from './grid.js';

export interface TaggedRing {
  readonly tag: number;
  readonly ring: Ring;
}

export interface TaggedLines {
  /** x0, y0, x1, y1 of each line in steps. */
  readonly lines: Int32Array;
  readonly tags: Int16Array;
}

/**
 * The lines of open rings, each turned counter-clockwise. Rings of one tag that overlap wind twice around the overlap.
 */
export function taggedLinesOf(rings: readonly TaggedRing[]): TaggedLines {
  const count = rings.reduce((sum, { ring }) => sum + ring.length / 2, 0);
  const lines = new Int32Array(count * 4);
  const tags = new Int16Array(count);
  let line = 0;
  for (const { tag, ring } of rings) {
    const isCounterClockwise = ringArea(ring) >= 0;
    for (let i = 0; i < ring.length; i += 2) {
      const j = (i + 2) % ring.length;
      const [from, to] = isCounterClockwise ? [i, j] : [j, i];
      lines.set([ring[from]!, ring[from + 1]!, ring[to]!, ring[to + 1]!], line * 4);
      tags[line++] = tag;
    }
  }
  return { lines, tags };
}

/** The lines of open rings, turned likewise, without tags. */
export function linesOf(rings: readonly Ring[]): Int32Array {
  return taggedLinesOf(rings.map((ring) => ({ tag: 0, ring }))).lines;
}
