// The naive peer of the boundary index: every region's closed rings, put together from the borders it has on one
// side, and for a point *all* regions whose rings wind around it. It shares nothing with the kernel but the rule
// for points on a line. Edges are kept in strips of latitude only, so that millions of points take minutes, not days.

/** A border with the region on either side of it; sides that are `none` belong to nobody. */
export interface Border {
  readonly left: number;
  readonly right: number;
  /** x0, y0, x1, y1, … in micro-degrees. */
  readonly vertices: ArrayLike<number>;
}

type Vertex = readonly [x: number, y: number];
export type Ring = readonly Vertex[];

const STRIP = 10_000;

/** Rings of every region, the region on the left hand; a ring's last vertex leads to its first. */
export function ringsOf(borders: Iterable<Border>, none: number): Map<number, Ring[]> {
  // Per region: vertex → vertices that edges lead to from it.
  const edges = new Map<number, Map<string, Vertex[]>>();
  const addEdge = (region: number, from: Vertex, to: Vertex): void => {
    if (region === none) return;
    let ofRegion = edges.get(region);
    if (ofRegion === undefined) {
      ofRegion = new Map();
      edges.set(region, ofRegion);
    }
    const key = from.join(' ');
    const leading = ofRegion.get(key);
    if (leading) leading.push(to);
    else ofRegion.set(key, [to]);
  };
  for (const { left, right, vertices } of borders) {
    if (left === right) continue;
    for (let i = 0; i + 3 < vertices.length; i += 2) {
      const from: Vertex = [vertices[i]!, vertices[i + 1]!];
      const to: Vertex = [vertices[i + 2]!, vertices[i + 3]!];
      addEdge(left, from, to);
      addEdge(right, to, from);
    }
  }
  const rings = new Map<number, Ring[]>();
  for (const [region, leading] of edges) {
    const list: Ring[] = [];
    for (const [key, targets] of leading) {
      while (targets.length > 0) {
        const [x, y] = key.split(' ').map(Number) as [number, number];
        const ring: Vertex[] = [[x, y]];
        for (;;) {
          const next = leading.get(ring.at(-1)!.join(' '))?.pop();
          if (next === undefined) throw new Error(`region ${region}: a ring ends open at ${ring.at(-1)}`);
          if (next[0] === x && next[1] === y) break;
          ring.push(next);
        }
        list.push(ring);
      }
    }
    rings.set(region, list);
  }
  return rings;
}

/** Rotates every ring by a number of vertices, or turns it round (`turn`). */
export function retoldRings(rings: Map<number, Ring[]>, by: number, turn: boolean): Map<number, Ring[]> {
  const retell = (ring: Ring): Ring => {
    const cut = by % ring.length;
    const rotated = [...ring.slice(cut), ...ring.slice(0, cut)];
    return turn ? rotated.reverse() : rotated;
  };
  return new Map([...rings].map(([region, list]) => [region, list.map(retell)]));
}

interface Edge {
  readonly region: number;
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

export class RingContainment {
  readonly #strips = new Map<number, Edge[]>();

  constructor(rings: Map<number, Ring[]>) {
    for (const [region, list] of rings)
      for (const ring of list)
        ring.forEach(([x0, y0], i) => {
          const [x1, y1] = ring[(i + 1) % ring.length]!;
          const edge = { region, x0, y0, x1, y1 };
          const last = Math.floor(Math.max(y0, y1) / STRIP);
          for (let strip = Math.floor(Math.min(y0, y1) / STRIP); strip <= last; ++strip) {
            const inStrip = this.#strips.get(strip);
            if (inStrip) inStrip.push(edge);
            else this.#strips.set(strip, [edge]);
          }
        });
  }

  /** How often each region's rings wind around a place, counter-clockwise; regions with 0 are left out. */
  windingsAt(x: number, y: number): Map<number, number> {
    const windings = new Map<number, number>();
    for (const { region, x0, y0, x1, y1 } of this.#strips.get(Math.floor(y / STRIP)) ?? []) {
      if (y0 > y === y1 > y) continue;
      const cross = (x1 - x0) * (y - y0) - (x - x0) * (y1 - y0);
      const turns = y1 > y0 ? (cross > 0 ? 1 : 0) : cross < 0 ? -1 : 0;
      if (turns === 0) continue;
      const sum = (windings.get(region) ?? 0) + turns;
      if (sum === 0) windings.delete(region);
      else windings.set(region, sum);
    }
    return windings;
  }
}
