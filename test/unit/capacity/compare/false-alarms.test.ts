// How often two runs of the same code are said to differ. Times are skewed to the right, and neighbouring slices of a
// run are alike.
import { expect, test } from 'vitest';
import { judge, LEAST_SAMPLES } from '#dist/capacity/compare/compare.js';
import { uniformFrom } from '#dist/capacity/generator/random.js';
import { samplesOf } from '#dist/capacity/measure/results.js';

const PAIRS = 200;

type Draw = (uniform: () => number) => () => number;

const normal = (uniform: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());

/** @param share of each sample that the one before it makes */
function alike(share: number): Draw {
  return (uniform) => {
    let state = normal(uniform);
    return () => {
      state = share * state + Math.sqrt(1 - share ** 2) * normal(uniform);
      return Math.exp(0.15 * state);
    };
  };
}

const NOISES: Record<string, Draw> = {
  'lognormal, a twentieth': (uniform) => () => Math.exp(0.05 * normal(uniform)),
  'lognormal, a fifth': (uniform) => () => Math.exp(0.2 * normal(uniform)),
  'exponential above a floor': (uniform) => () => 1 - 0.2 * Math.log(1 - uniform()),
  'some slices much slower': (uniform) => () => (1 + 0.05 * normal(uniform)) * (uniform() < 0.15 ? 1.6 : 1),
  'neighbours alike': alike(0.5),
  // As in the worst of the recorded quick runs.
  'neighbours much alike': alike(0.7),
};

/** Samples of a seed around `scale`. */
function drawn(noise: Draw, seed: number, count: number, scale = 1): number[] {
  const draw = noise(uniformFrom(seed));
  return Array.from({ length: count }, () => scale * draw());
}

const verdict = (before: number[], after: number[]): string =>
  judge('figure', 'µs', samplesOf(before), samplesOf(after), true).verdict;

// 12 are those of each way in a quick run.
test.each(Object.keys(NOISES).flatMap((name) => [LEAST_SAMPLES, 12].map((count) => [name, count] as const)))(
  '%s, %d samples: at most one in twenty pairs of the same',
  (name, count) => {
    const wrong = Array.from({ length: PAIRS }, (_, at) =>
      verdict(drawn(NOISES[name]!, 7919 * at + 1, count), drawn(NOISES[name]!, 7919 * at + 4001, count)),
    ).filter((each) => each !== 'no difference seen');
    expect(wrong.length).toBeLessThanOrEqual(PAIRS / 20);
  },
);

test.each(Object.keys(NOISES))('%s: thrice the cost is seen with the samples of a quick run', (name) => {
  const noise = NOISES[name]!;
  const seen = Array.from({ length: 20 }, (_, at) =>
    verdict(drawn(noise, 31 * at + 1, 12), drawn(noise, 31 * at + 17, 12, 3)),
  );
  expect(new Set(seen)).toEqual(new Set(['worse']));
});

test.each([
  [0, 0],
  [1, 1],
  [LEAST_SAMPLES - 1, 100],
  [100, LEAST_SAMPLES - 1],
])('%d and %d samples: nothing can be said', (before, after) => {
  const figure = judge(
    'figure',
    'µs',
    samplesOf(Array(before).fill(1)),
    samplesOf(Array(after).fill(2)),
    true,
  );
  expect(figure).toMatchObject({ verdict: 'too few measurements', interval: null });
});
