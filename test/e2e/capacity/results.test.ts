// Files of `hexcodes bench --json`: those of older runs are read by plan and bench --compare, one that lacks a field
// is refused, and no figure is told that its own run refutes. And plans of traces.

import { beforeAll, describe, expect, test } from 'vitest';
import { benchText } from '#dist/capacity/report/bench-text.js';
import { withTable } from '../../../bench/report/readme-table.js';
import { madeResults, samplesOf, servicesOf } from '../../support/capacity/made-results.js';
import { type Results, type WayResult, withoutImpossible } from '../../support/capacity/parts.js';
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

  test('the results of a disturbed run are written so that plan and compare read them', async () => {
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

  test('of 200 pairs with equal noise at most six are said to differ', async () => {
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

// `hexcodes plan --trace`: arrivals as columns of text, of which nothing is guessed, and plans of them from results of
// round numbers, held against reckonings by hand.

beforeAll(() => {
  folder.write('made.json', JSON.stringify(madeResults()));
});

/** Runs on a trace of these lines. */
function run(lines: readonly string[], flags: readonly string[] = [], from = 'made.json') {
  folder.write('trace.csv', lines.map((line) => `${line}\n`).join(''));
  return folder.run(['plan', '--trace', 'trace.csv', '--from', from, ...flags]);
}

async function planOf(lines: readonly string[], flags = '', from?: string) {
  const { code, stdout, stderr } = await run(lines, ['--json', ...flags.split(' ').filter(Boolean)], from);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

test('a trace in words', async () => {
  const { code, stdout } = await run(['time', '0', '0.5', '1', '1.5', '2']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^1 process carries this trace with a p99 of at most 50 ms: p99 [\d.]+-[\d.]+ µs/m);
  expect(stdout).toMatch(
    /\n2 machines of 4 cores, 8 in all \(1 carries it with up to 1 process each, 1 may fail\)\n/,
  );
  expect(stdout).toContain('no column vehicle');
  expect(stdout).toContain('measured (made.json)');
});

describe('reading', () => {
  test('quotes, semicolons and commas in names, spaces and capitals in the header, whole numbers as 2.0', async () => {
    const flags = '--cores-per-machine 2 --survive 0 --price 0.04 --memory-per-machine 4G';
    const lines = ['" time";"Vehicle";"points"\r', '"0";"7; ""b""";2\r', '1; 8;3.0\r', '2;8;3\r'];
    const plan = await planOf(lines, flags);
    expect(plan).toMatchObject({ messages: 3, points: 8, vehicles: 2, seconds: 2, peakPerS: 1 });
    expect(plan.answer).toMatchObject({ processes: 1, machines: 1, carrying: 1 });
    // Two cores for two seconds, and eight points.
    expect(plan.answer.pricePerBillionPoints).toBeCloseTo((0.04 * 2 * 2 * 1e9) / (3600 * 8));
  });

  test('messages are taken in the order of time, each with its points and vehicle', async () => {
    const rows = ['1,a,1', '1.5,b,16384', '1.6,a,3', '3,c,7', '3.9,a,5'];
    const plan = await planOf(['time,vehicle,points', ...rows]);
    expect(plan).toMatchObject({ messages: 5, points: 16_400, vehicles: 3, peakPerS: 3 });
    expect(await planOf(['time,vehicle,points', ...rows.toReversed()])).toMatchObject({
      ...{ tries: plan.tries, seconds: plan.seconds, peakPerS: 3 },
    });
  });

  test.each([
    ['-10 -9 -8', 2],
    ['-0.5 +0.5', 1],
    ['1767225600.000001 1767225600.000002', 1e-6],
    ['2026-01-01T00:00:00.000001Z 2026-01-01T00:00:00.000002Z 2026-01-01T00:00:00.5Z', 0.499999],
    ['2026-01-01T07:00:00+07:00 2026-01-01T00:00:01Z 2026-01-01T03:00:02+03', 2],
    ['2025-12-31T23:59 2026-01-01T00:00', 60],
  ])('the times %s take %d s', async (times, seconds) => {
    const lines = times.split(' ');
    expect(await planOf(['time', ...lines])).toMatchObject({
      ...{ messages: lines.length, points: lines.length, vehicles: null },
      seconds: expect.closeTo(seconds, 12),
    });
  });

  test('arrivals as seconds and as ISO 8601 are one trace', async () => {
    const micros = Array.from({ length: 500 }, (_, at) => String((at * 7919) % 1_000_000).padStart(6, '0'));
    const seconds = await planOf(['time', ...micros.map((us) => `5.${us}`)]);
    expect(await planOf(['time', ...micros.map((us) => `2026-03-01T00:00:05.${us}Z`)])).toEqual(seconds);
  });

  const NO_TIME = 'neither a number of seconds';
  const ONE_KIND = 'one kind of times';
  const INSTANT = '2026-01-01T00:00:00Z';
  test.each([
    ...['vehicle 7', '', 'soon', '5 s', '0x10', 'Infinity', 'NaN', '1767225600123', '2026-01-01'],
    ...['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z'],
    ...['2026-01-01T00:00:61Z', '2026-01-01T00:00:00+25:00', 'Thu 01 Jan 2026 00:00:00 GMT'],
  ])('%j is not a time', async (text) => {
    const { code, stderr } = await run(['time', '1', JSON.stringify(text)]);
    expect(code).toBe(3);
    expect(stderr).toContain(`trace.csv, row 2, column time: ${JSON.stringify(text)} is ${NO_TIME}`);
  });

  test.each(['0', '-1', '1.5', 'Infinity', 'NaN', '', '65537', '1e3'])(
    '%j is not a number of points',
    async (text) => {
      const { code, stderr } = await run(['time,points', '1,1', `2,${text}`]);
      expect(code).toBe(3);
      expect(stderr).toContain(`row 2, column points: ${JSON.stringify(text)} is not a whole number`);
      expect(stderr).toContain('from 1 to 65,536');
    },
  );

  test.each([
    [['time', '5', INSTANT], `row 2, column time: "${INSTANT}" is ISO 8601`],
    [['time', INSTANT, '5'], ONE_KIND],
    [['time', INSTANT, '2026-01-01T00:00:00'], ONE_KIND],
    [['time,points', '1,1', '2'], 'row 2: 1 fields, the header has 2'],
    [['x', '1', '2'], 'trace.csv: it has no column "time"'],
    [['time', '1'], 'fewer than two rows'],
    [['time', '5', '5'], 'the same time'],
    [['time,vehicle', '5,a', '6, '], 'row 2, column vehicle: it is empty: each row names its vehicle'],
    [['{"time": 1}', '{"time": 2}'], 'trace.csv'],
  ])('the trace %j is refused', async (lines, message) => {
    const { code, stderr } = await run(lines);
    expect(stderr).toContain(message);
    expect(code).toBe(3);
  });

  test('a batch may have fewer points than a frame, and rows are counted through the whole file', async () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `${at},10000`);
    const { stderr } = await run(['time,points', ...lines, '20000,10001'], ['--profile', 'batch']);
    expect(stderr).toContain(
      'row 20001, column points: "10001" is not a whole number of points from 1 to 10,000',
    );
  });
});

describe('plans', () => {
  interface Message {
    readonly us: number;
    readonly points?: number;
    readonly vehicle?: number;
  }

  const traceOf = (messages: readonly Message[]): string[] => {
    const hasVehicles = messages[0]!.vehicle !== undefined;
    const rows = messages.map(
      ({ us, points = 1, vehicle }) =>
        `${(us / 1e6).toFixed(6)},${points}${hasVehicles ? `,${vehicle}` : ''}`,
    );
    return [`time,points${hasVehicles ? ',vehicle' : ''}`, ...rows];
  };

  /** @param together messages at the same moment of every second, one of each vehicle where the trace has them */
  const bursts = (together: number, seconds: number, hasVehicles: boolean): string[] =>
    traceOf(
      Array.from({ length: together * seconds }, (_, at) => ({
        us: 1e6 * Math.floor(at / together),
        ...(hasVehicles ? { vehicle: at % together } : {}),
      })),
    );

  test('a trace is simulated until a number of processes holds it', async () => {
    // 2,000 messages of 5 µs at the same moment of every second are 10 ms of one process.
    const plan = await planOf(bursts(2000, 10, true), '--p99 2ms');
    expect(plan).toMatchObject({ messages: 20_000, seconds: 9, peakPerS: 2000, vehicles: 2000 });
    expect(plan.answer.processes).toBeGreaterThan(4);
    expect(plan.tries[0].processes).toBe(1);
    expect(plan.tries[0].p99Us).toBeGreaterThan(9900);
  });

  test.each([1000, 3000])(
    'the fewest processes: with a p99 of %d µs one fewer does not hold it',
    async (us) => {
      const { answer, tries } = await planOf(bursts(2000, 10, false), `--p99 ${us / 1000}ms`);
      const numbers = tries.map(({ processes }: { processes: number }) => processes);
      const at = numbers.indexOf(answer.processes);
      expect(tries[at].p99Us).toBeLessThanOrEqual(us);
      expect(tries[at - 1].p99Us).toBeGreaterThan(us);
      expect(numbers[at - 1]).toBe(answer.processes - 1);
      expect(numbers).toEqual(numbers.toSorted((a: number, b: number) => a - b));
      // Figures are ranges between the quartiles of the costs.
      expect(answer.p99Us.low).toBeLessThan(answer.p99Us.high);
      expect(answer.busyShare.low).toBeLessThan(answer.busyShare.high);
      expect(answer.processesRange.low).toBeLessThanOrEqual(answer.processes);
      expect(answer.processesRange.high).toBeGreaterThanOrEqual(answer.processes);
    },
  );

  test('up to 16 processes every smaller number has been tried and does not hold', async () => {
    // Forty vehicles of ten messages in the same moment: the draws decide, and more processes may hold less.
    const messages = Array.from({ length: 8000 }, (_, at) => ({
      us: 1e6 * Math.floor(at / 400),
      vehicle: at % 40,
    }));
    const { answer, tries } = await planOf(traceOf(messages), '--p99 0.9ms');
    expect(answer.processes).toBeLessThanOrEqual(16);
    expect(answer.processes).toBeGreaterThan(2);
    const smaller: { processes: number; p99Us: number }[] = tries.slice(0, answer.processes - 1);
    expect(smaller.map((each) => each.processes)).toEqual(smaller.map((_, at) => at + 1));
    expect(smaller.every(({ p99Us }) => p99Us > 900)).toBe(true);
  });

  test('each message takes as long as its own points', async () => {
    // A frame of 16,384 points takes 325 µs, one of a point 5 µs, each with a turn of at most 50 µs and 85 µs besides
    // its CPU time: their mean says nothing about the tail.
    const messages = Array.from({ length: 4000 }, (_, at) => ({
      us: 10_000 * at,
      points: at % 20 === 0 ? 16_384 : 1,
    }));
    const { tries, points } = await planOf(traceOf(messages));
    expect(points).toBe(200 * 16_384 + 3800);
    expect(tries[0].p50Us).toBeLessThanOrEqual(140);
    expect(tries[0].p99Us).toBeGreaterThanOrEqual(325);
  });

  test('with the profile single, messages of several points are batches', async () => {
    const messages = Array.from({ length: 1000 }, (_, at) => ({
      us: 10_000 * at,
      points: at % 2 === 0 ? 1 : 100,
    }));
    const { tries } = await planOf(traceOf(messages), '--profile single');
    // A batch of 100 takes 150 µs, a single call 20 µs, each with a turn of at most 50 µs, and a call 70 µs besides its
    // CPU time.
    expect(tries[0].p50Us).toBeLessThanOrEqual(141);
    expect(tries[0].p99Us).toBeGreaterThanOrEqual(150);
    expect(tries[0].p99Us).toBeLessThanOrEqual(201);
  });

  test('all messages of a vehicle go to one process: more processes do not help one vehicle', async () => {
    // 400 messages at the same moment take at least 2 ms of one process.
    const messages = Array.from({ length: 4000 }, (_, at) => ({ us: 1e5 * Math.floor(at / 400) }));
    const ofOne = await planOf(traceOf(messages.map((each) => ({ ...each, vehicle: 0 }))), '--p99 1ms');
    expect(ofOne).toMatchObject({ vehicles: 1, answer: null });
    expect(ofOne.tries.at(-1)).toMatchObject({ processes: 1024 });
    // Some 173 messages of 5 µs fit beside a turn and what an exchange takes besides its CPU time.
    const { answer } = await planOf(traceOf(messages), '--p99 1ms');
    expect(answer.processes).toBeGreaterThan(2);
    expect(answer.processes).toBeLessThan(64);
  });

  test('the headroom is that of the busiest process', async () => {
    // One vehicle sends a message every 30 µs, of 15 µs and more: over half of the time of its process; a hundred
    // send one each.
    const heavy = Array.from({ length: 16_000 }, (_, at) => ({ us: 30 * at, vehicle: 0 }));
    const light = Array.from({ length: 100 }, (_, at) => ({ us: 5000 * at, vehicle: 1 + at }));
    const trace = traceOf([...heavy, ...light]);
    expect((await planOf(trace, '--headroom 60%')).answer).toBeNull();
    expect((await planOf(trace, '--headroom 0%')).answer).not.toBeNull();
  });

  test('machines by cores, spares, memory and price', async () => {
    const trace = bursts(2000, 10, true);
    const flags = '--p99 2ms --cores-per-machine 2 --survive 2 --price 0.04';
    const { answer } = await planOf(trace, flags);
    const { processes, carrying, machines } = answer;
    expect(answer).toMatchObject({ carrying: Math.ceil(processes / 2), processesPerMachine: 2 });
    expect(machines).toBe(carrying + 2);
    // 200 MB of each process, and 16 kB of each of the connections.
    expect(answer.memoryBytesPerMachine).toBeCloseTo(2 * 200e6 + (2000 / carrying) * 16_000);
    // 20,000 points in 9 s.
    expect(answer.pricePerBillionPoints).toBeCloseTo((0.04 * machines * 2 * 1e9 * 9) / (3600 * 20_000));
    const small = await planOf(trace, `${flags} --memory-per-machine 250M`);
    expect(small.answer).toMatchObject({ processesPerMachine: 1, carrying: processes });
    const unnamed = (await planOf(bursts(2000, 10, false), flags)).answer;
    expect(unnamed.memoryBytesPerMachine).toBe(unnamed.processesPerMachine * 200e6);
  });

  test('results without memory and speed-ups make a plan without them, and those of another profile none', async () => {
    const { ways, ...others } = madeResults();
    folder.write('bare.json', JSON.stringify({ ...others, ways, memory: null, speedUps: [] }));
    const { answer } = await planOf(bursts(50, 3, true), '', 'bare.json');
    expect(answer).toMatchObject({ processesPerMachine: 1, memoryBytesPerMachine: null });
    expect(JSON.stringify(answer)).not.toMatch(/Infinity|NaN/);
    const streams = ways.filter(({ name }) => name === 'stream');
    folder.write('streams.json', JSON.stringify({ ...others, ways: streams }));
    const { code, stderr } = await run(bursts(5, 2, false), ['--profile', 'batch'], 'streams.json');
    expect([code, stderr]).toEqual([3, expect.stringContaining('no figures of batch')]);
  });
});
