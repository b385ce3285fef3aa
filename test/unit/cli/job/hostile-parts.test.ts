// A worker converts files and writes outputs of its own, whatever a job's messages name, and whoever may write to the
// share leads it elsewhere by links: nothing outside the share is read or written, and no file is replaced that was
// there before.
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JobPart, JobPlan, PartOutput } from '#dist/bus/jobs/job.js';
import { writeReplaced } from '#dist/cli/job/parts/replaced-names.js';
import { SharedFolder } from '#dist/cli/job/shared-folder.js';
import { convertPart } from '#dist/cli/job/work/convert-part.js';
import { loadLibrary } from '#dist/files/library.js';
import { jobId, planOf } from '../../../support/engine/memory-jobs.js';

const A = jobId('a');
const conversion = {
  ...{ operation: 'encode', from: null, to: null, resolution: 12, isFormer: false },
  ...{ columns: { prefix: '' }, csv: { delimiter: null, decimal: '.', hasHeader: true }, input: {} },
  errors: { kind: 'keep' },
};
const CSV = 'id,lat,lng\n1,21.0306,105.8489\n';

let outer: string;
let root: string;
let shared: SharedFolder;
beforeEach(() => {
  outer = mkdtempSync(join(tmpdir(), 'hexcodes-hostile-'));
  root = join(outer, 'root');
  for (const name of ['root/in', 'root/out', 'elsewhere']) mkdirSync(join(outer, name), { recursive: true });
  for (const name of ['root/in/x.csv', 'elsewhere/x.csv']) writeFileSync(join(outer, name), CSV);
  shared = new SharedFolder(root);
});
afterEach(() => rmSync(outer, { recursive: true }));

interface Attempt {
  readonly plan?: Partial<JobPlan>;
  readonly part?: Partial<JobPart>;
  /** Called when all is written, before the output takes its name. */
  readonly meanwhile?: () => void;
}

async function convert({
  plan = {},
  part = {},
  meanwhile = () => undefined,
}: Attempt): Promise<PartOutput | null> {
  const { size: sizeBytes, mtimeMs } = statSync(join(root, 'in/x.csv'));
  const whole: JobPart = {
    ...{
      job: A,
      part: 1,
      input: 'in/x.csv',
      file: { sizeBytes, modifiedMs: Math.floor(mtimeMs) },
      range: null,
    },
    ...{ sizeBytes, from: 'csv', to: 'csv', output: 'x.csv', proof: '' },
    ...part,
  };
  return convertPart(await loadLibrary(), shared, 'w', {
    ...{ plan: planOf(A, { conversion, ...plan }), part: whole, signal: new AbortController().signal },
    mayFinish: async () => {
      meanwhile();
      return true;
    },
  });
}

/** All files below a folder, with their content. */
function contentOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true }) as string[])
    if (statSync(join(folder, name)).isFile()) found[name] = readFileSync(join(folder, name), 'utf8');
  return found;
}

test('an output is written, and the scratch folder is gone', async () => {
  expect(await convert({})).toMatchObject({ name: 'x.csv', rows: 1 });
  expect(readdirSync(join(root, 'out'))).toEqual(['x.csv']);
});

test.each([
  ['/etc/passwd'],
  ['../elsewhere/x.csv'],
  ['in/../../elsewhere/x.csv'],
  ['linked/x.csv'],
  ['linked.csv'],
  ['in'],
  ['none.csv'],
])('the input %s is not read', async (input) => {
  symlinkSync('../elsewhere', join(root, 'linked'));
  symlinkSync('../elsewhere/x.csv', join(root, 'linked.csv'));
  await expect(convert({ part: { input } })).rejects.toMatchObject({ exitCode: 3 });
  expect(readdirSync(join(root, 'out'))).toEqual([]);
});

test('a link from one folder of the outputs to another is followed', async () => {
  mkdirSync(join(root, 'out/b'));
  symlinkSync('b', join(root, 'out/a'));
  expect(await convert({ part: { output: 'a/x.csv' } })).toMatchObject({ rows: 1 });
  expect(readdirSync(join(root, 'out/b'))).toEqual(['x.csv']);
});

test.each([
  ['../escaped.csv', 'out'],
  ['/tmp/hexcodes-escaped.csv', 'out'],
  ['a/../../../elsewhere/y.csv', 'out'],
  ['linked/y.csv', 'out'],
  ['y.csv', 'linked-out'],
  ['y.csv', '../elsewhere'],
])('the output %s in %s is not written', async (output, folder) => {
  symlinkSync('../../elsewhere', join(root, 'out/linked'));
  symlinkSync('../elsewhere', join(root, 'linked-out'));
  await expect(convert({ plan: { output: folder }, part: { output } })).rejects.toMatchObject({
    message: expect.stringMatching(/not below|leads out/),
  });
  expect(contentOf(join(outer, 'elsewhere'))).toEqual({ 'x.csv': CSV });
  expect([existsSync(join(outer, 'escaped.csv')), existsSync('/tmp/hexcodes-escaped.csv')]).toEqual([
    false,
    false,
  ]);
});

test.each([
  `manifest-${A}.json`,
  `.hexcodes-${A}/x.csv`,
  `.hexcodes-${jobId('b')}.replaces`,
  `b/.hexcodes-${A}`,
])('no output has the name of a file of jobs: %s', async (output) => {
  await expect(convert({ part: { output } })).rejects.toThrow(/files of their own by this name/);
  expect(readdirSync(join(root, 'out'))).toEqual([]);
});

describe('files that are there', () => {
  test('a file is kept that the submitter has not named', async () => {
    writeFileSync(join(root, 'out/x.csv'), 'mine');
    await expect(convert({})).rejects.toThrow(
      'cannot write x.csv: it is there, and was not when the job was submitted',
    );
    expect(contentOf(join(root, 'out'))).toEqual({ 'x.csv': 'mine' });
  });

  test('one of the same size is kept', async () => {
    await convert({});
    const mine = 'm'.repeat(statSync(join(root, 'out/x.csv')).size);
    writeFileSync(join(root, 'out/x.csv'), mine);
    await expect(convert({})).rejects.toThrow(/it is there/);
    expect(readFileSync(join(root, 'out/x.csv'), 'utf8')).toBe(mine);
  });

  test('one that is put there meanwhile is kept', async () => {
    const meanwhile = (): void => writeFileSync(join(root, 'out/x.csv'), 'mine');
    await expect(convert({ meanwhile })).rejects.toThrow(/it is there/);
    expect(contentOf(join(root, 'out'))).toEqual({ 'x.csv': 'mine' });
  });

  test('a file of another folder of the share is kept', async () => {
    const before = statSync(join(root, 'in/x.csv')).ino;
    writeFileSync(join(root, 'in/y.csv'), 'mine');
    await expect(convert({ plan: { output: 'in' }, part: { output: 'y.csv' } })).rejects.toThrow(
      /it is there/,
    );
    await expect(convert({ plan: { output: 'in' } })).rejects.toThrow(/it is the input/);
    expect([statSync(join(root, 'in/x.csv')).ino, readFileSync(join(root, 'in/y.csv'), 'utf8')]).toEqual([
      before,
      'mine',
    ]);
  });

  test('that of another worker with the same part stays as it is', async () => {
    await convert({});
    const { ino } = statSync(join(root, 'out/x.csv'));
    expect(await convert({})).toMatchObject({ rows: 1 });
    expect([statSync(join(root, 'out/x.csv')).ino, readdirSync(join(root, 'out'))]).toEqual([ino, ['x.csv']]);
  });

  test('those that were there when the job was submitted are replaced, and no others', async () => {
    for (const name of ['x.csv', 'y.csv']) writeFileSync(join(root, 'out', name), 'mine');
    writeReplaced(join(root, 'out'), A, ['x.csv', 'z.csv']);
    writeFileSync(join(root, 'out/z.csv'), 'mine');
    expect(await convert({})).toMatchObject({ rows: 1 });
    for (const output of ['y.csv', 'z.csv'])
      await expect(convert({ part: { output } })).rejects.toThrow(/it is there/);
    const { 'x.csv': x, ...others } = contentOf(join(root, 'out'));
    expect([x?.includes('HN-'), others]).toEqual([
      true,
      { 'y.csv': 'mine', 'z.csv': 'mine', [`.hexcodes-${A}.replaces`]: '["x.csv"]' },
    ]);
  });

  test('a list of another job, a link and a list that is none allow nothing', async () => {
    writeFileSync(join(root, 'out/x.csv'), 'mine');
    writeReplaced(join(root, 'out'), jobId('b'), ['x.csv']);
    await expect(convert({})).rejects.toThrow(/it is there/);
    const list = join(root, `out/.hexcodes-${A}.replaces`);
    symlinkSync(`.hexcodes-${jobId('b')}.replaces`, list);
    await expect(convert({})).rejects.toThrow(/it is there/);
    rmSync(list);
    for (const text of ['', '{"x.csv":1}', '"x.csv"', '["../x.csv","x.csv"]']) {
      writeFileSync(list, text);
      await expect(convert({})).rejects.toThrow(/it is there/);
    }
    expect(readFileSync(join(root, 'out/x.csv'), 'utf8')).toBe('mine');
  });

  test('a link is not followed, and stays', async () => {
    symlinkSync('../../elsewhere/x.csv', join(root, 'out/x.csv'));
    writeReplaced(join(root, 'out'), A, ['x.csv']);
    await expect(convert({})).rejects.toThrow(/no regular file/);
    expect([
      lstatSync(join(root, 'out/x.csv')).isSymbolicLink(),
      contentOf(join(outer, 'elsewhere')),
    ]).toEqual([true, { 'x.csv': CSV }]);
  });
});

describe('links that come meanwhile', () => {
  test('an input that has become a link leads nowhere', async () => {
    const meanwhile = (): void => {
      rmSync(join(root, 'in/x.csv'));
      symlinkSync('../../elsewhere/x.csv', join(root, 'in/x.csv'));
    };
    await expect(convert({ meanwhile })).resolves.toMatchObject({ rows: 1 });
    await expect(convert({})).rejects.toThrow(/not below the shared folder/);
  });

  test('an output folder that has become a link out of the share', async () => {
    const meanwhile = (): void => {
      renameSync(join(root, 'out'), join(root, 'moved'));
      symlinkSync('../elsewhere', join(root, 'out'));
    };
    await expect(convert({ meanwhile, part: { output: 'y.csv' } })).rejects.toThrow(/leads out/);
    expect(contentOf(join(outer, 'elsewhere'))).toEqual({ 'x.csv': CSV });
  });

  test('a scratch folder that is a link, to another folder of the share and out of it', async () => {
    mkdirSync(join(root, 'out/mine'));
    for (const target of ['mine', '../../elsewhere']) {
      symlinkSync(target, join(root, `out/.hexcodes-${A}`));
      await expect(convert({})).rejects.toThrow(/it is there, and no folder|leads out/);
      rmSync(join(root, `out/.hexcodes-${A}`));
    }
    expect([readdirSync(join(root, 'out')), readdirSync(join(outer, 'elsewhere'))]).toEqual([
      ['mine'],
      ['x.csv'],
    ]);
  });
});

test('an input that has changed while it was converted gives no output', async () => {
  await expect(convertChanging(() => utimesSync(join(root, 'in/x.csv'), 1, 1))).rejects.toThrow(
    'in/x.csv: it has changed since the job was submitted',
  );
  expect(readdirSync(join(root, 'out'))).toEqual([]);
});

/** Changes the input when the conversion begins to write. */
async function convertChanging(change: () => void): Promise<PartOutput | null> {
  const scratch = join(root, `out/.hexcodes-${A}`);
  writeFileSync(join(root, 'in/x.csv'), `${CSV}${'1,21.0306,105.8489\n'.repeat(400_000)}`);
  const watch = setInterval(() => {
    if (!existsSync(scratch)) return;
    clearInterval(watch);
    change();
  });
  try {
    return await convert({});
  } finally {
    clearInterval(watch);
  }
}

test('a hard link to the input is no output', async () => {
  linkSync(join(root, 'in/x.csv'), join(root, 'out/x.csv'));
  writeReplaced(join(root, 'out'), A, ['x.csv']);
  await expect(convert({})).rejects.toThrow(/it is the input/);
  expect(readFileSync(join(root, 'in/x.csv'), 'utf8')).toBe(CSV);
});
