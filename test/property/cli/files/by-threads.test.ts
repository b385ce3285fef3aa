// CSV by threads that read slices of the file: the bytes, counts and faults of one thread, wherever slices end, also
// within a field of several lines; and a run that is broken off and resumed.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { convertFiles } from '#dist/files/run.js';
import { Hexcodes } from '#hexcodes';
import { tallyText } from '../../../support/files/roads.js';

const scratch = mkdtempSync(join(tmpdir(), 'hexcodes-threads-'));
afterAll(() => rmSync(scratch, { recursive: true }));
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await Hexcodes.load();
});

type Request = Parameters<typeof convertFiles>[1];

function requestOf(inputs: readonly string[], output: string, by: Partial<Request>): Request {
  return {
    ...{ operation: 'encode', inputs, output, from: 'csv', to: 'csv', resolution: 12 },
    ...{ isFormer: false, sort: null, columns: { prefix: '' }, errors: { kind: 'keep' } },
    ...{ csv: { delimiter: null, decimal: '.', hasHeader: true }, input: {}, isResume: false },
    ...{ threads: 1, isQuiet: true },
    ...by,
  } as Request;
}

async function converted(inputs: readonly string[], by: Partial<Request>) {
  const output = join(scratch, 'out.csv');
  rmSync(output, { force: true });
  try {
    const { tally } = await convertFiles(hexcodes, requestOf(inputs, output, by), () => undefined);
    const rejected = by.errors?.kind === 'file' ? readFileSync(by.errors.path, 'latin1') : '';
    return {
      tally: tallyText(tally),
      text: readFileSync(output, 'latin1'),
      rejected,
    };
  } catch (error) {
    return { fault: (error as Error).message };
  }
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
const policies = fc.constantFrom<Request['errors']>(
  { kind: 'keep' },
  { kind: 'skip' },
  { kind: 'stop' },
  { kind: 'file', path: join(scratch, 'rejects.csv') },
);

test('rows of every kind, in slices of every size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 40 }),
      fc.option(odd, { freq: 2 }),
      fc.integer({ min: 0, max: 300 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      policies,
      fc.integer({ min: 40, max: 3000 }),
      async (some, wrong, times, feed, hasEnd, errors, sliceBytes) => {
        const many = Array.from({ length: times }, (_, i) => some[i % some.length]!);
        const rows = [...some, ...many, ...(wrong === null ? [] : [wrong]), ...some];
        const path = join(scratch, 'in.csv');
        writeFileSync(path, `name,lat,lng,note${feed}${rows.join(feed)}${hasEnd ? feed : ''}`, 'latin1');
        const one = await converted([path, path], { errors });
        expect(await converted([path, path], { errors, threads: 2, sliceBytes })).toEqual(one);
        if (one.text === undefined || errors?.kind !== 'keep') return;
        const codes = join(scratch, 'codes.csv');
        writeFileSync(codes, one.text, 'latin1');
        const decode = { operation: 'decode', columns: { prefix: 'd_' } } as const;
        const back = await converted([codes], decode);
        expect(await converted([codes], { ...decode, threads: 2, sliceBytes })).toEqual(back);
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
    expect((await converted([path], { errors, ...by })).fault).toMatch(/row 2: NOT_FOUND/);
  expect((await converted([path], { errors: { kind: 'keep' } })).fault).toMatch(
    /row 3, column note: not UTF-8/,
  );
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
  const broken = convertFiles(hexcodes, requestOf([path], output, by), () => undefined);
  await expect(broken).rejects.toThrow(/^interrupted after [\d,]+ rows, which are kept$/);
  const said: string[] = [];
  const resumed = requestOf([path], output, { ...by, isResume: true });
  expect((await convertFiles(hexcodes, resumed, (line) => said.push(line))).tally.rows).toBe(60_000);
  expect(said).toEqual([expect.stringMatching(/^Going on after row [\d,]+\.$/)]);
  const straight = await converted([path], {});
  expect(readFileSync(output, 'latin1') === straight.text).toBe(true);
});
