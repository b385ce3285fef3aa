// `hexcodes worker setup`: makes the streams and the consumer that workers use. Nothing else makes any.
import type { Command } from 'commander';
import { connectBus } from '../../bus/nats/connect.js';
import { permissionText, streamPermissions } from '../../bus/nats/permissions.js';
import { setUpPositions, setUpStreams } from '../../bus/nats/streams.js';
import type { BusConfig } from '../../config/config.js';
import { say } from '../../files/terminal/say.js';
import { visible, visibleLines } from '../../files/terminal/visible.js';
import { requireCount } from './quantities.js';
import {
  addStreamOptions,
  COLLECTED_SUBJECT,
  gathered,
  mapsOf,
  namesOf,
  SERVICE_NAME,
  type StreamOptions,
  sayer,
  withBus,
} from './shared-options.js';
import { addLimitOptions, type LimitOptions, limitsOf } from './stream-limits.js';

interface Options extends StreamOptions, LimitOptions {
  readonly pending: string;
  readonly ordered?: boolean;
  readonly collect?: string[];
  readonly positions: string;
}

export function declareSetup(worker: Command): void {
  const setup = worker
    .command('setup')
    .description('make the streams and the consumer of workers, or change them to what is given');
  addLimitOptions(addStreamOptions(setup), {
    maxBytes: ['of the messages, and of the answers; a full stream refuses more', '1G'],
    maxAge: ['how long messages are kept; answers stay an hour longer', '24h'],
    ackWait: ['a message of a dead worker is delivered again after so long', '5s'],
  })
    .option('--pending <n>', 'messages that all workers together may be working on', '4096')
    .option('--ordered', 'one message at a time: answers stand in the order of the messages')
    .option(
      '--collect <pattern>',
      'subjects of single positions for `worker collect`, may be given several times',
      gathered,
    )
    .option('--positions <name>', 'stream of the single positions', 'HEXCODES_POSITIONS')
    .addHelpText(
      'after',
      `
The permissions that producers, workers and operators need go to standard output, for the configuration of nats-server:
deploy/nats/hexcodes.conf shows how it uses them.

Examples:
  $ hexcodes worker setup
  $ hexcodes worker setup --map 'fleet.*.points=fleet.*.hexcodes' --max-bytes 20G --max-age 7d --replicas 3
  $ hexcodes worker setup --collect 'fleet.*.position'`,
    );
  setup.action((options: Options) => withBus(setup, (settings) => setUp(options, settings)));
}

async function setUp(options: Options, settings: BusConfig): Promise<void> {
  const plan = {
    names: namesOf(options),
    maps: mapsOf(options),
    deadPrefix: options.deadSubject,
    ...limitsOf(options),
    maxAckPending: requireCount('--pending', options.pending, 1, 1_000_000),
    isOrdered: options.ordered === true,
  };
  const { nc, jsm } = await connectBus(settings, { isPatient: false, say: sayer(false) });
  try {
    for (const line of await setUpStreams(jsm, plan)) say(`${visible(line)}\n`);
    const { collect, positions } = options;
    if (collect !== undefined) say(`${visible(await setUpPositions(jsm, plan, positions, collect))}\n`);
    const subjects = {
      ...plan,
      positions: collect === undefined ? undefined : { stream: positions, subjects: collect },
      ...{ collected: COLLECTED_SUBJECT, service: SERVICE_NAME },
    };
    process.stdout.write(visibleLines(permissionText(streamPermissions(subjects))));
  } finally {
    await nc.close();
  }
}
