// Verdicts on two measurements: a change is seen where it is larger than the noise, and only there.
import { expect, test } from 'vitest';
import { ratioInterval } from '#dist/capacity/compare/bootstrap.js';
import { judge } from '#dist/capacity/compare/compare.js';
import { uniformFrom } from '#dist/capacity/generator/random.js';
import { samplesOf } from '#dist/capacity/measure/results.js';

/** Samples around a value, some per cent of noise, of a seed. */
function noisy(value: number, noise: number, seed: number, count = 40): number[] {
  const uniform = uniformFrom(seed);
  return Array.from({ length: count }, () => value * (1 + noise * (uniform() + uniform() + uniform() - 1.5)));
}

const verdict = (before: number[], after: number[], isCost = true): string =>
  judge('figure', 'µs', samplesOf(before), samplesOf(after), isCost).verdict;

test('the same samples differ in nothing', () => {
  const samples = noisy(10, 0.1, 1);
  expect(verdict(samples, samples)).toBe('no difference seen');
});

test('twice the cost is worse, twice the rate is better', () => {
  expect(verdict(noisy(10, 0.1, 1), noisy(20, 0.1, 2))).toBe('worse');
  expect(verdict(noisy(20, 0.1, 1), noisy(10, 0.1, 2))).toBe('better');
  expect(verdict(noisy(10, 0.1, 1), noisy(20, 0.1, 2), false)).toBe('better');
});

test('a change of a hundredth is not told from noise, however steady the samples are', () => {
  expect(verdict(noisy(10, 0.001, 1), noisy(10.1, 0.001, 2))).toBe('no difference seen');
});

test('of 200 pairs from the same noise at most six are said to differ', () => {
  const wrong = Array.from({ length: 200 }, (_, at) =>
    verdict(noisy(10, 0.2, 1000 + at), noisy(10, 0.2, 5000 + at)),
  ).filter((each) => each !== 'no difference seen');
  expect(wrong.length).toBeLessThanOrEqual(6);
});

test('a change of a tenth in noise of a tenth is seen', () => {
  expect(verdict(noisy(10, 0.1, 3), noisy(11.5, 0.1, 4))).toBe('worse');
});

test('the interval holds the ratio, and is the same for the same seed', () => {
  const [before, after] = [noisy(10, 0.1, 1), noisy(12, 0.1, 2)];
  const interval = ratioInterval(before, after, 7);
  expect(interval.low).toBeLessThan(1.2);
  expect(interval.high).toBeGreaterThan(1.2);
  expect(ratioInterval(before, after, 7)).toEqual(interval);
});

test('a median of nothing has no ratio', () => {
  expect(verdict(Array(12).fill(0), noisy(10, 0.1, 1, 12))).toBe('not comparable');
});
