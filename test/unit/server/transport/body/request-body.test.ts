// How many chunks and bytes a body may bring before its peer is cut off.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BodyLimits } from '#dist/server/transport/request-body.js';
import { Turns } from '#dist/server/transport/turns.js';

test('100,000 chunks in one turn of the event loop, and as many in the next', async () => {
  const limits = new BodyLimits(new Turns(), 1000);
  const faults = (count: number) =>
    Array.from({ length: count }, () => limits.faultOf(1, false)).filter((fault) => fault !== undefined);
  expect(faults(100_000)).toEqual([]);
  expect(faults(1)).toEqual(['too many chunks of a body in one turn of the event loop']);
  await nextTurn();
  expect(faults(100_000)).toEqual([]);
  expect(faults(1)).toHaveLength(1);
});

test('bytes count while the reading is stopped, from each stop anew', () => {
  const limits = new BodyLimits(new Turns(), 1000);
  expect(limits.faultOf(5000, false)).toBeUndefined();
  expect(limits.faultOf(1000, true)).toBeUndefined();
  expect(limits.faultOf(5000, false)).toBeUndefined();
  expect(limits.faultOf(999, true)).toBeUndefined();
  expect(limits.faultOf(1, true)).toBeUndefined();
  expect(limits.faultOf(1, true)).toBe('the body brought 1001 bytes while its reading was stopped');
});

test('1,000 requests in one turn, and 4 more for each open connection', async () => {
  const turns = new Turns();
  const taken = (count: number) =>
    Array.from({ length: count }, () => turns.takeRequest()).filter(Boolean).length;
  expect(taken(1001)).toBe(1000);
  // The count has restarted with the connection that was closed.
  expect(taken(1000)).toBe(1000);
  await nextTurn();
  turns.countConnection(1);
  turns.countConnection(1);
  turns.countConnection(-1);
  expect(taken(1005)).toBe(1004);
});
