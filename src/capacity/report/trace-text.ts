// A simulated trace for people.
import type { Results } from '../measure/results.js';
import { MOST_PROCESSES, type TraceAnswer, type TracePlan, type TraceRequest } from '../model/trace-plan.js';
import { bytes, percent, plain, range, time } from './figures.js';
import { columns } from './text-table.js';

/** @param source where the results are from */
export function traceText(plan: TracePlan, results: Results, source: string): string {
  const { messages, points, seconds, peakPerS, vehicles, tries, answer, request } = plan;
  const lines = [
    ...(answer === null
      ? [
          `no number of processes up to ${MOST_PROCESSES.toLocaleString('en')} holds a p99 of ${time(request.targetP99Us)} for this trace with ${percent(request.headroom)} headroom`,
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
    `measured (${source}): costs, service times and speed-ups, on ${results.machine.cores} × ${results.machine.model}, Node ${results.node}, hexcodes ${results.version}, ${results.date}${results.isQuick ? ', by a quick run' : ''}`,
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
      : `; ${low} with costs at their lower quartile, ${high === null ? `more than ${MOST_PROCESSES.toLocaleString('en')}` : high} at their upper`;
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
