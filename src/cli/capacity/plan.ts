// `hexcodes plan`: how many cores, processes and machines a fleet needs, from results of `hexcodes bench`.
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Results } from '../../capacity/measure/results.js';
import { Costs } from '../../capacity/model/cost.js';
import type { Fleet, FleetProfile } from '../../capacity/model/fleet.js';
import { type PlanRequest, planFor } from '../../capacity/model/plan.js';
import { planTrace } from '../../capacity/model/trace-plan.js';
import { planText } from '../../capacity/report/plan-text.js';
import { traceText } from '../../capacity/report/trace-text.js';
import { parseTrace } from '../../capacity/simulate/trace.js';
import { CliFailure, EXIT } from '../exit-codes.js';
import { reasonOf } from '../file-faults.js';
import {
  readCount,
  readDuration,
  readGrowth,
  readNightly,
  readShare,
  readWholeNumber,
} from './quantities.js';
import { readResultsFile } from './results-file.js';

const PROFILES: readonly FleetProfile[] = ['stream', 'single', 'batch'];

interface Options {
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

export default function declare(program: Command): void {
  program
    .command('plan')
    .summary('how many machines a fleet needs')
    .description(
      'Say how many cores, processes and machines a fleet needs and which latency it will see, from results of hexcodes bench: a range for each figure, the limits in their order, and what-ifs.',
    )
    .option('--vehicles <number>', 'that report', readCount)
    .option('--interval <time>', 'between reports of a vehicle', readDuration, 5000)
    .option('--points-per-report <number>', 'positions of a report', readCount, 1)
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
    .option('--gateways <number>', 'of --flush', readWholeNumber, 4)
    .option('--peak <number>', 'peak ÷ mean over a day', readCount, 2)
    .option('--nightly <points:time>', 'CSV that comes every night, such as 2e9:6h', readNightly)
    .option('--growth <share/y:time>', 'of the fleet, such as 30%/y:2y', readGrowth, 1)
    .option('--p99 <time>', 'that 99 of 100 messages have to hold', readDuration, 50)
    .option('--headroom <share>', 'of the capacity that the peak leaves free', readHeadroom, 0.3)
    .option('--survive <number>', 'machines that may fail at the peak', readWholeNumber, 1)
    .option('--cores-per-machine <number>', '(as many as the measured machine has)', readWholeNumber)
    .option('--memory-per-machine <bytes>', 'such as 16G (as much as the measured machine has)', readCount)
    .option('--link <bits>', 'bits a second of the network of a machine', readCount, 1e9)
    .option('--price <price/core-h>', 'of one core for one hour, such as 0.04/core-h', readPrice)
    .option(
      '--from <file>',
      'results of hexcodes bench --json (those of a machine of ours, which the answer names)',
    )
    .option(
      '--trace <file>',
      'CSV of arrivals with a column time (seconds or ISO 8601): simulates it instead of a fleet',
    )
    .option('--json', 'the plan as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ hexcodes plan --vehicles 50000 --interval 5s --p99 50ms --headroom 40%
  $ hexcodes plan --vehicles 50k --profile single --report-together 20% --from results.json
  $ hexcodes plan --vehicles 50k --flush 1s --nightly 2e9:6h --price 0.04/core-h
  $ hexcodes plan --trace arrivals.csv`,
    )
    .action(plan);
}

function plan(options: Options): void {
  const results = readResultsFile(options.from);
  const source = options.from ?? 'recorded, a machine of ours: run hexcodes bench on yours';
  try {
    process.stdout.write(
      options.trace === undefined ? fleetAnswer(options, results, source) : traceAnswer(options, results),
    );
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure(
      EXIT.BAD_INPUT,
      `${options.from ?? 'the recorded results'}: ${(error as Error).message}`,
    );
  }
}

function fleetAnswer(options: Options, results: Results, source: string): string {
  const { vehicles } = options;
  if (vehicles === undefined)
    throw new CliFailure(EXIT.USAGE, 'how many vehicles?', 'hexcodes plan --vehicles 50000 --interval 5s');
  const request: PlanRequest = {
    fleet: {
      ...{ vehicles, intervalMs: options.interval, pointsPerReport: options.pointsPerReport },
      ...{
        togetherShare: options.reportTogether,
        profile: options.profile,
        flush: options.flush,
        gateways: options.gateways,
      },
      ...{ peakFactor: options.peak, growth: options.growth, nightly: options.nightly },
    },
    ...{ targetP99Us: 1000 * options.p99, headroom: options.headroom, survive: options.survive },
    coresPerMachine: options.coresPerMachine ?? results.machine.cores,
    memoryBytesPerMachine: options.memoryPerMachine ?? results.machine.memoryBytes,
    linkBitsPerS: options.link,
    pricePerCoreHour: options.price,
  };
  const made = planFor(request, results);
  return options.json ? `${JSON.stringify(made)}\n` : planText(made, source);
}

function traceAnswer(options: Options, results: Results): string {
  const path = options.trace!;
  const trace = (() => {
    try {
      return parseTrace(readFileSync(path, 'utf8'));
    } catch (error) {
      throw new CliFailure(EXIT.BAD_INPUT, `${path}: ${reasonOf(error)}`);
    }
  })();
  const needs = { targetP99Us: 1000 * options.p99, headroom: options.headroom };
  const made = planTrace(trace, options.profile, new Costs(results), needs);
  return options.json ? `${JSON.stringify(made)}\n` : traceText(made, needs.targetP99Us);
}

/** `1s`, or a number of points. */
function readFlush(text: string): Fleet['flush'] {
  return /[a-z]$/.test(text) && !/^[\d.]+[kM]$/.test(text)
    ? { everyMs: readDuration(text) }
    : { points: readCount(text) };
}

function readHeadroom(text: string): number {
  const share = readShare(text);
  if (share < 1) return share;
  throw new InvalidArgumentError('With 100 % nothing may be used.');
}

function readPrice(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(?:\/core-?h)?$/.exec(text.trim());
  if (match !== null) return Number(match[1]);
  throw new InvalidArgumentError('Write a price as 0.04/core-h.');
}
