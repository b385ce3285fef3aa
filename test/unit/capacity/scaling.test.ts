// The law of scaling: its parameters come back from points that were made with them, and nothing is said that the
// data cannot support.
import { expect, test } from 'vitest';
import { fitUsl, scalingOf, uslAt } from '#dist/capacity/model/scaling.js';
import { samplesOf } from '../../support/capacity/made-results.js';
import { randomFrom } from '../../support/open-world.js';

const LAW = { lambda: 1, sigma: 0.04, kappa: 0.0008 };

function measured(counts: number[], noise: number, law = LAW) {
  const uniform = randomFrom(3);
  return counts.map((processes) => ({
    processes,
    speedUp: samplesOf(
      Array.from({ length: 20 }, () => uslAt(law, processes) * (1 + noise * (uniform() + uniform() - 1))),
    ),
  }));
}

test.each([LAW, { lambda: 1.1, sigma: 0.2, kappa: 0 }, { lambda: 0.9, sigma: 0, kappa: 0.01 }])(
  'the law %j comes back from its own points',
  (law) => {
    const points = [1, 2, 3, 4, 6, 8, 12, 16].map((n) => [n, uslAt(law, n)] as const);
    const fit = fitUsl(points);
    expect(fit.lambda).toBeCloseTo(law.lambda, 4);
    expect(fit.sigma).toBeCloseTo(law.sigma, 4);
    expect(fit.kappa).toBeCloseTo(law.kappa, 5);
  },
);

test('measured numbers are taken as measured, others from the interval of the fits, and the true value lies in it', () => {
  const scaling = scalingOf(measured([1, 2, 4, 6, 8], 0.02));
  expect(scaling.mostProcesses).toBe(16);
  expect(scaling.fits).toHaveLength(400);
  for (const n of [3, 12, 16]) {
    const { low, high } = scaling.speedUp(n);
    expect(low).toBeLessThan(uslAt(LAW, n));
    expect(high).toBeGreaterThan(uslAt(LAW, n));
  }
});

test('two numbers of processes support no law', () => {
  const scaling = scalingOf(measured([1, 2], 0.02));
  expect(scaling.fits).toEqual([]);
  expect(scaling.mostProcesses).toBe(2);
  expect(scaling.remark).toContain('too few for a law');
});

test('without any measurement a machine has one process', () => {
  const { mostProcesses, speedUp } = scalingOf([]);
  expect([mostProcesses, speedUp(1)]).toEqual([1, { low: 1, high: 1 }]);
});

test('a number between measured ones adds between nothing and itself, where no law is known', () => {
  const speedUps = [1, 4].map((processes) => ({ processes, speedUp: samplesOf([processes]) }));
  expect(scalingOf(speedUps).speedUp(3)).toEqual({ low: 1, high: 3 });
});
