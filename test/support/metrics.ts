// Metrics of a running server, read as Prometheus reads them
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Then a quantile of figures.
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Series by the name of their metric; a histogram has three names. */
export type Exposition = ReadonlyMap<string, readonly Series[]>;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"\s*,?\s*/y;

/** @throws SyntaxError with the line that is none of the format */
export function readExposition(text: string): Exposition {
  const metrics = new Map<string, Series[]>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name, labels = '', value = ''] = LINE.exec(line) ?? [];
    if (name === undefined) throw new SyntaxError(`not a line of metrics: ${line}`);
    const series = metrics.get(name) ?? [];
    series.push({ labels: labelsOf(labels, line), value: numberOf(value) });
    metrics.set(name, series);
  }
  return metrics;
}

function labelsOf(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text);
    if (match === null) throw new SyntaxError(`not a line of metrics: ${line}`);
    labels[match[1] as string] = (match[2] as string).replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));
  }
  return labels;
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}

export async function scrape(adminPort: number): Promise<{ text: string; metrics: Exposition }> {
  const answer = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
  const text = await answer.text();
  return { text, metrics: readExposition(text) };
}

/** The sum of the series of a name that have all these labels. */
export function sumOf(metrics: Exposition, name: string, labels: Record<string, string> = {}): number {
  return (metrics.get(name) ?? [])
    .filter((series) => Object.entries(labels).every(([label, value]) => series.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

// A quantile of figures in any order.

/** @param share 0.5 is the median. NaN where there are no figures */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
