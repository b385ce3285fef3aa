// The shapes of the map, made of the boundary index, the land line and the rivers: areas of the provinces, the sea that
// is laid over them, so that their belts and boxes at sea do not look like land, and where their names are drawn. Made
// in worker.ts.
import { ProvinceBorders, type ProvinceGeometry } from '../../hexcodes/geometry/province-borders.js';
import { readIndexArcs, readIndexMeta } from '../../hexcodes/kernel/index-file.js';

// Reads the land line: data/land.bin, which data/map/console-map.ts draws.

/** A closed ring of GeoJSON. */
export type Ring = [lng: number, lat: number][];

const STEPS_PER_DEGREE = 10_000;
const RIVER_STEPS_PER_DEGREE = 1000;

/** Reads numbers of 7 bits a byte, low ones first; `step` undoes the zigzag. */
function numbersOf(bytes: Uint8Array): { next(): number; step(): number } {
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] as number;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  const step = (): number => {
    const value = next();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  return { next, step };
}

function readLine(
  { next, step }: ReturnType<typeof numbersOf>,
  stepsPerDegree: number,
): [lng: number, lat: number][] {
  let [x, y] = [0, 0];
  return Array.from({ length: next() }, (): [number, number] => {
    x += step();
    y += step();
    return [x / stepsPerDegree, y / stepsPerDegree];
  });
}

/** The outlines of all land, each as a closed ring. */
export function readLand(bytes: Uint8Array): Ring[] {
  const numbers = numbersOf(bytes);
  return Array.from({ length: numbers.next() }, () => {
    const ring = readLine(numbers, STEPS_PER_DEGREE);
    ring.push([...(ring[0] as [number, number])]);
    return ring;
  });
}

/** data/rivers.bin, which data/map/console-map.ts draws. */
function readRivers(bytes: Uint8Array): River[] {
  const numbers = numbersOf(bytes);
  return Array.from({ length: numbers.next() }, () => ({
    level: numbers.next(),
    line: readLine(numbers, RIVER_STEPS_PER_DEGREE),
  }));
}

export interface Label {
  /** Admin number. */
  readonly admin: number;
  readonly lng: number;
  readonly lat: number;
  /** Approximate distance to the border in degrees: names with more space have priority. */
  readonly space: number;
}

export interface River {
  /** 0 the widest, to 4. */
  readonly level: number;
  readonly line: readonly (readonly [lng: number, lat: number])[];
}

export interface Shapes {
  /** Provinces by admin number. */
  readonly provinces: readonly ProvinceGeometry[];
  /** Colours by admin number: an index in the palette, which no neighbour has. */
  readonly colors: readonly number[];
  /** A box around the sheet, then the land in it. */
  readonly sea: readonly Ring[];
  readonly labels: readonly Label[];
  readonly rivers: readonly River[];
  /** Credit line that must be shown with the map. */
  readonly notice: string;
}

/** Extent of the land line, which no view leaves; data/map/cut-sources.ts cuts it. */
export const SHEET = { west: 84, south: -4, east: 135, north: 33 };

const PROVINCES = 34;
/** Step of the raster on which names look for space. */
const RASTER_DEG = 0.05;

export function makeShapes(index: Uint8Array, land: Uint8Array, riverBytes: Uint8Array): Shapes {
  const borders = new ProvinceBorders(index);
  const provinces = Array.from({ length: PROVINCES }, (_, admin) => borders.ofAdmin(admin));
  // Larger than the sheet: land reaches to its edges, and areas whose edges coincide are not filled well.
  const [west, south, east, north] = [SHEET.west - 1, SHEET.south - 1, SHEET.east + 1, SHEET.north + 1];
  const box: Ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  const islands = readLand(land);
  const { units, notice } = readIndexMeta(index);
  return {
    provinces,
    colors: colorsOf(
      readIndexArcs(index).map(({ left, right }) => [units[left]?.admin, units[right]?.admin]),
    ),
    sea: [box, ...islands],
    labels: provinces.flatMap(({ coordinates }, admin) =>
      labelOf(admin, coordinates.flat() as Ring[], islands),
    ),
    rivers: readRivers(riverBytes),
    notice,
  };
}

/** Picks for each province the first color that no neighbour before it has. */
function colorsOf(pairs: readonly (readonly [number | undefined, number | undefined])[]): number[] {
  const colors: number[] = [];
  for (let admin = 0; admin < PROVINCES; admin++) {
    const taken = new Set<number | undefined>();
    for (const [left, right] of pairs) {
      if (left === admin && right !== undefined) taken.add(colors[right]);
      if (right === admin && left !== undefined) taken.add(colors[left]);
    }
    let color = 0;
    while (taken.has(color)) color++;
    colors.push(color);
  }
  return colors;
}

/** The place on the land of a province that is farthest from what is not. */
function labelOf(admin: number, areas: readonly Ring[], land: readonly Ring[]): Label[] {
  const lats = areas.flatMap((ring) => ring.map(([, lat]) => lat));
  const lngs = areas.flatMap((ring) => ring.map(([lng]) => lng));
  if (lats.length === 0) return [];
  const south = lats.reduce((a, b) => Math.min(a, b));
  const west = lngs.reduce((a, b) => Math.min(a, b));
  const rows = Math.ceil((lats.reduce((a, b) => Math.max(a, b)) - south) / RASTER_DEG) + 1;
  const columns = Math.ceil((lngs.reduce((a, b) => Math.max(a, b)) - west) / RASTER_DEG) + 1;
  /** Manhattan distance to the nearest raster cell outside, in cells. */
  const steps = new Uint16Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const lat = south + (row + 0.5) * RASTER_DEG;
    const own = crossings(areas, lat);
    const dry = crossings(land, lat);
    for (let column = 0; column < columns; column++) {
      const lng = west + (column + 0.5) * RASTER_DEG;
      if (isWithin(own, lng) && isWithin(dry, lng)) steps[row * columns + column] = 60_000;
    }
  }
  const at = (row: number, column: number): number =>
    row < 0 || column < 0 || row >= rows || column >= columns ? 0 : (steps[row * columns + column] as number);
  const settle = (row: number, column: number, ...others: number[]): void => {
    const here = at(row, column);
    if (here > 0) steps[row * columns + column] = Math.min(here, 1 + Math.min(...others));
  };
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      settle(row, column, at(row - 1, column), at(row, column - 1));
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      settle(row, column, at(row + 1, column), at(row, column + 1));
  const best = steps.reduce((most, value, place) => (value > (steps[most] as number) ? place : most), 0);
  const space = steps[best] as number;
  if (space === 0) return [];
  const lng = west + ((best % columns) + 0.5) * RASTER_DEG;
  const lat = south + (Math.floor(best / columns) + 0.5) * RASTER_DEG;
  return [{ admin, lng, lat, space: space * RASTER_DEG }];
}

/** Where a parallel crosses rings, from west to east. */
export function crossings(rings: readonly Ring[], lat: number): number[] {
  const found: number[] = [];
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [x0, y0] = ring[i - 1] as [number, number];
      const [x1, y1] = ring[i] as [number, number];
      if (y0 > lat !== y1 > lat) found.push(x0 + ((lat - y0) / (y1 - y0)) * (x1 - x0));
    }
  }
  return found.sort((a, b) => a - b);
}

/** Whether a place on the parallel lies inside the rings. */
export function isWithin(crossed: readonly number[], lng: number): boolean {
  const before = crossed.findIndex((each) => each > lng);
  return (before < 0 ? crossed.length : before) % 2 === 1;
}
