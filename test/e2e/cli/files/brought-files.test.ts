// Files that other programs made (test/fixtures/brought): each gives the codes of the table that it was made of, or is
// refused with the sentence that helps. A line of a shell in that sentence is run, where the machine has the program.
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { BROUGHT_FILES, broughtCases, SHOP_CODES } from '../../../support/brought-files.js';
import { CliFolder } from '../../../support/cli.js';
import { PYTHON } from '../../../support/python-env.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
const CASES = broughtCases();
for (const [name, bytes] of BROUGHT_FILES) folder.write(name, bytes);

const isCodes = (stdout: string): boolean => {
  // The first point of a training is written twice by gpsbabel.
  const found = new Set(stdout.match(/(?:HN|HCM|DNG)-[0-9A-Z]{5}-[0-9A-Z]{5}/g));
  // Some formats have an order of their own.
  return JSON.stringify([...found].sort()) === JSON.stringify([...SHOP_CODES].sort());
};

test('60 files and more of a few kilobytes, each listed', () => {
  const files = new Set(CASES.map(({ file }) => file));
  const sources = ['areas.csv', 'times.csv'];
  const parts = ['shx', 'prj', 'mid', 'dat', 'map', 'id'].map((extension) => `gdal.${extension}`);
  const others = [...sources, ...parts];
  expect(new Set([...files, ...others])).toEqual(new Set(BROUGHT_FILES.keys()));
  expect(files.size).toBeGreaterThan(60);
  const sizes = [...BROUGHT_FILES.values()].map(({ length }) => length);
  expect(Math.max(...sizes)).toBeLessThan(24 * 1024);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(448 * 1024);
});

test.each(CASES.map((each) => [each.file, each.options.join(' '), each] as const))(
  '%s %s',
  async (file, _, { options, command }) => {
    const { code, stdout, stderr } = await folder.run(['encode', file, '-q', '--to', 'csv', ...options]);
    if (command === 'codes') {
      expect([stderr, code, stdout]).toEqual(['', 0, expect.toSatisfy(isCodes)]);
      return;
    }
    const isRefused = !/^HN-/.test(command);
    if (isRefused) expect([code === 0, stdout.includes('OK')]).toEqual([false, false]);
    for (const words of command.split(' | ')) expect(isRefused ? stderr : stdout).toContain(words);
  },
);

const PROGRAMS =
  /(?<=: |\| |^)(?:soffice|ssconvert|ogr2ogr|gpsbabel|tr|jq|bzip2|xz|unzip|sqlite3|Rscript|python3) .*/;
/** Programs of Debian that .ci/packages leaves out: some hundred megabytes of offices, maps and statistics. */
const LARGE = /^(?:soffice|ssconvert|ogr2ogr|gpsbabel|Rscript) /;
/** Programs of Debian, and the modules of Python that .ci/python installs. */
const env = { ...process.env, HOME: folder.path, PATH: `${dirname(PYTHON)}:${process.env.PATH}` };

/** The program or modules that a line needs and this machine lacks; pandas and geopandas write by way of pyarrow. */
function lackedBy(line: string): string | undefined {
  const [program = ''] = line.split(' ');
  const [, modules] = /^python3 -c 'import sys, ([\w., ]+);/.exec(line) ?? [];
  const has =
    modules === undefined
      ? ['which', program]
      : ['python3', '-c', `import ${modules}${modules.includes('pandas') ? ', pyarrow.parquet' : ''}`];
  const isThere = spawnSync(has[0]!, has.slice(1), { env }).status === 0;
  return isThere ? undefined : `${modules ?? program} is not installed`;
}

/** Cases whose refusal has a line of a shell; of those with the same line one. */
const LINES = new Map(
  CASES.filter(({ options, command }) => options.length === 0 && PROGRAMS.test(command)).map((each) => [
    each.command.replaceAll(each.file, 'FILE'),
    each,
  ]),
);

describe('the line of a hint converts the file', () => {
  for (const { file, command } of LINES.values()) {
    const wanted = PROGRAMS.exec(command)![0];
    const isElsewhere = LARGE.test(wanted) && lackedBy(wanted) !== undefined;
    const name = isElsewhere ? `${file} (not on a machine without ${wanted.split(' ')[0]})` : file;
    test.skipIf(isElsewhere)(name, async (context) => {
      const { stderr } = await folder.run(['encode', file, '-q', '-o', 'never.csv']);
      const line = PROGRAMS.exec(stderr)?.[0] ?? '';
      expect(line).toContain(wanted);
      const lack = lackedBy(line);
      if (lack !== undefined) context.skip(lack);
      const own = new CliFolder();
      for (const [name, bytes] of BROUGHT_FILES) own.write(name, bytes);
      try {
        const piped = line.replace(/ \| hexcodes …$/, '');
        if (piped !== line) {
          const stdin = execFileSync('bash', ['-c', piped], { cwd: own.path, env });
          expect((await own.run(['encode', '-q', '--to', 'csv'], { stdin })).stdout).toSatisfy(isCodes);
          return;
        }
        const target = /(?<=[ "])points\.\w+/.exec(line)?.[0] ?? file.replace(/\.\w+$/, '.xlsx');
        rmSync(own.file(target), { force: true });
        // An office of its own, by HOME: another that runs would take the file and end at once.
        const named = line.replace('FROM TABLE', 'FROM shops');
        execFileSync('bash', ['-c', named], { cwd: own.path, env, stdio: 'pipe' });
        const { stdout } = await own.run(['encode', target, '-q', '--to', 'csv']);
        expect(stdout).toSatisfy(isCodes);
      } finally {
        own.remove();
      }
    });
  }
});
