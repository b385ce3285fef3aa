// Steps that are due after a peer of a stream has been silent: a ping, then the end; nothing while an answer is owed.
import { expect, test } from 'vitest';
import { PeerClock } from '#dist/server/stream/session.js';

const TIMES = { idleMs: 1000, pingMs: 100, pongMs: 300, noProgressMs: 200 };

/** The step that is due at each of these times, with no answer owed and none buffered. */
function dueAt(clock: PeerClock, times: readonly number[]): (string | undefined)[] {
  return times.map((nowMs) => {
    clock.buffered(0, nowMs);
    return clock.due(nowMs, false, TIMES);
  });
}

test('a ping is sent once, and a pong or a frame begins anew', () => {
  const clock = new PeerClock(0);
  expect(dueAt(clock, [99, 100, 101, 399])).toEqual([undefined, 'ping', undefined, undefined]);
  clock.pong(399);
  expect(dueAt(clock, [498, 499, 798])).toEqual([undefined, 'ping', undefined]);
  clock.frame(798);
  expect(dueAt(clock, [897, 898, 1198])).toEqual([undefined, 'ping', 'hanging']);
});

test('pongs do not make up for frames', () => {
  const clock = new PeerClock(0);
  for (let nowMs = 100; nowMs < 1000; nowMs += 100) clock.pong(nowMs);
  expect(dueAt(clock, [999, 1000])).toEqual([undefined, 'idle']);
});

test('while an answer is owed or buffered the peer may be silent, and is stalled once it takes nothing', () => {
  const clock = new PeerClock(0);
  clock.buffered(0, 5000);
  expect(clock.due(5000, true, TIMES)).toBeUndefined();
  clock.buffered(10, 5000);
  expect(clock.due(5199, false, TIMES)).toBeUndefined();
  clock.buffered(20, 5199);
  expect(clock.due(5200, false, TIMES)).toBe('stalled');
  clock.buffered(19, 5200);
  expect(clock.due(5399, false, TIMES)).toBeUndefined();
});
