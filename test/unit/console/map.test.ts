// The map of the page: hexagons, outlines, provinces, style, the hexagons of a view as a file, and points by hexagon.

import { readFileSync } from 'node:fs';
import { cellToBoundary, latLngToCell } from 'h3-js';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { cover, edge, gridDisk, parent } from '#hexcodes/geometry';
import { conversionOf, requestFor } from '../../support/console-conversion.js';
import { consoleModule } from '../../support/console-module.js';
import { randomFrom } from '../../support/open-world.js';

// The contrast of two colours, as WCAG 2.2 defines it.
/** Relative luminance. @param rgb each 0 to 255 */
function luminance(rgb: readonly number[]): number {
  const [red, green, blue] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

const rgbOf = (color: string | readonly number[]): readonly number[] =>
  typeof color === 'string'
    ? [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
    : color.slice(0, 3);

/** From 1 to 21. @param one `#rrggbb`, or red, green and blue from 0 to 255 */
function contrast(one: string | readonly number[], other: string | readonly number[]): number {
  const [low, high] = [one, other].map((color) => luminance(rgbOf(color))).sort((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}

// The hexagons on the map: wide enough to be seen, and the chosen cell among its ring and its parent.
describe('hexagons', async () => {
  interface Polygons {
    features: { geometry: { coordinates: [number, number][][] }; properties: { kind: string } }[];
  }
  const { gridResolutionAt, gridOf, placeShapes, boxAround } = await consoleModule<{
    gridResolutionAt(worldPx: number, latDeg: number): number;
    gridOf(library: Hexcodes, view: object, resolution: number): Polygons;
    placeShapes(desk: object): Polygons;
    boxAround(place: object, rings: number): Record<'west' | 'south' | 'east' | 'north', number>;
  }>('map/features.ts');
  const { h3, loadH3 } =
    await consoleModule<typeof import('../../../src/console/shell/h3.js')>('shell/h3.ts');
  await loadH3();
  const library = await Hexcodes.load();
  const place = library.read('HN-6GHP4-83RFR')!;
  const shapesOf = (now: object, rings: number, points?: object) =>
    placeShapes({ library, place: { now }, rings: { now: rings }, points: { now: points } });

  test('a hexagon is 44 to 117 pixels wide where it can be', () => {
    const EARTH_M = 40_075_017;
    for (let zoom = 4; zoom < 22; zoom += 0.25) {
      const worldPx = 512 * 2 ** zoom;
      const resolution = gridResolutionAt(worldPx, 16);
      if (resolution === 0 || resolution === 15) continue;
      const edgeM = edge(library, library.encode(16.05, 108.2, resolution).hexcodes);
      const widthPx = (2 * edgeM * worldPx) / (EARTH_M * Math.cos((16 * Math.PI) / 180));
      expect([zoom, widthPx >= 44 * 0.8 && widthPx <= 44 * Math.sqrt(7) * 1.25]).toEqual([zoom, true]);
    }
    expect([gridResolutionAt(1, 16), gridResolutionAt(1e15, 16)]).toEqual([0, 15]);
  });

  test('before h3-js is loaded the map has no hexagons, but a place already has a view', () => {
    const loaded = h3.now;
    h3.now = undefined;
    const view = { west: 105.8, south: 21.0, east: 105.9, north: 21.1 };
    expect([gridOf(library, view, 8).features, shapesOf(place, 2).features]).toEqual([[], []]);
    expect(boxAround(place, 0).north).toBeGreaterThan(place.lat);
    h3.now = loaded;
  });

  test('a measured position is drawn with the circle of its error, which the map makes room for', () => {
    const measured = { ...place, from: { lat: 21.0288, lng: 105.8525 }, accuracyM: 2500 };
    const [circle] = shapesOf(measured, 0).features;
    expect(circle!.properties.kind).toBe('error');
    const lats = circle!.geometry.coordinates[0]!.map(([, lat]) => lat);
    expect(((Math.max(...lats) - Math.min(...lats)) / 360) * 40_075_017).toBeCloseTo(5000, 0);
    const box = boxAround(measured, 0);
    expect([box.north, box.south]).toEqual([Math.max(...lats), Math.min(...lats)]);
  });

  test('the cell once and last, its ring around it, its parent between them, but not over points', () => {
    const kinds = (rings: number, points?: object) =>
      shapesOf(place, rings, points).features.map(({ properties }) => properties.kind);
    expect(kinds(0)).toEqual(['parent', 'cell']);
    const around = gridDisk(library, place.hexcodes, 2).length - 1;
    expect(kinds(2)).toEqual([...Array.from({ length: around }, () => 'ring'), 'parent', 'cell']);
    expect(kinds(0, {})).toEqual(['cell']);
    expect(shapesOf(place, 0).features[0]!.properties).toMatchObject({
      code: parent(library, place.hexcodes, 12),
    });
    const largest = library.read(parent(library, place.hexcodes, 0))!;
    expect(shapesOf(largest, 0).features.map(({ properties }) => properties.kind)).toEqual(['cell']);
  });

  test('the box has room for the rings, and the grid only cells with codes', () => {
    const [near, far] = [boxAround(place, 0), boxAround(place, 3)];
    expect(
      near.west < place.lng && place.lng < near.east && near.south < place.lat && place.lat < near.north,
    ).toBe(true);
    expect((far.east - far.west) / (near.east - near.west)).toBeCloseTo(12 / 6, 5);
    const inland = gridOf(library, { west: 105.8, south: 21.0, east: 105.9, north: 21.1 }, 8);
    expect(inland.features.length).toBeGreaterThan(50);
    expect(gridOf(library, { west: 2, south: 48, east: 2.2, north: 48.2 }, 8).features).toEqual([]);
    expect(gridOf(library, { west: 100, south: 5, east: 112, north: 24 }, 9).features).toEqual([]);
  });
});

// Outlines of the plain map: what is cut off outside the view changes nothing inside it.
describe('outlines of the plain map', async () => {
  type Corner = readonly [number, number];
  const { Outline } =
    await consoleModule<typeof import('../../../src/console/map/flat-outline.js')>('map/flat-outline.ts');
  const { mercatorX, mercatorY } =
    await consoleModule<typeof import('../../../src/console/points/drawn-points.js')>(
      'points/drawn-points.ts',
    );

  const [WIDTH, HEIGHT, PAD] = [300, 200, 16];
  const AT = { lng: 105.8, lat: 21 };
  const view = (zoom: number) => ({
    x: mercatorX(AT.lng),
    y: mercatorY(AT.lat),
    worldPx: 512 * 2 ** zoom,
    widthPx: WIDTH,
    heightPx: HEIGHT,
  });

  /** The lines that a canvas would be given. */
  function drawn(outline: InstanceType<typeof Outline>, zoom: number): Corner[][] {
    const lines: Corner[][] = [];
    outline.draw(
      {
        moveTo: (x, y) => lines.push([[x, y]]),
        lineTo: (x, y) => lines.at(-1)!.push([x, y]),
        closePath: () => undefined,
      },
      view(zoom),
    );
    return lines;
  }

  function isIn(rings: readonly (readonly Corner[])[], x: number, y: number): boolean {
    let inside = false;
    for (const ring of rings)
      ring.forEach(([x1, y1], i) => {
        const [x0, y0] = ring.at(i - 1)!;
        if (y1 > y !== y0 > y && x < x1 + ((x0 - x1) * (y - y1)) / (y0 - y1)) inside = !inside;
      });
    return inside;
  }

  /** A star of many corners, whose rim goes through the view at every zoom. */
  function star(corners: number, reach: number): [number, number][] {
    const random = randomFrom(5);
    return Array.from({ length: corners }, (_, i) => {
      const angle = (2 * Math.PI * i) / corners;
      const far = reach * (0.2 + random());
      return [AT.lng + 0.3 * reach + far * Math.cos(angle), AT.lat + far * Math.sin(angle)];
    });
  }

  test.each([4, 7, 9, 12, 16])('zoom %i: the same area is inside', (zoom) => {
    const rings = [star(1000, 2), star(60, 0.4), star(30, 9)];
    const { x, y, worldPx } = view(zoom);
    const whole = rings.map((ring) =>
      ring.map(
        ([lng, lat]): Corner => [
          (mercatorX(lng) - x) * worldPx + WIDTH / 2,
          (mercatorY(lat) - y) * worldPx + HEIGHT / 2,
        ],
      ),
    );
    const lines = drawn(new Outline(rings, true), zoom);
    const random = randomFrom(zoom);
    let [inside, wrong] = [0, 0];
    for (let i = 0; i < 500; i++) {
      const [px, py] = [random() * WIDTH, random() * HEIGHT];
      const expected = isIn(whole, px, py);
      if (expected) inside++;
      if (isIn(lines, px, py) !== expected) wrong++;
    }
    expect(inside).toBeGreaterThan(25);
    // Corners that are nearer than half a pixel are one, so that few points at a rim may change sides.
    expect(wrong).toBeLessThan(zoom < 9 ? 20 : 3);
    for (const [px, py] of zoom < 9 ? [] : lines.flat()) {
      expect(Math.abs(px - WIDTH / 2)).toBeLessThan(WIDTH / 2 + PAD + 1);
      expect(Math.abs(py - HEIGHT / 2)).toBeLessThan(HEIGHT / 2 + PAD + 1);
    }
  });

  test('near the ground an outline of 4,000 corners has a few', () => {
    expect(drawn(new Outline([star(4000, 2)], true), 17).flat().length).toBeLessThan(20);
    expect(drawn(new Outline([star(4000, 2)], true), 7).flat().length).toBeGreaterThan(500);
  });

  test('a river that leaves the view and comes back is two lines', () => {
    const { worldPx } = view(12);
    const perPx = 360 / worldPx;
    const river = [0, 100, 400, 400, 0].map((px, i): [number, number] => [
      AT.lng + px * perPx,
      AT.lat + (i - 2) * 20 * perPx * 0.9,
    ]);
    const lines = drawn(new Outline([river], false), 12);
    expect(lines.length).toBe(2);
    for (const [px, py] of lines.flat()) {
      expect(Math.abs(px - WIDTH / 2)).toBeLessThanOrEqual(WIDTH / 2 + PAD + 0.01);
      expect(Math.abs(py - HEIGHT / 2)).toBeLessThanOrEqual(HEIGHT / 2 + PAD + 0.01);
    }
    expect(
      drawn(new Outline([river.map(([lng, lat]): [number, number] => [lng + 1, lat])], false), 12),
    ).toEqual([]);
  });
});

// The shapes of the map: no two neighbours in one colour, and each name on the land of its province.
describe('provinces', async () => {
  interface Shapes {
    readonly provinces: unknown[];
    readonly colors: number[];
    readonly sea: [number, number][][];
    readonly labels: { admin: number; lng: number; lat: number; space: number }[];
  }
  const { makeShapes } = await consoleModule<{
    makeShapes(index: Uint8Array, land: Uint8Array, rivers: Uint8Array): Shapes;
  }>('map/shapes.ts');
  const index = new Uint8Array(readFileSync('data/index.bin'));

  const shapes = makeShapes(
    index,
    new Uint8Array(readFileSync('data/land.bin')),
    new Uint8Array(readFileSync('data/rivers.bin')),
  );
  const library = await Hexcodes.load();

  test('neighbours differ in colour, and the palette is small', () => {
    const { arcs, meta } = library.kernel;
    let borders = 0;
    for (const { left, right } of arcs) {
      const [one, other] = [meta?.units[left]?.admin, meta?.units[right]?.admin];
      if (one === undefined || other === undefined || one === other) continue;
      borders++;
      expect(shapes.colors[one], `${one} beside ${other}`).not.toBe(shapes.colors[other]);
    }
    expect(borders).toBeGreaterThan(50);
    expect(Math.max(...shapes.colors)).toBeLessThan(8);
  });

  test('every province has one name, inside of it', () => {
    expect(shapes.labels.map(({ admin }) => admin)).toEqual(ADMIN_UNITS.map((_, admin) => admin));
    for (const { admin, lat, lng, space } of shapes.labels) {
      expect(library.adminCodeOf(lat, lng)).toBe(ADMIN_UNITS[admin]!.code);
      expect(space).toBeGreaterThan(0);
    }
  });
});

// The style of the map over pictures of the operator's: dimmed on a dark page alone, below hexagons with a halo.
describe('style', async () => {
  interface Style {
    readonly layers: { id: string; paint?: Record<string, unknown> }[];
    readonly sources: Record<string, { data: { features: { properties: { color: string } }[] } }>;
  }
  const { styleOf } = await consoleModule<{
    styleOf(shapes: object, palette: object, tiles: string | undefined): Style;
  }>('map/style.ts');
  const { paletteOf } = await consoleModule<{ paletteOf(isDark: boolean): Record<string, unknown> }>(
    'map/palette.ts',
  );
  const SHAPES = { provinces: [], colors: [], sea: [], labels: [], rivers: [] };
  const TILES = 'https://tiles.example/{z}/{x}/{y}.png';

  test.each([
    ['light', false],
    ['dark', true],
  ] as const)(
    '%s: land stands out against the sea, the coast against both; three widths of lines',
    (_, isDark) => {
      const provinces = paletteOf(isDark).provinces as readonly string[];
      const shapes = {
        ...SHAPES,
        provinces: provinces.map(() => ({ type: 'MultiPolygon', coordinates: [] })),
        colors: provinces.map((_color, i) => i),
      };
      const { layers, sources } = styleOf(shapes, paletteOf(isDark), undefined);
      const colorOf = (id: string): string => {
        const paint = layers.find((layer) => layer.id === id)!.paint!;
        return String(paint['fill-color'] ?? paint['line-color'] ?? paint['background-color']);
      };
      const filled = sources.provinces!.data.features.map(({ properties }) => properties.color);
      expect(filled).toEqual(provinces);
      const lands = [colorOf('land'), ...filled];
      for (const land of lands) {
        expect(contrast(land, colorOf('sea')), `${land} and the sea`).toBeGreaterThanOrEqual(1.3);
        expect(contrast(land, colorOf('coast')), `${land} and the coast`).toBeGreaterThanOrEqual(3);
        expect(contrast(land, colorOf('rivers')), `${land} and rivers`).toBeGreaterThanOrEqual(2);
      }
      expect(contrast(colorOf('sea'), colorOf('coast'))).toBeGreaterThanOrEqual(3);
      const widths = layers
        .flatMap(({ paint }) => [paint?.['line-width']])
        .filter((w) => typeof w === 'number');
      expect(new Set(widths).size).toBeLessThanOrEqual(3);
    },
  );

  test('light pictures are dimmed below a dark page, and left as they are below a light one', () => {
    const [light, dark] = [false, true].map((isDark) => styleOf(SHAPES, paletteOf(isDark), TILES).layers[0]);
    expect([light?.id, light?.paint]).toEqual(['tiles', {}]);
    expect(dark?.paint?.['raster-brightness-max']).toBeLessThan(0.7);
  });

  test('hexagons over pictures have a halo below them', () => {
    const ids = (tiles?: string): string[] =>
      styleOf(SHAPES, paletteOf(true), tiles)
        .layers.map(({ id }) => id)
        .filter((id) => id.startsWith('grid'));
    expect(ids(TILES)).toEqual(['grid-halo', 'grid']);
    expect(ids()).toEqual(['grid']);
  });
});

// The hexagons of a view as a file: GeoJSON with each cell once, or a word that they are too many.
describe('the grid of a view', async () => {
  type ViewGrid = { kind: 'file'; file: Blob; cells: number } | { kind: 'tooMany'; estimate: number };
  const { viewGrid, MAX_CELLS } = await consoleModule<{
    MAX_CELLS: number;
    viewGrid(
      library: Hexcodes,
      box: object,
      resolution: number,
      progress: (part: number) => void,
    ): Promise<ViewGrid>;
  }>('take-away/view-grid.ts');
  const library = await Hexcodes.load();
  const HANOI = { west: 105.8, south: 21.0, east: 105.9, north: 21.05 };

  test('a file with every cell of the view', async () => {
    const parts: number[] = [];
    const grid = await viewGrid(library, HANOI, 9, (part) => parts.push(part));
    if (grid.kind !== 'file') throw new Error(grid.kind);
    const { type, features } = JSON.parse(await grid.file.text()) as {
      type: string;
      features: { properties: { hexcodes: string }; geometry: { type: string } }[];
    };
    const { west, south, east, north } = HANOI;
    const corners = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ];
    const view = { type: 'Polygon', coordinates: [corners] } as const;
    const codes = cover(library, view, { resolution: 9, cells: 'center' });
    expect(codes.length).toBeGreaterThan(100);
    expect([type, features.length, grid.cells, grid.file.type]).toEqual([
      'FeatureCollection',
      codes.length,
      codes.length,
      'application/geo+json',
    ]);
    expect(JSON.stringify(features)).toContain(codes[50]);
    expect(parts.at(-1)).toBe(1);
  });

  test('too many: far beyond the bound at once, near it when they are counted', async () => {
    const far = await viewGrid(library, { west: 103, south: 9, east: 109, north: 23 }, 12, () => undefined);
    expect(far).toMatchObject({ kind: 'tooMany' });
    // Some 60,000 cells by estimate: below four times the bound, and above it.
    const box = { west: 105.2, south: 20.6, east: 106.2, north: 21.5 };
    const near = await viewGrid(library, box, 8, () => undefined);
    expect(near).toMatchObject({ kind: 'file' });
    // Its estimate is between the bound and four times the bound.
    const counted = await viewGrid(library, box, 9, () => undefined);
    expect(counted).toMatchObject({ kind: 'tooMany' });
    if (counted.kind === 'tooMany') expect(counted.estimate).toBeLessThan(4 * MAX_CELLS);
  });
});

// Points by hexagon: their numbers, their classes, and the rows after them.

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
