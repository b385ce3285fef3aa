// Traces of arrivals from columns of text: nothing is guessed, and what cannot be read is named with row, column and
// rule.
import { expect, test } from 'vitest';
import { peakPerS, TraceBuilder, TraceFault } from '#dist/capacity/simulate/trace.js';

const MAX_POINTS = 65_536;

function built(columns: Readonly<Record<string, readonly string[]>>, mostPoints = MAX_POINTS) {
  const builder = new TraceBuilder(Object.keys(columns), mostPoints);
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
])('%j is no time', (text) => {
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

test.each(['0', '-1', '1.5', 'Infinity', 'NaN', '', '65537', '1e3'])('%j is no number of points', (text) => {
  const fault = faultOf(() => built({ time: ['1', '2'], points: ['1', text] }));
  expect(fault).toMatchObject({ row: 2, column: 'points' });
  expect(fault.message).toContain(JSON.stringify(text));
  expect(fault.message).toContain('from 1 to 65,536');
});

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
