// The registry without its package, whose loading took a tenth of a start: it is loaded a second later, or with the
// first reader.
import type { Metric, MetricsRegistry } from './registry.js';

const LOADED_AFTER_MS = 1000;

export class LateRegistry {
  readonly #metrics: Metric[] = [];
  readonly #timer = setTimeout(() => void this.#load(), LOADED_AFTER_MS).unref();
  #loading: Promise<MetricsRegistry> | undefined;

  /** Before the first reader only. */
  add(metrics: Iterable<Metric>): void {
    this.#metrics.push(...metrics);
  }

  /** In the text format of Prometheus. */
  async text(): Promise<{ type: string; body: string }> {
    return (await this.#load()).text();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #load(): Promise<MetricsRegistry> {
    this.#loading ??= import('./registry.js').then(({ MetricsRegistry }) => {
      const registry = new MetricsRegistry();
      registry.add(this.#metrics);
      return registry;
    });
    return this.#loading;
  }
}
