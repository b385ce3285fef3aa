// The plots of the report, in their order.
import type { TopLevelSpec } from 'vega-lite';
import type { Results } from '#dist/capacity/measure/results.js';
import { CPU_LIMIT, type Plan } from '#dist/capacity/model/plan.js';
import { scalingOf, uslAt } from '#dist/capacity/model/scaling.js';

// A plot of the report, the command that measured it and its numbers as a table.

export interface Chart {
  readonly title: string;
  /** How to read it; one or two sentences. */
  readonly note: string;
  readonly command: string;
  readonly spec: TopLevelSpec;
  readonly titles: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** A rival of the kernel ladder. */
export interface PeerStep {
  readonly name: string;
  readonly nsPerPoint: number;
}

const BENCH = 'npm run bench -- capacity --json data/capacity.json';
export const WIDTH = 620;
export const HEIGHT = 300;

export const round = (value: number, digits = 3): number => Number(value.toPrecision(digits));

// Plots of what the machine gives: speed-up of processes, the kernel in process, memory.

/** Where the bars of the ladder begin: its axis has no zero. */
const MIN_NS = 10;

function scalingChart({ speedUps, machine }: Results): Chart {
  const scaling = scalingOf(speedUps);
  const points = speedUps.map(({ processes, speedUp }) => ({ processes, ...speedUp, samples: undefined }));
  const largest = Math.max(1, ...speedUps.map(({ processes }) => processes));
  const band =
    scaling.fits.length === 0
      ? []
      : Array.from({ length: scaling.mostProcesses }, (_, at) => {
          const processes = at + 1;
          const values = scaling.fits.map((fit) => uslAt(fit, processes)).sort((a, b) => a - b);
          const edge = (share: number) => values[Math.round(share * (values.length - 1))]!;
          return {
            processes,
            low: edge(0.05),
            high: edge(0.95),
            known: processes <= largest ? 'measured' : 'extrapolated',
          };
        });
  const x = {
    field: 'processes',
    type: 'quantitative' as const,
    title: 'processes',
    axis: { tickMinStep: 1 },
  };
  return {
    title: 'Speed-up of several processes',
    note: `From CPU time, n × cost of one ÷ cost of n. ${band.length === 0 ? `With ${machine.cores} cores no law can be fitted: the points are all that is known.` : 'The band is the Universal Scalability Law, 90 % of 400 fits; grey beyond what was measured.'}`,
    command: BENCH,
    spec: {
      ...{ width: WIDTH, height: HEIGHT },
      layer: [
        ...(band.length === 0
          ? []
          : [
              {
                data: { values: band },
                mark: { type: 'area' as const, opacity: 0.25 },
                encoding: {
                  x,
                  y: { field: 'low', type: 'quantitative' as const, title: 'speed-up' },
                  y2: { field: 'high' },
                  color: {
                    field: 'known',
                    type: 'nominal' as const,
                    title: 'law',
                    scale: { range: ['#3f88c5', '#7a8290'] },
                  },
                },
              },
            ]),
        {
          data: { values: points },
          mark: { type: 'rule' },
          encoding: {
            x,
            y: { field: 'low', type: 'quantitative', title: 'speed-up' },
            y2: { field: 'high' },
          },
        },
        {
          data: { values: points },
          mark: { type: 'point', filled: true, size: 60 },
          encoding: { x, y: { field: 'median', type: 'quantitative', scale: { zero: true } } },
        },
        {
          data: { values: [1, largest].map((n) => ({ processes: n, ideal: n })) },
          mark: { type: 'line', strokeDash: [4, 4], strokeWidth: 1, color: '#7a8290' },
          encoding: { x, y: { field: 'ideal', type: 'quantitative' } },
        },
      ],
    },
    titles: ['processes', 'speed-up', 'lower quartile', 'upper quartile'],
    rows: speedUps.map(({ processes, speedUp }) => [
      processes,
      round(speedUp.median),
      round(speedUp.low),
      round(speedUp.high),
    ]),
  };
}

function ladderChart({ ladder }: Results, peers: readonly PeerStep[]): Chart {
  const values = [
    ...ladder.map(({ name, nsPerPoint }) => ({ name, ns: round(nsPerPoint.median), whose: 'hexcodes' })),
    ...peers.map(({ name, nsPerPoint }) => ({ name, ns: round(nsPerPoint), whose: 'others' })),
  ];
  return {
    title: 'The kernel ladder',
    note: `In process, by tinybench, tasks in turns.${peers.length === 0 ? '' : ' The others are of another run, of npm run bench -- kernel: compare orders, not digits.'}`,
    command: peers.length === 0 ? BENCH : `${BENCH}; npm run bench -- kernel --rounds 31`,
    spec: {
      ...{ width: WIDTH - 160, height: { step: 20 }, data: { values } },
      mark: { type: 'bar' },
      encoding: {
        y: { field: 'name', type: 'nominal', sort: '-x', title: null, axis: { labelLimit: 330 } },
        x: {
          field: 'ns',
          type: 'quantitative',
          scale: { type: 'log', domainMin: MIN_NS },
          title: 'ns a point',
          axis: { format: '~s' },
        },
        x2: { datum: MIN_NS },
        color: { field: 'whose', type: 'nominal', title: null },
      },
    },
    titles: ['task', 'ns a point', ''],
    rows: values.map(({ name, ns, whose }) => [name, ns, whose]),
  };
}

function memoryChart({ overTime }: NonNullable<Results['memory']>): Chart {
  // As many as the plot has pixels.
  const step = Math.max(1, Math.ceil(overTime.length / WIDTH));
  const values = overTime
    .filter((_, at) => at % step === 0)
    .map(([s, bytes]) => ({ s, mb: round(bytes / 1e6) }));
  return {
    title: 'Memory of the service over the bench',
    note: 'Resident memory of one process while all profiles run against it, one after the other.',
    command: BENCH,
    spec: {
      ...{ width: WIDTH, height: 200, data: { values } },
      mark: { type: 'line', strokeWidth: 1.5 },
      encoding: {
        x: { field: 's', type: 'quantitative', title: 'seconds' },
        y: { field: 'mb', type: 'quantitative', title: 'MB', scale: { zero: true } },
      },
    },
    titles: ['s', 'MB'],
    rows: values.filter((_, at) => at % Math.ceil(values.length / 40 || 1) === 0).map(({ s, mb }) => [s, mb]),
  };
}

// Plots of how the service answers: the plan, throughput against latency, percentiles, sizes.

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

function throughputChart({ ways }: Results): Chart {
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

function sizesChart({ sizes }: Results): Chart {
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

export function chartsOf(results: Results, peers: readonly PeerStep[]): Chart[] {
  return [
    throughputChart(results),
    latencyChart(results),
    scalingChart(results),
    sizesChart(results),
    ladderChart(results, peers),
    ...(results.memory === null ? [] : [memoryChart(results.memory)]),
  ];
}
