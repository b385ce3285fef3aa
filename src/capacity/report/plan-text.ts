// A plan for people: what sizes the fleet and the answer first, then limits, what-ifs, and which inputs were measured
// or assumed.
import type { Answer, OneLess, Plan } from '../model/plan.js';
import { bytes, percent, plain, range, time } from './figures.js';
import { columns } from './text-table.js';

const LIMITS_SHOWN = 6;
const WHEN = { peak: 'at the peak', mean: 'on average', night: 'at night' } as const;

export function planText(plan: Plan, source: string): string {
  const { request, demand, answer, limits, whatIfs, sizing } = plan;
  const { fleet } = request;
  const first = limits[0]!;
  const lines = [
    `${sizedBy(plan)}`,
    '',
    `${machinesText(answer, plan)}; p99 ${range(answer.p99Us, latency)}, p50 ${range(answer.p50Us, latency)}; first limit: ${first.name}, at ${plain(first.times)} × this fleet`,
    ...(answer.holdsTarget ? [] : [`a p99 of ${time(request.targetP99Us)} cannot be held: ${whyNot(plan)}`]),
    ...(answer.holdsTarget && answer.p99Us.high > request.targetP99Us
      ? [
          'the upper end of that p99 is above the target: it was measured at such a load, or is that of the dearer costs',
        ]
      : []),
    ...(plan.holdsProcess ? [] : ['the memory of such a machine does not hold one process at its largest']),
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
        plain(answer.carrying * answer.processesPerMachine),
        `each ${range(answer.busyShare, percent)} busy then`,
      ],
      [
        'memory of a machine',
        plan.memoryBytesPerMachine === null ? 'not measured' : range(plan.memoryBytesPerMachine, bytes),
        '',
      ],
      [
        'network',
        `${plain(plan.networkBitsPerS / 1e6)} Mbit/s`,
        'the busier direction, all machines, at most',
      ],
      ...(plan.pricePerBillionPoints === null
        ? []
        : [['price', range(plan.pricePerBillionPoints, plain), 'per 1,000,000,000 points']]),
    ]),
    '',
    columns(
      [
        ['limit', 'carries', 'asked for', '× this fleet'],
        ...limits
          .slice(0, LIMITS_SHOWN)
          .map(({ name, carries, asks, times }) => [name, plain(carries), plain(asks), plain(times)]),
      ],
      [1, 2, 3],
    ),
    ...limits
      .filter(({ times, setting }) => times < 1 && setting !== undefined)
      .map(({ name, setting }) => `raise ${setting}: this fleet has more ${name} than its default allows`),
    '',
    columns([
      ['what if', 'machines', 'p99', 'first limit'],
      ...whatIfs.map(({ name, answer: other, firstLimit }) => [
        name,
        range(other.machines, plain),
        other.holdsTarget ? range(other.p99Us, latency) : 'not held',
        `${firstLimit.name}, ${plain(firstLimit.times)} ×`,
      ]),
    ]),
    ...(plan.oneLess === undefined ? [] : [oneLessText(plan.oneLess)]),
    '',
    ...sources(plan, source),
  ];
  return `${lines.join('\n')}\n`;
}

/** Which of messages, connections and points asks for most. */
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

function machinesText(answer: Answer, { request }: Plan): string {
  const { machines, cores, carrying, processesPerMachine } = answer;
  const count = range(machines, plain);
  const survive = request.survive === 0 ? 'none to spare' : `${request.survive} may fail`;
  return `${count} ${machines.high === 1 ? 'machine' : 'machines'} of ${request.coresPerMachine} cores, ${range(cores, plain)} in all (${carrying} ${carrying === 1 ? 'carries' : 'carry'} the load with ${processesPerMachine} ${processesPerMachine === 1 ? 'process' : 'processes'} each, ${survive})`;
}

function oneLessText({ busyShare, p99Us, hasSpace, holdsTarget }: OneLess): string {
  const busy = `processes ${range(busyShare, percent)} busy`;
  const tail = `p99 ${range(p99Us, latency)}`;
  return `one machine down at the busiest time: ${busy}, ${tail}: ${holdsTarget ? 'the target holds' : hasSpace ? 'the target is missed' : 'its memory or its network is too small'}`;
}

function whyNot({ sizing, request, demand }: Plan): string {
  const { streams, used, machines, processesPerMachine } = sizing;
  if (streams[0]!.costUs >= request.targetP99Us) return 'one message alone takes longer';
  return used < machines * processesPerMachine || used === demand.connections
    ? `a connection belongs to one process, and ${demand.connections === 1 ? 'there is one' : `there are ${plain(demand.connections)}`}`
    : 'more processes do not shorten it';
}

/** `1 point`, `2 points`. */
const counted = (count: number, noun: string): string => `${plain(count)} ${noun}${count === 1 ? '' : 's'}`;

/** A queue that grows has none. */
const latency = (us: number): string => (Number.isFinite(us) ? time(us) : 'growing');

function sources({ request, demand, results, scalingRemark }: Plan, source: string): string[] {
  const { fleet } = request;
  const { machine } = results;
  return [
    `measured (${source}): costs, service times, bytes, memory and speed-ups, on ${machine.cores} × ${machine.model}, Node ${results.node}, hexcodes ${results.version}, ${results.date}${results.isQuick ? ', by a quick run' : ''}`,
    ...(results.isQuietEnough
      ? []
      : ['that machine was noisy: its knees are not used, and tails may be shorter on a quiet one']),
    `assumed: peak ${plain(fleet.peakFactor)} × the mean, ${fleet.togetherShare === 0 ? 'no vehicles report in the same moment' : `${percent(fleet.togetherShare)} of the vehicles report in the same moment of every interval`}, ${percent(request.headroom)} headroom, a link of ${plain(request.linkBitsPerS / 1e9)} Gbit/s used to 70 %, cores as fast as those measured, no network between (its delays add to p50 and p99)`,
    ...(demand.mostFlushMs === 0
      ? []
      : [`beside these latencies a point waits up to ${time(1000 * demand.mostFlushMs)} at its gateway`]),
    ...(demand.isCut
      ? [
          `what is sent together exceeds one message and comes in several, of ${demand.peak[0]!.pointsPerMessage.toLocaleString('en')} points at most`,
        ]
      : []),
    scalingRemark,
  ];
}
