// `hexcodes bench`: measures this machine with the shipped service, or a server elsewhere; or compares two such
// measurements.
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { runBench } from '../../capacity/measure/bench.js';
import { FULL, PROFILES, QUICK, TINY } from '../../capacity/measure/knee-search.js';
import { benchText, compareResults, comparisonText } from '../../capacity/report/bench-text.js';
import { badUsage, CliFailure, EXIT, reasonOf } from '../../files/exit-codes.js';
import { say } from '../../files/terminal/say.js';
import { durationOption, ResultsOutput, readDuration, readResultsFile } from '../capacity/options.js';
import { givenOptions } from '../conversion-options.js';

// Shows the current part of a bench on standard error: on a terminal one line that is redrawn, elsewhere a line for
// each part.
const CLEAR_LINE = '\r\u001b[K';
const BAR_CELLS = 20;

/** Share of a bench from which its speed predicts the end. */
const MIN_SHARE = 0.03;

const clock = (ms: number): string =>
  `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, '0')}`;

class BenchProgress {
  readonly #isTerminal = process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  readonly #startMs = performance.now();
  #last = '';

  show(text: string, share: number): void {
    if (this.#isTerminal) {
      const full = Math.round(share * BAR_CELLS);
      const bar = '█'.repeat(full) + '░'.repeat(BAR_CELLS - full);
      say(
        `${CLEAR_LINE}${bar} ${Math.round(100 * share)} %  ${this.#elapsed()}  ${text}${this.#left(share)}`,
      );
    } else if (text !== this.#last) say(`${this.#elapsed()}  ${text}${this.#left(share)}\n`);
    this.#last = text;
  }

  /** Removes the line from the terminal. */
  stop(): void {
    if (this.#isTerminal) say(CLEAR_LINE);
  }

  #elapsed(): string {
    return clock(performance.now() - this.#startMs);
  }

  /** Time left at the current speed; '' at the beginning and at the end. */
  #left(share: number): string {
    if (share < MIN_SHARE || share >= 1) return '';
    return `, some ${clock(((performance.now() - this.#startMs) * (1 - share)) / share)} left`;
  }
}

interface Options {
  readonly quick?: true;
  readonly patience?: number;
  readonly tiny?: true;
  readonly json?: string;
  readonly target?: string;
  readonly keyFile?: string;
  readonly only?: string;
  readonly p99: number;
  readonly seed: number;
  readonly compare?: true;
}

export default function declare(program: Command): void {
  program
    .command('bench')
    .description(
      'Measure this machine with the shipped service, or a server elsewhere: cost and rate of each way in, latencies at a rate that does not wait for the server, kernel, memory and speed-up. Takes some 25 minutes, with --quick some 4, on a machine that does nothing else, and up to 6 on one that others disturb.',
    )
    .argument('[files...]', 'with --compare: two files of results')
    .option('--quick', 'some 4 minutes instead of 25, with wider spreads')
    .option(
      '--patience <time>',
      'for waiting until others leave the machine alone and measuring again, in all (30s with --quick, else 5min)',
      readDuration,
    )
    .option('--json <file>', 'write the results for hexcodes plan, --compare and the report; - is stdout')
    .option('--target <url>', 'measure this server instead of one of its own; needs --key-file')
    .option('--key-file <file>', 'the API key for --target')
    .option('--only <ways>', `of ${PROFILES.map(({ name }) => name).join(', ')}: these, with commas between`)
    .addOption(durationOption('--p99 <time>', 'the latency that the capacity is searched for', 50, '50ms'))
    .option('--seed <number>', 'of the arrivals', readSeed, 1)
    // Hidden option for tests, which look at the shape of the results only.
    .addOption(new Option('--tiny').hideHelp())
    .option('--compare', 'compare two files of results: before, after')
    .addHelpText(
      'after',
      `
Ways: single (one position a call), batch (JSON batches of 100 positions, of six spellings in turns), csv (bulk CSV of 1,000
rows: plain, quoted and with blanks), stream (frames of one position), mixed (1,000 vehicles on the stream, and a body of CSV
for every 4,000 frames).

Results are the CPU time of a unit under backlog, and at rising rates from 100/s, where each request wakes a sleeping process
and costs several times as much; service times; and the knee, the highest rate at which the p99 stays below --p99 with Poisson
arrivals, confirmed with constant ones. An unconfirmed knee is shown as –. Latency is counted from when a request should have
started. Requests that have waited for a second are skipped; a rate is not held if more than one in a thousand was skipped or
refused. Every hundredth answer is compared with the library, and a wrong one ends the run.

--compare prints how the runs differ besides the code, then for each figure better or worse (the middle halves of the samples do
not overlap, and the medians differ by 3 % or more), no difference seen, or why it was not compared.

Examples:
  $ hexcodes bench --quick --json results.json
  $ hexcodes plan --vehicles 50000 --interval 5s --from results.json
  $ hexcodes bench --target http://10.0.0.7:8080 --key-file key --quick
  $ hexcodes bench --compare before.json after.json

Exit code 3: a file is not a file of results, or the two have no figure in common. Exit code 5: the machine was too noisy for figures of
tails; everything else is in the results.`,
    )
    .action((files: string[], options: Options, command: Command) =>
      options.compare ? compare(files, command) : measure(files, options),
    );
}

function compare(files: readonly string[], command: Command): void {
  const other = givenOptions(command).find(({ long }) => long !== '--compare');
  if (other !== undefined) throw badUsage(`${other.long} is for measuring: it does not apply to --compare`);
  const [before, after] = files;
  if (before === undefined || after === undefined || files.length > 2)
    throw badUsage('--compare takes two files of results', 'hexcodes bench --compare A.json B.json');
  const comparison = compareResults(readResultsFile(before), readResultsFile(after));
  if (comparison.figures.length === 0)
    throw new CliFailure(
      EXIT.BAD_INPUT,
      `${before} and ${after} have no figure in common, so there is nothing to compare`,
      'Measure the same ways in both: --only.',
    );
  process.stdout.write(comparisonText(comparison, before, after));
}

async function measure(files: readonly string[], options: Options): Promise<void> {
  const { json, only, patience, quick, tiny } = options;
  if (files.length > 0) throw badUsage('files are for --compare');
  const names = only?.split(',').map((name) => name.trim());
  const unknown = names?.find((name) => !PROFILES.some((profile) => profile.name === name));
  if (unknown !== undefined) throw badUsage(`--only ${unknown}: there is no such way`);
  const target = targetOf(options);
  const output = json === undefined ? undefined : new ResultsOutput(json);
  const progress = new BenchProgress();
  const durations = tiny ? TINY : quick ? QUICK : FULL;
  process.once('SIGINT', () => process.exit(EXIT.INTERRUPTED));
  process.once('SIGTERM', () => process.exit(EXIT.TERMINATED));
  const results = await runBench({
    durations: patience === undefined ? durations : { ...durations, againMs: patience },
    isQuick: quick === true,
    seed: options.seed,
    targetP99Us: 1000 * options.p99,
    target,
    only: names,
    onProgress: (text, share) => progress.show(text, share),
  }).finally(() => progress.stop());
  try {
    await output?.write(`${JSON.stringify(results)}\n`);
  } finally {
    // A disk that is full by now must not lose the figures as well.
    if (output?.isStandardOutput === true) say(benchText(results));
    else process.stdout.write(benchText(results));
  }
  if (results.isQuietEnough) return;
  say(
    'the machine was too noisy for figures of tails: a thread that only sleeps was late, the same work took longer than before, or the hypervisor gave the cores to others (noise, above); try it with --patience 15min\n',
  );
  process.exitCode = EXIT.TOO_NOISY;
}

function targetOf({ target, keyFile }: Options) {
  if (target === undefined) return undefined;
  if (!/^https?:\/\//.test(target) || !URL.canParse(target))
    throw badUsage(`--target ${target}: not an address of a server, such as http://10.0.0.7:8080`);
  if (keyFile === undefined) throw badUsage('--target needs --key-file, a file with an API key');
  try {
    return { base: new URL(target).origin, key: readFileSync(keyFile, 'utf8').trim(), pids: [] };
  } catch (error) {
    throw new CliFailure(EXIT.BAD_INPUT, `${keyFile}: ${reasonOf(error)}`);
  }
}

function readSeed(text: string): number {
  const seed = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(seed)) throw new InvalidArgumentError('It is a whole number from 0 on.');
  return seed;
}
