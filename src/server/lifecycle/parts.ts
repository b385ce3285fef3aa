// The parts of a running service, opened in their order and closed in theirs. Threads of keys and usage start while the
// transport is loaded, which is most of what a start waits for.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate as nextCheck, setTimeout as sleep } from 'node:timers/promises';
import type { ServeConfig } from '../../config/config.js';
import { Kernel } from '../../hexcodes/kernel/kernel.js';
import type { HexcodesData } from '../../hexcodes/library/hexcodes.js';
import { Pool, type PoolOptions } from '../../pool/pool.js';
import { defaultThreads } from '../../pool/usable-cores.js';
import type { AdminListener } from '../admin/port.js';
import type { BulkTuning } from '../bulk/route.js';
import type { Adapter } from '../http/exchange.js';
import { hooksFor, type Observer, openObserver } from '../http/observer.js';
import { ServerKeys } from '../keys/keys.js';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.js';
import { CountedLine, type Logger } from '../observe/log.js';
import { Readiness } from '../observe/readiness.js';
import { type BasemapArchive, openBasemap } from '../routes/basemap-archive.js';
import type { StreamTuning } from '../stream/route.js';
import { type Forwarder, openForwarder } from '../traccar/forward/forwarder.js';
import { Adapter as TransportAdapter } from '../transport/adapter.js';
import { Budget, connectionsWithin, receiveBufferWarning } from '../transport/limits.js';

// How the service stops: it continues for a while, so that balancers notice (the lame-duck time), then closes the port,
// finishes accepted work as far as the grace period allows, and closes what is left.

// Bytes that the system has not brought to the peers of this process yet. A socket that is closed with bytes of its
// peer unread resets the connection, and what had not arrived is lost; so a stop looks here before it closes what is
// left.

const LISTENING = '0A';

/** Unsent bytes of all connected TCP sockets of this process; 0 where the system does not tell (not Linux). */
function unsentBytes(): number {
  try {
    const own = socketsOf('/proc/self/fd');
    return sumOf('/proc/self/net/tcp', own) + sumOf('/proc/self/net/tcp6', own);
  } catch {
    return 0;
  }
}

/** The inodes of all open sockets. */
function socketsOf(folder: string): ReadonlySet<string> {
  const inodes = new Set<string>();
  for (const fd of readdirSync(folder)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${fd}`))?.[1];
      if (inode !== undefined) inodes.add(inode);
    } catch {
      // Closed since the folder was read, as that of the folder itself.
    }
  }
  return inodes;
}

/** Columns: number, local, remote, state, tx:rx, timer, retransmits, user, timeout, inode (proc(5)). */
function sumOf(table: string, inodes: ReadonlySet<string>): number {
  let sum = 0;
  for (const line of readFileSync(table, 'latin1').split('\n').slice(1)) {
    const columns = line.trim().split(/\s+/);
    if (columns[3] === LISTENING || !inodes.has(columns[9] ?? '')) continue;
    sum += Number.parseInt(columns[4] ?? '0', 16);
  }
  return sum;
}

/** Steps of stopping, in this order. */
export interface StopSteps {
  /** Steps after the listener is closed: finish the accepted work, as far as the grace period allows. */
  readonly drain: (() => Promise<void> | void)[];
  /** Steps after all answers are sent: close the parts that they used. */
  readonly release: (() => Promise<void> | void)[];
}

interface StopTimes {
  readonly drainMs: number;
  readonly graceMs: number;
}

/** Quiet time, with nothing under way and no connection closed, until which connections are left alone. */
const LINGER_MS = 50;

/**
 * A turn of the event loop that takes no longer left next to no time for a connection to come after the look for them.
 */
const QUIET_TURN_MS = 0.2;
const QUIET_TRIES = 200;

/**
 * Resolves right after the event loop has looked for connections, in a turn that did little else: one that waits to be
 * accepted when the port closes is reset by the system.
 */
async function quietTurn(): Promise<void> {
  for (let tries = 0; tries < QUIET_TRIES; tries++) {
    const startMs = performance.now();
    await nextCheck();
    if (performance.now() - startMs < QUIET_TURN_MS) return;
  }
}

/** Resolves when nothing is under way, or the grace period is over; connections may still be open. */
export async function finishAnswers(
  adapter: Adapter,
  { drainMs, graceMs }: StopTimes,
  steps: StopSteps,
  readiness: Readiness,
  logger: Logger,
): Promise<void> {
  readiness.refuse('the service is stopping');
  logger.info({ pending: adapter.pending.size, drain_ms: drainMs }, 'stopping');
  if (drainMs > 0) {
    adapter.closeAfterAnswers();
    await sleep(drainMs);
  }
  await quietTurn();
  adapter.stopListening();
  const overMs = performance.now() + graceMs;
  const grace = sleep(graceMs, undefined, { ref: false });
  await Promise.race([Promise.all(steps.drain.map((step) => step())), grace]);
  // A client that keeps its connection may ask on, and is answered with `Connection: close`, until none does.
  let wasOpen: number;
  do {
    wasOpen = adapter.connectionCount;
    await sleep(Math.min(LINGER_MS, graceMs));
  } while (
    performance.now() < overMs &&
    (adapter.pending.size > 0 ||
      adapter.refusedBodyCount > 0 ||
      adapter.connectionCount < wasOpen ||
      unsentBytes() > 0)
  );
  if (adapter.pending.size > 0) {
    logger.warn({ unanswered: adapter.pending.size }, 'the grace period is over: requests are cut off');
  }
}

/** One process among several that serve together. */
export interface ProcessInfo {
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
  readonly batchTurnMs?: number;
  readonly pool?: Omit<PoolOptions, 'kernel'>;
  /** false: nothing is counted or logged of a request, and no key has limits. */
  readonly metering?: boolean;
  /** Called with the pool when it is made. */
  readonly withPool?: (pool: Pool) => void;
  /** Called with the budget when it is made. */
  readonly withBudget?: (budget: Budget) => void;
}

/** The binaries that a service answers from. */
export type ServedData = HexcodesData & {
  /** The index before a change of borders, for requests that ask for it. */
  readonly previousIndex?: Uint8Array | undefined;
};

/** The boundary data before a change of borders, with the threads that convert by it. */
interface PreviousData {
  readonly files: HexcodesData;
  readonly kernel: Kernel;
  readonly pool: Pool;
}

/** The parts that routes are made of, all open. */
export interface Parts {
  readonly config: ServeConfig;
  readonly files: HexcodesData;
  /** Undefined: one version of the boundary data answers all. */
  readonly previous: PreviousData | undefined;
  readonly logger: Logger;
  readonly tuning: ServeTuning;
  readonly kernel: Kernel;
  readonly observer: Observer;
  readonly pool: Pool;
  readonly budget: Budget;
  readonly adapter: Adapter;
  readonly keys: ServerKeys;
  /** Undefined: nothing is counted. */
  readonly metering: OpenLedger | undefined;
  /** Undefined: positions go nowhere. */
  readonly forwarder: Forwarder | undefined;
  /** Undefined: the page has no map from the operator's disk. */
  readonly basemap: BasemapArchive | undefined;
  readonly readiness: Readiness;
}

/** Time of a body that is collected as a whole: 4 MiB at 35 KiB a second. */
const BODY_TIMEOUT_MS = 120_000;
/** Share of all connections that a network may open at once, at most, while the service is crowded. */
const NETWORK_SHARE = 1 / 8;
/** Idle time after which a worker thread ends: a thread holds some 15 MB. */
const THREAD_IDLE_MS = 60_000;
/** A block of 256 KiB takes milliseconds. */
const POOL_HANG_MS = 20_000;

/** All that is open so far, for the end of the service and of a start that fails. */
export class OpenParts {
  readonly steps: StopSteps = { drain: [], release: [] };
  readonly readiness = new Readiness();
  admin: AdminListener | undefined;
  observation: { close(): Promise<void> } | undefined;
  #adapter: Adapter | undefined;
  #keys: Promise<ServerKeys> | undefined;
  #ledger: Promise<OpenLedger> | undefined;

  constructor(
    readonly config: ServeConfig,
    readonly logger: Logger,
    readonly tuning: ServeTuning,
  ) {}

  /** Rejects with a message for people; the caller closes what is open by then. */
  async open({ previousIndex, ...files }: ServedData, processInfo: ProcessInfo | undefined): Promise<Parts> {
    const { config, logger, tuning, readiness, steps } = this;
    // Before files are opened: each fault that follows from too few has a sentence of its own.
    const { maxConnections, warning: filesWarning } = connectionsWithin(config.maxConnections);
    const module = await Kernel.moduleOf(files.kernel);
    const kernel = Kernel.create(module, files.index, files.reach);
    const observer = await openObserver(config, logger);
    this.#keys = ServerKeys.open({
      store: { dataDir: config.dataDir, url: config.store },
      pepper: config.keyPepper ?? config.keyPepperFile,
      given: [...config.apiKeys, ...config.apiKeysFile],
      logger,
    });
    if (tuning.metering !== false) this.#ledger = openLedger(config, this.#keys, observer.points, logger);
    // Callers that wait for them get the error; until then nobody waits.
    for (const opening of [this.#keys, this.#ledger]) opening?.catch(() => {});

    const pool = this.#openPool({ module, index: files.index, reach: files.reach }, observer);
    this.tuning.withPool?.(pool);
    const previous = this.#openPrevious(module, files, previousIndex, observer);
    const budget = budgetOf(config, logger, observer);
    tuning.withBudget?.(budget);
    const adapter = await TransportAdapter.load(hooksFor(logger, observer, tuning.metering !== false), {
      budget,
      maxPastStopBytes: config.maxPastStopBytes,
      maxConnections,
      perNetwork: Math.min(config.maxKeylessPerAddress, Math.ceil(maxConnections * NETWORK_SHARE)),
      isExempt: (address) => observer.clients.isProxy(address),
      bodyTimeoutMs: tuning.bodyTimeoutMs ?? BODY_TIMEOUT_MS,
    });
    this.#adapter = adapter;

    const keys = await this.#keys;
    for (const warning of [keys.folderWarning, filesWarning]) if (warning !== undefined) logger.warn(warning);
    // Advice is not a warning: nothing is wrong with a machine that has the usual buffers.
    const advice = receiveBufferWarning();
    if (advice !== undefined && (processInfo?.number ?? 0) === 0) logger.info(advice);
    const metering = await this.#ledger;
    const forwarder = await openForwarder(config, logger, processInfo?.number);
    steps.release.push(async () => forwarder?.close());
    readiness.addWarning(() => forwarder?.fault);
    const basemap = await openBasemap(config);
    steps.release.push(async () => basemap?.close());
    const parts = { basemap, kernel, previous, observer, pool, budget, adapter, keys, metering, forwarder };
    return { config, files, logger, tuning, readiness, ...parts };
  }

  /** Closes what is open, each part whatever becomes of the others. */
  async close(): Promise<void> {
    await this.#attempt(() => this.#adapter?.close());
    await Promise.all(this.steps.release.map((step) => this.#attempt(step)));
    // One that could not be opened has reported that to its callers.
    const [ledger, keys] = await Promise.all(
      [this.#ledger, this.#keys].map((each) => each?.catch(() => undefined)),
    );
    await this.#attempt(() => (ledger as OpenLedger | undefined)?.close());
    await this.#attempt(() => (keys as ServerKeys | undefined)?.stop());
    await this.#attempt(() => this.admin?.close());
    await this.#attempt(() => this.observation?.close());
  }

  /** The failure of one part does not keep the others from closing, of which one stores the usage. */
  async #attempt(step: () => unknown): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.logger.error({ err: error }, 'a part of the service was not closed');
    }
  }

  #openPrevious(
    module: WebAssembly.Module,
    given: HexcodesData,
    index: Uint8Array | undefined,
    observer: Observer,
  ): PreviousData | undefined {
    if (index === undefined) return undefined;
    const kernel = Kernel.create(module, index, given.reach);
    const pool = this.#openPool({ module, index, reach: given.reach }, observer);
    return { files: { ...given, index }, kernel, pool };
  }

  #openPool(kernel: PoolOptions['kernel'], observer: Observer): Pool {
    const pool = new Pool({
      kernel,
      timed: (waitedMs, ranMs) => {
        observer.poolWaits.add(waitedMs);
        observer.poolRuns.add(ranMs);
      },
      threads: this.config.poolThreads ?? defaultThreads(),
      threadIdleMs: THREAD_IDLE_MS,
      hangMs: POOL_HANG_MS,
      ...this.tuning.pool,
    });
    this.steps.release.push(() => pool.close());
    return pool;
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
