// The figures of the fleet: counted from answers alone, inside the window, and 0 where nothing answers.
import { expect, test } from 'vitest';
import { answerFrame, refusedFrame } from '#dist/hexcodes/wire/frames/answer-frame.js';
import { consoleModule } from '../../../support/console-module.js';
import { shippedKernel } from '../../../support/shipped.js';

interface Figures {
  readonly points: number;
  readonly pointsPerSecond: number;
  readonly changesPerSecond: number;
  readonly failed: number;
  readonly refused: number;
  readonly unanswered: number;
  readonly window: number;
  readonly medianMs?: number;
  readonly longestMs?: number;
}
const { FleetStream } = await consoleModule<{
  FleetStream: new (
    vehicles: number,
  ) => {
    readonly answered: Float64Array;
    readonly unanswered: number;
    open(ready: string): void;
    lose(): void;
    begin(): void;
    send(pairs: Float64Array, nowMs: number): Uint8Array[];
    answer(bytes: Uint8Array, nowMs: number): void;
    figures(nowMs: number): Figures;
    codeOf(vehicle: number): string;
  };
}>('fleet/fleet-stream.ts');
const kernel = shippedKernel();
const answerOf = (frame: Uint8Array): Uint8Array => answerFrame(kernel, frame).slice();
const ready = (window: number): string =>
  JSON.stringify({
    type: 'ready',
    format: 1,
    max_frame_bytes: 1_310_736,
    max_points: 65_536,
    window,
    window_bytes: 4_194_304,
  });
/** Vehicles in a row to the north of a street in Hà Nội, the last of them abroad. */
const rowOf = (count: number, shiftDeg = 0): Float64Array =>
  Float64Array.from({ length: 2 * count }, (_, i) =>
    i % 2 === 1 ? 105.8525 : i === 2 * count - 2 ? 48 : 21 + shiftDeg + i * 1e-6,
  );

test('nothing is sent before the service is ready, and nothing is counted before it answers', () => {
  const stream = new FleetStream(3);
  stream.begin();
  expect(stream.send(rowOf(3), 0)).toEqual([]);
  stream.open(ready(16));
  expect(stream.send(rowOf(3), 0)).toHaveLength(1);
  expect(stream.figures(5)).toMatchObject({ points: 0, pointsPerSecond: 0, unanswered: 1, window: 16 });
  expect(stream.codeOf(0)).toBe('');
});

test('answers make points, failures, changed codes and times', () => {
  const stream = new FleetStream(3);
  stream.open(ready(16));
  const turn = (pairs: Float64Array, sentMs: number, answeredMs: number): void => {
    stream.begin();
    for (const frame of stream.send(pairs, sentMs)) stream.answer(answerOf(frame), answeredMs);
  };
  turn(rowOf(3), 0, 7);
  expect(stream.figures(10)).toMatchObject({
    points: 3,
    pointsPerSecond: 3,
    changesPerSecond: 0,
    failed: 1,
    medianMs: 7,
    longestMs: 7,
  });
  expect([stream.codeOf(0), stream.codeOf(2)]).toEqual([expect.stringMatching(/^HN-/), '']);
  turn(rowOf(3), 100, 120);
  expect(stream.figures(200).changesPerSecond).toBe(0);
  turn(rowOf(3, 0.01), 200, 203);
  expect(stream.figures(300)).toMatchObject({ changesPerSecond: 2, points: 9, medianMs: 7, longestMs: 20 });
  expect([...stream.answered]).toEqual([...rowOf(3, 0.01)]);
  // A second without answers.
  expect(stream.figures(1300)).toMatchObject({ points: 9, pointsPerSecond: 0, changesPerSecond: 0 });
  expect(stream.figures(1300).medianMs).toBeUndefined();
});

test('the window holds, and every vehicle has its turn', () => {
  const count = 4096 * 3 + 5;
  const stream = new FleetStream(count);
  stream.open(ready(2));
  const pairs = rowOf(count);
  stream.begin();
  const waiting = stream.send(pairs, 0);
  expect(waiting.map((frame) => frame.length)).toEqual([16 + 4096 * 16, 16 + 4096 * 16]);
  for (let frame = waiting.shift(); frame !== undefined; frame = waiting.shift()) {
    expect(stream.unanswered).toBeLessThanOrEqual(2);
    stream.answer(answerOf(frame), 1);
    waiting.push(...stream.send(pairs, 1));
  }
  expect(stream.figures(2)).toMatchObject({ points: count, unanswered: 0 });
  expect([...stream.answered]).toEqual([...pairs]);
  // A turn that begins while the window is full sends nothing more.
  stream.begin();
  expect(stream.send(pairs, 3)).toHaveLength(2);
  stream.begin();
  expect(stream.send(pairs, 4)).toEqual([]);
});

test('a lost connection takes its frames along, refused ones are counted, a wrong answer is an error', () => {
  const stream = new FleetStream(3);
  stream.open(ready(16));
  stream.begin();
  stream.send(rowOf(3), 0);
  stream.lose();
  expect(stream.figures(1)).toMatchObject({ points: 0, unanswered: 0, window: 0 });
  stream.open(ready(16));
  stream.begin();
  const [frame] = stream.send(rowOf(3), 0);
  stream.answer(refusedFrame(frame!, 2), 1);
  expect(stream.figures(2)).toMatchObject({ points: 0, refused: 3, pointsPerSecond: 0 });
  expect(() => stream.answer(answerOf(frame!), 1)).toThrow('another frame');
});
