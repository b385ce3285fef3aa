// How the service stops: it goes on for a while as ever, so that balancers notice (the lame-duck time), then closes the
// port, finishes what was accepted as far as the grace period allows, and closes what is left.
import { setImmediate as nextCheck, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.js';
import type { Adapter } from '../transport/adapter.js';
import type { Readiness } from './readiness.js';
import { unsentBytes } from './unsent-bytes.js';

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
 * A turn of the event loop that takes no longer left next to no time for a connection to come behind the look for them.
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
