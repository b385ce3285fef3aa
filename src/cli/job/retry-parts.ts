// `hexcodes job retry`: parts that failed are handed out again, when their cause is mended: a full disk, a file that was missing.
import type { Command } from 'commander';
import type { BusConfig } from '../../config.js';
import type { JobPart } from '../../engine/jobs/job.js';
import { withBus } from '../engine/shared-options.js';
import { grouped } from '../terminal/paint.js';
import { say } from '../terminal/say.js';
import { addBusOptions, type BusOptions, oneOf, withJobs } from './job-options.js';

export function declareRetry(job: Command): void {
  const retry = job
    .command('retry')
    .description('hand the failed parts of a job out again')
    .argument('<job>', 'its id, or how it begins');
  addBusOptions(retry).addHelpText(
    'after',
    `
Example:
  $ hexcodes job retry 3f2a`,
  );
  retry.action((id: string, options: BusOptions) =>
    withBus(retry, (settings) => retryParts(id, options, settings)),
  );
}

function retryParts(id: string, options: BusOptions, settings: BusConfig): Promise<void> {
  return withJobs(options, settings, async (jobs) => {
    const job = oneOf(await jobs.jobs(), id);
    const failed = (await jobs.results(job.id)).filter(({ result }) => result.output === null);
    const parts: JobPart[] = [];
    for (const { result } of failed) {
      const part: JobPart | undefined = await jobs.partOf(job.id, result.part);
      // In this order a retry that is broken off leaves a part that is missing, which a second submit adds.
      await jobs.dropParts(job.id, result.part);
      await jobs.dropResult(job.id, result.part);
      if (part !== undefined) parts.push(part);
    }
    // Not before: a worker would end the job again while all results are there.
    if (failed.length > 0) await jobs.unmark('ended', job.id);
    for (const part of parts) await jobs.addPart(part);
    const [again, lost] = [failed.length, failed.length - parts.length];
    if (lost > 0) say(`${grouped(lost)} of them are no longer known: submit the job again\n`);
    say(`job ${job.id}: ${grouped(again)} ${again === 1 ? 'part' : 'parts'} handed out again\n`);
  });
}
