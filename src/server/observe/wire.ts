// Joins the observer with the parts of the service whose state the metrics show.

import type { Pool } from '../../pool/pool.js';
import type { AdminRoute } from '../admin-port.js';
import type { Budget } from '../budget/budget.js';
import type { Bulk } from '../bulk/route.js';
import type { Forwarder } from '../forward/forwarder.js';
import type { ServerKeys } from '../keys/keys.js';
import type { OpenLedger } from '../ledger/open-ledger.js';
import type { Log } from '../log.js';
import { EventLoopMonitor } from '../metrics/event-loop.js';
import { LateRegistry } from '../metrics/late-registry.js';
import type { Labels } from '../metrics/registry.js';
import { serviceMetrics } from '../metrics/service-metrics.js';
import type { Streams } from '../stream/route.js';
import type { Adapter } from '../transport/adapter.js';
import type { Observer } from './observer.js';
import { observationRoutes } from './routes.js';

export interface ObservedParts {
  readonly info: Labels;
  readonly adapter: Adapter;
  readonly streams: Streams;
  readonly bulk: Bulk;
  readonly budget: Budget;
  readonly pool: Pool;
  readonly keys: ServerKeys;
  /** Undefined: nothing is counted. */
  readonly metering: OpenLedger | undefined;
  /** Undefined: positions go nowhere. */
  readonly forwarder: Forwarder | undefined;
  readonly log: Log;
  readonly isReady: () => boolean;
}

const NOTHING_FORWARDED = { waiting: 0, delivered: 0, refused: 0, isAway: false };

export interface Observation {
  /** Further metrics may be added to it before its first reader. */
  readonly registry: LateRegistry;
  readonly routes: readonly AdminRoute[];
  close(): Promise<void>;
}

export function observe(observer: Observer, parts: ObservedParts): Observation {
  const { info, adapter, streams, bulk, budget, pool, keys, metering, forwarder, log, isReady } = parts;
  const eventLoop = new EventLoopMonitor();
  const registry = new LateRegistry();
  registry.add(
    serviceMetrics({
      info,
      requests: observer.requests,
      underWay: () => adapter.pending,
      connections: () => adapter.connectionCount,
      refusedConnections: observer.refusedConnections,
      points: observer.points,
      streams: observer.streams,
      openStreams: () => streams.figures,
      bulk: () => bulk.figures,
      budget,
      refusals: observer.refusals,
      pool: () => ({ threads: pool.threads, ...pool.figures }),
      poolWaits: observer.poolWaits,
      poolRuns: observer.poolRuns,
      eventLoop,
      forward: () => forwarder?.figures ?? NOTHING_FORWARDED,
      droppedLogLines: () => log.droppedLines,
      skippedLogLines: () => observer.log.skipped,
      keys: () => ({ loaded: keys.ring.size, fault: keys.fault !== undefined }),
      usage: () => ({ fault: metering?.fault !== undefined, failures: metering?.failures ?? 0 }),
      isReady,
    }),
  );
  return {
    registry,
    routes: observationRoutes(registry, observer.points),
    close: async () => {
      registry.close();
      eventLoop.close();
      await observer.close();
    },
  };
}
