// The figures of README.md. `test/unit/documents.test.ts` reads README.md and finds each of them here, word for word.

/** How a measured figure is judged: more, or less, is better; or it is to be equal. */
type Better = 'more' | 'less' | 'equal';

export interface Claim {
  /** As it is in README.md, on one line. */
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

/** A row that its command alone measures. */
const byCommand = (text: string, claimed: number, unit: string, better: Better, command: string): Claim => ({
  ...{ text, claimed: [claimed, claimed], unit, better, command },
});
/** A line of one of the tables of multiples: its lowest and its highest. */
const multiples = (text: string, lowest: number, highest: number, command: string): Claim => ({
  ...{ text, claimed: [lowest, highest], unit: '×', better: 'more', command },
});
const WARD_TRUTH = 'npm run data -- --measure WARDS.csv --code-property code';
const NAIVE = 'npm run bench -- naive';
const PEERS = 'npm run bench -- peers';
const STREAMS = 'npm run bench -- streams';

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
  byCommand('99 of 100 answers | within 11 ms', 11, 'ms', 'less', STREAMS),
  {
    ...{ text: '136 MB at its start, 215 MB after two million rows', claimed: [136, 215], unit: 'MB' },
    ...{ better: 'less', measure: 'memory', command: 'npm run claims' },
  },
  byCommand('5 KB for an open stream', 5, 'KB', 'less', STREAMS),
  byCommand('3 minutes of CPU', 3, 'min', 'less', "bash -c 'time npm run test:fast'"),
  byCommand('7 minutes of CPU', 7, 'min', 'less', "bash -c 'time npm test'"),
  multiples('2.8 × | 4.5 × | 21 × | 45 ×', 2.8, 45, NAIVE),
  multiples('2.7 × | 4.6 × | 18 × | 34 ×', 2.7, 34, NAIVE),
  multiples('3.7 × | 5.3 × | 22 × | 39 ×', 3.7, 39, NAIVE),
  multiples('1.2 × | 1.6 × | 20 × | 36 ×', 1.2, 36, NAIVE),
  multiples('42 × | 27 ×', 27, 42, PEERS),
  multiples('11 ×; 15 × | 7.7 ×', 7.7, 15, PEERS),
  multiples('8.1 ×; 9.1 × | 3.8 ×', 3.8, 9.1, PEERS),
  multiples('8.7 × | **0.95 ×**', 0.95, 8.7, 'python clients/python/bench.py --rounds 9'),
  byCommand('costs 2.3 × as much', 2.3, '×', 'less', 'python clients/python/bench.py --rounds 15'),
  multiples('5.0 ×; 1.7 ×', 1.7, 5, PEERS),
  multiples('1.5 ×; 2.8 ×', 1.5, 2.8, 'npm run bench -- files'),
  {
    ...{ text: '99 of 100 in one cut short', claimed: [99, 100], unit: 'of 100', better: 'more' },
    command: 'npm run proof -- typos',
  },
  byCommand('99.50 % of points', 99.5, '%', 'equal', WARD_TRUTH),
  {
    ...{ text: '61 % of points within 100 m', claimed: [61, 61], unit: '%', better: 'equal' },
    ...{ measure: 'share below 100 m', command: WARD_TRUTH },
  },
];
