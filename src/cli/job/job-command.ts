// `hexcodes job`: converts many files on many machines, which share a folder and a NATS JetStream server.
import type { Command } from 'commander';
import { declareCancel } from './cancel-job.js';
import { declareStatus } from './job-status.js';
import { declareRetry } from './retry-parts.js';
import { declareJobSetup } from './set-up-jobs.js';
import { declareSubmit } from './submit-job.js';
import { declareJobWorker } from './work/work-on-jobs.js';

export default function declare(program: Command): void {
  const job = program
    .command('job')
    .summary('convert many files on many machines')
    .description(
      'Convert many files on many machines: parts of files are work that workers take from a NATS JetStream stream.',
    )
    .addHelpText(
      'after',
      `
The files lie in a folder that all machines share. docs/engine.md says what is guaranteed, and how.

Examples:
  $ hexcodes job setup
  $ hexcodes job worker &
  $ hexcodes job submit 'in/*.parquet' --to out/
  $ hexcodes job status --wait`,
    );
  declareJobSetup(job);
  declareSubmit(job);
  declareJobWorker(job);
  declareStatus(job);
  declareRetry(job);
  declareCancel(job);
}
