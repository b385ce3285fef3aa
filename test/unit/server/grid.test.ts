// Tiles of the grid, and pieces of work one a turn.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { VectorTile } from '@mapbox/vector-tile';
import { cellToBoundary, cellToLatLng, getResolution, latLngToCell } from 'h3-js';
import { PbfReader } from 'pbf';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  codesIn,
  inTile,
  KeptBodies,
  MAX_ZOOM,
  OneATurn,
  RESOLUTION_OF_ZOOM,
  type Tile,
  vectorTileOf,
} from '#dist/server/routes/grid.js';
import { Hexcodes } from '#hexcodes';
import { cellCollection } from '#hexcodes/geometry';
import { randomFrom } from '../../support/open-world.js';

// Tiles of the grid: which cells each has, how many at most, and what a reader of vector tiles finds in one.
describe('tiles', () => {
  /** Cells of a tile, as docs/http.md promises. */
  const MAX_CELLS = 256;
  const ZOOMS = Array.from({ length: MAX_ZOOM + 1 }, (_, zoom) => zoom);

  let library: Hexcodes;
  beforeAll(async () => {
    library = await Hexcodes.load();
  });

  /** The tile of a position. */
  function tileAt(latDeg: number, lngDeg: number, zoom: number): Tile {
    const [right, down] = inTile({ zoom, x: 0, y: 0 }, lngDeg, latDeg);
    return { zoom, x: Math.floor(right), y: Math.floor(down) };
  }

  /** Positions in provinces. */
  function* positions(seed: number): Generator<[latDeg: number, lngDeg: number]> {
    const random = randomFrom(seed);
    for (;;) {
      const [latDeg, lngDeg] = [8 + 15.5 * random(), 102 + 8 * random()];
      if (library.adminCodeOf(latDeg, lngDeg) !== null) yield [latDeg, lngDeg];
    }
  }

  test.each(ZOOMS)(
    'zoom %i: each cell with a code that has a position in a tile is one of its cells',
    (zoom) => {
      const random = randomFrom(200 + zoom);
      const places = positions(300 + zoom);
      // The country has few tiles of a small zoom.
      const known = new Map<string, Set<string>>();
      const cellsOf = (tile: Tile): Set<string> => {
        const codes = codesIn(library, tile);
        expect(codes.length).toBeLessThanOrEqual(MAX_CELLS);
        expect(new Set(codes).size).toBe(codes.length);
        const cells = new Set(codes.map((code) => library.read(code)!.cell.toString(16)));
        for (const cell of cells) expect(getResolution(cell)).toBe(RESOLUTION_OF_ZOOM[zoom]);
        return cells;
      };
      for (let i = 0; i < 40; i++) {
        const tile = tileAt(...(places.next().value as [number, number]), zoom);
        const name = `${tile.x}/${tile.y}`;
        const cells = known.get(name) ?? cellsOf(tile);
        known.set(name, cells);
        for (let n = 0; n < 30; n++) {
          const [latDeg, lngDeg] = within(tile, random(), random());
          const cell = latLngToCell(latDeg, lngDeg, RESOLUTION_OF_ZOOM[zoom]!);
          if (hasCode(cell))
            expect([zoom, latDeg, lngDeg, cells.has(cell)]).toEqual([zoom, latDeg, lngDeg, true]);
        }
      }
    },
  );

  /** A position in a tile, by the inverse of the projection. */
  function within({ zoom, x, y }: Tile, right: number, down: number): [latDeg: number, lngDeg: number] {
    const lngDeg = ((x + right) / 2 ** zoom) * 360 - 180;
    const latDeg = (Math.atan(Math.sinh(Math.PI * (1 - (2 * (y + down)) / 2 ** zoom))) * 180) / Math.PI;
    return [latDeg, lngDeg];
  }

  /** Whether a cell has a code by its centre or a corner, as those of `cover` have. */
  function hasCode(cell: string): boolean {
    return [cellToLatLng(cell), ...cellToBoundary(cell)].some(([latDeg, lngDeg]) => {
      const admin = library.adminCodeOf(latDeg!, lngDeg!);
      return admin !== null && library.pack(BigInt(`0x${cell}`), admin) !== null;
    });
  }

  test.each([0, 4, 9, 14, 22])('zoom %i as a vector tile: codes, and corners to a step', (zoom) => {
    const tile = tileAt(21.0288, 105.8525, zoom);
    const { features } = cellCollection(library, codesIn(library, tile));
    const { layers } = new VectorTile(new PbfReader(vectorTileOf(tile, features)));
    expect(Object.keys(layers)).toEqual(['grid']);
    const layer = layers.grid!;
    expect([layer.version, layer.extent, layer.length]).toEqual([2, 4096, features.length]);
    for (const [i, cell] of features.entries()) {
      const feature = layer.feature(i);
      expect([feature.type, feature.properties]).toEqual([3, cell.properties]);
      const [ring, ...holes] = feature.loadGeometry();
      expect(holes).toEqual([]);
      const due = cell.geometry.coordinates[0]!.map(([lng, lat]) => inTile(tile, lng, lat)).reverse();
      expect(ring!.length).toBe(due.length);
      ring!.forEach(({ x, y }, at) => {
        expect(Math.abs(x - due[at]![0] * 4096)).toBeLessThanOrEqual(0.5);
        expect(Math.abs(y - due[at]![1] * 4096)).toBeLessThanOrEqual(0.5);
      });
      // Outer rings have a positive area, with y growing downwards.
      const area = ring!.reduce((sum, { x, y }, at) => {
        const next = ring![(at + 1) % ring!.length]!;
        return sum + x * next.y - next.x * y;
      }, 0);
      expect(area).toBeGreaterThan(0);
    }
  });

  test('bodies are kept up to a number of bytes, the last asked for longest', () => {
    const bodies = new KeptBodies(3000);
    const made: string[] = [];
    const get = (name: string, sizeBytes = 1000): Uint8Array => {
      const kept = bodies.find(name);
      if (kept !== undefined) return kept.bytes;
      made.push(name);
      const bytes = new Uint8Array(sizeBytes);
      bodies.keep(name, { bytes, points: 1 });
      return bytes;
    };
    for (const name of ['a', 'b', 'a', 'c', 'a', 'b', 'b']) expect(get(name).length).toBe(1000);
    expect(made).toEqual(['a', 'b', 'c', 'b']);
    expect(get('large', 5000).length).toBe(5000);
    expect(get('b').length).toBe(1000);
    expect(made).toEqual(['a', 'b', 'c', 'b', 'large', 'b']);
  });
});

// Pieces of work one a turn of the event loop: in order, with other work in between, bounded, and one that fails ends
// none.
describe('one piece a turn', () => {
  test('other work has its turn between two pieces; what is too much is not taken', async () => {
    const pieces = new OneATurn(3);
    const done: string[] = [];
    const fail = (error: unknown): void => void done.push(String(error));
    const add = (name: string): boolean => pieces.add(() => void done.push(name), fail);
    expect(['a', 'b', 'c', 'd'].map(add)).toEqual([true, true, true, false]);
    expect(done).toEqual([]);
    for (let turn = 1; turn <= 3; turn++) {
      await nextTurn();
      expect(done).toHaveLength(turn);
    }
    expect(add('e')).toBe(true);
    await nextTurn();
    expect(done).toEqual(['a', 'b', 'c', 'e']);
  });

  test('a piece that fails says so to whoever added it, and the next follow', async () => {
    const pieces = new OneATurn(3);
    const done: string[] = [];
    const broken = (): void => {
      throw new Error('broken');
    };
    pieces.add(broken, (error) => void done.push((error as Error).message));
    pieces.add(
      () => void done.push('next'),
      () => {},
    );
    await nextTurn();
    await nextTurn();
    expect(done).toEqual(['broken', 'next']);
  });
});
