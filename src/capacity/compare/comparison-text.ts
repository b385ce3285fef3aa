// A comparison as a table for people.
import { columns } from '../report/text-table.js';
import type { Comparison } from './compare.js';

export function comparisonText({ figures, cautions }: Comparison, before: string, after: string): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${figure.before.toPrecision(4)} ${figure.unit}`,
    `${figure.after.toPrecision(4)} ${figure.unit}`,
    (figure.after / figure.before).toFixed(3),
    figure.interval === null ? '' : `${figure.interval.low.toFixed(3)}-${figure.interval.high.toFixed(3)}`,
    figure.verdict,
  ]);
  return [
    columns([['', before, after, 'ratio', '99 % interval', ''], ...rows], [1, 2, 3, 4]),
    ...cautions.map((caution) => `caution: ${caution}`),
    '',
  ].join('\n');
}
