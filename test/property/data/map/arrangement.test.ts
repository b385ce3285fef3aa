// Any heap of lines becomes an exact partition of the plane, whatever units its faces are given.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toPartition } from '../../../../data/map/draw-map.js';
import { checkPartition } from '../../../../data/map/partition.js';
import { arrange, findCrossing, findFaces, pointsInside } from '../../../../data/map/plane/arrangement.js';
import { label, OUTSIDE } from '../../../../data/map/plane/labelled-lines.js';

const SIDE = 60;
const UNITS = Array.from({ length: 5 }, (_, admin) => ({ name: `unit ${admin}`, admin }));
const ABOUT = { units: UNITS, notice: '', source: { name: '', date: '' } };

const coordinate = fc.integer({ min: 0, max: SIDE });
const lines = fc
  .array(fc.tuple(coordinate, coordinate, coordinate, coordinate), { minLength: 3, maxLength: 40 })
  .map((list) => Int32Array.from(list.flat()));

/** The face of a point by the nearest edge to the east, as a peer of pointsInside. */
function faceAt(
  x: number,
  y: number,
  { xs, ys, edges }: ReturnType<typeof arrange>,
  faceOf: Int32Array,
): number {
  let nearest = Infinity;
  let face = 0;
  for (let e = 0; e < edges.length / 2; e++) {
    const [a, b] = [edges[2 * e]!, edges[2 * e + 1]!];
    if (ys[a]! > y === ys[b]! > y) continue;
    const at = xs[a]! + ((y - ys[a]!) * (xs[b]! - xs[a]!)) / (ys[b]! - ys[a]!);
    if (at > x && at < nearest) {
      nearest = at;
      face = faceOf[ys[b]! > ys[a]! ? 2 * e : 2 * e + 1]!;
    }
  }
  return face;
}

test('arranged lines meet at common ends only', () => {
  fc.assert(
    fc.property(lines, (heap) => {
      const { xs, ys, edges } = arrange(heap);
      const flat = Int32Array.from([...edges].flatMap((vertex) => [xs[vertex]!, ys[vertex]!]));
      expect(findCrossing(flat)).toBeNull();
    }),
    { numRuns: 125 },
  );
});

test('a crossing is found whichever way its lines run', () => {
  fc.assert(
    fc.property(lines, fc.infiniteStream(fc.boolean()), (heap, turns) => {
      const turned = heap.slice();
      for (let i = 0; i < heap.length; i += 4)
        if (turns.next().value) turned.set([heap[i + 2]!, heap[i + 3]!, heap[i]!, heap[i + 1]!], i);
      expect(findCrossing(turned) === null).toBe(findCrossing(heap) === null);
    }),
    { numRuns: 125 },
  );
});

test('the point inside a face lies in that face', () => {
  fc.assert(
    fc.property(lines, (heap) => {
      const arrangement = arrange(heap);
      const faces = findFaces(arrangement);
      pointsInside(arrangement, faces).forEach((point, face) => {
        if (point) expect(faceAt(point.x, point.y, arrangement, faces.faceOf)).toBe(face);
      });
    }),
    { numRuns: 125 },
  );
});

test('faces with units make a partition; turning one line round breaks it', () => {
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 1000 }), (heap, salt) => {
      const valueAt = (x: number, y: number) => {
        const value = Math.floor(x * 7919 + y * salt) % 7;
        return value < UNITS.length ? value : OUTSIDE;
      };
      const partition = toPartition(label(arrange(heap), valueAt), ABOUT);
      checkPartition(partition);
      if (partition.left.length === 0) return;
      const broken = {
        ...partition,
        left: Uint8Array.from(partition.left, (unit, i) => (i === 0 ? partition.right[0]! : unit)),
        right: Uint8Array.from(partition.right, (unit, i) => (i === 0 ? partition.left[0]! : unit)),
      };
      expect(() => checkPartition(broken)).toThrow(/One area has units/);
    }),
    { numRuns: 125 },
  );
});
