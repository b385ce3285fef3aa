// Plans of traces: reading one, and what carries it.
import { describe, expect, test } from 'vitest';
import { planTrace, type TraceRequest } from '#dist/capacity/model/trace-plan.js';
import { peakPerS, type Trace, TraceBuilder, TraceFault } from '#dist/capacity/simulate/trace.js';
import { madeResults } from '../../support/capacity/made-results.js';

// Traces of arrivals from columns of text: nothing is guessed, and what cannot be read is named with row, column and
// rule.
describe('reading', () => {
  const MAX_POINTS = 65_536;

  function built(columns: Readonly<Record<string, readonly string[]>>, maxPoints = MAX_POINTS) {
    const builder = new TraceBuilder(Object.keys(columns), maxPoints);
    builder.add(Object.values(columns));
    return builder.build();
  }

  function faultOf(run: () => unknown): TraceFault {
    try {
      run();
    } catch (error) {
      if (error instanceof TraceFault) return error;
    }
    throw new Error('it was read');
  }

  test('messages in the order of time, with their points and vehicles', () => {
    const trace = built({
      Vehicle: ['b', 'a', ' b', 'c'],
      ' time': ['3', '1.5', '1', '1.5'],
      points: ['7', '1', '2.0', '65536'],
    });
    expect([...trace.arrivalsUs]).toEqual([0, 500_000, 500_000, 2_000_000]);
    expect([...trace.points]).toEqual([2, 1, 65_536, 7]);
    expect([...trace.vehicleOf!]).toEqual([0, 1, 2, 0]);
    expect(trace.vehicles).toBe(3);
    expect(peakPerS(trace)).toBe(3);
  });

  test('without their columns every message has one point and no vehicle', () => {
    const trace = built({ time: ['0', '1'] });
    expect([...trace.points]).toEqual([1, 1]);
    expect(trace).toMatchObject({ vehicleOf: null, vehicles: null });
  });

  test('batches of rows add up', () => {
    const builder = new TraceBuilder(['time', 'vehicle'], MAX_POINTS);
    builder.add([['0'], ['a']]);
    builder.add([['2'], ['a']]);
    expect(builder.build()).toMatchObject({ vehicles: 1, arrivalsUs: Float64Array.of(0, 2e6) });
    expect(faultOf(() => builder.add([['x'], ['a']])).row).toBe(3);
  });

  test.each([
    [
      ['-10', '-9', '-8'],
      [0, 1e6, 2e6],
    ],
    [
      ['-0.5', '+0.5'],
      [0, 1e6],
    ],
    [
      ['1767225600.000001', '1767225600.000002'],
      [0, 1],
    ],
    [
      ['2026-01-01T00:00:00.000001Z', '2026-01-01T00:00:00.000002Z', '2026-01-01T00:00:00,5Z'],
      [0, 1, 499_999],
    ],
    [
      ['2026-01-01T07:00:00+07:00', '2026-01-01T00:00:01Z', '2026-01-01 03:00:02+03'],
      [0, 1e6, 2e6],
    ],
    [
      ['2025-12-31T23:59', '2026-01-01T00:00'],
      [0, 60e6],
    ],
  ])('times %j', (time, arrivalsUs) => {
    const trace = built({ time });
    expect(trace.arrivalsUs.length).toBe(arrivalsUs.length);
    for (const [at, us] of arrivalsUs.entries()) expect(trace.arrivalsUs[at]).toBeCloseTo(us, 6);
  });

  test('the same arrivals as seconds and as ISO 8601 are the same trace', () => {
    const micros = Array.from({ length: 500 }, (_, at) => String((at * 7919) % 1_000_000).padStart(6, '0'));
    const seconds = built({ time: micros.map((us) => `5.${us}`) });
    const iso = built({ time: micros.map((us) => `2026-03-01T00:00:05.${us}Z`) });
    expect(iso.arrivalsUs).toEqual(seconds.arrivalsUs);
  });

  test.each([
    'vehicle 7',
    '',
    'soon',
    '5 s',
    '0x10',
    'Infinity',
    'NaN',
    '1767225600123',
    '2026-01-01',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:61Z',
    '2026-01-01T00:00:00+25:00',
    'Thu, 01 Jan 2026 00:00:00 GMT',
  ])('%j is not a time', (text) => {
    const fault = faultOf(() => built({ time: ['1', text] }));
    expect(fault).toMatchObject({ row: 2, column: 'time' });
    expect(fault.message).toContain(JSON.stringify(text));
    expect(fault.message).toContain('neither a number of seconds');
  });

  test.each([
    ['5', '2026-01-01T00:00:00Z'],
    ['2026-01-01T00:00:00Z', '5'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00'],
  ])('a trace has one kind of times: %j, then %j', (...time) => {
    const fault = faultOf(() => built({ time }));
    expect(fault).toMatchObject({ row: 2, column: 'time' });
    expect(fault.message).toContain('one kind of times');
  });

  test.each(['0', '-1', '1.5', 'Infinity', 'NaN', '', '65537', '1e3'])(
    '%j is not a number of points',
    (text) => {
      const fault = faultOf(() => built({ time: ['1', '2'], points: ['1', text] }));
      expect(fault).toMatchObject({ row: 2, column: 'points' });
      expect(fault.message).toContain(JSON.stringify(text));
      expect(fault.message).toContain('from 1 to 65,536');
    },
  );

  test('a batch may have fewer points than a frame', () => {
    const fault = faultOf(() => built({ time: ['1', '2'], points: ['10000', '10001'] }, 10_000));
    expect(fault.message).toContain('from 1 to 10,000');
  });

  test.each([
    [{ x: ['1', '2'] }, 'no column "time"'],
    [{ time: ['1'] }, 'fewer than two rows'],
    [{ time: ['5', '5'] }, 'the same time'],
    [{ time: ['5', '6'], vehicle: ['a', ' '] }, 'each row names its vehicle'],
  ])('%j is refused', (columns, message) => {
    expect(faultOf(() => built(columns as Record<string, string[]>)).message).toContain(message);
  });
});

// Plans of traces from results of round numbers, held against a reckoning by hand.
describe('plans', () => {
  const requestOf = (changes: Partial<TraceRequest> = {}): TraceRequest => ({
    ...{ profile: 'stream', targetP99Us: 50_000, headroom: 0.3, survive: 1, coresPerMachine: 4 },
    ...{ memoryBytesPerMachine: 16e9, pricePerCoreHour: undefined },
    ...changes,
  });

  interface Message {
    readonly us: number;
    readonly points?: number;
    readonly vehicle?: number;
  }

  function traceOf(messages: readonly Message[]): Trace {
    const ofVehicles = messages.every(({ vehicle }) => vehicle !== undefined);
    return {
      arrivalsUs: Float64Array.from(messages, ({ us }) => us),
      points: Int32Array.from(messages, ({ points }) => points ?? 1),
      vehicleOf: ofVehicles ? Int32Array.from(messages, ({ vehicle }) => vehicle!) : null,
      vehicles: ofVehicles ? new Set(messages.map(({ vehicle }) => vehicle)).size : null,
    };
  }

  /** @param together messages at the same moment of every second, one of each vehicle where the trace has them */
  const bursts = (together: number, seconds: number, hasVehicles: boolean): Trace =>
    traceOf(
      Array.from({ length: together * seconds }, (_, at) => ({
        us: 1e6 * Math.floor(at / together),
        ...(hasVehicles ? { vehicle: at % together } : {}),
      })),
    );

  test('a trace is simulated until a number of processes holds it', () => {
    // 2,000 messages of 5 µs at the same moment of every second are 10 ms of one process.
    const plan = planTrace(bursts(2000, 10, true), requestOf({ targetP99Us: 2000 }), madeResults());
    expect(plan).toMatchObject({
      messages: 20_000,
      points: 20_000,
      seconds: 9,
      peakPerS: 2000,
      vehicles: 2000,
    });
    expect(plan.answer!.processes).toBeGreaterThan(4);
    expect(plan.tries[0]).toMatchObject({ processes: 1 });
    expect(plan.tries[0]!.p99Us).toBeGreaterThan(9900);
  });

  test.each([1000, 1500, 2000, 3000])(
    'the fewest processes: with a p99 of %d µs one fewer does not hold it',
    (targetP99Us) => {
      const { answer, tries } = planTrace(bursts(2000, 10, false), requestOf({ targetP99Us }), madeResults());
      const at = tries.findIndex(({ processes }) => processes === answer!.processes);
      expect(tries[at]!.p99Us).toBeLessThanOrEqual(targetP99Us);
      expect(tries[at - 1]!.processes).toBe(answer!.processes - 1);
      expect(tries[at - 1]!.p99Us).toBeGreaterThan(targetP99Us);
      expect(tries.map(({ processes }) => processes)).toEqual(
        tries.map(({ processes }) => processes).sort((a, b) => a - b),
      );
    },
  );

  test('up to 16 processes every smaller number has been tried and does not hold', () => {
    // Forty vehicles of ten messages in the same moment: the draws decide, and more processes may hold less.
    const messages = Array.from({ length: 8000 }, (_, at) => ({
      us: 1e6 * Math.floor(at / 400),
      vehicle: at % 40,
    }));
    const targetP99Us = 900;
    const { answer, tries } = planTrace(traceOf(messages), requestOf({ targetP99Us }), madeResults());
    const { processes } = answer!;
    expect(processes).toBeLessThanOrEqual(16);
    expect(processes).toBeGreaterThan(2);
    const smaller = tries.filter((each) => each.processes < processes);
    expect(smaller.map((each) => each.processes)).toEqual(smaller.map((_, at) => at + 1));
    expect(smaller.every(({ p99Us }) => p99Us > targetP99Us)).toBe(true);
  });

  test('each message takes as long as its own points', () => {
    // A frame of 16,384 points takes 325 µs, one of a point 5 µs, each with a turn of at most 50 µs and 85 µs besides
    // its CPU time: their mean says nothing about the tail.
    const messages = Array.from({ length: 4000 }, (_, at) => ({
      us: 10_000 * at,
      points: at % 20 === 0 ? 16_384 : 1,
    }));
    const { tries, points } = planTrace(traceOf(messages), requestOf(), madeResults());
    expect(points).toBe(200 * 16_384 + 3800);
    expect(tries[0]!.p50Us).toBeLessThanOrEqual(140);
    expect(tries[0]!.p99Us).toBeGreaterThanOrEqual(325);
  });

  test('with the profile single, messages of several points are batches', () => {
    const messages = Array.from({ length: 1000 }, (_, at) => ({
      us: 10_000 * at,
      points: at % 2 === 0 ? 1 : 100,
    }));
    const { tries } = planTrace(traceOf(messages), requestOf({ profile: 'single' }), madeResults());
    // A batch of 100 takes 150 µs, a single call 20 µs, each with a turn of at most 50 µs, and a call 70 µs besides its
    // CPU time.
    expect(tries[0]!.p50Us).toBeLessThanOrEqual(141);
    expect(tries[0]!.p99Us).toBeGreaterThanOrEqual(150);
    expect(tries[0]!.p99Us).toBeLessThanOrEqual(201);
  });

  test('all messages of a vehicle go to one process: more processes do not help one vehicle', () => {
    // 400 messages at the same moment take at least 2 ms of one process.
    const messages = Array.from({ length: 4000 }, (_, at) => ({ us: 1e5 * Math.floor(at / 400) }));
    const needs = requestOf({ targetP99Us: 1000 });
    const ofOne = planTrace(traceOf(messages.map((each) => ({ ...each, vehicle: 0 }))), needs, madeResults());
    expect(ofOne).toMatchObject({ vehicles: 1, answer: null });
    expect(ofOne.tries.at(-1)).toMatchObject({ processes: 1024 });
    const ofAny = planTrace(traceOf(messages), needs, madeResults());
    // Some 173 messages of 5 µs fit beside a turn and what an exchange takes besides its CPU time.
    expect(ofAny.answer!.processes).toBeGreaterThan(2);
    expect(ofAny.answer!.processes).toBeLessThan(64);
  });

  test('the headroom is that of the busiest process', () => {
    // One vehicle sends a message every 30 µs, of 15 µs and more: over half of the time of its process; a hundred
    // send one each.
    const heavy = Array.from({ length: 16_000 }, (_, at) => ({ us: 30 * at, vehicle: 0 }));
    const light = Array.from({ length: 100 }, (_, at) => ({ us: 5000 * at, vehicle: 1 + at }));
    const trace = traceOf([...heavy, ...light].sort((a, b) => a.us - b.us));
    expect(planTrace(trace, requestOf({ headroom: 0.6 }), madeResults()).answer).toBeNull();
    expect(planTrace(trace, requestOf({ headroom: 0 }), madeResults()).answer).not.toBeNull();
  });

  test('figures are ranges between the quartiles of the costs', () => {
    const { answer } = planTrace(bursts(2000, 10, false), requestOf({ targetP99Us: 2000 }), madeResults());
    const { p99Us, busyShare, processes, processesRange } = answer!;
    expect(p99Us.low).toBeLessThan(p99Us.high);
    expect(busyShare.low).toBeLessThan(busyShare.high);
    expect(processesRange.low).toBeLessThanOrEqual(processes);
    expect(processesRange.high).toBeGreaterThanOrEqual(processes);
  });

  test('machines by cores, those that may fail, memory and price', () => {
    const trace = bursts(2000, 10, true);
    const request = requestOf({ targetP99Us: 2000, coresPerMachine: 2, survive: 2, pricePerCoreHour: 0.04 });
    const { answer } = planTrace(trace, request, madeResults());
    const { processes, carrying, machines, processesPerMachine } = answer!;
    expect(carrying).toBe(Math.ceil(processes / 2));
    expect(machines).toBe(carrying + 2);
    expect(processesPerMachine).toBe(2);
    // 200 MB of each process, and 16 kB of each of the connections.
    expect(answer!.memoryBytesPerMachine).toBeCloseTo(2 * 200e6 + (2000 / carrying) * 16_000);
    // 20,000 points in 9 s.
    expect(answer!.pricePerBillionPoints).toBeCloseTo((0.04 * machines * 2 * 1e9 * 9) / (3600 * 20_000));
    const small = planTrace(trace, { ...request, memoryBytesPerMachine: 250e6 }, madeResults());
    expect(small.answer).toMatchObject({ processesPerMachine: 1, carrying: processes });
    const unnamed = planTrace(bursts(2000, 10, false), request, madeResults()).answer!;
    expect(unnamed.memoryBytesPerMachine).toBe(unnamed.processesPerMachine * 200e6);
    const tooSmall = planTrace(trace, { ...request, memoryBytesPerMachine: 1e6 }, madeResults());
    expect(tooSmall.answer).toMatchObject({ carrying });
    expect(tooSmall.answer!.memoryBytesPerMachine).toBeGreaterThan(1e6);
  });

  test('nothing is not a number', () => {
    const plan = planTrace(bursts(50, 3, true), requestOf(), madeResults({ memory: null, speedUps: [] }));
    const text = JSON.stringify(plan, (_, each: unknown) =>
      typeof each === 'number' && !Number.isFinite(each) ? 'bad' : each,
    );
    expect(text).not.toContain('bad');
    expect(plan.answer!.memoryBytesPerMachine).toBeNull();
  });

  test('results without the profile are refused with its name', () => {
    const ways = madeResults().ways.filter(({ name }) => name === 'stream');
    expect(() =>
      planTrace(bursts(5, 2, false), requestOf({ profile: 'batch' }), madeResults({ ways })),
    ).toThrow('no figures of batch');
  });
});
