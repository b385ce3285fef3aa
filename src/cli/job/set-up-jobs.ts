// `hexcodes job setup`: makes the stream of jobs and its consumer. Nothing else makes any.
import type { Command } from 'commander';
import type { BusConfig } from '../../config.js';
import { connectBus } from '../../engine/nats/connect.js';
import { setUpJobs } from '../../engine/nats/job-stream.js';
import { requireCount, requireSize, requireTime } from '../engine/quantities.js';
import { requireSubject, sayer, withBus } from '../engine/shared-options.js';
import { say } from '../terminal/say.js';
import { visible } from '../terminal/visible.js';
import { addBusOptions, type BusOptions } from './job-options.js';

interface Options extends BusOptions {
  readonly maxBytes: string;
  readonly maxAge: string;
  readonly replicas: string;
  readonly ackWait: string;
}

export function declareJobSetup(job: Command): void {
  const setup = job
    .command('setup')
    .description('make the stream and the consumer of jobs, or change them to what is given');
  addBusOptions(setup)
    .option('--max-bytes <size>', 'of the stream: some 1,000 bytes a part', '256M')
    .option('--max-age <time>', 'how long jobs are kept', '30d')
    .option('--replicas <n>', 'servers that hold each message: 1, 3 or 5', '1')
    .option('--ack-wait <time>', 'a part of a dead worker is handed out again after so long', '30s')
    .addHelpText(
      'after',
      `
Examples:
  $ hexcodes job setup
  $ hexcodes job setup --replicas 3 --ack-wait 10s`,
    );
  setup.action((options: Options) => withBus(setup, (settings) => setUp(options, settings)));
}

async function setUp(options: Options, settings: BusConfig): Promise<void> {
  const plan = {
    stream: options.stream,
    prefix: requireSubject('--subject', options.subject),
    maxBytes: requireSize('--max-bytes', options.maxBytes),
    maxAgeMs: requireTime('--max-age', options.maxAge),
    replicas: requireCount('--replicas', options.replicas, 1, 5),
    ackWaitMs: requireTime('--ack-wait', options.ackWait),
  };
  const { nc, jsm } = await connectBus(settings, { isPatient: false, say: sayer(false) });
  try {
    for (const line of await setUpJobs(jsm, plan)) say(`${visible(line)}\n`);
  } finally {
    await nc.close();
  }
}
