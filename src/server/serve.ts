// Starts and stops the service. serve() resolves when requests are accepted. stop() closes the listener, waits until
// streams and answers are done or the grace period is over, then closes everything else. Signals and exit codes are the
// command's (cli/commands/serve.ts).
import type { ServeConfig } from '../config/config.js';
import { listen } from './lifecycle/listen.js';
import { OpenParts, type ProcessInfo, type ServedData, type ServeTuning } from './lifecycle/parts.js';
import { addServiceRoutes } from './lifecycle/service-routes.js';
import { finishAnswers } from './lifecycle/stopping.js';
import { warmUp } from './lifecycle/warm-up.js';
import { type Log, openLog } from './observe/log.js';
import type { UwsBuild } from './transport/load-uws.js';

export type { ProcessInfo, ServeTuning } from './lifecycle/parts.js';

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

/**
 * Starts the service; rejects with a message for people, once everything opened so far is closed.
 * @param processInfo undefined: this process has the port for itself
 */
export async function serve(
  config: ServeConfig,
  files: ServedData,
  log: Log = openLog(config.logLevel),
  tuning: ServeTuning = {},
  processInfo?: ProcessInfo,
): Promise<Service> {
  const logger = processInfo === undefined ? log.logger : log.logger.child({ process: processInfo.number });
  const open = new OpenParts(config, logger, tuning);
  try {
    const parts = await open.open(files, processInfo);
    const { adapter, keys, readiness } = parts;
    const routes = addServiceRoutes(parts, open.steps);
    const warmedCalls = await warmUp(parts, routes.router);
    const { port, admin } = await listen(parts, routes, open, log, processInfo, warmedCalls);

    let stopped: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      await finishAnswers(adapter, config, open.steps, readiness, logger);
      await open.close();
      logger.info({ requests: adapter.requestCount, frames: routes.streams.frameCount }, 'stopped');
      await log.flush();
    };
    return {
      port,
      adminPort: admin.port,
      transport: adapter.build,
      firstKeyFile: keys.firstKeyFile,
      stop: () => {
        stopped ??= stop();
        return stopped;
      },
    };
  } catch (error) {
    await open.close();
    await log.flush();
    throw error;
  }
}
