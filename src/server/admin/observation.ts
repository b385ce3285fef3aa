// Routes of the admin port that show the service at work: GET /metrics in the text format of Prometheus, and GET
// /activity, the keys that are in use.

import type { PointCounts } from '../ledger/point-counts.js';
import type { Metric, MetricsRegistry } from '../metrics/registry.js';
import type { AdminRoute } from './port.js';

const LOADED_AFTER_MS = 1000;

/**
 * The registry without its package, whose loading took a tenth of a start: it is loaded a second later, or with the
 * first reader.
 */
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
    this.#loading ??= import('../metrics/registry.js').then(({ MetricsRegistry }) => {
      const registry = new MetricsRegistry();
      registry.add(this.#metrics);
      return registry;
    });
    return this.#loading;
  }
}

/** Time without a request after which a key is not in use. */
const IN_USE_MS = 10_000;

export function observationRoutes(registry: LateRegistry, points: PointCounts): AdminRoute[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      isShared: true,
      handle: async () => ({ status: 200, ...(await registry.text()) }),
    },
    {
      method: 'GET',
      path: '/activity',
      isShared: true,
      handle: () => ({
        status: 200,
        type: 'application/json',
        body: JSON.stringify({ keys: activeKeys(points) }),
      }),
    },
  ];
}

function activeKeys(points: PointCounts): { id: string; requests: number; points: number }[] {
  return [...points.keysSince(performance.now() - IN_USE_MS)].map(([id, { requests, points: count }]) => ({
    id,
    requests,
    points: count,
  }));
}
