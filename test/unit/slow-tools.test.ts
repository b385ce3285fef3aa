// Tools that build: faults that are planted in a copy, and errors of types.

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { MutantCopy } from '../support/mutants.js';
import { ownFolder } from '../support/shared.js';

// The small twin of the proof `mutants`, on a checkout of three files: what notices a fault, and what is left behind.
describe('planted faults', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'hexcodes-checkout-'));
  const pidFile = join(checkout, 'pid');
  mkdirSync(join(checkout, 'node_modules', 'vitest'), { recursive: true });
  writeFileSync(join(checkout, 'word.txt'), 'right\n');
  writeFileSync(
    join(checkout, 'build.mjs'),
    `import { readFileSync } from 'node:fs';
  if (readFileSync('word.txt', 'utf8').includes('broken')) {
    console.log('word.txt: error 7: no word');
    process.exit(2);
  }`,
  );
  // The program leaves a process behind, as a test does whose server is not ended.
  writeFileSync(
    join(checkout, 'node_modules', 'vitest', 'vitest.mjs'),
    `import { spawn } from 'node:child_process';
  import { readFileSync, writeFileSync } from 'node:fs';
  const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  writeFileSync(${JSON.stringify(pidFile)}, String(pid));
  const word = readFileSync('word.txt', 'utf8');
  if (word.includes('wrong')) console.log(' FAIL  test/word.test.ts > the word is right');
  if (!word.includes('endless')) process.exit(word.includes('wrong') ? 1 : 0);`,
  );
  afterAll(() => rmSync(checkout, { recursive: true }));

  let copy: MutantCopy;
  beforeEach(() => {
    copy = new MutantCopy(30_000, checkout);
  });
  afterEach(() => copy.remove());

  const fault = (replacement: string) => ({ file: 'word.txt', text: 'right', replacement, tests: ['test'] });

  /** Whether a process is no more, or only its entry, as nobody has asked how it ended. */
  function hasEnded(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return true;
    }
  }

  test('the test that fails is named, the build too, and after a fault all is as before', async () => {
    await copy.checkWithoutFault(['test']);
    expect(await copy.catchOf(fault('wrong'), ['test'])).toEqual({
      by: 'test',
      what: 'test/word.test.ts > the word is right',
    });
    expect(await copy.catchOf(fault('broken'), ['test'])).toEqual({ by: 'build', what: 'error 7: no word' });
    expect(await copy.catchOf(fault('unseen'), ['test'])).toBeUndefined();
    await copy.checkWithoutFault(['test']);
    expect(readFileSync(join(checkout, 'word.txt'), 'utf8')).toBe('right\n');
  });

  test('tests that never end are ended, and the processes that tests leave', async () => {
    expect(await copy.catchOf(fault('endless'), ['test'], 3000)).toEqual({ by: 'time', what: 'test' });
    await expect.poll(() => hasEnded(Number(readFileSync(pidFile, 'utf8')))).toBe(true);
    await copy.checkWithoutFault(['test']);
    await expect.poll(() => hasEnded(Number(readFileSync(pidFile, 'utf8')))).toBe(true);
  });

  test('tests that fail without a fault end the proof', async () => {
    writeFileSync(join(checkout, 'word.txt'), 'wrong\n');
    const failing = new MutantCopy(30_000, checkout);
    onTestFinished(() => {
      failing.remove();
      writeFileSync(join(checkout, 'word.txt'), 'right\n');
    });

    await expect(failing.checkWithoutFault(['test'])).rejects.toThrow(
      'without a fault: test test/word.test.ts',
    );
  });
});

// `npm run check` compiles every workspace: a type error that is planted in each of them is reported for each.
describe('errors of types', () => {
  const folder = ownFolder('types');

  const WORKSPACES = readdirSync('src');
  const PLANTED = 'export const planted: number = "a text";\n';

  test('npm run check fails on a type error in each workspace', () => {
    for (const name of ['tsconfig.json', 'package.json', 'src/console/tsconfig.json'])
      cpSync(name, join(folder, name));
    execFileSync(process.execPath, ['tools/link-packages.mjs', '.', folder]);
    for (const name of WORKSPACES) {
      mkdirSync(join(folder, 'src', name), { recursive: true });
      writeFileSync(join(folder, 'src', name, 'planted.ts'), PLANTED);
    }
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { check: string } };
    const configs = [...scripts.check.matchAll(/\btsc(?: -p (\S+))?/g)].map(([, config]) => config ?? '.');
    const reports = configs.map((config) => {
      const args = [resolve('node_modules/typescript/bin/tsc'), '-p', config];
      return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout;
    });
    const faulty = [...reports.join('').matchAll(/^src\/(\w+)\/planted\.ts\(1,14\): error TS2322/gm)];
    expect(faulty.map(([, name]) => name).sort()).toEqual([...WORKSPACES].sort());
    expect(reports.join('').match(/: error TS/g)).toHaveLength(WORKSPACES.length);
  });
});
