// `node build/test/support/basemap-archive.js`: writes the archives of map tiles in test/fixtures/basemap/: our own
// provinces and made-up streets by the schema of Protomaps' basemap, and pictures. geojson-vt cuts them, and the writer
// of Protomaps (write_archive.py) writes them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { GeoJSONVT } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import { randomFrom } from './open-world.js';
import { bordersOf } from './region/made-partitions.js';

/** West, south, east and north of what the archive covers: Hà Nội and around. */
const COVERED = [105.5, 20.8, 106.1, 21.3] as const;
const ZOOMS = [5, 16] as const;
const VECTOR_ZOOM = 13;
const EXTENT = 4096;
const LEAF_ENTRIES = 512;
const FOLDER = 'test/fixtures/basemap';
const HA_NOI = 11;

/** One pixel each. */
const PIXELS = [
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
].map((text) => Buffer.from(text, 'base64'));

interface Feature {
  readonly type: 'Feature';
  readonly properties: Record<string, string>;
  readonly geometry: { readonly type: string; readonly coordinates: unknown };
}
const feature = (type: string, coordinates: unknown, properties: Record<string, string>): Feature => ({
  type: 'Feature',
  properties,
  geometry: { type, coordinates },
});

/** Streets in rows and columns, every fifth a wide one. */
function streets(): Feature[] {
  const [west, south, east, north] = [105.79, 20.99, 105.89, 21.06];
  const step = 0.0035;
  const kindOf = (i: number): string =>
    i % 10 === 0 ? 'highway' : i % 5 === 0 ? 'major_road' : 'minor_road';
  const rows = Array.from({ length: Math.round((north - south) / step) }, (_, i) =>
    feature(
      'LineString',
      [
        [west, south + i * step],
        [east, south + i * step],
      ],
      { kind: kindOf(i), name: `Phố Ngang ${i}` },
    ),
  );
  const columns = Array.from({ length: Math.round((east - west) / step) }, (_, i) =>
    feature(
      'LineString',
      [
        [west + i * step, south],
        [west + i * step, north],
      ],
      { kind: kindOf(i), name: `Phố Dọc ${i}` },
    ),
  );
  return [...rows, ...columns];
}

function layersOfHaNoi(): Record<string, Feature[]> {
  const borders = bordersOf(readFileSync('data/index.bin'));
  const lake = [
    [105.8505, 21.0265],
    [105.854, 21.0265],
    [105.8535, 21.031],
    [105.851, 21.031],
    [105.8505, 21.0265],
  ];
  const park = lake.map(([lng, lat]) => [lng! - 0.02, lat!]);
  const provinces = Array.from({ length: 34 }, (_, admin) => borders.ofAdmin(admin));
  return {
    earth: provinces.map(({ type, coordinates }) => feature(type, coordinates, { kind: 'earth' })),
    boundaries: provinces
      .slice(HA_NOI, HA_NOI + 1)
      .map(({ type, coordinates }) => feature(type, coordinates, { kind: 'region' })),
    water: [feature('Polygon', [lake], { kind: 'lake', name: 'Hồ Gươm' })],
    landuse: [feature('Polygon', [park], { kind: 'park' })],
    roads: streets(),
    places: [feature('Point', [105.845, 21.035], { kind: 'neighbourhood', name: 'Phố cổ' })],
  };
}

type Column = readonly [zoom: number, x: number, y: number];

/** The tiles that touch what the archive covers. */
function* covered(): Generator<Column> {
  const [west, south, east, north] = COVERED;
  const column = (lng: number, zoom: number): number => Math.floor(((lng + 180) / 360) * 2 ** zoom);
  const row = (lat: number, zoom: number): number =>
    Math.floor(((1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2) * 2 ** zoom);
  for (let zoom = ZOOMS[0]; zoom <= ZOOMS[1]; zoom++)
    for (let x = column(west, zoom); x <= column(east, zoom); x++)
      for (let y = row(north, zoom); y <= row(south, zoom); y++) yield [zoom, x, y];
}

interface Made {
  readonly type: 'MVT' | 'PNG';
  readonly compression: 'GZIP' | 'NONE';
  readonly layers: readonly string[];
  tile(zoom: number, x: number, y: number): Uint8Array | undefined;
}

function vectorTiles(): Made {
  const layers = Object.entries(layersOfHaNoi()).map(([name, features]) => {
    const options = { maxZoom: VECTOR_ZOOM, indexMaxZoom: 5, extent: EXTENT, buffer: 64 };
    return [name, new GeoJSONVT({ type: 'FeatureCollection', features } as never, options)] as const;
  });
  const tile = (zoom: number, x: number, y: number): Uint8Array | undefined => {
    if (zoom > VECTOR_ZOOM) return undefined;
    const found = layers.flatMap(([name, index]) => {
      const made = index.getTile(zoom, x, y);
      return made === null || made.features.length === 0 ? [] : [[name, made] as const];
    });
    if (found.length === 0) return undefined;
    return gzipSync(fromGeojsonVt(Object.fromEntries(found) as never, { version: 2, extent: EXTENT }), {
      level: 9,
    });
  };
  return { type: 'MVT', compression: 'GZIP', layers: layers.map(([name]) => name), tile };
}

/** Two pictures without an order, so that the directory of the archive has many entries. */
const rasterTiles = (): Made => {
  const random = randomFrom(3);
  return { type: 'PNG', compression: 'NONE', layers: [], tile: () => PIXELS[random() < 0.5 ? 0 : 1] };
};

function write(path: string, { type, compression, layers, tile }: Made): void {
  const metadata = {
    name: 'Hà Nội',
    attribution: '<a href="https://www.openstreetmap.org/copyright">&copy; OpenStreetMap</a>',
    vector_layers: layers.map((id) => ({ id, fields: {} })),
  };
  const leaf = type === 'PNG' ? LEAF_ENTRIES : 0;
  const lines = [JSON.stringify({ type, compression, leaf, bounds: COVERED, metadata })];
  for (const [z, x, y] of covered()) {
    const bytes = tile(z, x, y);
    if (bytes !== undefined)
      lines.push(JSON.stringify({ z, x, y, data: Buffer.from(bytes).toString('base64') }));
  }
  execFileSync('python3', ['test/support/write_archive.py', path], { input: lines.join('\n') });
}

mkdirSync(FOLDER, { recursive: true });
write(`${FOLDER}/vector.pmtiles`, vectorTiles());
write(`${FOLDER}/raster.pmtiles`, rasterTiles());
