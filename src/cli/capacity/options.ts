// The flags of `hexcodes plan`, each with its bounds, and which of them a trace replaces.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseResults, type Results } from '../../capacity/measure/results.js';
import type { Fleet, FleetProfile } from '../../capacity/model/fleet.js';
import { destinationOf, type FileDestination } from '../../files/disk/destination.js';
import { DeviceOutput, FileOutput, type Output, StandardOutput } from '../../files/disk/output.js';
import { badUsage, CliFailure, EXIT, reasonOf } from '../../files/exit-codes.js';
import { grouped } from '../../files/terminal/say.js';
import { MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';
import { givenOptions } from '../conversion-options.js';

// Durations, shares and counts as people write them on the command line: `5s`, `40%`, `2e9`, `50k`.
const MS_OF: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  min: 60_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  y: 365 * 86_400_000,
};
const DIGITS_OF: Readonly<Record<string, number>> = { '': 0, k: 3, M: 6, G: 9 };
const MAX_YEARS = 100;
const MAX_GROWTH = 1000;
const MAX_NIGHTLY_POINTS = 1e15;

/** @returns milliseconds, above 0 */
export function readDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|min|m|h|d|y)$/.exec(text.trim());
  const ms = match === null ? 0 : Number(match[1]) * MS_OF[match[2]!]!;
  if (ms > 0 && ms <= MAX_YEARS * MS_OF.y!) return ms;
  throw new InvalidArgumentError(`Write a time as 50ms, 5s, 10min, 6h or 2d, up to ${MAX_YEARS}y.`);
}

/** @param shown the default as the help shows it */
export const durationOption = (flags: string, help: string, usualMs: number, shown: string): Option =>
  new Option(flags, help).argParser(readDuration).default(usualMs, shown);

/** `40%` or `0.4`. @returns 0 to 1 */
function readShare(text: string): number {
  const share = shareOf(text);
  if (share <= 1) return share;
  throw new InvalidArgumentError('Write a share as 40% or 0.4.');
}

/** NaN for an invalid text. */
function shareOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?(%?)$/.exec(text.trim());
  return match === null ? Number.NaN : Number(match[1]) / (match[2] === '%' ? 100 : 1);
}

/** `50000`, `50k`, `2e9`, `1.5M`, `50,000`; NaN for an invalid text. */
function numberOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(?:e(\d+))? ?([kMG]?)$/.exec(
    text.trim().replace(/(?<=\d)[_,](?=\d{3}(?!\d))/g, ''),
  );
  if (match === null) return Number.NaN;
  const [, digits, exponent = '0', unit = ''] = match;
  // As one literal: 1.005 × 1000 is not 1005 in binary.
  return Number(`${digits}e${Number(exponent) + DIGITS_OF[unit]!}`);
}

/** @returns a reader of numbers within bounds, whole or not */
function numberFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = numberOf(text);
    if (count >= least && count <= most) return count;
    throw new InvalidArgumentError(
      `Write a number from ${grouped(least)} to ${grouped(most)}, as 2.5, 50000, 50k or 2e9.`,
    );
  };
}

/** @returns a reader of whole numbers within bounds */
function wholeFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    // `50.000` is fifty to some and fifty thousand to others.
    const count = /^\s*\d+\.\d+\s*$/.test(text) ? Number.NaN : numberOf(text);
    if (Number.isInteger(count) && count >= least && count <= most) return count;
    throw new InvalidArgumentError(
      `Write a whole number from ${grouped(least)} to ${grouped(most)}, as 3, 5000, 5k or 2e3.`,
    );
  };
}

/** `2e9:6h`: a number of points within a window of every night. */
function readNightly(text: string): { points: number; windowMs: number } {
  const [points, window, ...rest] = text.split(':');
  if (points === undefined || window === undefined || rest.some((each) => each !== 'csv'))
    throw new InvalidArgumentError('Write it as 2e9:6h, points and the time in which they come.');
  const windowMs = readDuration(window);
  if (windowMs > MS_OF.d!) throw new InvalidArgumentError('The time of every night is a day at most.');
  return { points: wholeFrom(1, MAX_NIGHTLY_POINTS)(points), windowMs };
}

export interface Growth {
  /** 1 or more. */
  readonly factor: number;
  /** Time until the factor is reached; 0 without growth. */
  readonly ms: number;
}

/** `30%/y:2y`: the share of a year, which may be above 100 %, and for how long. */
function readGrowth(text: string): Growth {
  const match = /^([^/]+)\/y:(.+)$/.exec(text.trim());
  const share = match === null ? Number.NaN : shareOf(match[1]!);
  if (Number.isNaN(share))
    throw new InvalidArgumentError('Write it as 30%/y:2y, growth of a year and the time.');
  const ms = readDuration(match![2]!);
  const factor = (1 + share) ** (ms / MS_OF.y!);
  if (factor <= MAX_GROWTH) return { factor, ms };
  throw new InvalidArgumentError(`No more than ${grouped(MAX_GROWTH)} times the fleet in all.`);
}

const NO_GROWTH: Growth = { factor: 1, ms: 0 };
const PROFILES: readonly FleetProfile[] = ['stream', 'single', 'batch'];
const MAX_VEHICLES = 1e9;
const MAX_GATEWAYS = 1e6;
const MAX_MACHINES = 1e6;
const MAX_CORES = 10_000;
const MAX_PRICE = 1e9;

export interface PlanOptions {
  readonly vehicles?: number;
  readonly interval: number;
  readonly pointsPerReport: number;
  readonly reportTogether: number;
  readonly profile: FleetProfile;
  readonly flush?: Fleet['flush'];
  readonly gateways: number;
  readonly peak: number;
  readonly nightly?: Fleet['nightly'];
  readonly growth: Growth;
  readonly counts?: string;
  readonly p99: number;
  readonly headroom: number;
  readonly survive: number;
  readonly coresPerMachine?: number;
  readonly memoryPerMachine?: number;
  readonly link: number;
  readonly proxies: number;
  readonly price?: number;
  readonly engine?: 'nats';
  readonly replicas: number;
  readonly maxAge: number;
  readonly once?: number;
  readonly format: 'csv' | 'ndjson' | 'parquet' | 'arrow';
  readonly within: number;
  readonly from?: string;
  readonly trace?: string;
  readonly assumeLinear?: true;
  readonly force?: true;
  readonly explain?: true;
  readonly html?: string;
  readonly json?: true;
}

/** Flags for facts that a trace itself holds, or for bytes, which no trace has. */
const ONLY_OF_FLEETS: readonly (keyof PlanOptions)[] = [
  ...(['vehicles', 'interval', 'pointsPerReport', 'reportTogether', 'flush', 'gateways'] as const),
  ...(['peak', 'counts', 'nightly', 'growth', 'link', 'proxies', 'html'] as const),
  ...(['engine', 'replicas', 'maxAge', 'once', 'format', 'within'] as const),
];

export function addPlanFlags(command: Command): Command {
  return command
    .option('--vehicles <number>', 'that report, up to 1e9', wholeFrom(1, MAX_VEHICLES))
    .addOption(durationOption('--interval <time>', 'between reports of a vehicle', 5000, '5s'))
    .option('--points-per-report <number>', 'positions of a report', wholeFrom(1, MAX_FRAME_POINTS), 1)
    .option(
      '--report-together <share>',
      'of the vehicles that report in the same moment of every interval',
      readShare,
      0,
    )
    .addOption(
      new Option('--profile <name>', 'frames on a stream of each vehicle, HTTP requests, or JSON batches')
        .choices(PROFILES)
        .default('stream'),
    )
    .option(
      '--flush <time or points>',
      'gateways collect for this time, or up to this number of points, and send them together',
      readFlush,
    )
    .option('--gateways <number>', 'of --flush', wholeFrom(1, MAX_GATEWAYS), 4)
    .option('--peak <number>', 'peak ÷ mean over a day, 1 or more', numberFrom(1, 1e6), 2)
    .option(
      '--counts <file>',
      'CSV of what came, columns time (ISO 8601 or seconds) and count, of hours or shorter: its busiest hour ÷ mean instead of --peak',
    )
    .option('--nightly <points:time>', 'CSV that comes every night, such as 2e9:6h', readNightly)
    .addOption(
      new Option('--growth <share/y:time>', 'of the fleet, such as 30%/y:2y')
        .argParser(readGrowth)
        .default(NO_GROWTH, 'none'),
    )
    .addOption(durationOption('--p99 <time>', 'that 99 of 100 messages have to hold', 50, '50ms'))
    .addOption(
      new Option('--headroom <share>', 'of the capacity that the peak leaves free')
        .argParser(readHeadroom)
        .default(0.3, '30%'),
    )
    .option('--survive <number>', 'machines that may fail at the peak', wholeFrom(0, MAX_MACHINES), 1)
    .option('--cores-per-machine <number>', '(as many as the measured machine has)', wholeFrom(1, MAX_CORES))
    .option(
      '--memory-per-machine <bytes>',
      'such as 16G (as much as the measured machine has)',
      wholeFrom(1, 1e15),
    )
    .addOption(
      new Option('--link <bits>', 'bits a second of the network of a machine')
        .argParser(numberFrom(1, 1e15))
        .default(1e9, '1G'),
    )
    .option(
      '--proxies <number>',
      'that end TLS before the machines and share the connections; 0: none',
      wholeFrom(0, MAX_MACHINES),
      1,
    )
    .option('--price <price/core-h>', 'of one core for one hour, such as 0.04/core-h', readPrice)
    .addOption(
      new Option('--engine <name>', 'workers of a message bus instead of the service').choices(['nats']),
    )
    .option('--replicas <number>', 'of --engine: servers that hold each message', wholeFrom(1, 5), 1)
    .addOption(
      durationOption('--max-age <time>', 'of --engine: how long streams keep messages', 86_400_000, '24h'),
    )
    .option(
      '--once <rows>',
      'a history that is converted once, such as 2e9, instead of a fleet',
      wholeFrom(1, 1e15),
    )
    .addOption(
      new Option('--format <name>', 'of the files of --once')
        .choices(['csv', 'ndjson', 'parquet', 'arrow'])
        .default('csv'),
    )
    .addOption(durationOption('--within <time>', 'in which --once has to be done', 28_800_000, '8h'))
    .option(
      '--from <file>',
      'results of hexcodes bench --json (those of a machine of ours, which the answer names)',
    )
    .option(
      '--trace <file>',
      'CSV of arrivals with a column time (seconds or ISO 8601), and perhaps vehicle and points: simulates it instead of a fleet',
    )
    .option(
      '--assume-linear',
      'more processes on a machine than were measured carry in proportion; else they are not used',
    )
    .option('--force', 'plan from results of a machine that was too noisy, which the first line says')
    .option('--explain', 'add the arithmetic, and which inputs were measured or assumed')
    .option(
      '--html <file>',
      'one page: the plan, replicas by rate, by hour of --counts and by month of --growth; - is stdout',
    )
    .option('--json', 'the plan as JSON, as docs/reference/plan.schema.json describes it');
}

/** @throws CliFailure USAGE that names the flags of a fleet given together with --trace */
export function refuseFleetFlags(command: Command): void {
  const given = givenOptions(command)
    .filter((option) => (ONLY_OF_FLEETS as readonly string[]).includes(option.attributeName()))
    .map(({ long }) => long);
  if (given.length === 0) return;
  throw badUsage(
    `${given.join(', ')}: not beside --trace, whose arrivals are simulated as they are`,
    'Beside it: --profile, --p99, --headroom, --survive, --cores-per-machine, --memory-per-machine, --price, --from, --json.',
  );
}

/** `1s`, or a number of points. */
function readFlush(text: string): Fleet['flush'] {
  if (/[a-z]$/.test(text) && !/^[\d.]+k$/.test(text)) return { everyMs: readDuration(text) };
  try {
    return { points: wholeFrom(1, MAX_FRAME_POINTS)(text) };
  } catch {
    throw new InvalidArgumentError(
      `Write a time with its unit, as 1s, or a whole number of points from 1 to ${grouped(MAX_FRAME_POINTS)}, the most of one message.`,
    );
  }
}

function readHeadroom(text: string): number {
  const share = readShare(text);
  if (share < 1) return share;
  throw new InvalidArgumentError('With 100 % nothing may be used.');
}

function readPrice(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(?:\/core-?h)?$/.exec(text.trim());
  if (match !== null && Number(match[1]) <= MAX_PRICE) return Number(match[1]);
  throw new InvalidArgumentError(`Write a price as 0.04/core-h, up to ${grouped(MAX_PRICE)}.`);
}

// The output of `hexcodes bench --json`: checked to be writable before minutes of measuring, written at their end. An
// existing file keeps its content until the new one is complete, and an interrupted bench leaves no new file.

// Reads a file of results of `hexcodes bench`, or the one that ships with the package.
const SHIPPED = fileURLToPath(new URL('../../../data/capacity.json', import.meta.url));

/** @param path undefined: the shipped one */
export function readResultsFile(path: string | undefined): Results {
  try {
    return parseResults(readFileSync(path ?? SHIPPED, 'utf8'));
  } catch (error) {
    throw new CliFailure(EXIT.BAD_INPUT, `${path ?? SHIPPED}: ${reasonOf(error)}`);
  }
}

export class ResultsOutput {
  /** Whether the results go to standard output, so that messages for people must go elsewhere. */
  readonly isStandardOutput: boolean;
  readonly #open: () => Output;

  /**
   * @param path `-` is standard output
   * @throws CliFailure BAD_OUTPUT where it cannot be written
   */
  constructor(path: string) {
    const destination = destinationOf(path);
    const descriptor = destination.kind === 'descriptor' ? destination.descriptor : undefined;
    this.isStandardOutput = descriptor === 1;
    if (descriptor === 1) this.#open = () => new StandardOutput(destination.name, process.stdout);
    else if (descriptor === 2) this.#open = () => new StandardOutput(destination.name, process.stderr);
    else if (destination.kind === 'file') {
      unfinished(destination).abandon();
      this.#open = () => unfinished(destination);
    } else {
      const device = new DeviceOutput(destination);
      this.#open = () => device;
    }
  }

  /** Writes the results; called once. @throws CliFailure BAD_OUTPUT */
  async write(text: string): Promise<void> {
    const output = this.#open();
    try {
      await output.write(Buffer.from(text));
      await output.finish();
    } catch (error) {
      output.abandon();
      throw error;
    }
  }
}

const unfinished = (destination: FileDestination): FileOutput => new FileOutput(destination, false);
