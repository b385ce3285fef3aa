// clients/go: the files that it embeds are those of the build, and its tests pass, which drive the vectors of
// doors.json and compare 1,000,000 random positions with the library.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { randomFrom } from '../support/open-world.js';
import { shippedKernel } from '../support/shipped.js';

const POINTS = 1_000_000;
const hasGo = spawnSync('go', ['version']).status === 0;

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

test('the folder that users copy has the licences of code and data', () => {
  for (const name of ['LICENSE', 'NOTICE', 'data/LICENSE'])
    expect(readFileSync(`clients/go/${name}`).equals(readFileSync(name)), name).toBe(true);
});

test.skipIf(!hasGo)(`needs go: its tests, and ${POINTS} random positions`, { timeout: 600_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-go-'));
  const random = randomFrom(38);
  const points = Float64Array.from({ length: 2 * POINTS }, (_, i) =>
    i % 2 === 0 ? 7 + 17.5 * random() : 102 + 15 * random(),
  );
  writeFileSync(join(folder, 'points'), points);
  writeFileSync(join(folder, 'records'), new Hexcodes(shippedKernel()).encodeBatch(points, 13));
  const { status, stdout, stderr } = spawnSync('go', ['test', '-count=1', '-v', './...'], {
    cwd: 'clients/go',
    encoding: 'utf8',
    env: { ...process.env, HEXCODES_ANSWERS: folder },
  });
  rmSync(folder, { recursive: true });
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining(`${POINTS} points`)]);
  expect(stdout).not.toContain('SKIP');
});
