// `hexcodes serve --processes N`: this process supervises the serving processes. SIGTERM and SIGINT stop all, a
// second one ends them at once; SIGHUP reloads the configuration and the boundary data.
import { closeSync, openSync } from 'node:fs';
import type { ServeConfig } from '../../config/config.js';
import { EXIT } from '../../files/exit-codes.js';
import { say } from '../../files/terminal/say.js';
import { defaultThreads } from '../../pool/usable-cores.js';
import { Supervisor } from '../../server/lifecycle/supervisor/supervisor.js';
import { openLog } from '../../server/observe/log.js';
import { greet } from './greeting.js';

export async function serveSupervised(
  config: ServeConfig & { readonly processes: number },
  readConfig: () => ServeConfig,
): Promise<void> {
  const hadTerminal = hasTerminal();
  const { logger, flush } = openLog(config.logLevel);
  const started = Supervisor.start({
    entry: new URL('./process-entry.js', import.meta.url),
    config,
    readConfig,
    threads: config.poolThreads ?? defaultThreads(config.processes),
    logger,
  });
  let signals = 0;
  let running: Supervisor | undefined;
  const stop = (): void => {
    if (++signals > 1) {
      running?.killAll();
      process.exit(EXIT.FAILED);
    }
    logger.info('stopping all processes');
    const ending = started.then(async ({ supervisor }) => {
      const areDone = await supervisor.stop();
      await flush();
      process.exit(areDone ? EXIT.OK : EXIT.FAILED);
    });
    // A failed start is reported below.
    ending.catch(() => {});
  };
  // A stop during the start waits until all have started, and ends them, too.
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => {
    // A closed terminal sends SIGHUP, too, and means the end.
    if (hadTerminal && !hasTerminal()) stop();
    else void running?.reload();
  });
  const { supervisor, first } = await started;
  running = supervisor;
  greet({ host: config.host, port: supervisor.port, ...first });
  say(`process ${process.pid} supervises ${config.processes}; its admin port is ${supervisor.adminPort}\n`);
}

/** Whether a terminal controls this process. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
