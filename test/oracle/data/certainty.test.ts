// The shares that the shipped index promises, against a truth: positions on land with the code of their province by
// ward polygons of 2025, drawn evenly within bands of distance. The file does not ship; HEXCODES_TRUTH is its path.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';

const path = process.env.HEXCODES_TRUTH ?? '';

/** The most that promise and count may differ, in standard errors. */
const MAX_ERRORS = 3;

/** A row of the table: land, province, province of its codes, latitudes, longitudes, positions, distance. */
const AREA_ROW =
  /^\|[^|]+\| ([A-Z]{2,3}) \| ([A-Z]{2,3}) \| ([\d.]+ to [\d.]+) \| ([\d.]+ to [\d.]+) \| (\d+) \|/gm;

const isIn = ([from, to]: [number, number], value: number): boolean => value >= from && value <= to;

describe.skipIf(!existsSync(path))('(not on a machine without HEXCODES_TRUTH)', () => {
  test('each band promises what the even rows show; the odd ones were fitted', async () => {
    const library = await Hexcodes.load();
    const { bands } = library.kernel;
    const counts = bands.map(() => ({ positions: 0, right: 0 }));
    const [header, ...rows] = readFileSync(path, 'utf8').trim().split('\n');
    expect(header).toBe('lat,lng,code');
    for (const [i, row] of rows.entries()) {
      if (i % 2 === 0) continue;
      const [lat, lng, code] = row.split(',');
      const border = library.borderOf(Number(lat), Number(lng));
      // Positions without a code have no certainty.
      if (border === null) continue;
      const metres = border.border_m ?? Number.POSITIVE_INFINITY;
      const at = bands.findIndex(({ belowM }) => metres < belowM);
      const count = counts.at(at)!;
      count.positions++;
      if (library.adminCodeOf(Number(lat), Number(lng)) === code) count.right++;
    }
    const wrong = bands.flatMap(({ belowM, share }, n) => {
      const { positions, right } = counts[n]!;
      expect(positions, `below ${belowM} m`).toBeGreaterThan(1000);
      // Both halves are samples of the same size.
      const error = Math.sqrt((2 * share * (1 - share)) / positions);
      const found = right / positions;
      return Math.abs(found - share) > MAX_ERRORS * error ? [{ belowM, share, found, positions }] : [];
    });
    expect(wrong).toEqual([]);
  });

  test('positions more than 2 km on the wrong side are those that docs/accuracy.md lists', async () => {
    const library = await Hexcodes.load();
    const range = (text: string): [number, number] => text.split(' to ').map(Number) as [number, number];
    const listed = [...readFileSync('docs/accuracy.md', 'utf8').matchAll(AREA_ROW)].map(
      ([, right, said, lats, lngs, count]) => {
        return { right, said, lats: range(lats!), lngs: range(lngs!), wanted: Number(count), positions: 0 };
      },
    );
    expect(listed.length).toBeGreaterThan(0);
    const others: string[] = [];
    for (const row of readFileSync(path, 'utf8').trim().split('\n').slice(1)) {
      const [lat, lng, code] = row.split(',') as [string, string, string];
      const border = library.borderOf(Number(lat), Number(lng));
      const said = library.adminCodeOf(Number(lat), Number(lng));
      if (border === null || said === code || (border.border_m ?? 5000) < 2000) continue;
      const area = listed.find(
        ({ right, said: wrong, lats, lngs }) =>
          right === code && wrong === said && isIn(lats, Number(lat)) && isIn(lngs, Number(lng)),
      );
      if (area === undefined) others.push(`${row}, said ${said}`);
      else area.positions++;
    }
    expect(others).toEqual([]);
    expect(listed.map(({ positions }) => positions)).toEqual(listed.map(({ wanted }) => wanted));
  });
});
