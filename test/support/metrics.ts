// Metrics of a running server, as Prometheus reads them.
import { type Exposition, readExposition } from './exposition.js';

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
