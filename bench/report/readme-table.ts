// The small table and the plot of README.md, between two marks that stay.
import type { Results } from '#dist/capacity/measure/results.js';
import { plain, time } from '#dist/capacity/report/figures.js';
import { table } from '../measure.js';

const MARKED = /(<!-- capacity:[^\n]*-->\n)[\s\S]*?(<!-- \/capacity -->)/;

/** @throws Error where the text has no marks */
export function withTable(readme: string, results: Results, plotPath: string): string {
  if (!MARKED.test(readme)) throw new Error('no marks for the table');
  const { machine, node, date, isQuietEnough, ways } = results;
  const rows = ways.map(({ name, pointsPerUnit, costBacklogUs, knee, intendedUs }) => {
    const at = (percentile: number): string => {
      const us = intendedUs.find(([each]) => each === percentile)?.[1];
      return us === undefined ? '' : time(us);
    };
    const isShown = knee?.isConfirmed === true;
    const mark = knee?.isGeneratorLimit ? '≥ ' : '';
    return [
      `\`${name}\``,
      String(pointsPerUnit),
      costBacklogUs === null ? '' : time(costBacklogUs.median),
      isShown ? `${mark}${plain(knee.ratePerS)}` : '–',
      isShown ? `${mark}${plain(knee.ratePerS * pointsPerUnit)}` : '–',
      isShown ? at(50) : '–',
      isShown ? at(99) : '–',
    ];
  });
  const titles = [
    'one process',
    'points',
    'CPU under backlog',
    'rate/s that holds a p99 of 50 ms',
    'points/s',
    'median at 80 % of it',
    'p99',
  ];
  const noise = isQuietEnough ? '' : ', too noisy for figures of tails';
  const block = `
${table(titles, rows)}

${machine.cores} × ${machine.model}, Node ${node}, ${date}${noise}; latencies counted from the moment when a request should
have started. ≥: beyond it the load generator was the limit. –: repeats did not hold what was found.

![latency percentiles of each way in](${plotPath})

`;
  return readme.replace(MARKED, (_, begin: string, end: string) => `${begin}${block}${end}`);
}
