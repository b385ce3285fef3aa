// Results of a bench: files of older runs, verdicts on two of them, and knees that their own run refutes.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Latencies } from '#dist/capacity/generator/latencies.js';
import {
  type Knee,
  parseResults,
  type Results,
  samplesOf,
  type WayResult,
  withoutImpossible,
} from '#dist/capacity/measure/results.js';
import { planFor } from '#dist/capacity/model/plan.js';
import { benchText, doubtsAboutKnee, heldKnee, heldRate } from '#dist/capacity/report/bench-text.js';
import { type Comparison, compareResults, comparisonText, judge } from '#dist/capacity/report/compare.js';
import { withTable } from '../../../bench/report/readme-table.js';
import { madeResults, requestOf } from '../../support/capacity/made-results.js';
import { randomFrom } from '../../support/open-world.js';

// Files of results: those of older runs are read, and one that lacks a field is refused with the field and its rule.
describe('files of results', () => {
  /** The text of made results with one field set to another value; undefined leaves it out. */
  function changed(path: string, value: unknown): string {
    const results = JSON.parse(JSON.stringify(madeResults()));
    const names = path.split('.');
    const last = names.pop()!;
    const holder = names.reduce((at, name) => at[name], results);
    holder[last] = value;
    return JSON.stringify(results);
  }

  test('made and recorded results are read as they are', () => {
    expect(parseResults(JSON.stringify(madeResults()))).toEqual(madeResults());
    const recorded = readFileSync('data/capacity.json', 'utf8');
    expect(parseResults(recorded)).toEqual(JSON.parse(recorded));
  });

  test('fields that came later may be missing, unknown ones are left alone, and a byte order mark is skipped', () => {
    const { workUs: _, ...noise } = madeResults().noise[0]!;
    expect(parseResults(changed('noise', [noise])).noise).toEqual([noise]);
    expect(parseResults(changed('machine.countedStealShare', 0.1)).machine).not.toHaveProperty('counted');
    expect(parseResults(`\uFEFF${changed('ladder', [])}`).ladder).toEqual([]);
  });

  test('a field that is given twice, with different values, is refused', () => {
    const text = JSON.stringify(madeResults());
    const twice = (value: string): string => text.replace('"version":', `"version":${value},$&`);
    const { version } = JSON.parse(text) as { version: string };
    expect(parseResults(twice(JSON.stringify(version)))).toEqual(madeResults());
    expect(() => parseResults(twice('"0.0.1"'))).toThrow('it gives "version" more than once');
  });

  test('a sample that was infinite is left out', () => {
    const { speedUps } = parseResults(changed('speedUps.1.speedUp.samples', [1, null, 3]));
    expect(speedUps[1]!.speedUp.samples).toEqual([1, 3]);
  });

  test.each([
    'ladder',
    'ways',
    'sizes',
    'speedUps',
    'machine',
    'noise',
    'memory',
    'isQuietEnough',
    'version',
    'node',
  ])('without %s', (field) => {
    expect(() => parseResults(changed(field, undefined))).toThrow(`field ${field} is missing: `);
  });

  test.each([
    ['machine.cores', undefined, 'field machine.cores is missing: a whole number from 1 on'],
    ['machine.cores', 0, 'field machine.cores is 0, and has to be a whole number from 1 on'],
    ['machine.memoryBytes', '16G', 'field machine.memoryBytes is "16G", and has to be a number above 0'],
    [
      'ways.3.costBacklogUs.median',
      0,
      'field ways[3].costBacklogUs.median is 0, and has to be a number above 0',
    ],
    [
      'ways.0.costBacklogUs.samples',
      [],
      'field ways[0].costBacklogUs.samples is [], and has to be a list of 1 or more',
    ],
    [
      'ways.0.curve.1.ratePerS',
      null,
      'field ways[0].curve[1].ratePerS is null, and has to be a number above 0',
    ],
    ['ways.0.services', 'HIST', 'field ways[0].services is "HIST", and has to be a histogram with services'],
    ['sizes.2.costUs', 0, 'field sizes[2].costUs is 0, and has to be a number above 0'],
    ['speedUps.0.speedUp', 1, 'field speedUps[0].speedUp is 1, and has to be an object'],
    [
      'ladder.0.nsPerPoint.median',
      -1,
      'field ladder[0].nsPerPoint.median is -1, and has to be a number above 0',
    ],
    ['ways', {}, 'field ways is {}, and has to be a list'],
    ['version', 'x'.repeat(50).split(''), 'and has to be a text'],
  ])('%s = %j', (path, value, message) => {
    expect(() => parseResults(changed(path, value))).toThrow(message);
  });

  test.each([
    ['', 'not JSON'],
    ['null', 'not a file of results'],
    ['{"tool":"hexcodes bench","format":2}', 'its format is 2'],
  ])('%j is refused', (text, message) => {
    expect(() => parseResults(text)).toThrow(message);
  });

  test('whatever a disturbed run measured is written so that plan and compare read it', () => {
    const samples = samplesOf([0, Number.POSITIVE_INFINITY]);
    const made = madeResults();
    const point = { ...made.ways[0]!.curve[0]!, costUs: Number.NaN };
    const knee = { ratePerS: 0, targetP99Us: 50_000, steps: [], isConfirmed: false, isGeneratorLimit: true };
    const disturbed = madeResults({
      control: { backlogPerS: Number.NaN, openPerS: 0 },
      ladder: [{ name: 'x', nsPerPoint: samples }],
      ways: made.ways.map((way) => ({
        ...{ ...way, costBacklogUs: samples, backlogPerS: samples, knee, constant: point },
        ...{ curve: [point, { ...point, costUs: 0 }, { ...point, ratePerS: Number.NaN }] },
        services: new Latencies().encode(),
      })),
      sizes: made.sizes.map((size) => ({ ...size, costUs: 0 })),
      speedUps: [
        { processes: 1, speedUp: samplesOf([0, 0.8, 1, 1.2]) },
        { processes: 2, speedUp: samples },
      ],
    });
    const read = parseResults(JSON.stringify(withoutImpossible(disturbed)));
    expect(read).toMatchObject({ control: null, ladder: [] });
    expect(read.ways[0]).toMatchObject({
      costBacklogUs: null,
      backlogPerS: null,
      services: null,
      knee: null,
    });
    expect(read.ways[0]!.curve.map(({ costUs }) => costUs)).toEqual([null, null]);
    expect(read.speedUps).toEqual([{ processes: 1, speedUp: samplesOf([0.8, 1, 1.2]) }]);
    expect(read.sizes[0]!.costUs).toBeNull();
    expect(compareResults(read, read).figures).toEqual([]);
    expect(benchText(read)).toContain('single');
    expect(() => planFor(requestOf(), read)).toThrow('no CPU time of stream was measured');
    expect(withoutImpossible(made)).toEqual(made);
  });

  test('a speed-up beyond the number of processes is not shown as one', () => {
    const speedUps = [{ processes: 2, speedUp: samplesOf([5.29]) }];
    expect(benchText(madeResults({ speedUps }))).toContain('2: – (5.29 is more than there are');
  });
});

// Verdicts on two measurements: a change is seen where it is larger than the noise, and only there.
describe('comparisons', () => {
  /** Samples around a value, some per cent of noise, of a seed. */
  function noisy(value: number, noise: number, seed: number, count = 40): number[] {
    const uniform = randomFrom(seed);
    return Array.from(
      { length: count },
      () => value * (1 + noise * (uniform() + uniform() + uniform() - 1.5)),
    );
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
      ...{
        costBacklogUs: samplesOf(ENOUGH),
        backlogPerS: samplesOf(ENOUGH.map((us) => 1e6 / us)),
        knee: KNEE,
      },
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
});

// Knees that their own run refutes are not shown as knees: neither by the text of a bench nor by the table of
// README.md.
describe('knees in doubt', () => {
  const KNEE: Knee = {
    ...{ ratePerS: 85_400, targetP99Us: 20_000, steps: [], isConfirmed: true, isGeneratorLimit: true },
  };
  const [SINGLE] = madeResults().ways;
  const POINT = SINGLE!.curve[0]!;

  const way = (changes: Partial<WayResult> = {}): WayResult => ({
    ...SINGLE!,
    ...{
      name: 'stream',
      costBacklogUs: samplesOf([7]),
      knee: KNEE,
      constant: { ...POINT, ratePerS: 85_400 },
    },
    ...{
      intendedUs: [
        [50, 1000],
        [99, 19_000],
      ],
    },
    ...changes,
  });
  const at = (ratePerS: number, p99Us: number, lost = 0) => ({
    ...POINT,
    ratePerS,
    p99Us,
    skippedShare: lost,
  });

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
});
