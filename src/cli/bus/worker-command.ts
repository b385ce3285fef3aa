// `hexcodes worker`: converts the messages of a NATS JetStream stream, on any number of machines. Its subcommands make
// the streams, and run the helpers beside it.
import type { Command } from 'commander';
import { declareCollect } from './collect-positions.js';
import { declareService } from './run-service.js';
import { declareRun } from './run-worker.js';
import { declareSetup } from './set-up.js';

export default function declare(program: Command): void {
  const worker = program
    .command('worker')
    .summary('convert the messages of a NATS JetStream stream')
    .description(
      'Convert the messages of a NATS JetStream stream: each answer is stored once, under a subject of its own.',
    )
    .addHelpText(
      'after',
      `
Without a subcommand it runs a worker. docs/engine.md says what is guaranteed, and how.

Examples:
  $ hexcodes worker setup
  $ hexcodes worker
  $ hexcodes worker setup --map 'fleet.*.points=fleet.*.hexcodes'
  $ hexcodes worker --map 'fleet.*.points=fleet.*.hexcodes' --as 'fleet.*.points=json'`,
    );
  declareRun(worker);
  declareSetup(worker);
  declareCollect(worker);
  declareService(worker);
}
