// CSV by threads that read slices of the file: the bytes, counts and faults of one thread, wherever slices end, also
// within a field of several lines; and a run that is broken off and resumed.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { converted, policies, type Request } from '../../../support/files/roads.js';
import { ownFolder } from '../../../support/own-folder.js';

const scratch = ownFolder('threads');
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await Hexcodes.load();
});

/** Converts to CSV. @returns what was counted and written, or the fault */
async function toCsv(inputs: string[], by: Partial<Request>, name = 'out.csv') {
  const { lines: _, ...rest } = await converted(hexcodes, inputs, join(scratch, name), by);
  return rest;
}

const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('xe 12', '', 'Hà Nội', 'a b') },
  {
    weight: 3,
    arbitrary: fc.constantFrom('"a, b"', '"say ""hi"""', '"two\nlines"', '"""\n\n"""', 'a"b', '"a\r\nb"'),
  },
);
const place = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(
      fc.double({ min: 20, max: 21.5, noNaN: true }),
      fc.double({ min: 105, max: 106.5, noNaN: true }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom([0.5, 105], [105.8, 21], ['', ''], ['x', '1'], ['"21,03"', '105.8']),
  },
);
const row = fc.tuple(name, place, name).map(([first, [lat, lng], last]) => `${first},${lat},${lng},${last}`);
const odd = fc.constantFrom(
  'a,21',
  'a,21,105.8,b,c',
  '"open,21,105.8,b',
  'a,21,105.8,\xff',
  'a,21,105.8,\0',
  '',
);
test('rows of every kind, in slices of every size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 40 }),
      fc.option(odd, { freq: 2 }),
      fc.integer({ min: 0, max: 300 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      policies(scratch, 'csv'),
      fc.integer({ min: 40, max: 3000 }),
      async (some, wrong, times, feed, hasEnd, errors, sliceBytes) => {
        const many = Array.from({ length: times }, (_, i) => some[i % some.length]!);
        const rows = [...some, ...many, ...(wrong === null ? [] : [wrong]), ...some];
        const path = join(scratch, 'in.csv');
        writeFileSync(path, `name,lat,lng,note${feed}${rows.join(feed)}${hasEnd ? feed : ''}`, 'latin1');
        const one = await toCsv([path, path], { errors });
        expect(await toCsv([path, path], { errors, threads: 2, sliceBytes })).toEqual(one);
        if (one.bytes === undefined || errors.kind !== 'keep') return;
        const codes = join(scratch, 'codes.csv');
        writeFileSync(codes, one.bytes);
        const decode = { operation: 'decode', columns: { prefix: 'd_' } } as const;
        const back = await toCsv([codes], decode);
        expect(await toCsv([codes], { ...decode, threads: 2, sliceBytes })).toEqual(back);
      },
    ),
    { numRuns: 25 },
  );
});

test('a failed row before one that is no text ends a run that stops at failed rows', async () => {
  const path = join(scratch, 'two-faults.csv');
  writeFileSync(path, 'name,lat,lng,note\na,21,105.8,b\na,0.5,105,b\na,21,105.8,\xff\n', 'latin1');
  const errors = { kind: 'stop' } as const;
  for (const by of [{}, { threads: 2, sliceBytes: 40 }, { threads: 2, sliceBytes: 3000 }])
    expect((await toCsv([path], { errors, ...by })).fault).toMatch(/row 2: NOT_FOUND/);
  expect((await toCsv([path], { errors: { kind: 'keep' } })).fault).toMatch(/row 3, column note: not UTF-8/);
});

test('broken off and resumed', async () => {
  const path = join(scratch, 'many.csv');
  const rows = Array.from({ length: 60_000 }, (_, i) => `${i},21.0${i % 1000},105.8489,"a\nb"`);
  writeFileSync(path, `id,lat,lng,note\n${rows.join('\n')}\n`);
  const output = join(scratch, 'many.hex.csv');
  const by = { threads: 2, sliceBytes: 4096 };
  const partial = `${output}.partial`;
  // A second signal would end the process.
  const breaking = setInterval(() => {
    if ((statSync(partial, { throwIfNoEntry: false })?.size ?? 0) < 500_000) return;
    clearInterval(breaking);
    process.emit('SIGINT');
  }, 1);
  const broken = await toCsv([path], by, 'many.hex.csv');
  expect(broken.fault).toMatch(/^interrupted after [\d,]+ rows, which are kept$/);
  const resumed = await converted(hexcodes, [path], output, { ...by, isResume: true, isVerbose: false });
  expect(resumed.lines).toEqual([expect.stringMatching(/^Going on after row [\d,]+\.$/)]);
  const straight = await toCsv([path], {});
  expect(resumed.bytes!.equals(straight.bytes!)).toBe(true);
});
