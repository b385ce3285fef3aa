// A plan for people: what sizes the fleet and the answer first, then limits, what-ifs, and which inputs were measured or assumed.
import type { Interval } from '../compare/bootstrap.js';
import type { Answer, Plan } from '../model/plan.js';
import { bytes, percent, plain, time } from './figures.js';
import { columns } from './text-table.js';

const LIMITS_SHOWN = 6;

/** @param busyOneLess of busyWithOneLess */
export function planText(plan: Plan, busyOneLess: number | null, source: string): string {
  const { request, demand, answer, limits, whatIfs } = plan;
  const { fleet } = request;
  const [peak] = demand.peak;
  const first = limits[0]!;
  const lines = [
    `${sizedBy(plan)}`,
    '',
    `${machinesText(answer, plan)}; p99 ${range(answer.p99Us, time)}, p50 ${range(answer.p50Us, time)}; first limit: ${first.name}, at ${plain(first.times)} × this fleet`,
    ...(answer.holdsTarget ? [] : [`a p99 of ${time(request.targetP99Us)} cannot be held: ${whyNot(plan)}`]),
    '',
    columns([
      ['vehicles', plain(fleet.vehicles * fleet.growth), `every ${time(1000 * fleet.intervalMs)}`],
      ['points/s', plain(demand.meanPointsPerS), `${plain(demand.peakPointsPerS)} at the peak`],
      [
        'messages/s at the peak',
        plain(peak!.messagesPerS),
        `${peak!.kind}, ${plain(peak!.pointsPerMessage)} points each, ${time(plan.sizing.streams[0]!.costUs)} of CPU`,
      ],
      ['connections', plain(demand.connections), ''],
      [
        'processes',
        plain(answer.carrying * answer.processesPerMachine),
        `each ${range(answer.busyShare, percent)} busy at the peak, of ${percent(plan.sizing.mostBusyShare)} that hold the p99`,
      ],
      [
        'memory of a machine',
        plan.memoryBytesPerMachine === null ? 'not measured' : bytes(plan.memoryBytesPerMachine),
        '',
      ],
      [
        'network at the peak',
        `${plain(plan.networkBitsPerS / 1e6)} Mbit/s`,
        'the busier direction, all machines',
      ],
      ...(plan.pricePerBillionPoints === null
        ? []
        : [['price', plain(plan.pricePerBillionPoints), 'per 1,000,000,000 points']]),
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
        other.holdsTarget ? range(other.p99Us, time) : 'not held',
        `${firstLimit.name}, ${plain(firstLimit.times)} ×`,
      ]),
    ]),
    ...(busyOneLess === null
      ? []
      : [
          `one machine down at the peak: processes ${percent(busyOneLess)} busy${busyOneLess < plan.sizing.mostBusyShare ? ', and the p99 holds' : ': too much for the p99'}`,
        ]),
    '',
    ...sources(plan, source),
  ];
  return `${lines.join('\n')}\n`;
}

/** Which of messages, connections and points asks for most. */
function sizedBy(plan: Plan): string {
  const { demand, coresOfMessages, coresOfPoints } = plan;
  const messages = plain(demand.peak[0]!.messagesPerS);
  const points = `converting ${plain(demand.peakPointsPerS)} points/s takes ${percent(coresOfPoints)} of a core`;
  const handling = `reading and answering ${messages} messages/s takes ${percent(Math.max(0, coresOfMessages - coresOfPoints))}`;
  return coresOfPoints > coresOfMessages / 2
    ? `Points size this fleet: ${points}, ${handling}.`
    : `Messages and connections size this fleet, not points: ${points}, ${handling}, and ${plain(demand.connections)} connections are open.`;
}

function machinesText(answer: Answer, { request }: Plan): string {
  const { machines, carrying, processesPerMachine } = answer;
  const count = range(machines, plain);
  const survive = request.survive === 0 ? 'none to spare' : `${request.survive} may fail`;
  return `${count} ${machines.high === 1 ? 'machine' : 'machines'} of ${request.coresPerMachine} cores (${carrying} ${carrying === 1 ? 'carries' : 'carry'} the peak with ${processesPerMachine} ${processesPerMachine === 1 ? 'process' : 'processes'} each, ${survive})`;
}

function whyNot({ sizing, request }: Plan): string {
  const { streams, mostBusyShare } = sizing;
  return streams[0]!.costUs >= request.targetP99Us || mostBusyShare === 0
    ? 'one message alone takes longer'
    : 'more processes do not shorten it';
}

function sources({ request, results, scalingRemark }: Plan, source: string): string[] {
  const { fleet } = request;
  const { machine } = results;
  return [
    `measured (${source}): costs, service times, bytes, memory and speed-ups, on ${machine.cores} × ${machine.model}, Node ${results.node}, hexcodes ${results.version}, ${results.date}${results.isQuick ? ', by a quick run' : ''}`,
    ...(results.isQuietEnough
      ? []
      : ['that machine was noisy: its knees are not used, and tails may be shorter on a quiet one']),
    `assumed: peak ${plain(fleet.peakFactor)} × the mean, ${fleet.togetherShare === 0 ? 'no vehicles report in the same moment' : `${percent(fleet.togetherShare)} of the vehicles report in the same moment of every interval`}, ${percent(request.headroom)} headroom, a link of ${plain(request.linkBitsPerS / 1e9)} Gbit/s used to 70 %, cores as fast as those measured, no network between (its delays add to p50 and p99)`,
    scalingRemark,
  ];
}

function range({ low, high }: Interval, text: (value: number) => string): string {
  const [from, to] = [text(low), text(high)];
  if (from === to) return from;
  const [fromUnit, toUnit] = [from, to].map((each) => each.split(' ')[1] ?? '');
  return fromUnit === toUnit ? `${from.split(' ')[0]}-${to}` : `${from} to ${to}`;
}
