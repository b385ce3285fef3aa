// A stop in the middle of load: every request whose head was read, and every frame taken, must be answered. The service
// counts what it has read, the load counts what was answered in whole, and the two must be equal.
import { COMMAND_KEY, ServeCommand } from '../serve-command.js';
import { Load } from './load.js';

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
