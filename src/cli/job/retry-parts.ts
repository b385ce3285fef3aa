// `hexcodes job retry`: parts that failed are handed out again, when their cause is mended: a full disk, a file that
// was missing.
import type { Command } from 'commander';
import type { JobPart } from '../../bus/jobs/job.js';
import { SchemaFault } from '../../bus/schema.js';
import type { BusConfig } from '../../config/config.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { grouped } from '../../files/terminal/paint.js';
import { say } from '../../files/terminal/say.js';
import { withBus } from '../bus/shared-options.js';
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
    if (job.isCancelled)
      throw new CliFailure(
        EXIT.FAILED,
        `job ${job.id} is cancelled`,
        'hexcodes job submit with the same files and options lets it go on.',
      );
    const failed = (await jobs.results(job.id)).filter(({ result }) => result.output === null);
    const parts: JobPart[] = [];
    for (const [i, { result }] of failed.entries()) {
      const part: JobPart | undefined = await jobs.partOf(job.id, result.part).catch((error: Error) => {
        if (error instanceof SchemaFault) return undefined;
        throw error;
      });
      // In this order a retry that is broken off leaves a part that is missing, which a second submit adds.
      await jobs.dropParts(job.id, result.part);
      await jobs.dropResult(job.id, result.part);
      // Not before: a worker would end the job again while all results are there.
      if (i === 0) await jobs.unmark('ended', job.id);
      if (part !== undefined) parts.push(part);
    }
    for (const part of parts) await jobs.addPart(part);
    say(`job ${job.id}: ${counted(parts.length)} handed out again\n`);
    const lost = failed.length - parts.length;
    if (lost > 0) say(`${counted(lost)} no longer in the stream: submit the job again\n`);
  });
}

const counted = (parts: number): string => `${grouped(parts)} ${parts === 1 ? 'part' : 'parts'}`;
