// The answer of a plan in words, for those who decide: first what does not hold; then the machines, their cost, what
// fails first and its remedy, what happens when a machine dies, and how sure the figures are.
import { VERSION } from '../../hexcodes/version.js';
import type { Results } from '../measure/results.js';
import type { Limit, Plan } from '../model/plan.js';
import { bytes, percent, plain, range, roughTime, time, whole } from './figures.js';

/** Columns of a line. */
export const HEADLINE_WIDTH = 80;
export const NOISY_LINE = 'NOT TO BE RELIED ON: the machine was too noisy while it was measured (--force).';
const HOURS_A_MONTH = 730;

/** The members of results that name the measured machine and version. */
export type Measured = Pick<Results, 'machine' | 'version'>;

/**
 * Five lines, and before them one for each thing that does not hold; none has more than HEADLINE_WIDTH columns.
 * @param isElsewhere whether the results are of another machine than the one that plans
 */
export function headlineOf(plan: Plan, isElsewhere = false): string[] {
  return [
    ...failuresOf(plan),
    machinesLine(plan),
    costLine(plan),
    limitLine(plan),
    deathLine(plan),
    isElsewhere ? elsewhereLine(plan.results) : sureLine(plan),
  ];
}

/** The first wording that fits; the last one is cut where none does. */
function fitting(...wordings: readonly string[]): string {
  const fits = wordings.find((wording) => wording.length <= HEADLINE_WIDTH);
  return fits ?? `${wordings.at(-1)!.slice(0, HEADLINE_WIDTH - 1)}…`;
}

function failuresOf(plan: Plan): string[] {
  const { answer, request, results, scaling, holdsProcess } = plan;
  const { coresPerMachine, targetP99Us } = request;
  const lines: string[] = [];
  if (!results.isQuietEnough) lines.push(NOISY_LINE);
  if (!holdsProcess)
    lines.push(
      `DOES NOT FIT: ${bytes(request.memoryBytesPerMachine)} of memory do not hold one process at its largest.`,
    );
  if (!answer.holdsTarget) {
    const missed = `DOES NOT HOLD a p99 of ${time(targetP99Us)}`;
    lines.push(
      plan.sizing.holdsTarget
        ? `${missed}: at such a load it may be ${roughTime(answer.p99Us.high)}.`
        : fitting(`${missed}: ${whyNot(plan)}.`),
    );
  }
  const { processesPerMachine } = answer;
  if (scaling.beyond === 'linear' && processesPerMachine > scaling.measured)
    lines.push(
      fitting(
        `ASSUMED, not measured: ${processesPerMachine} processes carry ${plain(processesPerMachine / scaling.measured)} times what ${scaling.measured} do (--assume-linear).`,
        `ASSUMED, not measured: ${processesPerMachine} processes in proportion (--assume-linear).`,
      ),
    );
  else if (coresPerMachine > scaling.mostProcesses && processesPerMachine === scaling.mostProcesses)
    lines.push(
      fitting(
        `USES ${processesPerMachine} OF ${coresPerMachine} CORES of a machine: no more was measured. See --assume-linear.`,
      ),
    );
  return lines;
}

function machinesLine({ answer, request }: Plan): string {
  const { machines, carrying, p99Us } = answer;
  const count = `${range(machines, whole)} ${machines.high === 1 ? 'machine' : 'machines'}`;
  const kind = `of ${request.coresPerMachine} ${request.coresPerMachine === 1 ? 'core' : 'cores'}, ${bytes(request.memoryBytesPerMachine)}`;
  const carry = `${whole(carrying)} ${carrying === 1 ? 'carries' : 'carry'} the peak`;
  const spare = request.survive === 0 ? 'none to spare' : `${whole(request.survive)} may fail`;
  const tail = `p99 ${range(p99Us, roughTime)}`;
  return fitting(
    `${count} ${kind}: ${carry} (${tail}), ${spare}.`,
    `${count} ${kind}: ${carry}, ${spare}.`,
    `${count} ${kind}, ${spare}.`,
  );
}

function costLine({ answer, request, pricePerBillionPoints }: Plan): string {
  const { pricePerCoreHour } = request;
  if (pricePerCoreHour === undefined || pricePerBillionPoints === null)
    return 'Cost: not known without the price of a core, such as --price 0.04/core-h.';
  const month = (cores: number): number => HOURS_A_MONTH * pricePerCoreHour * cores;
  const { low, high } = answer.cores;
  const aMonth = range({ low: month(low), high: month(high) }, plain);
  const aBillion = range(pricePerBillionPoints, plain);
  return fitting(
    `Cost: ${aMonth} a month, ${aBillion} for 10⁹ points (${pricePerCoreHour} for an hour of a core).`,
    `Cost: ${aMonth} a month, ${aBillion} for 10⁹ points.`,
  );
}

function limitLine({ limits }: Plan): string {
  const { name, times, remedy } = limits[0]!;
  const at = times < 1 ? `carries only ${plain(times)} of this fleet` : `at ${plain(times)} × this fleet`;
  return fitting(
    `Fails first: ${name}, ${at}. Remedy: ${remedy}.`,
    `Fails first: ${name}, ${plain(times)} ×. Remedy: ${remedy}.`,
    `Fails first: ${name}, ${plain(times)} ×: ${remedy}.`,
    `Fails first: ${shortNameOf(limits[0]!)}, ${plain(times)} ×: ${remedy}.`,
    `Fails first, ${plain(times)} ×: ${remedy}.`,
  );
}

/** Without its unit. */
const shortNameOf = ({ name }: Limit): string => name.split(',')[0]!;

function deathLine({ oneLess }: Plan): string {
  if (oneLess === undefined) return 'One machine dies: nothing answers until it is back. See --survive.';
  const { hasSpace, holdsTarget, busyShare, p99Us } = oneLess;
  const left = `the others are ${range(busyShare, (share) => percent(Number(share.toPrecision(2))))} busy`;
  const tail = `p99 ${range(p99Us, roughTime)}`;
  const end = holdsTarget ? 'held' : hasSpace ? 'the target is missed' : 'memory or network is too small';
  return fitting(
    `One machine dies at the peak: ${left}, ${tail}: ${end}.`,
    `One machine dies: ${left}: ${end}.`,
  );
}

/** `2 × AMD EPYC`, without the words that all names of processors have. */
export function machineName({ cores, model }: Results['machine']): string {
  const name = model
    .replaceAll(/\((?:R|TM)\)|\b(?:CPU|Processor|\d+-Core)\b|@.*/gi, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return `${cores} × ${name}`;
}

/** The version that was measured, besides this one where it is another. */
const versionText = ({ version }: Measured): string =>
  version === VERSION ? `hexcodes ${version}` : `hexcodes ${version} (not ${VERSION})`;

/** The last line of a plan from results of another machine, those that ship among them. */
export function elsewhereLine(results: Measured): string {
  const measured = versionText(results);
  const name = machineName(results.machine);
  return fitting(
    `How sure: figures of another machine, ${name}, ${measured}. Bench yours.`,
    `How sure: of another machine, ${name}, ${measured}.`,
    `How sure: of another machine, ${measured}. Run hexcodes bench here.`,
  );
}

function sureLine({ results, predictsWithin, proxy }: Plan): string {
  const of = results.version === VERSION ? '' : ` of ${versionText(results)}`;
  const run = `${results.isQuick ? 'a quick' : 'a full'} run${of}, ${results.isQuietEnough ? 'quiet' : 'noisy'} machine`;
  const other = proxy === null ? '' : '; HAProxy: elsewhere';
  if (predictsWithin === null) return `How sure: ${run}; no CPU time follows from others${other}.`;
  const within = percent(Number(predictsWithin.toPrecision(2)));
  return fitting(
    `How sure: CPU times predict each other within ${within}; ${run}${other}.`,
    `How sure: CPU times within ${within}; ${run}${other}.`,
  );
}

/** A clause. */
function whyNot({ sizing, request, demand }: Plan): string {
  const { streams, used, machines, processesPerMachine } = sizing;
  if (streams[0]!.costUs >= request.targetP99Us) return 'one message alone takes longer';
  if (used < machines * processesPerMachine || used === demand.connections)
    return demand.connections === 1
      ? 'one connection belongs to one process'
      : `${plain(demand.connections)} connections keep as many processes busy`;
  return 'more processes do not shorten it';
}
