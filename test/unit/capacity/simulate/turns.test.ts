// Turns of an event loop: what arrives during one is answered in the next, which is paid for once.
import { expect, test } from 'vitest';
import { exponential, uniformFrom } from '#dist/capacity/generator/random.js';
import { simulateShared } from '#dist/capacity/simulate/queue.js';
import { simulateTurns } from '#dist/capacity/simulate/turns.js';

const at = (...us: number[]) => Float64Array.from(us);

test('a message alone pays for its turn; a crowd shares one', () => {
  expect([...simulateTurns(at(0, 100, 200), 10, () => 5)]).toEqual([15, 15, 15]);
  expect([...simulateTurns(at(0, 0, 0), 10, () => 5)]).toEqual([15, 20, 25]);
});

test('what arrives during a turn waits for its end, and pays for the next one', () => {
  // From 0 to 15, then a turn for the two, from 15.
  expect([...simulateTurns(at(0, 1, 14), 10, () => 5)]).toEqual([15, 29, 21]);
});

test('where turns cost nothing it is a queue in the order of arrival', () => {
  const uniform = uniformFrom(3);
  const arrivals = new Float64Array(5000);
  for (let n = 1; n < arrivals.length; n++) arrivals[n] = arrivals[n - 1]! + exponential(uniform, 10);
  const services = Array.from(arrivals, () => exponential(uniform, 8));
  const queue = simulateShared(arrivals, 1, (request) => services[request]!).latenciesUs;
  const turns = simulateTurns(arrivals, 0, (message) => services[message]!);
  for (const [n, us] of turns.entries()) expect(us).toBeCloseTo(queue[n]!, 6);
});

test('with turns a server carries more the more waits: at a load above its capacity alone the queue does not grow', () => {
  const uniform = uniformFrom(4);
  const arrivals = new Float64Array(50_000);
  for (let n = 1; n < arrivals.length; n++) arrivals[n] = arrivals[n - 1]! + exponential(uniform, 12);
  // 10 of a turn and 5 of a message are 15 alone, every 12.
  const latencies = simulateTurns(arrivals, 10, () => 5);
  expect(Math.max(...latencies.slice(-1000))).toBeLessThan(500);
});
