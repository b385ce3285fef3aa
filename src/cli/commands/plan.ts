// `hexcodes plan`: how many cores, processes and machines a fleet needs, from results of `hexcodes bench`.

import type { Command } from 'commander';
import { busBytesPerSecond, collectedPoints, SPARE } from '../../bus/sizing.js';
import type { Results } from '../../capacity/measure/results.js';
import { type BusRequest, busOf, planOnce } from '../../capacity/model/bus.js';
import { demandOf } from '../../capacity/model/fleet.js';
import { type PlanRequest, planFor } from '../../capacity/model/plan.js';
import { CountsBuilder, type DayProfile, TraceBuilder, TraceFault } from '../../capacity/model/trace.js';
import { planTrace, type TraceRequest } from '../../capacity/model/trace-plan.js';
import { machineNow } from '../../capacity/processes/machine.js';
import { headlineOf } from '../../capacity/report/headline.js';
import { planHtml } from '../../capacity/report/plan-html.js';
import { busText, onceText, planText, traceText } from '../../capacity/report/plan-text.js';
import { refuseTwice } from '../../files/columns/columns.js';
import { openInput } from '../../files/disk/input.js';
import { badInput, badUsage, CliFailure, EXIT } from '../../files/exit-codes.js';
import { FORMATS, formatOf } from '../../files/format.js';
import { openCsv, refuseUnreadRows } from '../../files/formats/csv/csv.js';
import { dialectOf } from '../../files/formats/csv/dialect.js';
import { MAX_BATCH_ITEMS, MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';
import {
  addPlanFlags,
  type PlanOptions,
  ResultsOutput,
  readResultsFile,
  refuseFleetFlags,
} from '../capacity/options.js';

// Reads a file of arrivals for `hexcodes plan --trace`, or of counts for --counts: CSV or TSV, packed or not, with the
// project's own reader of rows.
const CHOICE = { delimiter: null, decimal: '.', hasHeader: true } as const;

/** A taker of the columns of a file of times. @throws TraceFault */
interface TimedRows<Built> {
  add(columns: readonly (readonly string[])[]): void;
  build(): Built;
}

/**
 * @param builderOf for the names of the columns
 * @throws CliFailure BAD_INPUT with file, row, column, value and rule
 */
async function readTimedFile<Built>(
  path: string,
  what: string,
  builderOf: (names: readonly string[]) => TimedRows<Built>,
): Promise<Built> {
  const input = await openInput(path);
  const file = input.name;
  try {
    const format = formatOf(input);
    if (FORMATS[format].delimiter === null)
      throw badInput({ file }, `it is ${format}, and ${what} is CSV or TSV`);
    const dialect = dialectOf(input, { from: format }, CHOICE, () => false);
    const { columns, batches } = await openCsv(input, dialect);
    refuseTwice(columns, file, 'Give one of them another name in the header.');
    const builder = builderOf(columns.map(({ name }) => name));
    let rows = 0;
    for await (const batch of batches()) {
      refuseUnreadRows(batch, file, rows + 1);
      builder.add(batch.values as readonly (readonly string[])[]);
      rows += batch.rowCount;
    }
    return builder.build();
  } catch (error) {
    if (error instanceof TraceFault)
      throw badInput({ file, row: error.row, column: error.column }, error.message);
    throw error;
  } finally {
    input.close();
  }
}

/** JSON would write null for infinite numbers: the text `Infinity` says that nothing carries a what-if. */
export const planJson = (plan: object): string => `${JSON.stringify(plan, withoutInfinity)}\n`;

function withoutInfinity(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/** Largest number of processes in a plan. */
const MAX_PROCESSES = 100_000;

export default function declare(program: Command): void {
  addPlanFlags(
    program
      .command('plan')
      .description(
        'Say how many cores, processes and machines a fleet needs and which latency it will see, from results of hexcodes bench: a range for each figure, the limits in their order, and what-ifs.',
      ),
  )
    .addHelpText(
      'after',
      `
The file of --trace is CSV or TSV with a header. time: seconds, as 12.5, or ISO 8601, one kind in the file, in any order.
vehicle: its messages go to one process, drawn three times; without this column each message goes to any. points of the
message: 1 to 65,536 (10,000 with --profile single and batch), else 1. The plan finds the fewest processes, up to 1,024,
with which the p99 is held and the busiest keeps the headroom; --trace excludes the flags of a fleet, and --link.

Examples:
  $ hexcodes plan --vehicles 50000 --interval 5s --p99 50ms --headroom 40%
  $ hexcodes plan --vehicles 50k --profile single --report-together 20% --from results.json
  $ hexcodes plan --vehicles 50k --flush 1s --nightly 2e9:6h --price 0.04/core-h
  $ hexcodes plan --vehicles 50k --counts week.csv --growth 30%/y:2y --html plan.html
  $ hexcodes plan --vehicles 50k --engine nats --flush 4096 --replicas 3
  $ hexcodes plan --once 2e9 --format parquet --within 8h
  $ hexcodes plan --trace arrivals.csv --cores-per-machine 4`,
    )
    .action(plan);
}

async function plan(options: PlanOptions, command: Command): Promise<void> {
  if (options.trace !== undefined) refuseFleetFlags(command);
  const { once, engine, html, counts } = options;
  if ((once ?? engine) !== undefined && (html ?? counts) !== undefined)
    throw badUsage('--html and --counts: not beside --once and --engine');
  const results = readResultsFile(options.from);
  if (!results.isQuietEnough && !options.force)
    throw new CliFailure(
      EXIT.TOO_NOISY,
      `${options.from ?? 'the recorded results'}: the machine was too noisy while it was measured, so a plan from it may be wrong by a multiple`,
      'Measure again with hexcodes bench while nothing else runs, or plan all the same with --force.',
    );
  const source = options.from;
  try {
    process.stdout.write(
      options.trace === undefined
        ? options.once === undefined
          ? options.engine === undefined
            ? await fleetAnswer(options, results, command)
            : busAnswer(options, results)
          : onceAnswer(options, results)
        : await traceAnswer(options.trace, options, results, source),
    );
  } catch (error) {
    // Errors of the model concern the results; any other is a defect of ours.
    if (error instanceof CliFailure || error instanceof TypeError || error instanceof RangeError) throw error;
    throw new CliFailure(
      EXIT.BAD_INPUT,
      `${options.from ?? 'the recorded results'}: ${(error as Error).message}`,
    );
  }
}

/** Whether results are the shipped ones, or of another machine than the planning one. */
function isElsewhere({ machine }: Results, source: string | undefined): boolean {
  const { model, cores } = machineNow();
  return source === undefined || machine.model !== model || machine.cores !== cores;
}

function onceAnswer(options: PlanOptions, results: Results): string {
  if (options.vehicles !== undefined || options.engine !== undefined)
    throw badUsage('--vehicles and --engine: not beside --once, which is a history');
  const { once, format, within, headroom } = options;
  const { coresPerMachine, pricePerCoreHour } = machinesOf(options, results);
  const request = { rows: once!, withinMs: within, format, headroom, coresPerMachine, pricePerCoreHour };
  const made = planOnce(request, results);
  return options.json ? planJson(made) : onceText(made, results, isElsewhere(results, options.from));
}

/** Default wait of `hexcodes worker collect` for a position. */
const COLLECT_MS = 200;

function busAnswer(options: PlanOptions, results: Results): string {
  const planned = requestOf(options, results);
  const { fleet, coresPerMachine, linkBitsPerS } = planned;
  const demand = demandOf({ ...fleet, profile: 'stream' });
  const request: BusRequest = {
    pointsPerS: demand.peakPointsPerS,
    meanPointsPerS: demand.meanPointsPerS,
    pointsPerMessage: demand.peak[0]!.pointsPerMessage,
    replicas: options.replicas,
    maxAgeS: options.maxAge / 1000,
    coresPerMachine,
    linkBitsPerS,
  };
  const arithmetic = { bytesPerSecond: busBytesPerSecond, spare: SPARE };
  const answer = busOf(request, arithmetic);
  const pointsPerMessage = collectedPoints(request.pointsPerS, COLLECT_MS);
  const collected =
    request.pointsPerMessage < pointsPerMessage
      ? busOf({ ...request, pointsPerMessage, isCollected: true }, arithmetic)
      : undefined;
  return options.json
    ? planJson({ request, demand, answer, collected })
    : busText(demand, request, answer, collected, planned);
}

async function fleetAnswer(options: PlanOptions, results: Results, command: Command): Promise<string> {
  const { from: source, counts, html } = options;
  if (counts !== undefined && command.getOptionValueSource('peak') === 'cli')
    throw badUsage('--peak: not beside --counts, whose busiest hour it would be');
  // Opened first, so that its fault is reported before the simulation.
  const output = html === undefined ? undefined : new ResultsOutput(html);
  const day =
    counts === undefined
      ? undefined
      : await readTimedFile(counts, 'a file of counts', (names) => new CountsBuilder(names));
  const request = requestOf(options, results, day);
  const made = planFor(request, results);
  const { carrying, processesPerMachine, p99Us } = made.answer;
  if (!Number.isFinite(p99Us.high) && carrying * processesPerMachine >= MAX_PROCESSES)
    throw new CliFailure(
      EXIT.FAILED,
      'this fleet takes more processes than a plan can be made for, 100,000',
      'Fewer vehicles, a longer --interval, or --flush.',
    );
  const isOther = isElsewhere(results, source);
  if (output !== undefined) {
    const text = planText(made, source, true, isOther);
    await output.write(planHtml(made, results, { day, growthMs: options.growth.ms, text }));
    if (output.isStandardOutput) return '';
  }
  return options.json
    ? planJson({ headline: headlineOf(made, isOther), ...made })
    : planText(made, source, options.explain, isOther);
}

/** @param day of --counts, whose busiest hour replaces --peak */
function requestOf(options: PlanOptions, results: Results, day?: DayProfile): PlanRequest {
  const { vehicles } = options;
  if (vehicles === undefined)
    throw badUsage('how many vehicles?', 'hexcodes plan --vehicles 50000 --interval 5s');
  return {
    fleet: {
      vehicles,
      intervalMs: options.interval,
      pointsPerReport: options.pointsPerReport,
      togetherShare: options.reportTogether,
      profile: options.profile,
      flush: options.flush,
      gateways: options.gateways,
      peakFactor: day?.peakFactor ?? options.peak,
      growth: options.growth.factor,
      nightly: options.nightly,
    },
    ...machinesOf(options, results),
    linkBitsPerS: options.link,
    proxies: options.proxies,
  };
}

async function traceAnswer(
  path: string,
  options: PlanOptions,
  results: Results,
  source: string | undefined,
): Promise<string> {
  const maxPoints = options.profile === 'stream' ? MAX_FRAME_POINTS : MAX_BATCH_ITEMS;
  const trace = await readTimedFile(path, 'a trace', (names) => new TraceBuilder(names, maxPoints));
  const request: TraceRequest = { profile: options.profile, ...machinesOf(options, results) };
  const made = planTrace(trace, request, results);
  return options.json ? planJson(made) : traceText(made, results, source, isElsewhere(results, source));
}

/** The part of a request that fleets and traces share. */
const machinesOf = (options: PlanOptions, { machine }: Results) => ({
  targetP99Us: 1000 * options.p99,
  headroom: options.headroom,
  survive: options.survive,
  coresPerMachine: options.coresPerMachine ?? machine.cores,
  memoryBytesPerMachine: options.memoryPerMachine ?? machine.memoryBytes,
  pricePerCoreHour: options.price,
  assumeLinear: options.assumeLinear === true,
});
