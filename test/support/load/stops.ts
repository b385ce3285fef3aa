// A stop with its default times under clients that know nothing of it: they keep their connections, ask on, and connect
// again where they are told that a connection closes. A call on a kept connection that gets no answer is lost; one that
// finds nobody who listens is not.
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_KEY, ServeCommand } from '../serve-command.js';
import { agentFor, call, LostCall } from './calls.js';
import { Load } from './load.js';

const CLIENTS = 12;
const PATH = '/v1/hexcodes/encode?lat=21.0288&lng=105.8525';

export interface PlainStop {
  readonly answered: number;
  readonly lost: readonly string[];
}

/** @param drain value of HEXCODES_DRAIN_MS */
export async function stopUnderPlainClients(afterMs: number, drain = '2000'): Promise<PlainStop> {
  const service = new ServeCommand([], {
    HEXCODES_LOG_LEVEL: 'info',
    HEXCODES_DRAIN_MS: drain,
  });
  const base = await service.base();
  let isOver = false;
  let answered = 0;
  const lost: string[] = [];
  const client = async (number: number): Promise<void> => {
    const agent = agentFor(base);
    while (!isOver) {
      try {
        const { status } = await call(agent, base, {
          ...{ path: PATH, method: 'GET' },
          headers: { 'X-API-Key': COMMAND_KEY },
        });
        if (status === 200) answered++;
        else lost.push(`${status}`);
      } catch (error) {
        if (!(error instanceof LostCall)) throw error;
        // Nobody listens any more: a connection is refused, or reset where it came in the moment in which the port
        // closed.
        if (!error.wasKept && !error.hadBegun) break;
        lost.push(error.message);
      }
      // Some ask soon again, some rest.
      await sleep(10 + (number % 4) * 60);
    }
    agent.destroy();
  };
  try {
    const clients = Array.from({ length: CLIENTS }, (_, i) => client(i));
    await sleep(afterMs);
    await service.stop();
    isOver = true;
    await Promise.all(clients);
    return { answered, lost };
  } finally {
    isOver = true;
    service.remove();
  }
}

// A stop in the middle of load: every request whose head was read, and every frame taken, must be answered. The service
// counts what it has read, the load counts what was answered in whole, and the two must be equal.
export interface StopResult {
  readonly requests: number;
  readonly frames: number;
  readonly stopMs: number;
  readonly faults: readonly string[];
}

/** @param after requests and frames that are answered before SIGTERM comes */
export async function stopUnderLoad(args: readonly string[], after = 200): Promise<StopResult> {
  const service = new ServeCommand(args, { HEXCODES_LOG_LEVEL: 'info' });
  try {
    const load = new Load({ base: await service.base(), key: COMMAND_KEY, mayLoseNothing: false });
    await load.reach(after, after);
    const startMs = performance.now();
    const ending = await service.stop();
    const stopMs = performance.now() - startMs;
    await load.stop();
    const { counts } = service;
    const faults = [...load.faults];
    if (ending !== 0) faults.push(`the service ended with ${ending}: ${service.err}`);
    if (counts.requests !== load.requests)
      faults.push(`${counts.requests} requests were read, ${load.requests} were answered`);
    if (counts.frames !== load.frames)
      faults.push(`${counts.frames} frames were taken, ${load.frames} were answered`);
    // 1006: a connection that was never opened, as nobody listens any more.
    for (const code of load.closings.keys())
      if (![1000, 1006, 1012].includes(code)) faults.push(`a stream was closed with ${code}`);
    if (!load.closings.has(1012)) faults.push('no stream was closed with 1012');
    return { requests: load.requests, frames: load.frames, stopMs, faults };
  } finally {
    service.remove();
  }
}
