// Costs of a message at a rate, and the load that more processes carry.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseResults, samplesOf } from '#dist/capacity/measure/results.js';
import { Costs, leaveOneOut, worstOf } from '#dist/capacity/model/cost.js';
import { fitUsl, scalingOf, uslAt } from '#dist/capacity/model/scaling.js';
import { benchText } from '#dist/capacity/report/bench-text.js';
import { madeResults } from '../../support/capacity/made-results.js';
import { randomFrom } from '../../support/open-world.js';

// Costs between measured rates: a power of the rate, never rising, and how well each point follows from the others.
describe('costs', () => {
  const recorded = parseResults(readFileSync('data/capacity.json', 'utf8'));
  const streamOf = (costs: readonly (readonly [ratePerS: number, costUs: number])[]) => {
    const way = madeResults().ways.find(({ name }) => name === 'stream')!;
    const [first] = way.curve;
    return { ...way, curve: costs.map(([ratePerS, costUs]) => ({ ...first!, ratePerS, costUs })) };
  };
  /** Cost of a message at a rate, from a way whose backlog takes 5 µs. */
  const costAt = (way: ReturnType<typeof streamOf>, ratePerS: number): number =>
    new Costs(madeResults({ ways: [way] })).atUs('stream', 1, ratePerS);

  test('a cost that is a power of the rate is met at every rate, and by leaving points out', () => {
    // 500 µs at 100/s, and a hundredth at 200,000/s, which is the rate under backlog.
    const power = (ratePerS: number): number => 500 * (ratePerS / 100) ** (-Math.log(100) / Math.log(2000));
    const way = streamOf([100, 900, 8000, 60_000].map((rate) => [rate, power(rate)]));
    for (const ratePerS of [100, 300, 2000, 30_000])
      expect(costAt(way, ratePerS)).toBeCloseTo(power(ratePerS));
    for (const { measuredUs, predictedUs } of leaveOneOut([way]))
      expect(predictedUs).toBeCloseTo(measuredUs, 0);
  });

  test('below the first rate the cost stays what it was there, and it never rises with the rate', () => {
    const way = streamOf([
      [100, 80],
      [1000, 20],
      [2000, 40],
      [50_000, 10],
    ]);
    expect(costAt(way, 10)).toBeCloseTo(80);
    // The two that contradict each other meet at their geometric mean.
    expect(costAt(way, 1500)).toBeCloseTo(Math.sqrt(20 * 40));
    const costs = [1, 100, 400, 999, 1001, 1999, 5000, 60_000, 199_000, 300_000].map((rate) =>
      costAt(way, rate),
    );
    expect(costs).toEqual(costs.toSorted((a, b) => b - a));
  });

  test('the results that ship: each point from the others, where a line over log(rate) was 2.9 times too high', () => {
    const predictions = leaveOneOut(recorded.ways);
    expect(predictions.map(({ way }) => way)).toContain('mixed');
    expect(predictions).toHaveLength(22);
    const near = (way: string, ratePerS: number) =>
      predictions.find((each) => each.way === way && Math.round(each.ratePerS) === ratePerS)!.predictedUs;
    // Computed by hand: the straight line between both neighbours in logarithms.
    expect(near('single', 1681)).toBeCloseTo(101.08, 1);
    expect(near('stream', 7096)).toBeCloseTo(43.81, 1);
    expect(near('batch', 850)).toBeCloseTo(247.97, 1);
    const { measuredUs, predictedUs, way } = worstOf(predictions)!;
    expect([way, predictedUs / measuredUs]).toEqual(['stream', expect.closeTo(88.433 / 136.322, 3)]);
    expect(benchText(recorded)).toContain('predicts its own 22 points within 35.1 %');
  });

  test('a way without costs predicts nothing', () => {
    const way = streamOf([[100, 80]]);
    expect(leaveOneOut([way])).toEqual([]);
    expect(worstOf([])).toBeUndefined();
    expect(leaveOneOut([{ ...way, curve: way.curve.map((point) => ({ ...point, costUs: null })) }])).toEqual(
      [],
    );
  });

  describe('the surcharge of a message that comes alone', () => {
    const costs = new Costs(madeResults());
    const surcharge = (
      points: number,
      kindPerS: number,
      allPerS: number,
      busyAtBacklogCost: number,
    ): number => costs.wakeUpUs('stream', points, { kindPerS, allPerS, busyAtBacklogCost });

    test('of a kind that comes with others lies between that at its own rate and that at the rate of all', () => {
      const [own, together, all] = [
        surcharge(1, 1000, 1000, 0.01),
        surcharge(1, 1000, 4000, 0.02),
        surcharge(1, 4000, 4000, 0.02),
      ];
      expect(together).toBeLessThan(own);
      expect(together).toBeGreaterThan(all);
      // A power of both rates: at equal shares of the exponent that of their geometric mean.
      expect(together).toBeCloseTo(surcharge(1, 2000, 2000, 0.02), 1);
    });

    test('is larger for a larger message, and smaller the less a process sleeps', () => {
      // 85 µs under backlog are 17 times those of one point.
      expect(surcharge(4096, 300, 300, 0.0015)).toBeCloseTo(17 ** 0.15 * surcharge(1, 300, 300, 0.0015));
      expect(surcharge(4096, 300, 300, 0.5)).toBeCloseTo((0.5 / 0.9985) * surcharge(4096, 300, 300, 0.0015));
      expect(surcharge(4096, 300, 300, 1)).toBe(0);
    });
  });
});

// The law of scaling: its parameters come back from points that were made with them, and nothing is said that the
// data cannot support.
describe('the law of scaling', () => {
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
});
