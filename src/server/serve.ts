// Starts and stops the service. serve() resolves when requests are accepted. stop() closes the listener, waits until
// streams and answers are done or the grace period is over, then closes everything else. Signals and exit codes are the
// command's (cli/commands/serve.ts).
import type { ServeConfig } from '../config/config.js';
import { Kernel } from '../hexcodes/kernel/kernel.js';
import { Hexcodes, type HexcodesData } from '../hexcodes/library/hexcodes.js';
import { Pool } from '../pool/pool.js';
import type { PoolOptions } from '../pool/pool-options.js';
import { defaultThreads } from '../pool/usable-cores.js';
import { healthRoutes } from './admin/health.js';
import type { AdminListener } from './admin/listener.js';
import { keyRoutesOf } from './admin/wire-keys.js';
import { openAdminPort } from './admin-port.js';
import { Budget } from './budget/budget.js';
import { Bulk, type BulkTuning } from './bulk/route.js';
import { CountedLine } from './counted-line.js';
import { openForwarder } from './forward/open-forwarder.js';
import { addGrid } from './grid/route.js';
import { openKeys, type ServerKeys } from './keys/keys.js';
import { type OpenLedger, openLedger } from './ledger/open-ledger.js';
import { ClockWatch } from './life/clock-watch.js';
import { Pulse } from './life/pulse.js';
import { Readiness } from './life/readiness.js';
import { finishAnswers, type StopSteps } from './life/stopping.js';
import { listenSentence, refuseSameAddress, tryAddress } from './listen-fault.js';
import { type Log, type Logger, openLog } from './log.js';
import { hooksFor } from './observe/adapter-hooks.js';
import type { Observer } from './observe/observer.js';
import { openObserver } from './observe/open.js';
import { versionLabels } from './observe/versions.js';
import { type Observation, observe } from './observe/wire.js';
import { Router } from './router.js';
import { addBatch } from './routes/batch.js';
import { boundaryData } from './routes/boundary-data.js';
import { addCodeInfo } from './routes/code-info.js';
import { addConsole, basemapOf } from './routes/console.js';
import { addDescription } from './routes/description.js';
import { addMeta } from './routes/meta.js';
import { addReverse } from './routes/reverse.js';
import { addSingle } from './routes/single.js';
import { addUsage } from './routes/usage.js';
import { Streams, type StreamTuning } from './stream/route.js';
import { addTraccar } from './traccar/route.js';
import { Adapter } from './transport/adapter.js';
import { connectionsWithin } from './transport/door/descriptors.js';
import type { DoorLimits } from './transport/door/door.js';
import type { UwsBuild } from './transport/load-uws.js';
import { receiveBufferWarning } from './transport/receive-buffer.js';

export interface Service {
  readonly port: number;
  readonly adminPort: number;
  /** Path of the file with the text of the first key, if there is one. */
  readonly firstKeyFile: string | undefined;
  /** The build of uWebSockets.js that serves. */
  readonly transport: UwsBuild;
  /** Stops the service; a second call waits for the same stop. */
  stop(): Promise<void>;
}

/** Of one process among several that serve together. */
export interface Seat {
  /** The number of the process, from 1, for the log. */
  readonly number: number;
  /** A port of its own beside the shared one; undefined: none. */
  readonly ownPort: number | undefined;
  /** With which the supervisor calls the admin port of the process. */
  readonly token: string;
}

/** Settings that only tests and benches change. */
export interface ServeTuning {
  readonly stream?: Partial<StreamTuning>;
  readonly bulk?: Partial<BulkTuning>;
  readonly bodyTimeoutMs?: number;
  readonly keyless?: Partial<DoorLimits>;
  readonly batchTurnMs?: number;
  readonly pool?: Omit<PoolOptions, 'kernel'>;
  /** false: nothing is counted or logged of a request, and no key has limits. */
  readonly metering?: boolean;
  /** Called with the pool when it is made. */
  readonly withPool?: (pool: Pool) => void;
  /** Called with the budget when it is made. */
  readonly withBudget?: (budget: Budget) => void;
}

/** Of a body that is collected as a whole: 4 MiB at 35 KiB a second. */
const BODY_TIMEOUT_MS = 120_000;
/** The connections of one address that have shown no valid key are at most one of so many parts of all that may be open. */
const KEYLESS_PARTS = 4;
/** A worker thread without work ends after so long: a thread holds some 15 MB. */
const THREAD_IDLE_MS = 60_000;
const STORE_FAILED = {
  read: 'the key store cannot be read; the keys read last hold',
  write: 'the key store cannot be written; when keys are used is not kept',
};

/**
 * Starts the service; rejects with a message for people, once everything opened so far is closed.
 * @param seat undefined: this process has the port for itself
 */
export async function serve(
  config: ServeConfig,
  files: HexcodesData,
  log?: Log,
  tuning: ServeTuning = {},
  seat?: Seat,
): Promise<Service> {
  const usedLog = log ?? openLog(config.logLevel);
  const { logger: plainLogger, flush } = usedLog;
  const logger = seat === undefined ? plainLogger : plainLogger.child({ process: seat.number });
  const steps: StopSteps = { drain: [], release: [] };
  const readiness = new Readiness();
  let keys: ServerKeys | undefined;
  let adapter: Adapter | undefined;
  let admin: AdminListener | undefined;
  let metering: OpenLedger | undefined;
  let observation: Observation | undefined;

  /** Closes one part; its failure does not keep the others from closing, of which one stores the usage. */
  const close = async (step: () => unknown): Promise<void> => {
    try {
      await step();
    } catch (error) {
      logger.error({ err: error }, 'a part of the service was not closed');
    }
  };
  const closeAll = async (): Promise<void> => {
    await close(() => adapter?.close());
    await Promise.all(steps.release.map(close));
    await close(() => metering?.close());
    await close(() => keys?.stop());
    await close(() => admin?.close());
    await close(() => observation?.close());
  };

  try {
    const module = await Kernel.moduleOf(files.kernel);
    const kernel = Kernel.create(module, files.index, files.reach);
    const observer = await openObserver(config, logger);
    const pool = new Pool({
      kernel: { module, index: files.index, reach: files.reach },
      timed: (waitedMs, ranMs) => {
        observer.poolWaits.add(waitedMs);
        observer.poolRuns.add(ranMs);
      },
      threads: config.poolThreads ?? defaultThreads(),
      threadIdleMs: THREAD_IDLE_MS,
      ...tuning.pool,
    });
    steps.release.push(() => pool.close());
    tuning.withPool?.(pool);
    keys = await openKeys({
      dataDir: config.dataDir,
      storeUrl: config.store,
      pepper: config.keyPepper ?? config.keyPepperFile,
      given: [...config.apiKeys, ...config.apiKeysFile],
      changed: (ring) => logger.info({ keys: ring.size }, 'keys changed'),
      failed: (to, reason) => logger.error({ reason }, STORE_FAILED[to]),
      recovered: (to) => logger.info(`the key store can be ${to === 'read' ? 'read' : 'written'} again`),
    });
    const store = keys;
    if (store.folderWarning !== undefined) logger.warn(store.folderWarning);
    const bufferWarning = receiveBufferWarning();
    if (bufferWarning !== undefined) logger.warn(bufferWarning);
    const budget = budgetOf(config, logger, observer);
    tuning.withBudget?.(budget);
    const { maxConnections, warning: filesWarning } = connectionsWithin(config.maxConnections);
    if (filesWarning !== undefined) logger.warn(filesWarning);
    adapter = await Adapter.load(hooksFor(logger, observer, tuning.metering !== false), {
      budget,
      maxPastStopBytes: config.maxPastStopBytes,
      maxConnections,
      keyless: {
        perNetwork: Math.min(config.maxKeylessPerAddress, Math.ceil(maxConnections / KEYLESS_PARTS)),
        isExempt: (address) => observer.clients.isProxy(address),
        ...tuning.keyless,
      },
      bodyTimeoutMs: tuning.bodyTimeoutMs ?? BODY_TIMEOUT_MS,
    });
    if (tuning.metering !== false) metering = await openLedger(config, keys.ring, observer.points, logger);
    const router = new Router(adapter, keys.ring, observer.clients, metering?.admit);
    addSingle(router, kernel, config.logPositions);
    addBatch(router, kernel, pool, tuning.batchTurnMs);
    const boundaries = boundaryData(files, kernel.formerProvinces);
    addMeta(router, boundaries, adapter.build);
    if (metering !== undefined) addUsage(router, metering);
    const hexcodes = new Hexcodes(kernel);
    addCodeInfo(router, hexcodes, boundaries.tag);
    addGrid(router, hexcodes, boundaries.tag);
    const forwarder = await openForwarder(config, logger, seat?.number);
    steps.release.push(async () => forwarder?.close());
    readiness.addWarning(() => forwarder?.fault);
    addTraccar(router, kernel, forwarder, config.logPositions);
    addReverse(router, hexcodes, boundaries.meta.notice, config.logPositions);
    addDescription(router);
    addConsole(router, files, basemapOf(config));
    const streams = new Streams(router, kernel, pool, keys.ring, budget, observer, tuning.stream);
    streams.open(adapter);
    const spool = { requestBytes: config.spoolRequestBytes, totalBytes: config.spoolBytes };
    const bulk = new Bulk(kernel, pool, config.dataDir, spool, logger, tuning.bulk);
    bulk.open(router);
    steps.drain.push(() => streams.stop());
    steps.release.push(() => bulk.close());
    router.addNotFound();
    observation = observe(observer, {
      info: versionLabels(files.kernel, boundaries, adapter.build),
      ...{ adapter, streams, bulk, budget, pool, keys, metering, forwarder, log: usedLog },
      isReady: () => readiness.page.status === 200,
    });
    readiness.addWarning(() => store.fault);
    readiness.addWarning(() => metering?.fault);
    const clock = new ClockWatch(logger);
    steps.release.push(async () => clock.close());
    readiness.addWarning(() => clock.warning);
    const address = { host: config.host, port: config.port, use: 'the service' } as const;
    refuseSameAddress(address, { host: config.adminHost, port: config.adminPort });
    const failed = (error: unknown): void =>
      logger.error({ err: error }, 'a handler of the admin port threw');
    const keyRoutes = keyRoutesOf(store, config.trustedProxies, logger, seat?.token);
    const routes = [...healthRoutes(readiness), ...observation.routes, ...keyRoutes];
    const pulse = new Pulse(readiness);
    steps.release.push(async () => pulse.close());
    const { adminHost, adminPort, adminNames } = config;
    const pages = openAdminPort(adminHost, adminPort, routes, failed, adminNames, pulse.shared);
    admin = await pages.catch(async (error: Error) => {
      // A second server meets both faults: both are named.
      const fault = seat === undefined ? await tryAddress(address) : undefined;
      if (fault === undefined) throw error;
      throw new Error(`${listenSentence(address, fault)}\n${error.message}`);
    });
    const port = await adapter
      .listen(config.host, config.port, seat === undefined, seat?.ownPort)
      .catch(async () => {
        throw new Error(listenSentence(address, await tryAddress(address)));
      });
    readiness.accept();
    logger.info(
      {
        host: config.host,
        port,
        admin_port: admin.port,
        keys: keys.ring.size,
        transport: adapter.build.name,
        transport_version: adapter.build.version,
      },
      'listening',
    );

    let stopped: Promise<void> | undefined;
    const stop = async (running: Adapter): Promise<void> => {
      await finishAnswers(running, config, steps, readiness, logger);
      await closeAll();
      logger.info({ requests: running.requestCount, frames: streams.frameCount }, 'stopped');
      await flush();
    };
    return {
      port,
      adminPort: admin.port,
      transport: adapter.build,
      firstKeyFile: keys.firstKeyFile,
      stop: () => {
        stopped ??= stop(adapter as Adapter);
        return stopped;
      },
    };
  } catch (error) {
    await closeAll();
    await flush();
    throw error;
  }
}

function budgetOf(config: ServeConfig, logger: Logger, observer: Observer): Budget {
  const line = new CountedLine(logger, 'refusals', 'refused: a limit is reached');
  const limits = {
    connectionBytes: config.maxConnectionBytes,
    keyBytes: config.maxKeyBytes,
    processBytes: config.maxHeldBytes,
    requestsPerKey: config.maxRequestsPerKey,
    socketsPerKey: config.maxSocketsPerKey,
  };
  return new Budget(limits, (keyId, reason, limit) => {
    observer.refused(limit);
    line.add({ key_id: keyId, reason });
  });
}
