// A comparison for people: what to know first, then a table of all figures.
import { plain } from '../report/figures.js';
import { columns } from '../report/text-table.js';
import type { ComparedFigure, Comparison } from './compare.js';

/** @param before @param after names of the two runs, at the head of their columns */
export function comparisonText({ figures, cautions }: Comparison, before: string, after: string): string {
  const head = ['', before, after, 'ratio', '99 % interval', ''];
  return [
    ...cautions.map((caution) => `caution: ${caution}`),
    ...(cautions.length === 0 ? [] : ['']),
    columns([head, ...figures.map(rowOf)], [1, 2, 3, 4]),
    '',
  ].join('\n');
}

function rowOf({ name, unit, before, after, interval, verdict }: ComparedFigure): string[] {
  const isKnown = verdict !== 'not comparable' && Number.isFinite(after / before);
  return [
    name,
    measured(before, unit),
    measured(after, unit),
    isKnown ? (after / before).toFixed(3) : '',
    interval === null ? '' : `${interval.low.toFixed(3)}-${interval.high.toFixed(3)}`,
    verdict,
  ];
}

/** A median of no samples is no number. */
const measured = (value: number, unit: string): string =>
  Number.isFinite(value) ? `${plain(value)} ${unit}` : '–';
