// Plots of what the machine gives: speed-up of processes, the kernel in process, memory.
import type { Results } from '#dist/capacity/measure/results.js';
import { scalingOf, uslAt } from '#dist/capacity/model/scaling.js';
import { BENCH, type Chart, HEIGHT, type PeerStep, round, WIDTH } from './chart.js';

/** Where the bars of the ladder begin: its axis has no zero. */
const MIN_NS = 10;

export function scalingChart({ speedUps, machine }: Results): Chart {
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

export function ladderChart({ ladder }: Results, peers: readonly PeerStep[]): Chart {
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

export function memoryChart({ overTime }: NonNullable<Results['memory']>): Chart {
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
