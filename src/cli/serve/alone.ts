// `hexcodes serve` in the process of the command itself: SIGTERM, SIGINT and SIGHUP stop it, a second signal ends it at
// once.
import type { ServeConfig } from '../../config/config.js';
import { EXIT } from '../../files/exit-codes.js';
import { readServedData } from '../../files/library.js';
import { type Service, serve } from '../../server/serve.js';
import { greet, stopAndExit } from './greeting.js';

export async function serveAlone(config: ServeConfig): Promise<void> {
  if (config.uws !== undefined) process.env.HEXCODES_UWS = config.uws;
  let service: Service | undefined;
  let signals = 0;
  const onSignal = (): void => {
    if (++signals > 1) process.exit(EXIT.FAILED);
    if (service !== undefined) stopAndExit(service, config);
  };
  // Installed before the port opens: a signal during the first requests lets them finish.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  service = await serve(config, await readServedData(config));
  if (signals > 0) stopAndExit(service, config);
  else greet({ host: config.host, ...service });
}
