// The small table and the plot of README.md, between two marks that stay.
import type { Results } from '#dist/capacity/measure/results.js';
import { heldRate } from '#dist/capacity/report/bench-text.js';
import { plain, time } from '#dist/capacity/report/figures.js';
import { table } from '../table.js';

const MARKED = /(<!-- capacity:[^\n]*-->\n)[\s\S]*?(<!-- \/capacity -->)/;

/** @throws Error where the text has no marks */
export function withTable(readme: string, results: Results, plotPath: string): string {
  if (!MARKED.test(readme)) throw new Error('no marks for the table');
  const { machine, node, date, isQuietEnough, ways } = results;
  const targetP99Us = ways.find(({ knee }) => knee !== null)?.knee?.targetP99Us;
  const rows = ways.map((way) => {
    const { name, pointsPerUnit, costBacklogUs } = way;
    const held = targetP99Us === undefined ? null : heldRate(way, targetP99Us);
    const mark = held?.isLeast ? '≥ ' : '';
    return [
      `\`${name}\``,
      String(pointsPerUnit),
      costBacklogUs === null ? '' : time(costBacklogUs.median),
      held ? `${mark}${plain(held.ratePerS)}` : '–',
      held ? `${mark}${plain(held.ratePerS * pointsPerUnit)}` : '–',
      held ? time(held.p50Us) : '–',
      held ? time(held.p99Us) : '–',
    ];
  });
  const titles = [
    'one process',
    'points',
    'CPU under backlog',
    `rate/s that holds ${targetP99Us === undefined ? 'the target' : `a p99 of ${time(targetP99Us)}`}`,
    'points/s',
    'median there',
    'p99 there',
  ];
  const noise = isQuietEnough ? '' : ', too noisy for figures of tails';
  const block = `
${table(titles, rows)}

${machine.cores} × ${machine.model}, Node ${node}, ${date}${noise}; latencies counted from the moment when a request should
have started. ≥: that rate and all lower ones of the run held; beyond it the load generator was the limit, or the run
confirms none. –: none held.

![latency percentiles of each way in](${plotPath})

`;
  return readme.replace(MARKED, (_, begin: string, end: string) => `${begin}${block}${end}`);
}
