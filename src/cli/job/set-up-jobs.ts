// `hexcodes job setup`: makes the stream of jobs and its consumer. Nothing else makes any.
import type { Command } from 'commander';
import { connectBus } from '../../bus/nats/connect.js';
import { setUpJobs } from '../../bus/nats/job-stream.js';
import { jobPermissions, permissionText } from '../../bus/nats/permissions.js';
import type { BusConfig } from '../../config/config.js';
import { say } from '../../files/terminal/say.js';
import { visible, visibleLines } from '../../files/terminal/visible.js';
import { requireSubject, sayer, withBus } from '../bus/shared-options.js';
import { addLimitOptions, type LimitOptions, limitsOf } from '../bus/stream-limits.js';
import { addBusOptions, type BusOptions } from './job-options.js';

export function declareJobSetup(job: Command): void {
  const setup = job
    .command('setup')
    .description('make the stream and the consumer of jobs, or change them to what is given');
  addLimitOptions(addBusOptions(setup), {
    maxBytes: ['of the stream: some 1,000 bytes a part', '256M'],
    maxAge: ['how long jobs are kept', '30d'],
    ackWait: ['a part of a dead worker is handed out again after so long', '30s'],
  }).addHelpText(
    'after',
    `
The permissions that workers and operators need go to standard output, for the configuration of nats-server:
deploy/nats/hexcodes.conf shows how it uses them.

Examples:
  $ hexcodes job setup
  $ hexcodes job setup --replicas 3 --ack-wait 10s`,
  );
  setup.action((options: BusOptions & LimitOptions) =>
    withBus(setup, (settings) => setUp(options, settings)),
  );
}

async function setUp(options: BusOptions & LimitOptions, settings: BusConfig): Promise<void> {
  const plan = {
    stream: options.stream,
    prefix: requireSubject('--subject', options.subject),
    ...limitsOf(options),
  };
  const { nc, jsm } = await connectBus(settings, { isPatient: false, say: sayer(false) });
  try {
    for (const line of await setUpJobs(jsm, plan)) say(`${visible(line)}\n`);
    process.stdout.write(visibleLines(permissionText(jobPermissions(plan.stream, plan.prefix))));
  } finally {
    await nc.close();
  }
}
