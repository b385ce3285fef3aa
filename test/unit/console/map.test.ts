// The map of the page: hexagons, outlines, provinces, style, and the hexagons of a view as a file.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { cover, edge, gridDisk, parent } from '#hexcodes/geometry';
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

  test('before h3-js is there the map has no hexagons, and a place a view all the same', () => {
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
