// CSV by threads that read slices of the file: which of two faults ends a run, and a run that is broken off and
// resumed. Rows of every kind in slices of every size are in by-rows.test.ts.
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { converted, type Request } from '../../../support/files/pipelines.js';
import { ownFolder } from '../../../support/shared.js';

const scratch = ownFolder('threads');
const hexcodes = await Hexcodes.load();

/** Converts to CSV. @returns what was counted and written, or the fault */
async function toCsv(inputs: string[], by: Partial<Request>, name = 'out.csv') {
  const { lines: _, ...rest } = await converted(hexcodes, inputs, join(scratch, name), by);
  return rest;
}

test('a failed row before one that is not a text ends a run that stops at failed rows', async () => {
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
