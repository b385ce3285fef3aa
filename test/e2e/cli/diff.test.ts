// `hexcodes diff OLD NEW FILE`: positions and codes whose province changes, and what cannot be read.
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { readIndexMeta } from '#dist/hexcodes/kernel/index-file.js';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { CliFolder } from '../../support/cli.js';
import { shippedFiles } from '../../support/shipped.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

const files = shippedFiles();
const adminOf = (wanted: string): number => ADMIN_UNITS.findIndex(({ code }) => code === wanted);

/** The shipped index with the former province Bắc Ninh in Hà Nội. */
const moved = Buffer.from(readFileSync('data/index.bin'));
const unit = readIndexMeta(files.index).units.findIndex(({ name }) => name === 'Bắc Ninh');
moved[64 + unit] = adminOf('HN');
moved.writeUInt32LE(crc32(moved.subarray(16)), 12);
folder.write('old.bin', Buffer.from(files.index));
folder.write('new.bin', moved);

const before = Hexcodes.from(files);
const after = Hexcodes.from({ ...files, index: new Uint8Array(moved) });
const POSITIONS = [
  [21.0757, 105.9872],
  [21.0285, 105.8542],
  [12.6667, 108.05],
  [0, 0],
] as const;
const codes = POSITIONS.slice(0, 3).map(([lat, lng]) => before.encode(lat, lng).hexcodes);
const changed = after.encode(21.0757, 105.9872).hexcodes;
folder.write('places.csv', `lat,lng\n${POSITIONS.map((each) => each.join(',')).join('\n')}\nx,105\n`);
folder.write('codes.csv', `id,place\n${codes.map((code, n) => `${n},${code}`).join('\n')}\n3,nope\n`);

test('positions: the rows whose code has another province', async () => {
  const { stdout, stderr, code } = await folder.run(['diff', 'old.bin', 'new.bin', 'places.csv']);
  expect(changed.slice(0, 3)).toBe('HN-');
  expect(stdout).toBe(`row,old,new\n1,${codes[0]},${changed}\n`);
  expect(stderr).toBe('5 rows: 1 change; 1 not understood, the first in row 5\n');
  expect(code).toBe(1);
  const coarse = await folder.run(['diff', 'old.bin', 'new.bin', 'places.csv', '-r', '9', '-q']);
  expect(coarse.stdout).toContain(`,${after.encode(21.0757, 105.9872, 9).hexcodes}\n`);
  expect(coarse.stderr).toBe('');
});

test('codes: by the centre of their cells, with the same cell', async () => {
  const ran = await folder.run(['diff', 'old.bin', 'new.bin', 'codes.csv', '--column', 'place']);
  expect(ran.stdout).toBe(`row,old,new\n1,${codes[0]},${changed}\n`);
  expect(before.read(changed)?.cell).toBe(before.read(codes[0]!)?.cell);
  expect(ran.stderr).toBe('4 rows: 1 change; 1 not understood, the first in row 4\n');
});

test('the same index: nothing changes', async () => {
  const ran = await folder.run(['diff', 'old.bin', 'old.bin', 'places.csv']);
  expect([ran.stdout, ran.code]).toEqual(['row,old,new\n', 0]);
});

test('indexes that cannot be used', async () => {
  folder.write('damaged.bin', moved.subarray(0, 5000));
  for (const [path, reason] of [
    ['none.bin', /no such file/],
    ['damaged.bin', /The boundary index cannot be used/],
  ] as const) {
    const ran = await folder.run(['diff', 'old.bin', path, 'places.csv']);
    expect([ran.code, ran.stdout]).toEqual([3, '']);
    expect(ran.stderr).toMatch(reason);
    expect(ran.stderr).toContain(path);
  }
});
