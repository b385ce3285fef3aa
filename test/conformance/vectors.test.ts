// Every row of the shared vectors through both builds of the kernel and through the library: the same bytes, and the
// digest of all answers is one number, whatever Node runs it. Then through the command.

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes, type Kernel } from '#hexcodes';
import { type Build, OPEN_INDEX, openKernel, openWorld } from '../support/open-world.js';
import { sharedCommand } from '../support/shared.js';
import { CODE_ROWS, READING_ROWS } from '../support/vectors.js';

const BUILDS: Build[] = ['kernel', 'kernel.debug'];
const CENTER_TOLERANCE_DEG = 1e-9;
/** Digest of everything the last test asks; recorded on Node 20, the same on Node 22. */
const DIGEST = '2250d5990d519d162c650c0f537504c40baf60e1578a6d4c18c5216f15a92aed';

test('the vectors are all there', () => {
  expect(CODE_ROWS.length).toBe(672);
  expect(READING_ROWS.length).toBe(55);
  expect(new Set(CODE_ROWS.map((row) => row.adminCode)).size).toBe(34);
  expect(new Set(CODE_ROWS.map((row) => row.resolution)).size).toBe(16);
});

function adminOf(code: string): number {
  return ADMIN_UNITS.findIndex((unit) => unit.code === code);
}

function unsigned(cell: bigint): string {
  return BigInt.asUintN(64, cell).toString(16);
}

function recordOf(text: string): Uint8Array {
  const record = new Uint8Array(20);
  new TextEncoder().encodeInto(text, record);
  return record;
}

describe.each(BUILDS)('%s.wasm', (build) => {
  const kernel: Kernel = openKernel(build);

  test.each(CODE_ROWS)('$code', (row) => {
    const { exports, output, outputFloats, outputCells } = kernel;
    expect(unsigned(exports.cellOf(row.lat, row.lng, row.resolution))).toBe(row.cell);

    expect(exports.pack(BigInt(`0x${row.cell}`), adminOf(row.adminCode))).toBe(0);
    expect(kernel.textAt(0)).toBe(row.code);
    expect([...output.subarray(0, 20)]).toEqual([...recordOf(row.code)]);

    expect(kernel.readText(row.code)).toBe(0);
    expect(kernel.textAt(32)).toBe(row.code);
    expect((outputCells[2] as bigint).toString(16)).toBe(row.cell);
    expect([output[24], output[25]]).toEqual([row.resolution, adminOf(row.adminCode)]);
    expect(Math.abs((outputFloats[0] as number) - row.centerLat)).toBeLessThan(CENTER_TOLERANCE_DEG);
    expect(Math.abs((outputFloats[1] as number) - row.centerLng)).toBeLessThan(CENTER_TOLERANCE_DEG);

    expect(exports.centerOf(BigInt(`0x${row.cell}`))).toBe(0);
    expect(Math.abs((outputFloats[0] as number) - row.centerLat)).toBeLessThan(CENTER_TOLERANCE_DEG);

    kernel.inputBytes.set(recordOf(row.code));
    expect(exports.decodeBatch(1)).toBe(0);
    expect([output[16], output[17]]).toEqual([row.resolution, 0]);
    expect(Math.abs((outputFloats[1] as number) - row.centerLng)).toBeLessThan(CENTER_TOLERANCE_DEG);
  });

  test.each(READING_ROWS)('reads $text: $note', ({ text, code }) => {
    expect(kernel.readText(text)).toBe(code === null ? 3 : 0);
    expect(kernel.textAt(32)).toBe(code ?? '');
    // a record holds what is ASCII and short enough
    if (text.length > 0 && text.length < 20 && !/[^\t\r\n -~]/.test(text)) {
      kernel.inputBytes.set(recordOf(text));
      expect(kernel.exports.decodeBatch(1)).toBe(code === null ? 1 : 0);
    }
  });
});

describe('the library', () => {
  const hexcodes = Hexcodes.from(openWorld());

  test.each(CODE_ROWS)('$code', (row) => {
    const decoded = hexcodes.decode(row.code);
    expect(decoded).toMatchObject({ resolution: row.resolution, admin_code: row.adminCode });
    expect(Math.abs((decoded?.lat as number) - row.centerLat)).toBeLessThan(CENTER_TOLERANCE_DEG);
    expect(Math.abs((decoded?.lng as number) - row.centerLng)).toBeLessThan(CENTER_TOLERANCE_DEG);
    expect(hexcodes.read(row.code)).toMatchObject({ hexcodes: row.code, cell: BigInt(`0x${row.cell}`) });
    expect(hexcodes.pack(BigInt(`0x${row.cell}`), row.adminCode)).toBe(row.code);
  });

  test.each(READING_ROWS)('reads $text: $note', ({ text, code }) => {
    expect(hexcodes.isValid(text)).toBe(code !== null);
    expect(hexcodes.decode(text) === null).toBe(code === null);
    expect(hexcodes.read(text)?.hexcodes ?? null).toBe(code);
  });
});

test.each(BUILDS)('%s.wasm: all answers to the vectors have the recorded digest', (build) => {
  const kernel = openKernel(build);
  const hash = createHash('sha256');
  for (const row of CODE_ROWS) {
    kernel.exports.encodeOne(row.lat, row.lng, row.resolution);
    hash.update(kernel.output.subarray(0, 20));
    kernel.readText(row.code);
    hash.update(kernel.output.subarray(0, 52));
  }
  for (const { text } of READING_ROWS) {
    kernel.readText(text);
    hash.update(kernel.output.subarray(0, 52));
  }
  expect(hash.digest('hex')).toBe(DIGEST);
});

// The recorded vectors through the command, converted by bytes and by columns.

const folder = sharedCommand();

/** Last digits of centres may differ by 1e-9 degrees. */
const isNear = (a: string, b: number): boolean => Math.abs(Number(a) - b) < 1e-9;

describe.each([
  ['bytes', []],
  ['columns', ['--keep', 'n,hexcodes']],
] as const)('by %s', (_, options) => {
  test('codes.csv: every code gives its centre', async () => {
    const rows = CODE_ROWS;
    folder.write('codes.csv', `n,hexcodes\n${rows.map(({ code }, n) => `${n},${code}\n`).join('')}`);
    const ran = await folder.run(['decode', 'codes.csv', '-q', ...options]);
    const lines = ran.stdout.trimEnd().split('\n').slice(1);
    expect(lines).toHaveLength(rows.length);
    lines.forEach((line, i) => {
      const row = rows[i]!;
      const [n, code, lat, lng, resolution, status] = line.split(',') as string[];
      expect([n, code, resolution, status]).toEqual([String(i), row.code, String(row.resolution), 'OK']);
      expect(isNear(lat!, row.centerLat) && isNear(lng!, row.centerLng)).toBe(true);
    });
  });

  test('reading.csv: every text is read or refused as recorded', async () => {
    const rows = READING_ROWS.filter(({ text }) => text !== '' && !text.includes('\0'));
    expect(rows.length).toBeGreaterThan(40);
    const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    folder.write(
      'reading.csv',
      `n,hexcodes\n${rows.map(({ text }, n) => `${n},${quoted(text)}\n`).join('')}`,
    );
    const library = await Hexcodes.load();
    const ran = await folder.run(['decode', 'reading.csv', '-q', ...options]);
    for (const [i, { text, code }] of rows.entries()) {
      const decoded = code === null ? null : library.decode(code);
      const ending =
        decoded === null ? ',,,,INVALID_HEXCODES' : `,${decoded.lat},${decoded.lng},${decoded.resolution},OK`;
      const found =
        ran.stdout.includes(`${i},${quoted(text)}${ending}\n`) ||
        ran.stdout.includes(`${i},${text}${ending}\n`);
      expect([text, found]).toEqual([text, true]);
    }
  });
});

test('codes.csv: places inside the coverage give their code', async () => {
  const library = await Hexcodes.load();
  const rows = CODE_ROWS.filter(({ lat, lng, adminCode }) => library.adminCodeOf(lat, lng) === adminCode);
  expect(rows.length).toBeGreaterThan(300);
  folder.write(
    'places.csv',
    `lat,lng,resolution\n${rows.map(({ lat, lng, resolution }) => `${lat},${lng},${resolution}\n`).join('')}`,
  );
  const ran = await folder.run(['encode', 'places.csv', '-q']);
  const codes = ran.stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',')[3]);
  expect(codes).toEqual(rows.map(({ code }) => code));
});

test('HEXCODES_INDEX replaces the boundaries', async () => {
  folder.write('open.bin', OPEN_INDEX);
  const env = { HEXCODES_INDEX: folder.file('open.bin') };
  // In the made-up boundaries this position, far from every real border, is in another province.
  const own = await folder.run(['encode', '21.0288,105.8525'], { env });
  const shipped = await folder.run(['encode', '21.0288,105.8525']);
  expect([own.code, own.stdout === shipped.stdout]).not.toEqual([0, true]);
  for (const path of ['none.bin', 'codes.csv']) {
    const broken = await folder.run(['encode', '21.0288,105.8525'], { env: { HEXCODES_INDEX: path } });
    expect([broken.code, broken.stderr]).toEqual([3, expect.stringContaining(`HEXCODES_INDEX=${path}`)]);
  }
});
