// Archives of map tiles: what was written is read; a file that is not an archive, a damaged one and one of another
// schema are refused in one sentence that names the file.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { BasemapArchive, openBasemap } from '#dist/server/routes/basemap-archive.js';
import { randomFrom } from '../../../support/open-world.js';
import { ownFolder } from '../../../support/own-folder.js';

const VECTOR = 'test/fixtures/basemap/vector.pmtiles';
const folder = ownFolder('basemap');

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

test('what the page needs to know of vector tiles, and every byte of the file', async () => {
  const archive = await BasemapArchive.open(VECTOR);
  expect(archive.info).toEqual({
    isVector: true,
    minZoom: 5,
    maxZoom: 13,
    bounds: [105.5, 20.8, 106.1, 21.3],
  });
  expect(archive.attribution).toBe('© OpenStreetMap');
  const whole = readFileSync(VECTOR);
  expect(archive.sizeBytes).toBe(whole.length);
  for (const [offset, length] of [
    [0, 1],
    [100, 1000],
    [whole.length - 1, 1],
    [0, whole.length],
  ] as const)
    expect(whole.subarray(offset, offset + length).equals(await archive.bytes(offset, length))).toBe(true);
  await archive.close();
});

test.each([
  ['a file that is not there', () => join(folder, 'none.pmtiles'), 'is not there'],
  ['a folder', () => folder, /is (?:not a file|a folder)/],
  ['nothing', () => fileOf(new Uint8Array()), 'is not a PMTiles archive'],
  ['a picture', () => 'docs/pictures/console-counts.png', 'is not a PMTiles archive'],
  ['a gzipped archive', () => fileOf(gzipSync(readFileSync(VECTOR))), 'is not a PMTiles archive'],
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
    'tiles in Brotli, which browsers cannot unpack',
    () => changed((bytes) => bytes.writeUInt8(3, 98)),
    'tiles of another compression than none and gzip',
  ],
  ['zooms upside down', () => changed((bytes) => bytes.writeUInt8(20, 100)), 'its zooms are 20 to 13'],
  ['metadata of noise', () => fileOf(noisyMetadata()), 'is damaged: '],
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
  await expect(openBasemap(both)).rejects.toThrow();
});

test('bytes that are changed anywhere end in one sentence, or an open archive', async () => {
  const random = randomFrom(11);
  const whole = readFileSync(VECTOR);
  const outcomes = { refused: 0, opened: 0 };
  for (let round = 0; round < 300; round++) {
    const bytes = Buffer.from(whole);
    for (let i = 0; i < 2; i++) {
      // Most of them in the header and the metadata.
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
    await archive.close();
  }
  expect(outcomes.refused).toBeGreaterThan(50);
  expect(outcomes.opened).toBeGreaterThan(5);
});

test('a file that is made shorter while it is served fails by the range', async () => {
  const path = changed(() => {});
  const archive = await BasemapArchive.open(path);
  truncateSync(path, 1000);
  await expect(archive.bytes(2000, 10)).rejects.toThrow('has become shorter');
  await archive.close();
});

/** The archive with other metadata, after all the rest. */
function withMetadata(metadata: object): Buffer {
  const bytes = readFileSync(VECTOR);
  const text = gzipSync(JSON.stringify(metadata));
  bytes.writeBigUInt64LE(BigInt(bytes.length), 24);
  bytes.writeBigUInt64LE(BigInt(text.length), 32);
  return Buffer.concat([bytes, text]);
}

/** The archive with metadata that are not a gzip. */
function noisyMetadata(): Buffer {
  const bytes = readFileSync(VECTOR);
  const at = Number(bytes.readBigUInt64LE(24));
  return bytes.fill(0xa5, at, at + Number(bytes.readBigUInt64LE(32)));
}
