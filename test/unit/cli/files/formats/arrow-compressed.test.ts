// Compressed Arrow, as pandas and pyarrow write it: LZ4 frames, whose blocks refer to those before them, and Zstandard.
// The files are of pyarrow 25.0.1: 20,000 rows in one batch, `write_feather(table, name, compression=...)`.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openInput } from '#dist/files/disk/input.js';
import { openArrow } from '#dist/files/formats/arrow/arrow-source.js';
import { CliFolder } from '../../../../support/cli.js';

const ROWS = 20_000;
const SMALL = { NODE_OPTIONS: '--max-old-space-size=256' };
const DISTRICTS = ['Hoàn Kiếm', 'Ba Đình', null];

async function valuesIn(path: string): Promise<Record<string, unknown[]>> {
  const { columns, batches } = await openArrow(await openInput(path));
  const values: Record<string, unknown[]> = {};
  for await (const batch of batches()) {
    columns.forEach(({ name }, c) => {
      values[name] = [...(values[name] ?? []), ...Array.from(batch.values[c]!)];
    });
  }
  return values;
}

test.each(['lz4', 'zstd'])('%s: every value of every row', async (codec) => {
  const rows = Array.from({ length: ROWS }, (_, i) => i);
  expect(await valuesIn(`test/fixtures/arrow/${codec}.feather`)).toEqual({
    id: rows.map((i) => 9007199254740993n + BigInt(Math.floor(i / 50))),
    lat: rows.map((i) => 21.0306 + Math.floor(i / 500) * 1e-4),
    lng: rows.map(() => 105.8489),
    nothing: rows.map(() => null),
    district: rows.map((i) => DISTRICTS[Math.floor(i / 40) % 3]),
    trips: rows.map((i) => (i % 2 === 1 ? `[${Math.floor(i / 100)},null]` : '[]')),
  });
});

test('a dictionary that claims more values than it has', async () => {
  const folder = new CliFolder();
  try {
    const whole = readFileSync('test/fixtures/arrow/zstd.feather');
    // The count of its values, two: one byte of it made flechette collect values until the heap was full.
    for (const [at, byte, values] of [
      [651, 0x5f, '1593835522 rows'],
      [650, 0x84, '8650754 values'],
    ] as const) {
      const bytes = Buffer.from(whole);
      expect(bytes.readBigInt64LE(648)).toBe(2n);
      bytes[at] = byte;
      folder.write('damaged.feather', bytes);
      const ran = await folder.run(['encode', 'damaged.feather', '-o', 'out.csv'], { env: SMALL });
      expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining(values)]);
    }
  } finally {
    folder.remove();
  }
});

test.each(['lz4', 'zstd'])('%s that is damaged is refused with a sentence', async (codec) => {
  const folder = new CliFolder();
  try {
    const bytes = readFileSync(`test/fixtures/arrow/${codec}.feather`);
    // The magic number of the first frame.
    const magic = codec === 'lz4' ? '04224d18' : '28b52ffd';
    bytes[bytes.indexOf(Buffer.from(magic, 'hex'))]! ^= 1;
    folder.write('damaged.feather', bytes);
    await expect(valuesIn(folder.file('damaged.feather'))).rejects.toThrow(
      /damaged\.feather, row 1: cannot be read as Arrow \(broken (?:LZ4|Zstandard) data\)/,
    );
  } finally {
    folder.remove();
  }
});
