// The workflows in .github/: actionlint finds no fault, they run on the Node versions that the package is for, and each
// of their lines is one that .ci/run runs, too, so that they cannot differ from what is tried.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = '.github/workflows';
const files = readdirSync(FOLDER).map((name) => join(FOLDER, name));
const { scripts, engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
  engines: { node: string };
};

interface Step {
  /** Empty where the step has none. */
  readonly name: string;
  readonly line: string;
}

/** The lines that a workflow runs. */
function stepsOf(file: string): Step[] {
  const steps = readFileSync(file, 'utf8')
    .split(/^ {6}- /m)
    .slice(1);
  return steps.flatMap((step) => {
    const line = /^(?: {8})?run: (.+)$/m.exec(step)?.[1];
    return line === undefined ? [] : [{ name: /^name: (.+)$/m.exec(step)?.[1] ?? '', line }];
  });
}

/** Commands of .ci/run, without options and what follows a failure. */
const inCi = readFileSync('.ci/run', 'utf8')
  .split('\n')
  .map((line) => line.replace(/ -- .*| \|\| .*/, ''));

const projectsOf = (script: string): string[] =>
  [...(scripts[script] ?? '').matchAll(/--project (\w+)/g)].map(([, name]) => name as string);

test('each line is one of .ci/run, or a part of it, but for what is named as untested', () => {
  const steps = files.flatMap(stepsOf);
  const count = files.map((file) => readFileSync(file, 'utf8').match(/\brun:/g)?.length ?? 0);
  expect(steps).toHaveLength(count.reduce((sum, each) => sum + each));
  const elsewhere = steps.filter(({ line }) => !inCi.includes(line.replace(/ -- .*/, '')));
  const untested = elsewhere.filter(({ name }) => name.endsWith('(untested)'));
  expect(untested.map(({ line }) => line.split(' ', 3).join(' '))).toEqual(['gh release create']);
  const rest = elsewhere.filter((step) => !untested.includes(step)).map(({ line }) => line);
  // .ci/run reads more reports than the first; the second is tried by a test of it, the third is a part of `npm test`.
  const [report, ...scriptsElsewhere] = [...new Set(rest)].sort();
  expect(report).toBe('node tools/test-report.mjs --complete build/all.json');
  expect(inCi.some((line) => line.startsWith('node tools/test-report.mjs $complete '))).toBe(true);
  expect(scriptsElsewhere).toEqual(['npm run release', 'npm run test:fast']);
  expect(projectsOf('test')).toEqual(expect.arrayContaining(projectsOf('test:fast')));
  expect(projectsOf('test:fast')).not.toEqual([]);
  const release = scripts.release?.split('node ').at(-1) ?? 'none';
  expect(readFileSync('test/e2e/release.test.ts', 'utf8')).toContain(`'${release}'`);
});

test('all speeds run on each Node of engines', () => {
  const text = readFileSync(join(FOLDER, 'tests.yml'), 'utf8');
  const jobs = text.split(/^ {2}(?=\w+:$)/m).filter((job) => job.includes('steps:'));
  expect(jobs.map((job) => /npm (?:run )?test\S*/.exec(job)?.[0])).toEqual([
    'npm run test:fast',
    'npm test',
    'npm run test:all',
  ]);
  for (const job of jobs)
    expect(/node: \[(.*)\]/.exec(job)?.[1]?.split(', ').join(' || ')).toBe(engines.node);
});

const isInstalled = spawnSync('actionlint', ['-version']).status === 0;

test.skipIf(!isInstalled)(
  `actionlint finds no fault${isInstalled ? '' : ' (skipped: actionlint is not installed)'}`,
  () => {
    const { status, stdout } = spawnSync('actionlint', ['-no-color', ...files], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  },
);
