// Points by hexagon: their numbers, their classes, and the rows after them.

import { cellToBoundary, latLngToCell } from 'h3-js';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { conversionOf, requestFor } from '../../support/console-conversion.js';
import { consoleModule } from '../../support/console-module.js';
import { randomFrom } from '../../support/open-world.js';

interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

interface Counted {
  readonly cells: BigUint64Array;
  readonly points: Uint32Array;
  readonly levels: readonly number[];
  readonly classes: Uint8Array;
  readonly corners: Float32Array;
  readonly ends: Uint32Array;
}

interface Counter {
  uncounted(): number;
  count(box: Box, resolution: number): Counted;
  view(box: Box, finest: number): Counted & { readonly resolution: number };
  inCell(cell: bigint, box: Box, resolution: number, most: number): number[];
}

const { Counter, levelsOf } = await consoleModule<{
  Counter: new (kernel: unknown, positions: Float64Array) => Counter;
  levelsOf(counts: readonly number[]): number[];
}>('points/counting.ts');
const { rowTexts } = await consoleModule<{
  rowTexts(
    answer: Blob,
    blocks: readonly number[],
    delimiter: string | undefined,
    rows: readonly number[],
  ): Promise<string[]>;
}>('file/table-plan.ts');

const { ANCHOR, mercatorX, mercatorY } = await consoleModule<{
  ANCHOR: { x: number; y: number };
  mercatorX(lngDeg: number): number;
  mercatorY(latDeg: number): number;
}>('points/drawn-points.ts');

const library = await Hexcodes.load();

/** Positions around some towns and anywhere, a part of them abroad. */
function madePositions(count: number, random: () => number): [number, number][] {
  const towns = Array.from({ length: 12 }, () => [9 + random() * 13, 103 + random() * 6] as const);
  return Array.from({ length: count }, () => {
    if (random() < 0.2) return [7 + random() * 17, 101 + random() * 12];
    const [lat, lng] = towns[Math.floor(random() * towns.length)]!;
    return [lat + (random() - 0.5) ** 3, lng + (random() - 0.5) ** 3];
  });
}

describe('counts', () => {
  test('each hexagon of a view has the number of its points by h3-js, and lists them', () => {
    const random = randomFrom(55);
    for (let run = 0; run < 24; run++) {
      const positions = madePositions(6000, random);
      const counter = new Counter(library.kernel, Float64Array.from(positions.flat()));
      const resolution = run % 12;
      const [lat, lng] = positions[Math.floor(random() * positions.length)]!;
      const half = 0.001 + 4 * random() ** 4;
      const box = { west: lng - half, south: lat - half, east: lng + half, north: lat + half };
      const wanted = new Map<string, number[]>();
      const seen = new Set<string>();
      let outside = 0;
      positions.forEach(([y, x], index) => {
        if (library.adminCodeOf(y, x) === null) {
          outside++;
          return;
        }
        const cell = latLngToCell(y, x, resolution);
        wanted.set(cell, [...(wanted.get(cell) ?? []), index]);
        if (y >= box.south && y <= box.north && x >= box.west && x <= box.east) seen.add(cell);
      });
      const { cells, points, levels, classes, corners, ends } = counter.count(box, resolution);
      expect(counter.uncounted()).toBe(outside);
      const names = [...cells].map((cell) => cell.toString(16));
      expect([...points]).toEqual(names.map((cell) => wanted.get(cell)?.length));
      const found = new Set(names);
      expect([...seen].filter((cell) => !found.has(cell))).toEqual([]);
      points.forEach((each, i) => {
        const level = classes[i]!;
        expect(levels[level]! <= each && each < (levels[level + 1] ?? Infinity)).toBe(true);
      });
      // Outlines are those of h3-js, to some centimetres.
      expect(corners.length).toBe(2 * (ends.at(-1) ?? 0));
      names.forEach((cell, i) => {
        const ring = cellToBoundary(cell);
        const first = ends[i - 1] ?? 0;
        expect(ends[i]! - first).toBe(ring.length);
        const near = (x: number, y: number): number =>
          Math.min(
            ...ring.map(([lat, lng]) =>
              Math.hypot(mercatorX(lng) - ANCHOR.x - x, mercatorY(lat) - ANCHOR.y - y),
            ),
          );
        for (let at = first; at < ends[i]!; at++)
          expect(near(corners[2 * at]!, corners[2 * at + 1]!)).toBeLessThan(1e-8);
      });
      const [cell] = cells;
      if (cell === undefined) continue;
      const ring = cellToBoundary(names[0]!);
      const around = {
        west: Math.min(...ring.map(([, x]) => x)),
        south: Math.min(...ring.map(([y]) => y)),
        east: Math.max(...ring.map(([, x]) => x)),
        north: Math.max(...ring.map(([y]) => y)),
      };
      expect(counter.inCell(cell, around, resolution, 10_000)).toEqual(wanted.get(names[0]!));
      expect(counter.inCell(cell, around, resolution, 3)).toEqual(wanted.get(names[0]!)!.slice(0, 3));
    }
  });

  test('hexagons of a view are larger where few points are', () => {
    const box = { west: 105, south: 20.5, east: 106, north: 21.5 };
    const random = randomFrom(8);
    const some = (count: number) =>
      new Counter(
        library.kernel,
        Float64Array.from(
          Array.from({ length: count }, () => [20.6 + 0.8 * random(), 105.2 + 0.6 * random()]).flat(),
        ),
      ).view(box, 8);
    const means = [20, 1000, 60_000].map((count) => {
      const { resolution, cells } = some(count);
      const mean = count / cells.length;
      expect(mean >= 4 || resolution === 6).toBe(true);
      return resolution;
    });
    expect(means).toEqual([6, 7, 8].map((_, i) => means[i]!).sort((a, b) => a - b));
    expect([means[0], means[2]]).toEqual([6, 8]);
  });

  test('at most six classes from 1, rising, with one digit each, and none beyond what there is', () => {
    const random = randomFrom(6);
    for (let run = 0; run < 500; run++) {
      const counts = Array.from({ length: 1 + Math.floor(random() * 300) }, () =>
        Math.ceil(10 ** (random() * 6 * random())),
      );
      const levels = levelsOf(counts);
      expect(levels[0]).toBe(1);
      expect(levels.length).toBeLessThanOrEqual(6);
      expect(levels).toEqual([...new Set(levels)].sort((a, b) => a - b));
      expect(levels.at(-1)).toBeLessThanOrEqual(Math.max(...counts));
      for (const least of levels) expect(String(least)).toMatch(/^\d0*$/);
    }
    expect(levelsOf([])).toEqual([1]);
    // One full hexagon does not take the colours of all others.
    expect(levelsOf([...Array.from({ length: 99 }, (_, i) => 1 + (i % 9)), 1_000_000]).at(-1)).toBeLessThan(
      10,
    );
  });
});

describe('the rows of points', () => {
  const FORMATS = [
    ['csv', ','],
    ['csv', '\t'],
    ['ndjson', undefined],
  ] as const;

  test.each(FORMATS)('%s %j: a point leads to its row of the answer', async (format, delimiter) => {
    const random = randomFrom(17);
    const names = ['Phố', 'a "b"', 'two\nlines', 'x,y\tz', '', '  '];
    const rows = Array.from({ length: 9000 }, (_, i) => {
      const [lat, lng] = [(8 + random() * 15).toFixed(5), (102 + random() * 8).toFixed(5)];
      const isBroken = random() < 0.05;
      const name = `${names[i % names.length]}#${i}#`;
      if (format === 'ndjson')
        return JSON.stringify({ id: name, lat: isBroken ? 'x' : Number(lat), lng: Number(lng) });
      const quoted = `"${name.replaceAll('"', '""')}"`;
      return `${[isBroken ? 'x' : lat, lng, quoted].join(delimiter)}${i % 701 === 0 ? '\r\n\r\n' : ''}`;
    });
    const head = format === 'csv' ? `${['lat', 'lng', 'name'].join(delimiter)}\n` : '';
    const bytes = new TextEncoder().encode(`${head}${rows.join('\n')}\n`);
    const request = requestFor(bytes, format, 13);
    const conversion = conversionOf(library.kernel, request);
    const parts: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += 50_000)
      parts.push(...conversion.push(bytes.subarray(at, at + 50_000)));
    parts.push(...conversion.end());
    const { rows: ofPoints, positions } = conversion.points.take();
    expect(ofPoints.length).toBeGreaterThan(8000);
    const some = Array.from({ length: 300 }, () => Math.floor(random() * ofPoints.length));
    const texts = await rowTexts(
      new Blob(parts as Uint8Array<ArrayBuffer>[]),
      conversion.blocks,
      delimiter,
      some.map((point) => ofPoints[point]!),
    );
    some.forEach((point, i) => {
      // Lines of JSON are cut off before their id.
      if (format === 'csv') expect(texts[i]).toContain(`#${ofPoints[point]}#`);
      for (const axis of [0, 1]) expect(texts[i]).toContain(String(positions[2 * point + axis]));
    });
  });
});
