// Archives of map tiles: what was written is read; a file that is no archive, a damaged one and one of another schema
// are refused in one sentence that names the file.
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';
import { afterAll, expect, test } from 'vitest';
import { BasemapArchive, unpacked } from '#dist/server/basemap/archive.js';
import { openBasemap } from '#dist/server/basemap/open-basemap.js';
import { randomFrom } from '../../../support/open-world.js';

const VECTOR = 'test/fixtures/basemap/vector.pmtiles';
const RASTER = 'test/fixtures/basemap/raster.pmtiles';
const folder = mkdtempSync(join(tmpdir(), 'hexcodes-basemap-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
/** The path of a file with these bytes. */
function fileOf(bytes: Uint8Array): string {
  const path = join(folder, `${files++}.pmtiles`);
  writeFileSync(path, bytes);
  return path;
}
const changed = (change: (bytes: Buffer) => void, path = VECTOR): string => {
  const bytes = readFileSync(path);
  change(bytes);
  return fileOf(bytes);
};

test('vector tiles: layers of the schema, in the place where they lie', async () => {
  const archive = await BasemapArchive.open(VECTOR);
  expect(archive.info).toEqual({
    isVector: true,
    minZoom: 5,
    maxZoom: 13,
    bounds: [105.5, 20.8, 106.1, 21.3],
  });
  expect(archive.attribution).toBe('© OpenStreetMap');
  // Around Hồ Gươm.
  const tile = await archive.tile(13, 6504, 3606);
  expect(tile?.encoding).toBe('gzip');
  const bytes = await unpacked(tile!);
  expect(Buffer.from(bytes).equals(gunzipSync(tile!.bytes))).toBe(true);
  const { layers } = new VectorTile(new PbfReader(bytes));
  expect(Object.keys(layers).sort()).toEqual(['boundaries', 'earth', 'landuse', 'places', 'roads', 'water']);
  expect(layers.water!.feature(0).properties.name).toBe('Hồ Gươm');
  for (const [zoom, x, y] of [
    [13, 0, 0],
    [4, 12, 7],
    [14, 13008, 7210],
    [24, 0, 0],
  ] as const)
    expect(await archive.tile(zoom, x, y)).toBeUndefined();
  await archive.close();
});

test('pictures, behind leaves of the directory', async () => {
  const archive = await BasemapArchive.open(RASTER);
  expect([archive.info.isVector, archive.type]).toEqual([false, 'image/png']);
  let found = 0;
  for (let x = 51_900; x < 52_120; x += 3) {
    const tile = await archive.tile(16, x, 28_860);
    if (tile === undefined) continue;
    expect(Buffer.from(tile.bytes.subarray(1, 4)).toString()).toBe('PNG');
    expect(await unpacked(tile)).toBe(tile.bytes);
    found++;
  }
  expect(found).toBeGreaterThan(20);
  await archive.close();
});

test.each([
  ['a file that is not there', () => join(folder, 'none.pmtiles'), 'is not there'],
  ['a folder', () => folder, /is (?:no file|a folder)/],
  ['nothing', () => fileOf(new Uint8Array()), 'is no PMTiles archive'],
  ['a picture', () => 'docs/pictures/console.png', 'is no PMTiles archive'],
  ['a gzipped archive', () => fileOf(gzipSync(readFileSync(VECTOR))), 'is no PMTiles archive'],
  [
    'a header that ends',
    () => fileOf(readFileSync(VECTOR).subarray(0, 60)),
    'is cut off: it should have 127 bytes and has 60',
  ],
  ['another version', () => changed((bytes) => bytes.writeUInt8(2, 7)), 'version 2, where 3 is read'],
  [
    'a download that ended early',
    () => fileOf(readFileSync(VECTOR).subarray(0, 20_000)),
    /is cut off: it should have \d+ bytes and has 20000$/,
  ],
  ['tiles of an unknown kind', () => changed((bytes) => bytes.writeUInt8(9, 99)), 'tiles of an unknown kind'],
  [
    'an unknown compression',
    () => changed((bytes) => bytes.writeUInt8(4, 98)),
    'tiles of an unknown compression',
  ],
  ['zooms upside down', () => changed((bytes) => bytes.writeUInt8(20, 100)), 'its zooms are 20 to 13'],
  ['a directory of noise', () => changed((bytes) => bytes.fill(0xa5, 127, 400)), 'is damaged: '],
  [
    'a directory outside of the file',
    () => changed((bytes) => bytes.writeBigUInt64LE(2n ** 60n, 8)),
    /is (?:cut off|damaged)/,
  ],
])('%s is refused', async (_, path, reason) => {
  const given = path();
  const refusal = await openBasemap({ basemap: given, tilesUrl: undefined }).then(
    () => '',
    (error: Error) => error.message,
  );
  expect(refusal).toMatch(reason);
  expect(refusal.startsWith(`the basemap ${given} `)).toBe(true);
  expect(refusal).not.toContain('\n');
});

test('layers of another schema are refused by their names', async () => {
  const path = fileOf(withMetadata({ vector_layers: [{ id: 'transportation' }, { id: 'poi' }] }));
  await expect(BasemapArchive.open(path)).rejects.toThrow(
    "has the layers transportation, poi: the page draws those of Protomaps' basemap, earth, water, roads",
  );
  await expect(BasemapArchive.open(fileOf(withMetadata({})))).rejects.toThrow('names no layers');
});

test('two maps are one too many', async () => {
  const both = { basemap: VECTOR, tilesUrl: 'https://tiles.example/{z}/{x}/{y}.png' };
  await expect(openBasemap(both)).rejects.toThrow(
    '--basemap and --tiles-url name two maps: give one of them',
  );
  expect(await openBasemap({ basemap: undefined, tilesUrl: undefined })).toBeUndefined();
});

test('bytes that are changed anywhere end in a sentence, a tile, or none, never otherwise', async () => {
  const random = randomFrom(11);
  const whole = readFileSync(VECTOR);
  const outcomes = { refused: 0, opened: 0, failed: 0 };
  for (let round = 0; round < 300; round++) {
    const bytes = Buffer.from(whole);
    for (let i = 0; i < 2; i++) {
      // Most of them in the header and the directory.
      const at = Math.floor(random() * (random() < 0.8 ? 1500 : bytes.length));
      bytes[at] = Math.floor(random() * 256);
    }
    const path = fileOf(bytes);
    const archive = await BasemapArchive.open(path).catch((error: Error) => error);
    if (archive instanceof Error) {
      expect(archive.message.startsWith(`the basemap ${path} `)).toBe(true);
      outcomes.refused++;
      continue;
    }
    outcomes.opened++;
    for (const [zoom, x, y] of [
      [13, 6504, 3606],
      [10, 813, 450],
      [5, 25, 14],
    ] as const)
      await archive.tile(zoom, x, y).catch((error: unknown) => {
        expect(error).toBeInstanceOf(Error);
        outcomes.failed++;
      });
    await archive.close();
  }
  expect(outcomes.refused).toBeGreaterThan(50);
  expect(outcomes.opened).toBeGreaterThan(5);
});

test('a file that is made shorter while it is served fails by the tile', async () => {
  const path = changed(() => {});
  const archive = await BasemapArchive.open(path);
  truncateSync(path, 1000);
  await expect(archive.tile(13, 6504, 3606)).rejects.toThrow('has become shorter');
  await archive.close();
});

/** The archive with other metadata, behind all the rest. */
function withMetadata(metadata: object): Buffer {
  const bytes = readFileSync(VECTOR);
  const text = gzipSync(JSON.stringify(metadata));
  bytes.writeBigUInt64LE(BigInt(bytes.length), 24);
  bytes.writeBigUInt64LE(BigInt(text.length), 32);
  return Buffer.concat([bytes, text]);
}
