// Runs that differ in more than the code: each difference is said before the figures, and figures it spoils get no
// verdict.
import { expect, test } from 'vitest';
import { type Comparison, compareResults, comparisonText } from '#dist/capacity/compare/compare.js';
import { type Knee, type Results, samplesOf, type WayResult } from '#dist/capacity/measure/results.js';
import { madeResults } from '../../../support/capacity/made-results.js';

const KNEE: Knee = {
  ...{ ratePerS: 40_000, targetP99Us: 50_000, steps: [], isConfirmed: true, isGeneratorLimit: false },
};
const ENOUGH = Array.from({ length: 12 }, (_, at) => 20 + at / 10);

/** One way with samples enough and a knee, and a ladder of one step. */
function run(way: Partial<WayResult> = {}, changes: Partial<Results> = {}): Results {
  const [single] = madeResults().ways;
  const whole = {
    ...single!,
    ...{ costBacklogUs: samplesOf(ENOUGH), backlogPerS: samplesOf(ENOUGH.map((us) => 1e6 / us)), knee: KNEE },
    ...way,
  };
  return madeResults({
    ways: [{ ...whole, curve: whole.curve.filter(({ ratePerS }) => ratePerS <= 40_000) }],
    ladder: [{ name: 'encodeBatch() of 4096', nsPerPoint: samplesOf(ENOUGH) }],
    ...changes,
  });
}

const verdictsOf = ({ figures }: Comparison): string[] => figures.map(({ verdict }) => verdict);
const NOT = 'not comparable';
const SAME = 'no difference seen';

test('runs alike need no caution', () => {
  const comparison = compareResults(run(), run());
  expect(comparison.cautions).toEqual([]);
  expect(verdictsOf(comparison)).toEqual([SAME, SAME, 'one value each', SAME]);
});

test.each([
  ['length of the run: full before, quick after', {}, { isQuick: true }, [NOT, NOT, NOT, SAME]],
  ['server: one of its own before, http://x after', {}, { target: 'http://x' }, [NOT, NOT, NOT, SAME]],
  ['Node: v20 before, v22 after', {}, { node: 'v22' }, [SAME, SAME, 'one value each', SAME]],
  [
    'machine: 4 × Made, 16 GB before, 4 × Other, 16 GB after',
    {},
    { machine: { ...madeResults().machine, model: 'Other' } },
    [SAME, SAME, 'one value each', SAME],
  ],
  [
    'machine: 4 × Made, 16 GB before, 4 × Made, 32 GB after',
    {},
    { machine: { ...madeResults().machine, memoryBytes: 32e9 } },
    [SAME, SAME, 'one value each', SAME],
  ],
  [
    'governor of the CPU: none before, powersave after',
    {},
    { machine: { ...madeResults().machine, governor: 'powersave' } },
    [SAME, SAME, 'one value each', SAME],
  ],
  [
    'system: linux x64, 6 before, linux x64, 7 after',
    {},
    { machine: { ...madeResults().machine, kernel: '7' } },
    [SAME, SAME, 'one value each', SAME],
  ],
  [
    'the machine was too noisy after: knees are not compared',
    {},
    { isQuietEnough: false },
    [SAME, SAME, NOT, SAME],
  ],
  [
    'target of the knees: 50 ms before, 20 ms after',
    { knee: { ...KNEE, targetP99Us: 20_000 } },
    {},
    [SAME, SAME, NOT, SAME],
  ],
  [
    'single after (repeats did not hold it)',
    { knee: { ...KNEE, isConfirmed: false } },
    {},
    [SAME, SAME, NOT, SAME],
  ],
  [
    'single after (the p99 was 76.5 ms at 80 % of it)',
    { intendedUs: [[99, 76_500]] },
    {},
    [SAME, SAME, NOT, SAME],
  ],
  [
    'the generator was the limit beyond the knees of single after',
    { knee: { ...KNEE, isGeneratorLimit: true } },
    {},
    [SAME, SAME, NOT, SAME],
  ],
  [
    'was the limit under backlog of single after (service busy 88 %)',
    { backlogBusyShare: 0.88 },
    {},
    [SAME, NOT, 'one value each', SAME],
  ],
  ['measured before only: single', { name: 'csv' }, {}, [SAME]],
] satisfies [string, Partial<WayResult>, Partial<Results>, string[]][])(
  '%s',
  (caution, way, changes, verdicts) => {
    const comparison = compareResults(run(), run(way, changes));
    expect(comparison.cautions.join('\n')).toContain(caution);
    expect(verdictsOf(comparison)).toEqual(verdicts);
  },
);

test('of servers elsewhere rates are compared, with the caution that they may be the generator’s', () => {
  const elsewhere = run({ backlogBusyShare: null, costBacklogUs: null }, { target: 'http://x' });
  const comparison = compareResults(elsewhere, elsewhere);
  expect(comparison.cautions).toEqual([expect.stringContaining('may be those of the generator')]);
  expect(verdictsOf(comparison)).toEqual([SAME, 'one value each', SAME]);
  const other = compareResults(elsewhere, { ...elsewhere, target: 'http://y' });
  expect(other.cautions[0]).toBe('server: http://x before, http://y after; a difference may come from it');
});

test('cautions stand above the table; figures are plain, and what is not compared has no ratio', () => {
  const after = run({ backlogBusyShare: 0.88 });
  const text = comparisonText(compareResults(run(), after), 'a.json', 'b.json');
  const [caution, blank, head, cost, rate, knee] = text.split('\n');
  expect(caution).toMatch(/^caution: the generator/);
  expect(blank).toBe('');
  expect(head).toMatch(/a\.json +b\.json +ratio +99 % interval/);
  expect(cost).toMatch(
    /single: CPU under backlog +20\.6 µs +20\.6 µs +1\.000 +0\.\d{3}-1\.\d{3} +no difference seen/,
  );
  expect(rate).toMatch(/single: rate under backlog +48,\d00 \/s +48,\d00 \/s +not comparable/);
  expect(knee).toMatch(/single: knee +40,000 \/s +40,000 \/s +1\.000 +one value each/);
});

test('a figure without samples is a dash', () => {
  const none = run({ costBacklogUs: { median: Number.NaN, low: 0, high: 0, samples: [] } });
  const [, cost] = comparisonText(compareResults(none, run()), 'a', 'b').split('\n');
  expect(cost).toMatch(/CPU under backlog +– +20\.6 µs +too few measurements/);
});
