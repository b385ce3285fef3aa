// CSV sorted by rows of bytes gives the bytes and counts of CSV sorted value by value: over fields and
// rows of every kind, with blocks of usual rows before them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { convertFiles } from '#dist/files/run.js';
import { Hexcodes } from '#hexcodes';

const scratch = mkdtempSync(join(tmpdir(), 'hexcodes-sorted-csv-'));
afterAll(() => rmSync(scratch, { recursive: true }));
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await Hexcodes.load();
});

type Request = Parameters<typeof convertFiles>[1];

async function sorted(path: string, columns: Request['columns'], memoryBytes: number, road?: 'columns') {
  const lines: string[] = [];
  const output = join(scratch, 'out.parquet');
  const request = {
    ...{ operation: 'encode', inputs: [path], output, from: 'csv', to: 'parquet', resolution: 11 },
    ...{ isFormer: false, sort: { memoryBytes }, columns, errors: { kind: 'keep' } },
    ...{ csv: { delimiter: ',', decimal: '.', hasHeader: true }, input: {}, isResume: false },
    ...{ threads: 1, isQuiet: true, isVerbose: true, road },
  } as Request;
  try {
    const { tally } = await convertFiles(hexcodes, request, (line) => lines.push(line));
    const counts = JSON.stringify(tally.save(0));
    return { lines, counts, bytes: readFileSync(output) };
  } catch (error) {
    return { lines, fault: (error as Error).message };
  }
}

async function compare(body: string, columns: Request['columns'], memoryBytes: number): Promise<boolean> {
  const path = join(scratch, 'in.csv');
  writeFileSync(path, body);
  const fast = await sorted(path, columns, memoryBytes);
  const slow = await sorted(path, columns, 1e9, 'columns');
  expect(fast.fault).toBe(slow.fault);
  expect(fast.counts).toBe(slow.counts);
  if (fast.bytes !== undefined) expect(fast.bytes.equals(slow.bytes!)).toBe(true);
  expect(slow.lines.some((line) => line.startsWith('Converted by rows'))).toBe(false);
  return fast.lines.some((line) => line.startsWith('Converted by rows'));
}

const coordinate = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 8, max: 109, noNaN: true }).map(String) },
  fc.constantFrom(
    ...['', ' 21.03', '"21,03"', '"21.03"', '"21.03"x', '+21.03', '-21', '1e1', '21.', '.5', '21°01\'43"N'],
    ...['NaN', '1e999', '21.0300000000000000000001', '105.85E', '\u00a021', 'x', '"2""1"', '91', '-0'],
  ),
);
const text = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .string({ unit: 'grapheme', maxLength: 40 })
      .map((given) => given.replace(/[",\r\n\0]/g, '')),
  },
  fc.constantFrom('', '"a,b"', '"a""b"', '"a\nb"', 'a"b', '"', 'x'.repeat(5000), 'Hà Nội 😀', ' '),
);
const line = fc.oneof(
  { weight: 40, arbitrary: fc.tuple(text, coordinate, text, coordinate).map((fields) => fields.join(',')) },
  fc.constantFrom('', '\r', '1,21,5', '1,2,3,4,5'),
);

test('CSV of every kind', async () => {
  let byRows = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 25 }),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom('', '\n', '\r'),
      fc.integer({ min: 0, max: 9000 }),
      fc.constantFrom<Request['columns']>(
        { prefix: '' },
        { prefix: 'our_', keep: ['name', 'lng'] },
        { prefix: '', drop: ['id', 'name', 'lat', 'lng'] },
      ),
      fc.constantFrom(1e9, 1e5),
      async (lines, feed, last, fill, columns, memoryBytes) => {
        const usual = Array.from(
          { length: fill },
          (_, i) => `v${i},${10 + (i % 90) / 8},n${i % 70},106.${i}`,
        );
        const body = ['id,lat,name,lng', '1,21,2,105.8', ...usual, ...lines].join(feed) + last;
        if (await compare(body, columns, memoryBytes)) byRows++;
      },
    ),
    { numRuns: 30, examples: [[['\r'], '\n', '\r', 0, { prefix: '' }, 1e9]] },
  );
  expect(byRows).toBeGreaterThan(0);
});
