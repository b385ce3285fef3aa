// `hexcodes plan --trace`: arrivals as columns of text, of which nothing is guessed, and plans of them from results of
// round numbers, held against reckonings by hand.
import { beforeAll, describe, expect, test } from 'vitest';
import { madeResults } from '../../support/capacity/made-results.js';
import { sharedCommand } from '../../support/shared.js';

const folder = sharedCommand();
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

  test('the same arrivals as seconds and as ISO 8601 are the same trace', async () => {
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

  test('machines by cores, those that may fail, memory and price', async () => {
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
