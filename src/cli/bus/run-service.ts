// `hexcodes worker service`: answers requests of other programs on the bus, without a stream.
import type { Command } from 'commander';
import { RequestAnswerer } from '../../bus/messages/request-answer.js';
import { connection } from '../../bus/nats/connect.js';
import { startService } from '../../bus/nats/service.js';
import { BUS_NAMES, type BusConfig } from '../../config/config.js';
import { loadLibrary } from '../../files/library.js';
import { VERSION } from '../../hexcodes/version.js';
import { addFlags } from '../settings.js';
import { requireSubject, SERVICE_NAME, sayer, withBus } from './shared-options.js';
import { StopSignal } from './stop-signal.js';

interface Options {
  readonly name: string;
  readonly queue: string;
  readonly quiet?: boolean;
}

export function declareService(worker: Command): void {
  const service = worker
    .command('service')
    .description('answer requests on NATS: a micro service with the endpoints encode and decode');
  addFlags(service, BUS_NAMES)
    .option('--name <word>', 'of the service, and before the subjects of its endpoints', SERVICE_NAME)
    .option('--queue <word>', 'instances with the same queue share the requests', 'hexcodes')
    .option('-q, --quiet', 'say nothing but faults')
    .addHelpText(
      'after',
      `
Examples:
  $ hexcodes worker service
  $ nats request hexcodes.encode '{"points":[{"lat":21.0288,"lng":105.8525}]}'
  $ nats micro stats hexcodes`,
    );
  service.action((options: Options) => withBus(service, (settings) => run(options, settings)));
}

async function run(options: Options, settings: BusConfig): Promise<void> {
  const name = requireSubject('--name', options.name);
  const say = sayer(false);
  const stopped = new StopSignal();
  const nc = await connection(settings, { isPatient: true, say, signal: stopped.signal });
  try {
    const answerer = new RequestAnswerer((await loadLibrary()).kernel);
    const service = await startService(nc, answerer, { name, version: VERSION, queue: options.queue });
    sayer(options.quiet === true)(`answers ${name}.encode and ${name}.decode of ${nc.getServer()}`);
    await Promise.race([new Promise<void>((resolve) => stopped.onStop(resolve)), nc.closed()]);
    await service.stop();
    if (!nc.isClosed()) await nc.drain();
  } finally {
    stopped.end();
    if (!nc.isClosed()) await nc.close();
  }
}
