// Files of `hexcodes bench --json`: those of older runs are read by plan and bench --compare, one that lacks a field is
// refused, and no figure is told that its own run refutes.
import { describe, expect, test } from 'vitest';
import { type Results, type WayResult, withoutImpossible } from '#dist/capacity/measure/results.js';
import { benchText } from '#dist/capacity/report/bench-text.js';
import { withTable } from '../../../bench/report/readme-table.js';
import { madeResults, samplesOf, servicesOf } from '../../support/capacity/made-results.js';
import { randomFrom } from '../../support/open-world.js';
import { sharedCommand } from '../../support/shared.js';

const folder = sharedCommand();

const planFrom = (text: string) =>
  folder.run(`plan --vehicles 50000 --from ${folder.write('results.json', text)}`);

async function compared(before: Results, after: Results): Promise<string> {
  for (const [name, results] of Object.entries({ before, after }))
    folder.write(`${name}.json`, JSON.stringify(results));
  const { code, stdout, stderr } = await folder.run('bench --compare before.json after.json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('files', () => {
  const MADE = JSON.stringify(madeResults());

  /** The text of made results with one field set to another value; undefined leaves it out. */
  function changed(path: string, value: unknown): string {
    const results = JSON.parse(MADE);
    const names = path.split('.');
    const last = names.pop()!;
    const holder = names.reduce((at, name) => at[name], results);
    holder[last] = value;
    return JSON.stringify(results);
  }

  test('fields that came later may be missing, unknown ones are left alone, a byte order mark is skipped, and a sample that was infinite left out', async () => {
    const made = await planFrom(MADE);
    expect(made.code).toBe(0);
    const { workUs: _, ...noise } = madeResults().noise[0]!;
    const { version } = madeResults();
    for (const text of [
      changed('noise', [noise]),
      changed('unknown', 0.1),
      `\uFEFF${MADE}`,
      MADE.replace('"version":', `"version":${JSON.stringify(version)},$&`),
      changed('speedUps.1.speedUp.samples', [2, null, 2]),
    ])
      expect(await planFrom(text)).toEqual(made);
  });

  test.each([
    ...['ladder', 'ways', 'sizes', 'speedUps', 'machine', 'noise', 'memory', 'isQuietEnough', 'version'].map(
      (field): [string, unknown, string] => [field, undefined, `field ${field} is missing: `],
    ),
    ['machine', {}, 'field machine.model is missing: a text'],
    ['machine.cores', undefined, 'field machine.cores is missing: a whole number from 1 on'],
    ['machine.cores', 0, 'field machine.cores is 0, and has to be a whole number from 1 on'],
    ['machine.memoryBytes', '16G', 'field machine.memoryBytes is "16G", and has to be a number above 0'],
    ['ways.3.costBacklogUs.median', 0, 'ways[3].costBacklogUs.median is 0, and has to be a number above 0'],
    ['ways.0.costBacklogUs.samples', [], 'ways[0].costBacklogUs.samples is [], and has to be a list of 1'],
    ['ways.0.curve.1.ratePerS', null, 'ways[0].curve[1].ratePerS is null, and has to be a number above 0'],
    ['ways.0.services', 'HIST', 'ways[0].services is "HIST", and has to be a histogram with services'],
    ['sizes.2.costUs', 0, 'field sizes[2].costUs is 0, and has to be a number above 0'],
    ['speedUps.0.speedUp', 1, 'field speedUps[0].speedUp is 1, and has to be an object'],
    ['ladder.0.nsPerPoint.median', -1, 'ladder[0].nsPerPoint.median is -1, and has to be a number above 0'],
    ['ways', {}, 'field ways is {}, and has to be a list'],
    ['version', 'x'.repeat(50).split(''), 'and has to be a text'],
  ] as [string, unknown, string][])('%s = %j is refused', async (path, value, message) => {
    const { code, stderr } = await planFrom(changed(path, value));
    expect([code, stderr]).toEqual([3, expect.stringContaining(message)]);
  });

  test.each([
    ['', 'it is not JSON'],
    ['null', 'it is not a file of results'],
    ['{"tool":"hexcodes bench","format":2}', 'its format is 2'],
    [MADE.replace('"version":', '"version":"0.0.1",$&'), 'it gives "version" more than once'],
  ])('%.40j is refused by plan and by bench --compare', async (text, message) => {
    expect((await planFrom(text)).stderr).toContain(`results.json: ${message}`);
    folder.write('made.json', MADE);
    const { code, stderr } = await folder.run('bench --compare made.json results.json');
    expect([code, stderr]).toEqual([3, expect.stringContaining(`results.json: ${message}`)]);
  });

  test('whatever a disturbed run measured is written so that plan and compare read it', async () => {
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
        services: servicesOf(1, 0),
      })),
      sizes: made.sizes.map((size) => ({ ...size, costUs: 0 })),
      speedUps: [
        { processes: 1, speedUp: samplesOf([0, 0.8, 1, 1.2]) },
        { processes: 2, speedUp: samples },
      ],
    });
    const written = withoutImpossible(disturbed);
    expect(written).toMatchObject({ control: null, ladder: [], ways: made.ways.map(() => ({ knee: null })) });
    expect(written.speedUps).toEqual([{ processes: 1, speedUp: samplesOf([0.8, 1, 1.2]) }]);
    const { code, stderr } = await planFrom(JSON.stringify(written));
    expect([code, stderr]).toEqual([3, expect.stringContaining('no CPU time of stream was measured')]);
    folder.write('disturbed.json', JSON.stringify(written));
    expect((await folder.run('bench --compare disturbed.json disturbed.json')).stderr).toContain(
      'no figure in common',
    );
    expect(benchText(written)).toContain('single');
    expect(withoutImpossible(made)).toEqual(made);
  });

  test('a speed-up beyond the number of processes is not shown as one', () => {
    const speedUps = [{ processes: 2, speedUp: samplesOf([5.29]) }];
    expect(benchText(madeResults({ speedUps }))).toContain('2: – (5.29 is more than there are');
  });
});

const KNEE: NonNullable<WayResult['knee']> = {
  ...{ ratePerS: 40_000, targetP99Us: 20_000, steps: [], isConfirmed: true, isGeneratorLimit: false },
};

// A change is seen where it is larger than the noise, and only there.
describe('comparisons', () => {
  /** Samples around a value, some per cent of noise, of a seed. */
  function noisy(value: number, noise: number, seed: number): number[] {
    const uniform = randomFrom(seed);
    return Array.from({ length: 40 }, () => value * (1 + noise * (uniform() + uniform() + uniform() - 1.5)));
  }

  /** Verdicts on costs that were measured before and after. */
  async function verdictsOn(pairs: readonly (readonly [before: number[], after: number[]])[]) {
    const of = (side: 0 | 1) =>
      madeResults({
        ways: [],
        ladder: pairs.map((pair, at) => ({ name: `figure ${at}`, nsPerPoint: samplesOf(pair[side]) })),
      });
    const lines = (await compared(of(0), of(1))).split('\n').filter((line) => line.startsWith('figure'));
    return lines.map((line) => line.split(/ {2,}/).at(-1));
  }

  test('a change is worse or better where it is larger than the noise', async () => {
    const [same, steady] = [noisy(10, 0.1, 1), noisy(10, 0.001, 1)];
    const verdicts = await verdictsOn([
      [same, same],
      [same, noisy(20, 0.1, 2)],
      [noisy(20, 0.1, 1), noisy(10, 0.1, 2)],
      // A hundredth is not told from noise, however steady the samples are.
      [steady, noisy(10.1, 0.001, 2)],
      [noisy(10, 0.1, 3), noisy(11.5, 0.1, 4)],
      [same.slice(0, 7), noisy(20, 0.1, 2)],
    ]);
    expect(verdicts).toEqual([
      ...['no difference seen', 'worse', 'better', 'no difference seen', 'worse', 'too few measurements'],
    ]);
  });

  test('of 200 pairs from the same noise at most six are said to differ', async () => {
    const pairs = Array.from(
      { length: 200 },
      (_, at) => [noisy(10, 0.2, 1000 + at), noisy(10, 0.2, 5000 + at)] as const,
    );
    const verdicts = await verdictsOn(pairs);
    expect(verdicts).toHaveLength(200);
    expect(verdicts.filter((each) => each !== 'no difference seen').length).toBeLessThanOrEqual(6);
  });

  const ENOUGH = Array.from({ length: 12 }, (_, at) => 20 + at / 10);

  /** One way with samples enough and a knee, and a ladder of one step. */
  function run(way: Partial<WayResult> = {}, changes: Partial<Results> = {}): Results {
    const [single] = madeResults().ways;
    const whole = {
      ...{ ...single!, costBacklogUs: samplesOf(ENOUGH), knee: KNEE },
      ...{ backlogPerS: samplesOf(ENOUGH.map((us) => 1e6 / us)), ...way },
    };
    return madeResults({
      ways: [{ ...whole, curve: whole.curve.filter(({ ratePerS }) => ratePerS <= 40_000) }],
      ladder: [{ name: 'encodeBatch() of 4096', nsPerPoint: samplesOf(ENOUGH) }],
      ...changes,
    });
  }

  const SAME = 'no difference seen';
  const ALIKE = [SAME, SAME, 'one value each', SAME];
  const QUICK = 'not compared: one run was quick';
  const FAR = 'not compared: one server was elsewhere';
  const GENERATOR = 'not compared: the generator was the limit';
  const { machine } = madeResults();

  test.each([
    ['', {}, {}, ALIKE],
    ['length of the run: full before, quick after', {}, { isQuick: true }, [QUICK, QUICK, QUICK, SAME]],
    ['server: one of its own before, http://x after', {}, { target: 'http://x' }, [FAR, FAR, FAR, SAME]],
    ['Node: v20 before, v22 after', {}, { node: 'v22' }, ALIKE],
    [
      'machine: 4 × Made, 16 GB before, 4 × Other, 16 GB after',
      ...([{}, { machine: { ...machine, model: 'Other' } }, ALIKE] as const),
    ],
    [
      'machine: 4 × Made, 16 GB before, 4 × Made, 32 GB after',
      ...([{}, { machine: { ...machine, memoryBytes: 32e9 } }, ALIKE] as const),
    ],
    [
      'governor of the CPU: none before, powersave after',
      ...([{}, { machine: { ...machine, governor: 'powersave' } }, ALIKE] as const),
    ],
    [
      'system: linux x64, 6 before, linux x64, 7 after',
      ...([{}, { machine: { ...machine, kernel: '7' } }, ALIKE] as const),
    ],
    [
      'noise: quiet before, too noisy after',
      ...[{}, { isQuietEnough: false }, [SAME, SAME, 'not compared: the machine was too noisy', SAME]],
    ],
    [
      'measured: single, encodeBatch() of 4096 before, csv, encodeBatch() of 4096 after',
      ...[{ name: 'csv' }, {}, [SAME]],
    ],
    ['', { backlogBusyShare: 0.88 }, {}, [SAME, GENERATOR, 'one value each', SAME]],
    ...(
      [
        ['the targets differ', { knee: { ...KNEE, targetP99Us: 10_000 } }],
        ['repeats did not hold it', { knee: { ...KNEE, isConfirmed: false } }],
        ['the p99 was 76.5 ms at 80 % of it', { intendedUs: [[99, 76_500]] }],
        ['the generator was the limit', { knee: { ...KNEE, isGeneratorLimit: true } }],
      ] as const
    ).map(([reason, way]) => ['', way, {}, [SAME, SAME, `not compared: ${reason}`, SAME]]),
  ] as [string, Partial<WayResult>, Partial<Results>, string[]][])(
    'caution %j, %j, %j',
    async (caution, way, changes, verdicts) => {
      const lines = (await compared(run(), run(way, changes))).trimEnd().split('\n');
      // Cautions stand above the table.
      expect(lines[0]).toBe(caution === '' ? lines[0] : `caution: ${caution}`);
      expect(lines.some((line) => line.startsWith('caution'))).toBe(caution !== '');
      const rows = lines.slice(caution === '' ? 1 : 3);
      expect(rows.map((line) => line.split(/ {2,}/).at(-1))).toEqual(verdicts);
    },
  );

  test('a figure that is not compared has no ratio', async () => {
    const [, cost, rate, knee] = (await compared(run(), run({ backlogBusyShare: 0.88 }))).split('\n');
    expect(cost).toMatch(/single: CPU under backlog +20\.6 µs +20\.6 µs +1\.000 +no difference seen/);
    expect(rate).toMatch(/single: rate under backlog +48,\d00 \/s +48,\d00 \/s +not compared/);
    expect(knee).toMatch(/single: knee +40,000 \/s +40,000 \/s +1\.000 +one value each/);
  });
});

// Knees that their own run refutes are shown as knees neither by the text of a bench nor by the table of README.md.
describe('knees in doubt', () => {
  const [SINGLE] = madeResults().ways;
  const POINT = SINGLE!.curve[0]!;
  const STEP = { ...POINT, ratePerS: 85_400, p50Us: 1000, p99Us: 19_000, holds: true };
  const FOUND = {
    ...{ ...KNEE, ratePerS: 85_400, isGeneratorLimit: true },
    steps: [STEP, { ...STEP, p99Us: 30_000, holds: false }],
  };

  const at = (ratePerS: number, p99Us: number, lost = 0) => ({
    ...{ ...POINT, ratePerS, p99Us, skippedShare: lost },
  });
  const ofWay = (changes: Partial<WayResult> = {}): Results => {
    const way = {
      ...{ ...SINGLE!, name: 'stream' as const, costBacklogUs: samplesOf([7]), knee: FOUND },
      ...{ constant: at(85_400, 300), intendedUs: [[99, 19_000]] as [number, number][], ...changes },
    };
    return madeResults({ ways: [way] });
  };
  const README = 'a\n<!-- capacity: x -->\nold\n<!-- /capacity -->\nb\n';
  const tableOf = (results: Results): string => withTable(README, results, 'plot.svg');

  test.each([
    {},
    // A rate above it that failed says nothing against it.
    { curve: [at(100, 1), at(90_000, 1e6)] },
  ])(
    'a knee is held where repeats, lower rates, constant arrivals and the run at 80 %% of it held: %j',
    (changes) => {
      const results = ofWay(changes);
      expect(benchText(results)).toMatch(/^stream .* 85,400\/s/m);
      expect(benchText(results)).not.toContain('is not confirmed');
      const table = tableOf(results);
      expect(table).toContain('rate/s that holds a p99 of 20 ms');
      expect(table).toContain('| `stream` | 1 | 7 µs | ≥ 85,400 | ≥ 85,400 | 1 ms | 19 ms |');
      expect(table).not.toContain('\nold\n');
    },
  );

  test.each([
    ['repeats did not hold it', { knee: { ...FOUND, isConfirmed: false } }],
    ['the p99 was 76.5 ms at 80 % of it', { intendedUs: [[99, 76_500]] }],
    ['the p99 was 68.1 ms at 10,600/s', { curve: [at(100, 1), at(10_600, 68_100)] }],
    ['requests were lost at 10,600/s', { curve: [at(10_600, 300, 0.01)] }],
    ['the p99 was 20.1 ms with constant arrivals', { constant: at(85_400, 20_100) }],
  ] satisfies [string, Partial<WayResult>][])('the text of a bench says that %s', (doubt, changes) => {
    const text = benchText(ofWay(changes));
    expect(text).toContain(`stream: 85,400/s was found and is not confirmed: ${doubt}\n`);
    expect(text).not.toMatch(/^stream .* 85,400\/s/m);
  });

  test.each([
    [
      'the highest rate up to which all held',
      {
        curve: [at(100, 300), at(40_000, 30_000), at(20_000, 9000), at(50_000, 10)],
        intendedUs: [[99, 76_500]],
      },
      '≥ 20,000 | ≥ 20,000 | 100 µs | 9 ms',
    ],
    ['a dash', { curve: [at(100, 30_000)], intendedUs: [[99, 76_500]] }, '– | – | – | –'],
    ['a dash, without a target,', { knee: null }, '– | – | – | –'],
  ] satisfies [string, Partial<WayResult>, string][])(
    'README.md shows %s where the run refutes its knee',
    (_, changes, cells) => {
      const table = tableOf(ofWay(changes));
      expect(table).toContain(`| \`stream\` | 1 | 7 µs | ${cells} |`);
      expect(table.includes('rate/s that holds the target')).toBe('knee' in changes);
    },
  );
});
