// The admin port and the port of the service, opened when all that answers on them is there.

import { createHash } from 'node:crypto';
import { loadH3 } from '../../hexcodes/geometry/cells.js';
import { Hexcodes, type HexcodesData } from '../../hexcodes/library/hexcodes.js';
import { VERSION } from '../../hexcodes/version.js';
import { documentRoute } from '../admin/document.js';
import { keyRoutesOf } from '../admin/keys.js';
import {
  type AdminListener,
  type AdminRoute,
  listenSentence,
  openAdminPort,
  textAnswer,
  tryAddress,
} from '../admin/port.js';
import { Bulk } from '../bulk/route.js';
import { type BoundaryData, boundaryData } from '../http/freshness.js';
import { DataVersions } from '../http/negotiation.js';
import { Router } from '../http/router.js';
import { admission } from '../ledger/limit-answers.js';
import { DiskWatch } from '../observe/heartbeat.js';
import type { Log } from '../observe/log.js';
import type { Labels, Metric, MetricsRegistry } from '../observe/metrics/registry.js';
import type { PointCounts } from '../observe/metrics/request-counts.js';
import { EventLoopMonitor, serviceMetrics } from '../observe/metrics/service-metrics.js';
import { ClockWatch, Pulse } from '../observe/readiness.js';
import { batchRoutes } from '../routes/batch.js';
import { basemapRoutes, codePage, consoleRoutes } from '../routes/console.js';
import { gridRoutes } from '../routes/grid.js';
import { lookupRoutes, reverseRoutes } from '../routes/lookups.js';
import { descriptionRoutes, metaRoutes, usageRoutes } from '../routes/meta.js';
import { singleRoutes } from '../routes/single.js';
import { Streams } from '../stream/route.js';
import { traccarRoutes } from '../traccar/route.js';
import type { UwsBuild } from '../transport/load-uws.js';
import type { OpenParts, Parts, ProcessInfo, StopSteps } from './parts.js';

// All routes of the service.

/** After the start, and before somebody asks for a cell's shape or neighbours. */
const H3_LOADED_AFTER_MS = 1000;

interface ServiceRoutes {
  readonly router: Router;
  readonly boundaries: BoundaryData;
  readonly streams: Streams;
  readonly bulk: Bulk;
}

export function addServiceRoutes(parts: Parts, steps: StopSteps): ServiceRoutes {
  const { config, files, kernel, previous, observer, adapter, keys, metering } = parts;
  const router = new Router(adapter, keys.ring, observer.clients, metering && admission(metering.ledger));
  const boundaries = boundaryData(files, kernel.formerProvinces);
  const hexcodes = new Hexcodes(kernel);
  const before = previous && boundaryData(previous.files, previous.kernel.formerProvinces);
  const versions = new DataVersions([boundaries, before].flatMap((each) => (each ? [each.sha256] : [])));
  const deps = { ...parts, router, boundaries, before, hexcodes, logsPositions: config.logPositions };
  const streams = new Streams(deps);
  const bulk = new Bulk(deps);
  steps.drain.push(() => streams.stop());
  steps.release.push(() => bulk.close());
  const byVersion = previous === undefined ? [deps] : [deps, { ...deps, ...previous }];
  const current = [
    metaRoutes,
    usageRoutes,
    lookupRoutes,
    gridRoutes,
    traccarRoutes,
    reverseRoutes,
    descriptionRoutes,
    consoleRoutes,
    basemapRoutes,
    () => streams.routes,
  ].flatMap((routesOf) => routesOf(deps));
  const routes = [
    ...[singleRoutes, batchRoutes].flatMap((routesOf) => versions.chosen(byVersion.map(routesOf))),
    ...versions.chosen(bulk.routes),
    ...versions.current(current),
  ];
  for (const route of routes) router.add(route);
  router.addNotFound(codePage(deps));
  setTimeout(loadH3, H3_LOADED_AFTER_MS).unref();
  return { router, boundaries, streams, bulk };
}

// Routes of the admin port that show the service at work: GET /metrics in the text format of Prometheus, and GET
// /activity, the keys that are in use.

const LOADED_AFTER_MS = 1000;

/**
 * The registry without its package, whose loading took a tenth of a start: it is loaded a second later, or with the
 * first reader.
 */
class LateRegistry {
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
    this.#loading ??= import('../observe/metrics/registry.js').then(({ MetricsRegistry }) => {
      const registry = new MetricsRegistry();
      registry.add(this.#metrics);
      return registry;
    });
    return this.#loading;
  }
}

/** Time without a request after which a key is not in use. */
const IN_USE_MS = 10_000;

function observationRoutes(registry: LateRegistry, points: PointCounts): AdminRoute[] {
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

/** Time for a block with a thread of the pool after which the service is not ready. */
const POOL_SILENT_S = 10;

/** So much of a SHA-256, in hexadecimal, as tells builds apart. */
const DIGITS = 12;

function versionLabels(
  kernel: HexcodesData['kernel'],
  { meta, sha256 }: BoundaryData,
  transport: UwsBuild,
): Labels {
  return {
    version: VERSION,
    kernel: ArrayBuffer.isView(kernel) ? sha256Of(kernel).slice(0, DIGITS) : '',
    data: sha256.slice(0, DIGITS),
    data_date: meta.source.date,
    transport: transport.name,
    transport_version: transport.version,
    node: process.versions.node,
  };
}

function sha256Of({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return createHash('sha256')
    .update(new Uint8Array(buffer, byteOffset, byteLength))
    .digest('hex');
}

function healthRoutes(pulse: Pulse): AdminRoute[] {
  return [
    { method: 'GET', path: '/livez', handle: () => textAnswer(200, 'alive') },
    {
      method: 'GET',
      path: '/readyz',
      handle: () => {
        const { status, text } = pulse.publish();
        return textAnswer(status, ...text.trimEnd().split('\n'));
      },
    },
  ];
}

export interface Ports {
  readonly admin: AdminListener;
  /** Port of the service. */
  readonly port: number;
}

interface Observation {
  readonly routes: readonly AdminRoute[];
  close(): Promise<void>;
}

/**
 * Resolves when requests are accepted; rejects with a sentence that names each port that is taken.
 * @param open gets what is to be closed with the service
 * @param warmedCalls for the log
 */
export async function listen(
  parts: Parts,
  serviceRoutes: ServiceRoutes,
  open: OpenParts,
  log: Log,
  processInfo: ProcessInfo | undefined,
  warmedCalls: number,
): Promise<Ports> {
  const { config, logger, adapter, keys, metering, pool, readiness } = parts;
  const observation = observe(parts, serviceRoutes, log);
  open.observation = observation;
  const clock = new ClockWatch(logger);
  const disk = new DiskWatch(config.dataDir);
  open.steps.release.push(async () => {
    clock.close();
    disk.close();
  });
  readiness.addFault(() => keys.absence);
  readiness.addFault(() => metering?.flusher.silence);
  readiness.addFault(() => {
    const { oldestS } = pool;
    return oldestS < POOL_SILENT_S ? undefined : `a thread of the pool has not answered for ${oldestS} s`;
  });
  readiness.addFault(() => pool.absence ?? parts.previous?.pool.absence);
  readiness.addWarning(() => (keys.absence === undefined ? keys.fault : undefined));
  readiness.addWarning(() => metering?.flusher.fault);
  readiness.addWarning(() => clock.warning);
  readiness.addWarning(() => disk.warning);

  const address = { host: config.host, port: config.port, use: 'the service' } as const;
  const { adminHost, adminPort, adminNames } = config;
  const failed = (error: unknown): void => logger.error({ err: error }, 'a handler of the admin port threw');
  const keyRoutes = keyRoutesOf(keys, config.trustedProxies, logger, processInfo?.token);
  const pulse = new Pulse(readiness);
  const routes = [...healthRoutes(pulse), ...observation.routes, documentRoute, ...keyRoutes];
  open.steps.release.push(async () => pulse.close());
  const opening = openAdminPort(adminHost, adminPort, routes, failed, adminNames, pulse.shared);
  const admin = await opening.catch(async (error: Error) => {
    // A second server meets both faults: both are named.
    const fault = processInfo === undefined ? await tryAddress(address) : undefined;
    if (typeof fault !== 'object') throw error;
    throw new Error(`${listenSentence(address, fault)}\n${error.message}`);
  });
  open.admin = admin;
  const port = await adapter
    .listen(config.host, config.port, processInfo === undefined, processInfo?.ownPort)
    .catch(async () => {
      throw new Error(listenSentence(address, await tryAddress(address)));
    });
  readiness.accept();
  const { name, version } = adapter.build;
  const versions = { transport: name, transport_version: version };
  logger.info(
    {
      host: config.host,
      port,
      admin_port: admin.port,
      keys: keys.ring.size,
      ...versions,
      warmed_calls: warmedCalls,
    },
    'listening',
  );
  return { admin, port };
}

const NOTHING_FORWARDED = { waiting: 0, delivered: 0, refused: 0, isAway: false };

/** The metrics of all parts, and the routes that show them. */
function observe(parts: Parts, { boundaries, streams, bulk }: ServiceRoutes, log: Log): Observation {
  const { files, budget, pool, adapter, keys, metering, forwarder, observer, readiness } = parts;
  const eventLoop = new EventLoopMonitor();
  const registry = new LateRegistry();
  registry.add(
    serviceMetrics({
      info: versionLabels(files.kernel, boundaries, adapter.build),
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
      usage: () => ({
        fault: metering?.flusher.fault !== undefined,
        failures: metering?.flusher.failures ?? 0,
      }),
      isReady: () => readiness.page.status === 200,
    }),
  );
  return {
    routes: observationRoutes(registry, observer.points),
    close: async () => {
      registry.close();
      eventLoop.close();
      await observer.close();
    },
  };
}
