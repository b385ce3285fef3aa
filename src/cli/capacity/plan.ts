// `hexcodes plan`: how many cores, processes and machines a fleet needs, from results of `hexcodes bench`.

import type { Command } from 'commander';
import type { Results } from '../../capacity/measure/results.js';
import { type PlanRequest, planFor } from '../../capacity/model/plan.js';
import { planTrace, type TraceRequest } from '../../capacity/model/trace-plan.js';
import { planText } from '../../capacity/report/plan-text.js';
import { traceText } from '../../capacity/report/trace-text.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { MAX_BATCH_ITEMS, MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';
import { addPlanFlags, type PlanOptions, refuseFleetFlags } from './plan-flags.js';
import { planJson } from './plan-json.js';
import { readResultsFile } from './results-file.js';
import { readTraceFile } from './trace-file.js';

/** Largest fleet that a plan is made for. */
const MOST_PROCESSES = 100_000;

export default function declare(program: Command): void {
  addPlanFlags(
    program
      .command('plan')
      .summary('how many machines a fleet needs')
      .description(
        'Say how many cores, processes and machines a fleet needs and which latency it will see, from results of hexcodes bench: a range for each figure, the limits in their order, and what-ifs.',
      ),
  )
    .addHelpText(
      'after',
      `
Examples:
  $ hexcodes plan --vehicles 50000 --interval 5s --p99 50ms --headroom 40%
  $ hexcodes plan --vehicles 50k --profile single --report-together 20% --from results.json
  $ hexcodes plan --vehicles 50k --flush 1s --nightly 2e9:6h --price 0.04/core-h
  $ hexcodes plan --trace arrivals.csv --cores-per-machine 4`,
    )
    .action(plan);
}

async function plan(options: PlanOptions, command: Command): Promise<void> {
  if (options.trace !== undefined) refuseFleetFlags(command);
  const results = readResultsFile(options.from);
  const source = options.from ?? 'recorded, a machine of ours: run hexcodes bench on yours';
  try {
    process.stdout.write(
      options.trace === undefined
        ? fleetAnswer(options, results, source)
        : await traceAnswer(options.trace, options, results, source),
    );
  } catch (error) {
    // Those of the model are about the results; any other is a fault of ours.
    if (error instanceof CliFailure || error instanceof TypeError || error instanceof RangeError) throw error;
    throw new CliFailure(
      EXIT.BAD_INPUT,
      `${options.from ?? 'the recorded results'}: ${(error as Error).message}`,
    );
  }
}

function fleetAnswer(options: PlanOptions, results: Results, source: string): string {
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
    ...machinesOf(options, results),
    linkBitsPerS: options.link,
  };
  const made = planFor(request, results);
  const { carrying, processesPerMachine, p99Us } = made.answer;
  if (!Number.isFinite(p99Us.high) && carrying * processesPerMachine >= MOST_PROCESSES)
    throw new CliFailure(
      EXIT.FAILED,
      'this fleet takes more processes than a plan can be made for, 100,000',
      'Fewer vehicles, a longer --interval, or --flush.',
    );
  return options.json ? planJson(made) : planText(made, source);
}

async function traceAnswer(
  path: string,
  options: PlanOptions,
  results: Results,
  source: string,
): Promise<string> {
  const mostPoints = options.profile === 'stream' ? MAX_FRAME_POINTS : MAX_BATCH_ITEMS;
  const trace = await readTraceFile(path, mostPoints);
  const request: TraceRequest = { profile: options.profile, ...machinesOf(options, results) };
  const made = planTrace(trace, request, results);
  return options.json ? planJson(made) : traceText(made, results, source);
}

/** The part of a request that a fleet and a trace have in common. */
const machinesOf = (options: PlanOptions, { machine }: Results) => ({
  ...{ targetP99Us: 1000 * options.p99, headroom: options.headroom, survive: options.survive },
  coresPerMachine: options.coresPerMachine ?? machine.cores,
  memoryBytesPerMachine: options.memoryPerMachine ?? machine.memoryBytes,
  pricePerCoreHour: options.price,
});
