// The differential engine of test/support/differential over this build, by one seed; `npm run proof -- differential`
// has more cases. Every answer is that of the reference, and no row leaves the fast path.
import { expect, test } from 'vitest';
import { DifferentialEngine } from '../../support/differential/engine.js';
import { sharedOf } from '../../support/shared.js';

const SEED = 20_261_126;

const engine = sharedOf(
  () => DifferentialEngine.of('.'),
  (made) => made.close(),
);

test('bulk, batches, JSON frames and messages: every spelling, some with every option', async () => {
  await engine.wire(SEED, 0.04);
  const { differences, slow } = engine.findings();
  expect(differences).toEqual([]);
  expect([...slow.keys()]).toEqual([]);
});

test('files: every target and option', async () => {
  await engine.fileCases(SEED, 2);
  const { cases, differences, slow } = engine.findings();
  expect(differences).toEqual([]);
  expect(cases).toBeGreaterThan(500);
  expect([...slow].map(([cell, { spellings }]) => `${cell}: ${[...spellings].join()}`)).toEqual([]);
});

test('files of codes: every spelling, target and option', async () => {
  const before = engine.findings();
  await engine.decodeCases(SEED);
  const { cases, differences, slow } = engine.findings();
  expect(differences.filter(({ what }) => what.startsWith('decode, '))).toEqual([]);
  expect(cases - before.cases).toBe(5 * 3 * 4 * 2);
  // The host reads five texts of 40 rows, beyond ASCII, and a long one with blanks; lines of NDJSON count again.
  const mostOf = (cell: string): number => (cell.includes('ndjson → ndjson') ? 10 : 6);
  const unexplained = [...slow].filter(
    ([cell, { rows, spellings }]) => cell.startsWith('decode, ') && rows > mostOf(cell) * spellings.size,
  );
  expect(unexplained).toEqual([]);
});
