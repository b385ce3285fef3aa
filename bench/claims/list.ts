// The figures of README.md. `test/unit/claims.test.ts` reads README.md and finds each of them here, word for word.

/** How a measured figure is judged: more, or less, is better; or it is to be equal. */
export type Better = 'more' | 'less' | 'equal';

export interface Claim {
  /** As it stands in README.md, on one line. */
  readonly text: string;
  /** The lowest and the highest that is claimed. */
  readonly claimed: readonly [number, number];
  readonly unit: string;
  readonly better: Better;
  /** The measurement of `bench/claims.ts`; undefined: it takes longer than five minutes, or data that does not ship. */
  readonly measure?: string;
  /** The command that measures it alone, and more thoroughly. */
  readonly command: string;
}

const WARD_TRUTH = 'npm run data -- --measure WARDS.csv --code-property code';
const share = (text: string, claimed: number, band: string): Claim => ({
  ...{ text, claimed: [claimed, claimed], unit: '%', better: 'equal', measure: band, command: WARD_TRUTH },
});

export const CLAIMS: readonly Claim[] = [
  {
    ...{ text: '25 million points a second through the stream', claimed: [25, 25], unit: 'million/s' },
    ...{
      better: 'more',
      measure: 'stream',
      command: "npm run bench -- bulk --only 'WebSocket binary encode, 4096'",
    },
  },
  {
    ...{ text: '11 million rows of CSV by HTTP', claimed: [11, 11], unit: 'million/s' },
    ...{ better: 'more', measure: 'csv', command: "npm run bench -- bulk --only 'HTTP CSV encode'" },
  },
  {
    ...{ text: '39 million points in process', claimed: [39, 39], unit: 'million/s' },
    ...{ better: 'more', measure: 'library', command: 'npm run bench -- kernel' },
  },
  {
    ...{ text: '99 of 100 in one cut short', claimed: [99, 100], unit: 'of 100', better: 'more' },
    command: 'npm run proof -- typos',
  },
  {
    ...{ text: '5 minutes of CPU', claimed: [5, 5], unit: 'min', better: 'less' },
    command: "bash -c 'time npm run test:fast'",
  },
  {
    ...{ text: '19 minutes of CPU', claimed: [19, 19], unit: 'min', better: 'less' },
    command: "bash -c 'time npm test'",
  },
  {
    ...{ text: '99.50 % have the right province', claimed: [99.5, 99.5], unit: '%', better: 'equal' },
    command: WARD_TRUTH,
  },
  share('61 % |', 61, 'share below 100 m'),
  share('87 % |', 87, 'share from 100 m'),
  share('98.7 % |', 98.7, 'share from 500 m'),
  share('99.8 % |', 99.8, 'share from 2 km'),
  share('99.99 % |', 99.99, 'share from 5 km'),
  {
    ...{ text: '99.65 % of points', claimed: [99.65, 99.65], unit: '%', better: 'equal' },
    command: WARD_TRUTH,
  },
  {
    ...{ text: 'hexagon, 48 m²', claimed: [48, 48], unit: 'm²', better: 'equal', measure: 'area' },
    command: 'npx hexcodes inspect HN-6GHP4-83RFR',
  },
  {
    ...{ text: 'takes 0.1 to 0.7 µs', claimed: [0.1, 0.7], unit: 'µs a row', better: 'less' },
    ...{ measure: 'tables', command: 'npm run bench -- files' },
  },
  {
    ...{ text: 'sorted 2.6', claimed: [2.6, 2.6], unit: 'µs a row', better: 'less' },
    ...{ measure: 'sorted', command: 'npm run bench -- files --only sort' },
  },
  {
    ...{ text: '15 to 35 (', claimed: [15, 35], unit: 'µs a row', better: 'less' },
    ...{ measure: 'maps and books', command: 'npm run bench -- claims' },
  },
  {
    ...{ text: 'some 0.2 s of CPU', claimed: [0.2, 0.2], unit: 's', better: 'less' },
    ...{ measure: 'start', command: 'npm run bench -- command' },
  },
  {
    ...{ text: 'the library alone (2.5 MB', claimed: [2.5, 2.5], unit: 'MB', better: 'less' },
    ...{ measure: 'library size', command: 'npm run pack' },
  },
];
