// Routes of the admin port that show the service at work: GET /metrics in the text format of Prometheus, and GET
// /activity, the keys that are in use, for `hexcodes top`.
import type { AdminRoute } from '../admin-port.js';
import type { PointCounts } from '../ledger/point-counts.js';
import type { LateRegistry } from '../metrics/late-registry.js';

/** Time without a request after which a key is not in use. */
const IN_USE_MS = 10_000;

export function observationRoutes(registry: LateRegistry, points: PointCounts): AdminRoute[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      handle: async () => ({ status: 200, ...(await registry.text()) }),
    },
    {
      method: 'GET',
      path: '/activity',
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
