// Verdicts on two measurements: a change is seen where it is larger than the noise, and only there.
import { expect, test } from 'vitest';
import { uniformFrom } from '#dist/capacity/generator/random.js';
import { type Knee, type Results, samplesOf, type WayResult } from '#dist/capacity/measure/results.js';
import { type Comparison, compareResults, comparisonText, judge } from '#dist/capacity/report/compare.js';
import { madeResults } from '../../../support/capacity/made-results.js';

/** Samples around a value, some per cent of noise, of a seed. */
function noisy(value: number, noise: number, seed: number, count = 40): number[] {
  const uniform = uniformFrom(seed);
  return Array.from({ length: count }, () => value * (1 + noise * (uniform() + uniform() + uniform() - 1.5)));
}

const verdict = (before: number[], after: number[], isCost = true): string =>
  judge('figure', 'µs', samplesOf(before), samplesOf(after), isCost).verdict;

test('the same samples differ in nothing', () => {
  const samples = noisy(10, 0.1, 1);
  expect(verdict(samples, samples)).toBe('no difference seen');
});

test('twice the cost is worse, twice the rate is better', () => {
  expect(verdict(noisy(10, 0.1, 1), noisy(20, 0.1, 2))).toBe('worse');
  expect(verdict(noisy(20, 0.1, 1), noisy(10, 0.1, 2))).toBe('better');
  expect(verdict(noisy(10, 0.1, 1), noisy(20, 0.1, 2), false)).toBe('better');
});

test('a change of a hundredth is not told from noise, however steady the samples are', () => {
  expect(verdict(noisy(10, 0.001, 1), noisy(10.1, 0.001, 2))).toBe('no difference seen');
});

test('of 200 pairs from the same noise at most six are said to differ', () => {
  const wrong = Array.from({ length: 200 }, (_, at) =>
    verdict(noisy(10, 0.2, 1000 + at), noisy(10, 0.2, 5000 + at)),
  ).filter((each) => each !== 'no difference seen');
  expect(wrong.length).toBeLessThanOrEqual(6);
});

test('a change of a tenth in noise of a tenth is seen', () => {
  expect(verdict(noisy(10, 0.1, 3), noisy(11.5, 0.1, 4))).toBe('worse');
});

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
const SAME = 'no difference seen';
const QUICK = 'not compared: one run was quick';
const FAR = 'not compared: one server was elsewhere';

test('runs alike need no caution', () => {
  const comparison = compareResults(run(), run());
  expect(comparison.cautions).toEqual([]);
  expect(verdictsOf(comparison)).toEqual([SAME, SAME, 'one value each', SAME]);
});

test.each([
  ['length of the run: full before, quick after', {}, { isQuick: true }, [QUICK, QUICK, QUICK, SAME]],
  ['server: one of its own before, http://x after', {}, { target: 'http://x' }, [FAR, FAR, FAR, SAME]],
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
    'noise: quiet before, too noisy after',
    {},
    { isQuietEnough: false },
    [SAME, SAME, 'not compared: the machine was too noisy', SAME],
  ],
  [
    '',
    { knee: { ...KNEE, targetP99Us: 20_000 } },
    {},
    [SAME, SAME, 'not compared: the targets differ', SAME],
  ],
  [
    '',
    { knee: { ...KNEE, isConfirmed: false } },
    {},
    [SAME, SAME, 'not compared: repeats did not hold it', SAME],
  ],
  [
    '',
    { intendedUs: [[99, 76_500]] },
    {},
    [SAME, SAME, 'not compared: the p99 was 76.5 ms at 80 % of it', SAME],
  ],
  [
    '',
    { knee: { ...KNEE, isGeneratorLimit: true } },
    {},
    [SAME, SAME, 'not compared: the generator was the limit', SAME],
  ],
  [
    '',
    { backlogBusyShare: 0.88 },
    {},
    [SAME, 'not compared: the generator was the limit', 'one value each', SAME],
  ],
  [
    'measured: single, encodeBatch() of 4096 before, csv, encodeBatch() of 4096 after',
    { name: 'csv' },
    {},
    [SAME],
  ],
] satisfies [string, Partial<WayResult>, Partial<Results>, string[]][])(
  '%s',
  (caution, way, changes, verdicts) => {
    const comparison = compareResults(run(), run(way, changes));
    expect(comparison.cautions.join('\n')).toContain(caution);
    expect(verdictsOf(comparison)).toEqual(verdicts);
  },
);

test('cautions stand above the table, and a figure that is not compared has no ratio', () => {
  const after = run({ backlogBusyShare: 0.88 }, { node: 'v22' });
  const text = comparisonText(compareResults(run(), after), 'a.json', 'b.json');
  const [caution, blank, head, cost, rate, knee] = text.split('\n');
  expect(caution).toMatch(/^caution: Node: v20 before, v22 after$/);
  expect(blank).toBe('');
  expect(head).toMatch(/a\.json +b\.json +ratio/);
  expect(cost).toMatch(/single: CPU under backlog +20\.6 µs +20\.6 µs +1\.000 +no difference seen/);
  expect(rate).toMatch(
    /single: rate under backlog +48,\d00 \/s +48,\d00 \/s +not compared: the generator was the limit/,
  );
  expect(knee).toMatch(/single: knee +40,000 \/s +40,000 \/s +1\.000 +one value each/);
});

test('a figure without samples is a dash', () => {
  const none = run({ costBacklogUs: { median: Number.NaN, low: 0, high: 0, samples: [] } });
  const [, cost] = comparisonText(compareResults(none, run()), 'a', 'b').split('\n');
  expect(cost).toMatch(/CPU under backlog +– +20\.6 µs +too few measurements/);
});
