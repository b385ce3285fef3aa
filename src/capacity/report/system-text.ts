// A one-time conversion, and a fleet on the bus, for people: five lines of words first, then the figures.
import type { Results } from '../measure/results.js';
import type { BusPlan, BusRequest } from '../model/bus.js';
import type { OncePlan } from '../model/once.js';
import type { Plan } from '../model/plan.js';
import { bytes, columns, percent, plain, whole } from './figures.js';
import { machineName } from './headline.js';

const counted = (count: number, noun: string): string => `${whole(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `45 s`, `1.5 h`, `12 days`. */
export function lasting(seconds: number): string {
  if (seconds < 120) return `${plain(seconds)} s`;
  if (seconds < 7200) return `${plain(seconds / 60)} min`;
  return seconds < 172_800 ? `${plain(seconds / 3600)} h` : `${plain(seconds / 86_400)} days`;
}

/** @param isElsewhere whether the results are of another machine than the one that plans */
export function onceText(plan: OncePlan, results: Results, isElsewhere: boolean): string {
  const { request, nsPerRow, machine, coreSeconds, busyCores, cores, machines, fastestMs, price } = plan;
  const { rows, format, withinMs, coresPerMachine, headroom } = request;
  const disk = `${bytes(plan.bytesPerSPerMachine)}/s`;
  return `${[
    `${counted(machines, 'machine')} of ${counted(coresPerMachine, 'core')} for ${lasting(withinMs / 1000)}: ${counted(cores, 'core')} at work, ${percent(headroom)} stay free.`,
    price === null
      ? 'Cost: not known without the price of a core, such as --price 0.04/core-h.'
      : `Cost: ${plain(price)} in all.`,
    `Fails first: ${disk} read and written by each machine; else its cores.`,
    'One machine dies: another converts its files again, or resumes them.',
    isElsewhere || machine !== null
      ? 'How sure: one run of each format on another machine, named below. Bench yours.'
      : `How sure: one run of each format on a ${results.isQuietEnough ? 'quiet' : 'noisy'} machine.`,
    '',
    columns([
      ['rows', plain(rows), format],
      [
        'CPU of a row',
        `${plain(nsPerRow / 1000)} µs`,
        `all threads of hexcodes encode, ${machine ?? machineName(results.machine)}`,
      ],
      ['done in', lasting(fastestMs / 1000), 'at best'],
      ['CPU in all', lasting(coreSeconds), `${plain(busyCores)} cores all the time`],
      ['read', bytes(plan.readBytes), ''],
      ['written', bytes(plan.writtenBytes), ''],
    ]),
  ].join('\n')}\n`;
}

/**
 * @param collected the same fleet with `hexcodes worker collect`, where its messages are small
 * @param survive machines that may fail
 */
export function busText(
  {
    answer: plan,
    request,
    collected,
  }: { readonly answer: BusPlan; readonly request: BusRequest; readonly collected: BusPlan | undefined },
  {
    demand,
    survive,
    pricePerCoreHour,
  }: Pick<Plan, 'demand'> & {
    readonly survive: number;
    readonly pricePerCoreHour: number | undefined;
  },
): string {
  const machines = plan.machines + survive;
  const cores = machines * request.coresPerMachine;
  const price = pricePerCoreHour === undefined ? null : pricePerCoreHour * cores;
  return `${[
    `${counted(machines, 'machine')} of ${counted(request.coresPerMachine, 'core')}: ${counted(plan.workers, 'worker')}, ${counted(plan.streams, 'stream')}, ${whole(survive)} may fail.`,
    price === null
      ? 'Cost: not known without the price of a core, such as --price 0.04/core-h.'
      : `Cost: ${plain(730 * price)} a month, ${plain((24 * price * 1e9) / demand.pointsPerDay)} for 10⁹ points.`,
    `Fails first: a stream of 1 GiB lasts ${lasting(plan.defaultLastsS)}; set --max-bytes ${plain(plan.streamBytes / 2 ** 30)}G.`,
    'One machine dies: its messages come again after --ack-wait (5 s); none is lost.',
    'How sure: a worker on another machine, an Intel Xeon.',
    '',
    columns([
      [
        'points/s at the peak',
        plain(request.pointsPerS),
        `${plain(request.pointsPerS / request.pointsPerMessage)} messages/s of ${counted(request.pointsPerMessage, 'point')}`,
      ],
      ['workers', whole(plan.workers), `${plain(plan.workerCores)} cores of work`],
      [
        'streams',
        whole(plan.streams),
        `${plain(plan.serverCores)} cores of work of nats-server, ${counted(request.replicas, 'replica')}`,
      ],
      [
        'network of servers',
        `${plain(plan.serverBitsPerS / 1e6)} Mbit/s`,
        `out; the machines are bound by ${plan.boundBy}`,
      ],
      ['disk', bytes(plan.storedBytes), `positions and answers of ${lasting(request.maxAgeS)}, all replicas`],
      ...(collected === undefined
        ? []
        : [
            [
              'with worker collect',
              counted(collected.machines + survive, 'machine'),
              `${plain(collected.collectorCores + collected.workerCores + collected.serverCores)} cores of work in all, a position waits 0.2 s`,
            ],
          ]),
    ]),
  ].join('\n')}\n`;
}
