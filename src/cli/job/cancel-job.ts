// `hexcodes job cancel`: no further part is converted. Finished outputs stay; the same job submitted again goes on.
import type { Command } from 'commander';
import type { BusConfig } from '../../config/config.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { say } from '../../files/terminal/say.js';
import { withBus } from '../bus/shared-options.js';
import { addBusOptions, type BusOptions, oneOf, withJobs } from './job-options.js';

export function declareCancel(job: Command): void {
  const cancel = job
    .command('cancel')
    .description('convert no further part of a job; outputs that are there stay')
    .argument('<job>', 'its id, or how it begins');
  addBusOptions(cancel).addHelpText(
    'after',
    `
Parts under way are broken off. The same job submitted again goes on with the parts that are not done.

Example:
  $ hexcodes job cancel 3f2a`,
  );
  cancel.action((id: string, options: BusOptions) =>
    withBus(cancel, (settings) => cancelJob(id, options, settings)),
  );
}

function cancelJob(id: string, options: BusOptions, settings: BusConfig): Promise<void> {
  return withJobs(options, settings, async (jobs) => {
    const job = oneOf(await jobs.jobs(), id);
    if (job.isEnded) throw new CliFailure(EXIT.FAILED, `job ${job.id} has ended`);
    // The mark first: a worker that has a part sees it, and parts that are gone cannot be taken.
    await jobs.markCancelled(job.id);
    await jobs.dropParts(job.id);
    say(`job ${job.id} is cancelled\n`);
  });
}
