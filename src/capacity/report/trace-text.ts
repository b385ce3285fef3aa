// A simulated trace for people.
import type { TracePlan } from '../model/trace-plan.js';
import { percent, plain, time } from './figures.js';
import { columns } from './text-table.js';

export function traceText(
  { messages, seconds, peakPerS, vehicles, tries, processes }: TracePlan,
  targetP99Us: number,
): string {
  const lines = [
    processes === null
      ? `no number of processes tried holds a p99 of ${time(targetP99Us)} for this trace`
      : `${processes} ${processes === 1 ? 'process carries' : 'processes carry'} this trace with a p99 of at most ${time(targetP99Us)}`,
    `${plain(messages)} messages in ${plain(seconds)} s, ${plain(messages / seconds)}/s on average and ${plain(peakPerS)} in the busiest second${vehicles === null ? '' : `, of ${plain(vehicles)} vehicles`}`,
    '',
    columns(
      [
        ['processes', 'busy', 'p50', 'p99', 'slowest'],
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
  ];
  return `${lines.join('\n')}\n`;
}
