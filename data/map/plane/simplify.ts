// Joins lines to chains and drops vertices from them (Douglas and Peucker 1973), with a tolerance of its own for each
// vertex. The ends of chains stay, so lines that met there still meet. Thinned lines may cross each other: the caller
// arranges them.

/**
 * The thinned lines, x0, y0, x1, y1 in steps; a vertex may go if it is within its tolerance, in steps, of the new line.
 */
export function thin(lines: Int32Array, toleranceAt: (x: number, y: number) => number): Int32Array {
  const kept: number[] = [];
  for (const chain of chainsOf(lines)) {
    const stays = thinChain(chain, toleranceAt);
    for (let i = 2; i < stays.length; i += 2)
      kept.push(stays[i - 2]!, stays[i - 1]!, stays[i]!, stays[i + 1]!);
  }
  return Int32Array.from(kept);
}

/** The vertices of a chain that stay, x and y in turn; its ends do. */
export function thinChain(chain: readonly number[], toleranceAt: (x: number, y: number) => number): number[] {
  const tolerances = new Float64Array(chain.length / 2);
  for (let i = 0; i < tolerances.length; i++) tolerances[i] = toleranceAt(chain[2 * i]!, chain[2 * i + 1]!);
  return thinned(chain, tolerances).flatMap((i) => [chain[2 * i]!, chain[2 * i + 1]!]);
}

/** Indexes of the vertices that stay, ascending. */
function thinned(chain: readonly number[], tolerances: Float64Array): number[] {
  const last = tolerances.length - 1;
  const stays = new Set<number>([0, last]);
  const spans: [number, number][] = [[0, last]];
  for (let span = spans.pop(); span; span = spans.pop()) {
    const [from, to] = span;
    let worst = 0;
    let worstAt = -1;
    for (let i = from + 1; i < to; i++) {
      const excess = distance(chain, i, from, to) / tolerances[i]!;
      if (excess > worst) {
        worst = excess;
        worstAt = i;
      }
    }
    if (worst > 1) {
      stays.add(worstAt);
      spans.push([from, worstAt], [worstAt, to]);
    }
  }
  return [...stays].sort((a, b) => a - b);
}

/** Steps from vertex i to the line between two vertices; to the vertex where these two coincide, in a closed chain. */
function distance(chain: readonly number[], i: number, from: number, to: number): number {
  const x = chain[2 * i]! - chain[2 * from]!;
  const y = chain[2 * i + 1]! - chain[2 * from + 1]!;
  const dx = chain[2 * to]! - chain[2 * from]!;
  const dy = chain[2 * to + 1]! - chain[2 * from + 1]!;
  const square = dx * dx + dy * dy;
  const along = square === 0 ? 0 : Math.min(1, Math.max(0, (x * dx + y * dy) / square));
  return Math.hypot(x - along * dx, y - along * dy);
}

/**
 * The lines joined wherever exactly two of them meet: the vertices of each chain, x and y in turn. A closed chain ends
 * with its first vertex.
 */
function chainsOf(lines: Int32Array): number[][] {
  const keyOf = (i: number) => lines[i]! * 2 ** 24 + lines[i + 1]!;
  const linesAt = new Map<number, number[]>();
  for (let i = 0; i < lines.length; i += 2) {
    const at = linesAt.get(keyOf(i));
    if (at) at.push(i >> 2);
    else linesAt.set(keyOf(i), [i >> 2]);
  }
  const used = new Uint8Array(lines.length / 4);
  const chains: number[][] = [];
  const walk = (line: number, end: 0 | 2) => {
    const chain = [lines[line * 4 + end]!, lines[line * 4 + end + 1]!];
    let here = line;
    let far = line * 4 + 2 - end;
    for (;;) {
      used[here] = 1;
      chain.push(lines[far]!, lines[far + 1]!);
      const at = linesAt.get(keyOf(far))!;
      const next = at.find((l) => used[l] === 0);
      if (at.length !== 2 || next === undefined) break;
      here = next;
      far = keyOf(here * 4) === keyOf(far) ? here * 4 + 2 : here * 4;
    }
    chains.push(chain);
  };
  // Open chains from their ends, then what is left: closed ones.
  for (let line = 0; line < used.length; line++) {
    for (const end of [0, 2] as const) {
      if (used[line] === 0 && linesAt.get(keyOf(line * 4 + end))!.length !== 2) walk(line, end);
    }
  }
  for (let line = 0; line < used.length; line++) if (used[line] === 0) walk(line, 0);
  return chains;
}
