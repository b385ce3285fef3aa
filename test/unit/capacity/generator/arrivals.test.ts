// When requests should start.
import { expect, test } from 'vitest';
import { Schedule } from '#dist/capacity/generator/arrivals.js';
import { uniformFrom } from '#dist/capacity/generator/random.js';

function times(schedule: Schedule, count: number): number[] {
  return Array.from({ length: count }, () => {
    const { nextMs } = schedule;
    schedule.take();
    return nextMs;
  });
}

test('a constant rate has even gaps', () => {
  expect(times(new Schedule('constant', 250, uniformFrom(1)), 4)).toEqual([4, 8, 12, 16]);
});

test('requests that start together keep the rate', () => {
  expect(times(new Schedule('constant', 250, uniformFrom(1), 2), 5)).toEqual([8, 8, 16, 16, 24]);
});

test('a Poisson process is the same for the same seed, and another for another', () => {
  const of = (seed: number) => times(new Schedule('poisson', 1000, uniformFrom(seed)), 50);
  expect(of(7)).toEqual(of(7));
  expect(of(7)).not.toEqual(of(8));
});

test('gaps of a Poisson process have the distribution of its rate', () => {
  const at = times(new Schedule('poisson', 1000, uniformFrom(5)), 100_000);
  const gaps = at.map((ms, i) => ms - (at[i - 1] ?? 0));
  const share = (limitMs: number) => gaps.filter((ms) => ms > limitMs).length / gaps.length;
  // Four standard deviations of a share of 100,000 draws are at most 0.0064.
  for (const limitMs of [0.1, 0.7, 1, 2])
    expect(Math.abs(share(limitMs) - Math.exp(-limitMs))).toBeLessThan(0.0064);
});

test('a rate has to be above 0', () => {
  expect(() => new Schedule('constant', 0, uniformFrom(1))).toThrow(RangeError);
});
