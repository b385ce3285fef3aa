// The flags of `hexcodes plan`, each with its bounds, and which of them a trace takes the place of.

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Fleet, FleetProfile } from '../../capacity/model/fleet.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { grouped } from '../../files/terminal/paint.js';
import { MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';
import { numberFrom, readDuration, readGrowth, readNightly, readShare, wholeFrom } from './quantities.js';

const PROFILES: readonly FleetProfile[] = ['stream', 'single', 'batch'];
const MOST_VEHICLES = 1e9;
const MOST_GATEWAYS = 1e6;
const MOST_MACHINES = 1e6;
const MOST_CORES = 10_000;
const MOST_PRICE = 1e9;

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
  readonly growth: number;
  readonly p99: number;
  readonly headroom: number;
  readonly survive: number;
  readonly coresPerMachine?: number;
  readonly memoryPerMachine?: number;
  readonly link: number;
  readonly price?: number;
  readonly from?: string;
  readonly trace?: string;
  readonly json?: true;
}

/** They say what a trace says itself, or what a trace does not say: its bytes. */
const ONLY_OF_FLEETS: readonly (keyof PlanOptions)[] = [
  ...(['vehicles', 'interval', 'pointsPerReport', 'reportTogether', 'flush', 'gateways'] as const),
  ...(['peak', 'nightly', 'growth', 'link'] as const),
];

export function addPlanFlags(command: Command): Command {
  return command
    .option('--vehicles <number>', 'that report, up to 1e9', wholeFrom(1, MOST_VEHICLES))
    .addOption(
      new Option('--interval <time>', 'between reports of a vehicle')
        .argParser(readDuration)
        .default(5000, '5s'),
    )
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
      'gateways collect for this time, or so many points, and send them together',
      readFlush,
    )
    .option('--gateways <number>', 'of --flush', wholeFrom(1, MOST_GATEWAYS), 4)
    .option('--peak <number>', 'peak ÷ mean over a day, 1 or more', numberFrom(1, 1e6), 2)
    .option('--nightly <points:time>', 'CSV that comes every night, such as 2e9:6h', readNightly)
    .addOption(
      new Option('--growth <share/y:time>', 'of the fleet, such as 30%/y:2y')
        .argParser(readGrowth)
        .default(1, 'none'),
    )
    .addOption(
      new Option('--p99 <time>', 'that 99 of 100 messages have to hold')
        .argParser(readDuration)
        .default(50, '50ms'),
    )
    .addOption(
      new Option('--headroom <share>', 'of the capacity that the peak leaves free')
        .argParser(readHeadroom)
        .default(0.3, '30%'),
    )
    .option('--survive <number>', 'machines that may fail at the peak', wholeFrom(0, MOST_MACHINES), 1)
    .option('--cores-per-machine <number>', '(as many as the measured machine has)', wholeFrom(1, MOST_CORES))
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
    .option('--price <price/core-h>', 'of one core for one hour, such as 0.04/core-h', readPrice)
    .option(
      '--from <file>',
      'results of hexcodes bench --json (those of a machine of ours, which the answer names)',
    )
    .option(
      '--trace <file>',
      'CSV of arrivals with a column time (seconds or ISO 8601), and perhaps vehicle and points: simulates it instead of a fleet',
    )
    .option('--json', 'the plan as JSON');
}

/** @throws CliFailure USAGE that names the flags of a fleet that were given beside --trace */
export function refuseFleetFlags(command: Command): void {
  const given = command.options
    .filter((option) => (ONLY_OF_FLEETS as readonly string[]).includes(option.attributeName()))
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .map(({ long }) => long);
  if (given.length === 0) return;
  throw new CliFailure(
    EXIT.USAGE,
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
  if (match !== null && Number(match[1]) <= MOST_PRICE) return Number(match[1]);
  throw new InvalidArgumentError(`Write a price as 0.04/core-h, up to ${grouped(MOST_PRICE)}.`);
}
