// clients/go: the files that it embeds are those of the build, and its tests pass, which drive the vectors of
// doors.json and compare 200,000 random positions, provinces and suggestions with the library.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeLibraryAnswers } from '../support/library-answers.js';

const POINTS = 200_000;
const hasGo = spawnSync('go', ['version']).status === 0;
const hasRaceDetector = hasGo && spawnSync('gcc', ['--version']).status === 0;

test('the embedded files are those of the build: node tools/packages/go-data.mjs copies them', () => {
  const sums = readFileSync('clients/go/data/SHA256SUMS', 'utf8');
  for (const [name, source] of [
    ['kernel.wasm', 'dist/kernel.wasm'],
    ['index.bin', 'data/index.bin'],
    ['reach.bin', 'data/reach.bin'],
  ] as const) {
    const copy = readFileSync(`clients/go/data/${name}`);
    expect(copy.equals(readFileSync(source)), name).toBe(true);
    expect(sums).toContain(`${createHash('sha256').update(copy).digest('hex')}  ${name}\n`);
  }
});

test('the vectors of its tests are those of the others', () => {
  const copy = readFileSync('clients/go/testdata/doors.json', 'utf8');
  expect(copy).toBe(readFileSync('test/vectors/doors.json', 'utf8'));
});

test('the folder that users copy has the licences of code and data', () => {
  for (const name of ['LICENSE', 'NOTICE', 'data/LICENSE'])
    expect(readFileSync(`clients/go/${name}`).equals(readFileSync(name)), name).toBe(true);
});

test.skipIf(!hasGo)('needs go: its tests are green in a copy of the folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-go-copy-'));
  cpSync('clients/go', folder, { recursive: true });
  const { status, stdout, stderr } = spawnSync('go', ['test', '-count=1', './...'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, HEXCODES_ANSWERS: '' },
  });
  rmSync(folder, { recursive: true });
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('ok')]);
});

test.skipIf(!hasRaceDetector)(
  'needs go and gcc: one value and 32 goroutines under the race detector',

  () => {
    const { status, stdout, stderr } = spawnSync(
      'go',
      ['test', '-race', '-count=1', '-run', 'Goroutines|Close', './...'],
      { cwd: 'clients/go', encoding: 'utf8', env: { ...process.env, CGO_ENABLED: '1' } },
    );
    expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('ok')]);
  },
);

test.skipIf(!hasGo)(`needs go: its tests, and ${POINTS} random positions`, () => {
  const folder = writeLibraryAnswers(POINTS);
  const { status, stdout, stderr } = spawnSync('go', ['test', '-count=1', '-v', './...'], {
    cwd: 'clients/go',
    encoding: 'utf8',
    env: { ...process.env, HEXCODES_ANSWERS: folder },
  });
  rmSync(folder, { recursive: true });
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining(`${POINTS} points`)]);
  expect(stdout).toContain('3000 provinces, 150 texts');
  expect(stdout).not.toContain('SKIP');
});
