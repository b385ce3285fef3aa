// A plan for people: what sizes the fleet and the answer first, then limits, what-ifs, and which inputs were measured
// or assumed.

import type { Results } from '../measure/results.js';
import type { BusPlan, BusRequest, OncePlan } from '../model/bus.js';
import type { Plan } from '../model/plan.js';
import { MAX_PROCESSES, type TraceAnswer, type TracePlan, type TraceRequest } from '../model/trace-plan.js';
import { bytes, columns, percent, plain, range, roughTime, time, whole } from './figures.js';
import { elsewhereLine, headlineOf, machineName, NOISY_LINE } from './headline.js';

/** The source of the results that ship. */
const RECORDED = 'recorded, a machine of ours: run hexcodes bench on yours';

// A simulated trace for people.
/**
 * @param source the file that the results are from; undefined: those that ship
 * @param isElsewhere whether the results are of another machine than the one that plans
 */
export function traceText(
  plan: TracePlan,
  results: Results,
  source: string | undefined,
  isElsewhere: boolean,
): string {
  const { messages, points, seconds, peakPerS, vehicles, tries, answer, request } = plan;
  const lines = [
    ...(results.isQuietEnough ? [] : [NOISY_LINE]),
    ...(isElsewhere ? [elsewhereLine(results)] : []),
    ...(answer === null
      ? [
          `no number of processes up to ${MAX_PROCESSES.toLocaleString('en')} holds a p99 of ${time(request.targetP99Us)} for this trace with ${percent(request.headroom)} headroom`,
        ]
      : answerLines(answer, plan)),
    '',
    `${plain(messages)} messages of ${plain(points)} points in ${plain(seconds)} s, ${plain(messages / seconds)} messages/s on average and ${plain(peakPerS)} in the busiest second`,
    vehicles === null
      ? 'no column vehicle: each message goes to any process, so that a vehicle which sends much shows less than it would'
      : `${plain(vehicles)} ${vehicles === 1 ? 'vehicle' : 'vehicles'}, each with all its messages at one process: three draws of processes have to hold`,
    '',
    columns(
      [
        ['processes', 'busiest', 'p50', 'p99', 'slowest'],
        ...tries.map((each) => [
          String(each.processes),
          percent(each.busyShare),
          time(each.p50Us),
          time(each.p99Us),
          time(each.maxUs),
        ]),
      ],
      [0, 1, 2, 3, 4],
    ),
    '',
    `measured (${source ?? RECORDED}): costs, service times and speed-ups, on ${results.machine.cores} × ${results.machine.model}, Node ${results.node}, hexcodes ${results.version}, ${results.date}${results.isQuick ? ', by a quick run' : ''}`,
    'assumed: cores as fast as those measured, no network between (its delays add to p50 and p99)',
  ];
  return `${lines.join('\n')}\n`;
}

function answerLines(answer: TraceAnswer, { request, vehicles }: TracePlan): string[] {
  const { processes, processesRange, p50Us, p99Us, busyShare } = answer;
  const { low, high } = processesRange;
  const { carrying, processesPerMachine, machines, memoryBytesPerMachine, pricePerBillionPoints } = answer;
  const others =
    low === processes && high === processes
      ? ''
      : `; ${low} with costs at their lower quartile, ${high === null ? `more than ${MAX_PROCESSES.toLocaleString('en')}` : high} at their upper`;
  return [
    `${processes} ${processes === 1 ? 'process carries' : 'processes carry'} this trace with a p99 of at most ${time(request.targetP99Us)}: p99 ${range(p99Us, time)}, p50 ${range(p50Us, time)}, the busiest ${range(busyShare, percent)} busy${others}`,
    `${machines} ${machines === 1 ? 'machine' : 'machines'} of ${request.coresPerMachine} ${request.coresPerMachine === 1 ? 'core' : 'cores'}, ${plain(machines * request.coresPerMachine)} in all (${carrying} ${carrying === 1 ? 'carries' : 'carry'} it with up to ${processesPerMachine} ${processesPerMachine === 1 ? 'process' : 'processes'} each, ${request.survive === 0 ? 'none to spare' : `${request.survive} may fail`})`,
    ...(memoryBytesPerMachine === null ? [] : [memoryText(memoryBytesPerMachine, request, vehicles)]),
    ...(pricePerBillionPoints === null
      ? []
      : [`price: ${plain(pricePerBillionPoints)} per 1,000,000,000 points`]),
  ];
}

function memoryText(memoryBytes: number, request: TraceRequest, vehicles: number | null): string {
  const most = request.memoryBytesPerMachine;
  return `memory of a machine: ${bytes(memoryBytes)}${vehicles === null ? ', and its connections, which nothing counts without a column vehicle' : ''}${memoryBytes > most ? `: more than the ${bytes(most)} that it has` : ''}`;
}

const LIMITS_SHOWN = 6;
const WHEN = { peak: 'at the peak', mean: 'on average', night: 'at night' } as const;

/**
 * @param source the file that the results are from; undefined: those that ship
 * @param explain adds the arithmetic, and what was measured or assumed
 * @param isElsewhere whether the results are of another machine than the one that plans
 */
export function planText(
  plan: Plan,
  source: string | undefined,
  explain = false,
  isElsewhere = source === undefined,
): string {
  const { request, demand, answer, limits, whatIfs, sizing } = plan;
  const { fleet } = request;
  const lines = [
    ...headlineOf(plan, isElsewhere),
    '',
    columns([
      ['vehicles', plain(fleet.vehicles * fleet.growth), `every ${time(1000 * fleet.intervalMs)}`],
      ['points/s', plain(demand.meanPointsPerS), `${plain(demand.peakPointsPerS)} at the peak`],
      ...sizing.streams.map(({ kind, pointsPerMessage, messagesPerS, costUs }, at) => [
        at === 0 ? `messages/s ${WHEN[sizing.period]}` : '',
        plain(sizing.used * messagesPerS),
        `${kind}, ${counted(pointsPerMessage, 'point')} each, ${time(costUs)} of CPU`,
      ]),
      ['connections', plain(demand.connections), ''],
      [
        'processes',
        whole(answer.carrying * answer.processesPerMachine),
        `${whole(answer.processesPerMachine)} a machine, each ${range(answer.busyShare, rough)} busy then`,
      ],
      ['latency', `p50 ${range(answer.p50Us, roughTime)}`, `p99 ${range(answer.p99Us, roughTime)}`],
      [
        'memory of a machine',
        plan.memoryBytesPerMachine === null ? 'not measured' : range(plan.memoryBytesPerMachine, bytes),
        '',
      ],
      ['network', `${plain(plan.networkBitsPerS / 1e6)} Mbit/s`, networkText(plan)],
      ...proxyRows(plan),
    ]),
    '',
    columns(
      [
        ['limit', 'carries', 'asked for', '× this fleet', 'remedy'],
        ...limits
          .slice(0, LIMITS_SHOWN)
          .map(({ name, carries, asks, times, remedy }) => [
            name,
            plain(carries),
            plain(asks),
            plain(times),
            remedy,
          ]),
      ],
      [1, 2, 3],
    ),
    '',
    columns([
      ['what if', 'machines', 'p99', 'first limit'],
      ...whatIfs.map(({ name, answer: other, firstLimit }) => [
        name,
        range(other.machines, whole),
        other.holdsTarget ? range(other.p99Us, roughTime) : 'not held',
        `${firstLimit.name}, ${plain(firstLimit.times)} ×`,
      ]),
    ]),
    '',
    ...remarks(plan),
    ...(explain
      ? [...arithmeticOf(plan), '', ...sources(plan, source)]
      : ['--explain: the arithmetic, and which inputs were measured or assumed']),
  ];
  return `${lines.join('\n')}\n`;
}

/** Besides the bits of the busier direction. */
const networkText = ({ wire: { received, sent } }: Plan): string =>
  `the busier direction, all machines; ${plain(received.packetsPerS + sent.packetsPerS)} packets/s both ways`;

function proxyRows({ proxy }: Plan): string[][] {
  if (proxy === null) return [];
  const { proxies, connections, cores, memoryBytes, packetsPerS, linkBitsPerS } = proxy;
  return [
    [
      proxies === 1 ? 'proxy' : `each of ${whole(proxies)} proxies`,
      `${rough(cores)} of a core`,
      `${plain(connections)} connections, ${plain(packetsPerS)} packets/s, ${plain(linkBitsPerS / 1e6)} Mbit/s with TLS, ${bytes(memoryBytes)}`,
    ],
  ];
}

/** `12 %`, with two digits. */
const rough = (share: number): string => percent(Number(share.toPrecision(2)));

/** Whether messages, connections or points need most. */
function sizedBy({ demand, sizing, isSizedBySpace, coresOfMessages, coresOfPoints }: Plan): string {
  const perS = (of: (stream: (typeof sizing.streams)[number]) => number): string =>
    plain(sizing.streams.reduce((sum, stream) => sum + sizing.used * of(stream), 0));
  const points = `the points of ${perS(({ messagesPerS, pointsPerMessage }) => messagesPerS * pointsPerMessage)}/s take ${percent(coresOfPoints)} of a core`;
  const handling = `reading and answering ${perS(({ messagesPerS }) => messagesPerS)} messages/s takes ${percent(coresOfMessages)}`;
  if (isSizedBySpace) return `Memory or network size this fleet, not its CPU time: ${points}, ${handling}.`;
  return coresOfPoints > coresOfMessages
    ? `Points size this fleet: ${points}, ${handling}.`
    : `Messages and connections size this fleet, not points: ${points}, ${handling}, and ${counted(demand.connections, 'connection')} ${demand.connections === 1 ? 'is' : 'are'} open.`;
}

/** `1 point`, `2 points`. */
const counted = (count: number, noun: string): string => `${plain(count)} ${noun}${count === 1 ? '' : 's'}`;

/** Notes to the table. */
function remarks({ demand }: Plan): string[] {
  return [
    ...(demand.mostFlushMs === 0
      ? []
      : [`beside these latencies a point waits up to ${time(1000 * demand.mostFlushMs)} at its gateway`]),
    ...(demand.isCut
      ? [
          `what is sent together exceeds one message and comes in several, of ${demand.peak[0]!.pointsPerMessage.toLocaleString('en')} points at most`,
        ]
      : []),
  ];
}

/** From the fleet to the machines, one step a line, each with its figures. */
function arithmeticOf(plan: Plan): string[] {
  const { request, demand, answer, sizing, results } = plan;
  const { fleet, headroom, survive, coresPerMachine, pricePerCoreHour } = request;
  const { used, machines, processesPerMachine, speedUp } = sizing;
  return [
    sizedBy(plan),
    `points/s: ${whole(fleet.vehicles)} vehicles × ${plain(fleet.growth)} (growth) × ${plain(fleet.pointsPerReport)} ÷ ${time(1000 * fleet.intervalMs)} = ${plain(demand.meanPointsPerS)}; × ${plain(fleet.peakFactor)} at the peak = ${plain(demand.peakPointsPerS)}`,
    ...sizing.streams.map(
      ({ kind, messagesPerS, costUs, backlogUs, wakeUpUs }) =>
        `${kind}: ${plain(messagesPerS)} messages/s a process × (${time(backlogUs)} under backlog + ${time(wakeUpUs)} for waking up) = ${rough((messagesPerS * costUs) / 1e6)} of its core`,
    ),
    `at rest: ${rough(results.idleCoreShare ?? 0)} of a core a process, which is part of its busy share`,
    `processes: as few as are ${rough(1 - headroom)} busy at most (headroom ${rough(headroom)}) and hold the p99 in a simulation of that load and of one ${plain(1 / (1 - headroom))} times as large: ${whole(used)} with work`,
    `machines: ${whole(machines)} of ${whole(processesPerMachine)} ${processesPerMachine === 1 ? 'process' : 'processes'} (${range(speedUp, plain)} times one), and ${whole(survive)} that may fail`,
    ...(pricePerCoreHour === undefined
      ? []
      : [
          `price: ${range(answer.cores, whole)} cores (${coresPerMachine} a machine) × ${pricePerCoreHour} × 24 h ÷ ${plain(demand.pointsPerDay)} points a day`,
        ]),
  ];
}

function sources({ request, results, scaling }: Plan, source = RECORDED): string[] {
  const { fleet } = request;
  const { machine } = results;
  return [
    `measured (${source}): costs, service times, bytes, memory and speed-ups, on ${machine.cores} × ${machine.model}, Node ${results.node}, hexcodes ${results.version}, ${results.date}${results.isQuick ? ', by a quick run' : ''}`,
    ...(results.isQuietEnough
      ? []
      : ['that machine was noisy: its knees are not used, and tails may be shorter on a quiet one']),
    `assumed: peak ${plain(fleet.peakFactor)} × the mean, ${fleet.togetherShare === 0 ? 'no vehicles report in the same moment' : `${percent(fleet.togetherShare)} of the vehicles report in the same moment of every interval`}, ${percent(request.headroom)} headroom, a link of ${plain(request.linkBitsPerS / 1e9)} Gbit/s used to 70 %, cores as fast as those measured, no network between (its delays add to p50 and p99)`,
    scaling.remark,
  ];
}

// A one-time conversion, and a fleet on the bus, for people: five lines of words first, then the figures.

const wholeOf = (count: number, noun: string): string => `${whole(count)} ${noun}${count === 1 ? '' : 's'}`;

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
    `${wholeOf(machines, 'machine')} of ${wholeOf(coresPerMachine, 'core')} for ${lasting(withinMs / 1000)}: ${wholeOf(cores, 'core')} at work, ${percent(headroom)} stay free.`,
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
 */
export function busText(
  demand: Plan['demand'],
  request: BusRequest,
  plan: BusPlan,
  collected: BusPlan | undefined,
  { survive, pricePerCoreHour }: Pick<Plan['request'], 'survive' | 'pricePerCoreHour'>,
): string {
  const machines = plan.machines + survive;
  const cores = machines * request.coresPerMachine;
  const price = pricePerCoreHour === undefined ? null : pricePerCoreHour * cores;
  return `${[
    `${wholeOf(machines, 'machine')} of ${wholeOf(request.coresPerMachine, 'core')}: ${wholeOf(plan.workers, 'worker')}, ${wholeOf(plan.streams, 'stream')}, ${whole(survive)} may fail.`,
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
        `${plain(request.pointsPerS / request.pointsPerMessage)} messages/s of ${wholeOf(request.pointsPerMessage, 'point')}`,
      ],
      ['workers', whole(plan.workers), `${plain(plan.workerCores)} cores of work`],
      [
        'streams',
        whole(plan.streams),
        `${plain(plan.serverCores)} cores of work of nats-server, ${wholeOf(request.replicas, 'replica')}`,
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
              wholeOf(collected.machines + survive, 'machine'),
              `${plain(collected.collectorCores + collected.workerCores + collected.serverCores)} cores of work in all, a position waits 0.2 s`,
            ],
          ]),
    ]),
  ].join('\n')}\n`;
}
