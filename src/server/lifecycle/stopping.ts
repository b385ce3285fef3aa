// How the service stops: it continues for a while, so that balancers notice (the lame-duck time), then closes the port,
// finishes accepted work as far as the grace period allows, and closes what is left.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate as nextCheck, setTimeout as sleep } from 'node:timers/promises';
import type { Adapter } from '../http/exchange.js';
import type { Logger } from '../observe/log.js';
import type { Readiness } from '../observe/readiness.js';

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

export interface StopTimes {
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
