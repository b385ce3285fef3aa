// Knees that their own run refutes are not shown as knees: neither by the text of a bench nor by the table of
// README.md.
import { expect, test } from 'vitest';
import { type Knee, samplesOf, type WayResult } from '#dist/capacity/measure/results.js';
import { benchText } from '#dist/capacity/report/bench-text.js';
import { doubtsAboutKnee, heldKnee, heldRate } from '#dist/capacity/report/doubts.js';
import { withTable } from '../../../../bench/report/readme-table.js';
import { madeResults } from '../../../support/capacity/made-results.js';

const KNEE: Knee = {
  ...{ ratePerS: 85_400, targetP99Us: 20_000, steps: [], isConfirmed: true, isGeneratorLimit: true },
};
const [SINGLE] = madeResults().ways;
const POINT = SINGLE!.curve[0]!;

const way = (changes: Partial<WayResult> = {}): WayResult => ({
  ...SINGLE!,
  ...{ name: 'stream', costBacklogUs: samplesOf([7]), knee: KNEE, constant: { ...POINT, ratePerS: 85_400 } },
  ...{
    intendedUs: [
      [50, 1000],
      [99, 19_000],
    ],
  },
  ...changes,
});
const at = (ratePerS: number, p99Us: number, lost = 0) => ({ ...POINT, ratePerS, p99Us, skippedShare: lost });

test('a knee is held where repeats, lower rates, constant arrivals and the run at 80 % of it held', () => {
  expect(heldKnee(way())).toBe(KNEE);
  expect(doubtsAboutKnee(way())).toEqual([]);
  // A rate above it that failed says nothing against it.
  expect(heldKnee(way({ curve: [at(100, 1), at(90_000, 1e6)] }))).toBe(KNEE);
});

test.each([
  ['repeats did not hold it', { knee: { ...KNEE, isConfirmed: false } }],
  ['the p99 was 76.5 ms at 80 % of it', { intendedUs: [[99, 76_500]] }],
  ['the p99 was 68.1 ms at 10,600/s', { curve: [at(100, 1), at(10_600, 68_100)] }],
  ['requests were lost at 10,600/s', { curve: [at(10_600, 300, 0.01)] }],
  ['the p99 was 20.1 ms with constant arrivals', { constant: at(85_400, 20_100) }],
] satisfies [string, Partial<WayResult>][])('%s', (doubt, changes) => {
  expect(heldKnee(way(changes))).toBeNull();
  expect(doubtsAboutKnee(way(changes))).toEqual([doubt]);
});

test('where no rate held there is neither a knee nor a doubt', () => {
  expect(heldKnee(way({ knee: null }))).toBeNull();
  expect(doubtsAboutKnee(way({ knee: null }))).toEqual([]);
});

const README = 'a\n<!-- capacity: x -->\nold\n<!-- /capacity -->\nb\n';

const STEP = { ...POINT, ratePerS: 85_400, p50Us: 1000, p99Us: 19_000, holds: true };

test('README.md names the target of the run and shows a knee that holds', () => {
  const measured = way({ knee: { ...KNEE, steps: [STEP, { ...STEP, p99Us: 30_000, holds: false }] } });
  const text = withTable(README, madeResults({ ways: [measured] }), 'plot.svg');
  expect(text).toContain('rate/s that holds a p99 of 20 ms');
  expect(text).toContain('| `stream` | 1 | 7 µs | ≥ 85,400 | ≥ 85,400 | 1 ms | 19 ms |');
  expect(text).not.toContain('\nold\n');
});

test('where the run refutes its knee, README.md shows the highest rate up to which all held', () => {
  const curve = [at(100, 300), at(40_000, 30_000), at(20_000, 9000), at(50_000, 10)];
  const refuted = way({ curve, intendedUs: [[99, 76_500]] });
  expect(heldRate(refuted, 20_000)).toEqual({ ratePerS: 20_000, p50Us: 100, p99Us: 9000, isLeast: true });
  const text = withTable(README, madeResults({ ways: [refuted] }), 'plot.svg');
  expect(text).toContain('| `stream` | 1 | 7 µs | ≥ 20,000 | ≥ 20,000 | 100 µs | 9 ms |');
});

test('README.md shows a dash where no rate held, and without a target', () => {
  const none = madeResults({ ways: [way({ curve: [at(100, 30_000)], intendedUs: [[99, 76_500]] })] });
  expect(withTable(README, none, 'plot.svg')).toContain('| `stream` | 1 | 7 µs | – | – | – | – |');
  const without = withTable(README, madeResults({ ways: [way({ knee: null })] }), 'plot.svg');
  expect(without).toContain('rate/s that holds the target');
  expect(without).toContain('| `stream` | 1 | 7 µs | – | – | – | – |');
});

test('the text of a bench shows a dash, and what was found with what refutes it', () => {
  const text = benchText(madeResults({ ways: [way({ intendedUs: [[99, 76_500]] })] }));
  expect(text).toMatch(/^stream +1 +7 µs +50,000\/s +70 µs +–$/m);
  expect(text).toContain(
    'stream: 85,400/s was found and is not confirmed: the p99 was 76.5 ms at 80 % of it',
  );
  expect(benchText(madeResults({ ways: [way()] }))).toMatch(/^stream .* 85,400\/s/m);
});
