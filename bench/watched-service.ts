// The service of the benches of keys and streams, with the settings of its first argument, which is JSON. It sends its
// port once it listens, with what the start took, and its state when asked; `mark` begins to watch its main thread.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startService } from './service.js';

export interface ServiceState {
  readonly cpuMicros: number;
  /** Resident, after a collection. */
  readonly memoryBytes: number;
  /** The longest time for which the main thread has not come to its timers since the last `mark`. */
  readonly holdMs: number;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const delays = monitorEventLoopDelay({ resolution: 1 });

function stateNow(): ServiceState {
  const holdMs = Math.max(0, delays.max / 1e6 - 1);
  const { user, system } = process.cpuUsage();
  collect();
  return { cpuMicros: user + system, memoryBytes: process.memoryUsage().rss, holdMs };
}

process.on('message', (what) => {
  if (what === 'mark') delays.reset();
  process.send?.(stateNow());
});
process.on('disconnect', () => process.exit(0));
const port = await startService('warn', {}, JSON.parse(process.argv[2] as string));
const { user, system } = process.cpuUsage();
delays.enable();
process.send?.({ port, startMicros: user + system });
