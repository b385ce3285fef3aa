// GET /v1/grid/{z}/{x}/{y}: the cells that touch a tile of a map, with their codes, as GeoJSON or as a vector tile.

import { fromGeojsonVt } from '@maplibre/vt-pbf';
import { type CellFeature, cellCollection } from '../../hexcodes/geometry/codebook.js';
import { cover } from '../../hexcodes/geometry/cover.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { OVERLOADED_MESSAGE } from '../../hexcodes/wire/job.js';
import type { ParameterFault } from '../../hexcodes/wire/params/parameters.js';
import { faultsMessage, JSON_TYPE } from '../http/answers.js';
import type { Exchange } from '../http/exchange.js';
import { type BoundaryData, entityTag, KEPT, keptAnswer, VARY } from '../http/freshness.js';
import { acceptedTypes, qualityOf, wantsErrorsOnly } from '../http/negotiation.js';
import { fail, failUnavailable, type Route } from '../http/router.js';
import { admitPoints } from '../ledger/limit-answers.js';

// Tiles of the web's maps (z/x/y in the Mercator projection), and the grid in one: which resolution its zoom shows, and
// the codes of the cells that touch it.

// Cells as a vector tile (Mapbox Vector Tile 2.1): one layer of polygons, whole ones also where they reach beyond the
// tile, so that the outline of a cell is the same in each tile that it touches.

const LAYER = 'grid';
/** Steps across a tile. */
const EXTENT = 4096;
const POLYGON = 3;

/** No layer, and so no bytes, where there are no cells. */
export function vectorTileOf(tile: Tile, cells: readonly CellFeature[]): Uint8Array {
  if (cells.length === 0) return new Uint8Array(0);
  const features = cells.map(({ geometry, properties }) => {
    const ring = geometry.coordinates[0]!.map(([lng, lat]): [number, number] => {
      const [right, down] = inTile(tile, lng, lat);
      return [Math.round(right * EXTENT), Math.round(down * EXTENT)];
    });
    // Counter-clockwise on the map; a tile has its outer rings the other way round.
    return { type: POLYGON, geometry: [ring.reverse()], tags: { ...properties } };
  });
  return fromGeojsonVt({ [LAYER]: { features } as never }, { version: 2, extent: EXTENT });
}

export interface Tile {
  readonly zoom: number;
  /** From 0, west to east and north to south. */
  readonly x: number;
  readonly y: number;
}

/**
 * Resolution by zoom: the finest one of which a tile has up to some 180 cells at the equator, by the mean area. One
 * with cells on its edges and smaller ones than the mean has at most 256 (test/e2e/server/routes/shipped.test.ts).
 */
export const RESOLUTION_OF_ZOOM = [
  0, 0, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13, 13, 14, 15,
] as const;
export const MAX_ZOOM = RESOLUTION_OF_ZOOM.length - 1;

/** Degrees around all provinces and their sea. */
const COVERAGE = { south: 5, west: 100, north: 25, east: 119 } as const;
/**
 * A cell of resolution 0 reaches no further beyond its centre, in degrees there; each finer one is smaller by a root of
 * seven.
 */
const REACH_DEG = 15;

const INTEGER = /^(?:0|[1-9]\d{0,7})$/;

/** @returns the tile of three texts, or the faults of those that name none */
export function readTile(z: string, x: string, y: string): Tile | ParameterFault[] {
  const zoom = INTEGER.test(z) ? Number(z) : Number.NaN;
  if (!(zoom <= MAX_ZOOM)) return [{ parameter: 'z', message: `must be an integer from 0 to ${MAX_ZOOM}` }];
  const most = 2 ** zoom - 1;
  const faults = Object.entries({ x, y }).flatMap(([parameter, text]) =>
    INTEGER.test(text) && Number(text) <= most
      ? []
      : [{ parameter, message: `must be an integer from 0 to ${most} at zoom ${zoom}` }],
  );
  return faults.length > 0 ? faults : { zoom, x: Number(x), y: Number(y) };
}

/** The longitude of a column's western edge and the latitude of a row's northern edge, in degrees. */
const lngDegOf = (x: number, zoom: number): number => (x / 2 ** zoom) * 360 - 180;
const latDegOf = (y: number, zoom: number): number =>
  (Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / 2 ** zoom))) * 180) / Math.PI;

/**
 * Where a position lies in a tile: 0, 0 at its north-western corner, 1, 1 at its south-eastern one; beyond it outside.
 */
export function inTile({ zoom, x, y }: Tile, lngDeg: number, latDeg: number): [right: number, down: number] {
  const mercator = Math.asinh(Math.tan((latDeg * Math.PI) / 180)) / Math.PI;
  return [((lngDeg + 180) / 360) * 2 ** zoom - x, ((1 - mercator) / 2) * 2 ** zoom - y];
}

/**
 * The codes of the cells that touch a tile, in the order of their H3 indexes. Cells of no province have none. Tiles far
 * from Viet Nam take no work.
 */
export function codesIn(hexcodes: Hexcodes, { zoom, x, y }: Tile): string[] {
  const resolution = RESOLUTION_OF_ZOOM[zoom]!;
  const reach = REACH_DEG / 7 ** (resolution / 2);
  const west = Math.max(lngDegOf(x, zoom), COVERAGE.west - reach);
  const east = Math.min(lngDegOf(x + 1, zoom), COVERAGE.east + reach);
  const north = Math.min(latDegOf(y, zoom), COVERAGE.north + reach);
  const south = Math.max(latDegOf(y + 1, zoom), COVERAGE.south - reach);
  if (west >= east || south >= north) return [];
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return cover(hexcodes, { type: 'Polygon', coordinates: [ring] }, { resolution });
}

interface Piece {
  readonly work: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Work of some milliseconds a piece, done one piece a turn of the event loop, so that other requests are answered in
 * between.
 */
export class OneATurn {
  readonly #waiting: Piece[] = [];

  constructor(private readonly maxWaiting: number) {}

  /** @returns false if too much waits: then the work is not taken */
  add(work: () => void, failed: (error: unknown) => void): boolean {
    if (this.#waiting.length >= this.maxWaiting) return false;
    this.#waiting.push({ work, failed });
    if (this.#waiting.length === 1) setImmediate(() => this.#next());
    return true;
  }

  #next(): void {
    const { work, failed } = this.#waiting[0]!;
    try {
      work();
    } catch (error) {
      failed(error);
    }
    this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}

interface KeptBody {
  readonly bytes: Uint8Array;
  /** The price of the answer. */
  readonly points: number;
}

export class KeptBodies {
  readonly #bodies = new Map<string, KeptBody>();
  #bytes = 0;

  /** @param maxBytes of all bodies together */
  constructor(private readonly maxBytes: number) {}

  /** The body of this name, which counts as asked for now; undefined if it is not here. */
  find(name: string): KeptBody | undefined {
    const body = this.#bodies.get(name);
    if (body === undefined) return undefined;
    // A map keeps the order of insertion.
    this.#bodies.delete(name);
    this.#bodies.set(name, body);
    return body;
  }

  /** Keeps a body, unless there is one of this name. */
  keep(name: string, body: KeptBody): void {
    if (this.#bodies.has(name)) return;
    this.#bytes += sizeOf(name, body);
    this.#bodies.set(name, body);
    for (const [oldest, old] of this.#bodies) {
      if (this.#bytes <= this.maxBytes) break;
      this.#bodies.delete(oldest);
      this.#bytes -= sizeOf(oldest, old);
    }
  }
}

/** With some bytes for the entry itself, so that empty bodies count. */
const sizeOf = (name: string, { bytes }: KeptBody): number => 200 + name.length + bytes.length;

const TILE_TYPE = 'application/vnd.mapbox-vector-tile';
/** Memory of kept tiles: a few hundred, of a city at some zooms. */
const KEPT_BYTES = 8 * 2 ** 20;
/** Tiles that wait to be drawn, a second of work altogether. */
const MAX_WAITING = 200;
const DRAWING_DEADLINE_MS = 30_000;
const ENDINGS: Readonly<Record<string, string>> = { '.mvt': TILE_TYPE, '.geojson': JSON_TYPE };

interface GridDeps {
  readonly hexcodes: Hexcodes;
  readonly boundaries: BoundaryData;
}

export function gridRoutes({ hexcodes, boundaries: { tag } }: GridDeps): Route[] {
  const tags: Readonly<Record<string, string>> = { [JSON_TYPE]: tag, [TILE_TYPE]: entityTag(tag, TILE_TYPE) };
  const bodies = new KeptBodies(KEPT_BYTES);
  const drawing = new OneATurn(MAX_WAITING);
  const handle = (x: Exchange): void => {
    const [, row = '', ending = ''] = /^(.*?)(\.[a-z]+)?$/.exec(x.head.parameter(2)) ?? [];
    const type = typeFor(x, ending);
    if (type === null) return;
    const tile =
      type === undefined
        ? [{ parameter: 'y', message: 'may end in .mvt or .geojson' }]
        : readTile(x.head.parameter(0), x.head.parameter(1), row);
    if (type === undefined || Array.isArray(tile)) {
      const faults = tile as Exclude<typeof tile, Tile>;
      fail(x, 400, faultsMessage(faults), { faults });
      return;
    }
    const name = `${tile.zoom}/${tile.x}/${tile.y} ${type}`;
    const send = keptAnswer(x, tags[type]!, type, KEPT, `Accept, ${VARY}`);
    if (send === undefined) return;
    /** Takes a point for each code, before the work, and sends the tile. */
    const pay = (points: number, bodyOf: () => Uint8Array): void => {
      const paid = (): void => {
        x.notes.entry?.done(points, 0);
        send(bodyOf());
      };
      if (admitPoints(x, points, paid)) paid();
    };
    const kept = bodies.find(name);
    if (kept !== undefined) {
      pay(kept.points, () => kept.bytes);
      return;
    }
    const draw = (): void => {
      if (x.state === 'over') return;
      const codes = codesIn(hexcodes, tile);
      pay(codes.length, () => {
        const bytes = bodies.find(name)?.bytes ?? made(hexcodes, tile, type, codes);
        bodies.keep(name, { bytes, points: codes.length });
        return bytes;
      });
    };
    if (drawing.add(draw, (error) => x.reject(error))) x.deadline(DRAWING_DEADLINE_MS);
    else failUnavailable(x, OVERLOADED_MESSAGE);
  };
  return [{ path: '/v1/grid/:z/:x/:y', access: 'lookup', handle }];
}

/** The media type of the answer; undefined for an ending that there is not, null where the request was answered 406. */
function typeFor(x: Exchange, ending: string): string | undefined | null {
  const named = ENDINGS[ending];
  if (named === undefined && ending !== '') return undefined;
  const accepted = acceptedTypes(x.head.accept);
  const offered = named === undefined ? [JSON_TYPE, TILE_TYPE] : [named];
  const [best] = offered
    .map((type) => ({ type, quality: qualityOf(type, accepted) }))
    .sort((a, b) => b.quality - a.quality);
  if (best!.quality > 0 || (named !== undefined && wantsErrorsOnly(accepted, named))) return best!.type;
  fail(x, 406, `the answer is ${offered.join(' or ')}, which the Accept header refuses`);
  return null;
}

function made(hexcodes: Hexcodes, tile: Tile, type: string, codes: readonly string[]): Uint8Array {
  const { features } = cellCollection(hexcodes, codes);
  if (type === TILE_TYPE) return vectorTileOf(tile, features);
  const resolution = RESOLUTION_OF_ZOOM[tile.zoom];
  return Buffer.from(JSON.stringify({ type: 'FeatureCollection', status: 'OK', resolution, features }));
}
