// Lower quartiles, spreads of values that are not times of tasks, ratios and tables: what the benches need beside
// tinybench.

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * How many times as long `slow` takes as `fast`: ratio of medians, and the spread of either against the other's median.
 */
export function ratio(slow: Spread, fast: Spread): Spread {
  return {
    median: slow.median / fast.median,
    low: Math.min(slow.low / fast.median, slow.median / fast.high),
    high: Math.max(slow.high / fast.median, slow.median / fast.low),
  };
}

/** Median and quartiles. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) };
}

/** The value at a share from 0 to 1 of ascending values, the nearest one. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.round(share * (sorted.length - 1))]!;
}

/** Titles of rows that state a figure over all loads that were measured: README.md and bench/README.md take these. */
export const OVER_LOADS = 'median over loads';

/** The middle one of costs that were measured under several loads; the dearer of two. */
export const overLoads = (costs: readonly number[]): number =>
  [...costs].sort((a, b) => a - b)[Math.floor(costs.length / 2)]!;

/** `41.3 (40.2-43.0)`: median and quartiles. */
export function spreadText({ median, low, high }: Spread, digits = 1): string {
  const text = (value: number) => value.toFixed(value >= 100 ? 0 : digits);
  return `${text(median)} (${text(low)}-${text(high)})`;
}

/** Rows as a Markdown table. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n');
}
