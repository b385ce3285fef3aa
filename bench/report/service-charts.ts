// Plots of how the service answers: the plan, throughput against latency, percentiles, sizes.
import type { Results } from '#dist/capacity/measure/results.js';
import { CPU_LIMIT, type Plan } from '#dist/capacity/model/plan.js';
import { BENCH, type Chart, HEIGHT, round, WIDTH } from './chart.js';

export function planChart({ limits }: Plan): Chart {
  const { carries, asks } = limits.find(({ name }) => name === CPU_LIMIT)!;
  const rows = [
    ['the peak of this fleet', round(asks)],
    ['carried, by CPU and p99', round(carries)],
  ] as const;
  return {
    title: 'The peak of the planned fleet against capacity',
    note: 'Messages a second of one process.',
    command: 'hexcodes plan --vehicles 50000 --interval 5s --p99 50ms',
    spec: {
      ...{ width: WIDTH, height: 75, data: { values: rows.map(([name, perS]) => ({ name, perS })) } },
      mark: { type: 'bar', tooltip: false },
      encoding: {
        y: { field: 'name', type: 'nominal', sort: null, title: null, axis: { labelLimit: 260 } },
        x: { field: 'perS', type: 'quantitative', title: 'messages/s' },
        color: { field: 'name', type: 'nominal', legend: null, sort: null },
      },
    },
    titles: ['', 'messages/s'],
    rows,
  };
}

export function throughputChart({ ways }: Results): Chart {
  const points = ways.flatMap((way) =>
    [...way.curve, ...(way.knee?.steps ?? [])]
      .filter(({ p99Us }) => p99Us > 0)
      .map(({ ratePerS, p50Us, p99Us }) => ({
        ...{ way: way.name, rate: round(ratePerS), points: round(ratePerS * way.pointsPerUnit) },
        ...{ p50: round(p50Us / 1000), p99: round(p99Us / 1000) },
      })),
  );
  const target = ways[0]?.knee?.targetP99Us;
  return {
    title: 'Throughput against latency',
    note: 'p99 from the intended start, at rates that do not wait for the server; one process. Delays of the generator are in them. The line is the target of the search.',
    command: BENCH,
    spec: {
      ...{ width: WIDTH, height: HEIGHT },
      layer: [
        {
          data: { values: points },
          mark: { type: 'line', point: { size: 26 }, strokeWidth: 1.5 },
          encoding: {
            x: {
              field: 'rate',
              type: 'quantitative',
              scale: { type: 'log' },
              title: 'requests or frames a second',
              axis: { format: '~s' },
            },
            y: {
              field: 'p99',
              type: 'quantitative',
              scale: { type: 'log' },
              title: 'p99, ms',
              axis: { format: '~g' },
            },
            color: { field: 'way', type: 'nominal', title: 'way' },
            order: { field: 'rate' },
          },
        },
        ...(target === undefined
          ? []
          : [
              {
                data: { values: [{ target: target / 1000 }] },
                mark: { type: 'rule' as const, strokeDash: [4, 4] },
                encoding: { y: { field: 'target', type: 'quantitative' as const } },
              },
            ]),
      ],
    },
    titles: ['way', 'rate/s', 'points/s', 'p50, ms', 'p99, ms'],
    rows: points.map(({ way, rate, points, p50, p99 }) => [way, rate, points, p50, p99]),
  };
}

/** Also the plot of README.md. */
export function latencyChart({ ways }: Results): Chart {
  const points = ways.flatMap((way) =>
    [
      ['from the intended start', way.intendedUs] as const,
      ['from the actual start', way.naiveUs] as const,
    ].flatMap(([from, values]) =>
      values
        .filter(([percentile, us]) => percentile < 100 && us > 0)
        .map(([percentile, us]) => ({
          way: way.name,
          from,
          percentile,
          nines: 1 / (1 - percentile / 100),
          ms: round(us / 1000),
        })),
    ),
  );
  return {
    title: 'Latency percentiles at 80 % of the knee',
    note: 'On the axis of HdrHistogram: each step to the right is ten times rarer. Where the two lines part, requests were sent late because the generator or the connection was busy.',
    command: BENCH,
    spec: {
      ...{ width: WIDTH, height: HEIGHT, data: { values: points } },
      mark: { type: 'line', point: { size: 18 }, strokeWidth: 1.5 },
      encoding: {
        x: {
          ...{
            field: 'nines',
            type: 'quantitative',
            scale: { type: 'log', domain: [1, 10_000] },
            title: 'percentile',
          },
          axis: {
            values: [1, 2, 10, 100, 1000, 10_000],
            labelExpr:
              "datum.value == 1 ? '0 %' : datum.value == 2 ? '50 %' : datum.value == 10 ? '90 %' : datum.value == 100 ? '99 %' : datum.value == 1000 ? '99.9 %' : '99.99 %'",
          },
        },
        y: {
          field: 'ms',
          type: 'quantitative',
          scale: { type: 'log' },
          title: 'latency, ms',
          axis: { format: '~g' },
        },
        color: { field: 'way', type: 'nominal', title: 'way' },
        strokeDash: {
          ...{ field: 'from', type: 'nominal', title: 'counted', sort: null },
          legend: {
            symbolType: 'stroke',
            symbolStrokeColor: '#7a8290',
            symbolFillColor: 'transparent',
            symbolSize: 400,
          },
        },
      },
    },
    titles: ['way', 'counted', 'percentile', 'ms'],
    rows: points.map(({ way, from, percentile, ms }) => [way, from, percentile, ms]),
  };
}

export function sizesChart({ sizes }: Results): Chart {
  const values = sizes.map(({ kind, points, pointsPerS, costUs }) => ({
    ...{ kind, points, pointsPerS: round(pointsPerS) },
    ns: costUs === null ? null : round((1000 * costUs) / points),
  }));
  return {
    title: 'Batch and frame size against throughput',
    note: 'Under backlog, one process: what a request or frame costs beside its points is shared by all of them.',
    command: BENCH,
    spec: {
      ...{ width: WIDTH, height: HEIGHT, data: { values } },
      mark: { type: 'line', point: { size: 30 }, strokeWidth: 1.5 },
      encoding: {
        x: {
          field: 'points',
          type: 'quantitative',
          scale: { type: 'log' },
          title: 'points of a request or frame',
          axis: { format: '~s' },
        },
        y: {
          field: 'pointsPerS',
          type: 'quantitative',
          scale: { type: 'log' },
          title: 'points a second',
          axis: { format: '~s' },
        },
        color: { field: 'kind', type: 'nominal', title: 'way' },
      },
    },
    titles: ['way', 'points', 'points/s', 'CPU, ns a point'],
    rows: values.map(({ kind, points, pointsPerS, ns }) => [kind, points, pointsPerS, ns ?? '']),
  };
}
