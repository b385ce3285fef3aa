// The program of each process of `hexcodes serve --processes N`. The supervisor sends the configuration, and handles
// signals: those of a terminal reach all processes and are ignored here. Without a supervisor the process stops.

import { EXIT } from '../../files/exit-codes.js';
import { readServedData } from '../../files/library.js';
import type { ProcessMessage, StartMessage } from '../../server/lifecycle/supervisor/service-process.js';
import { serve } from '../../server/serve.js';
import { stopAndExit } from './greeting.js';

let stop = (): void => process.exit(EXIT.OK);
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});
process.on('SIGTERM', () => stop());
process.on('disconnect', () => stop());

process.once('message', (message: StartMessage) => {
  start(message).then(tell, (error: unknown) => {
    tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  });
});

async function start({ config, processInfo, threads }: StartMessage): Promise<ProcessMessage> {
  const files = await readServedData(config);
  const service = await serve(config, files, undefined, { pool: { threads } }, processInfo);
  let isStopping = false;
  stop = () => {
    if (!isStopping) stopAndExit(service, config);
    isStopping = true;
  };
  const { adminPort, firstKeyFile, transport } = service;
  return { kind: 'ready', adminPort, firstKeyFile, transport };
}

function tell(message: ProcessMessage): void {
  process.send?.(message, () => {
    if (message.kind === 'failed') process.exit(EXIT.FAILED);
  });
}
