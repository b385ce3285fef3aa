// Shared by the commands of jobs: options of the stream and the shared folder, the connection, and the job that the
// first digits of an id name.
import type { Command } from 'commander';
import type { KnownJob } from '../../bus/jobs/job-store.js';
import { connectBus } from '../../bus/nats/connect.js';
import { checkJobs } from '../../bus/nats/job-stream.js';
import { NatsJobs } from '../../bus/nats/nats-jobs.js';
import { BUS_NAMES, type BusConfig } from '../../config/config.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { requireSubject, sayer } from '../bus/shared-options.js';
import { addFlags } from '../settings.js';
import { JOB_CHECKS } from './job-checks.js';

export interface BusOptions {
  readonly stream: string;
  readonly subject: string;
}

export function addBusOptions(command: Command): Command {
  return addFlags(command, BUS_NAMES)
    .option('--stream <name>', 'stream of the jobs', 'HEXCODES_JOBS')
    .option('--subject <words>', 'before the subjects of jobs', 'hexcodes.job');
}

export const addRootOption = (command: Command): Command =>
  command.option('--root <folder>', 'the folder that all machines share; files of jobs are below it', '.');

/** Runs with the jobs of a stream that is checked; for commands that end by themselves. */
export async function withJobs<T>(
  { stream, subject }: BusOptions,
  settings: BusConfig,
  work: (jobs: NatsJobs) => Promise<T>,
): Promise<T> {
  const prefix = requireSubject('--subject', subject);
  const { nc, jsm } = await connectBus(settings, { isPatient: false, say: sayer(false) });
  try {
    await checkJobs(jsm, stream, prefix);
    return await work(new NatsJobs(nc, jsm, stream, prefix, JOB_CHECKS));
  } finally {
    await nc.close();
  }
}

/** The job whose id begins so. @throws CliFailure USAGE for none, and for several */
export function oneOf(jobs: readonly KnownJob[], id: string): KnownJob {
  const found = jobs.filter((job) => job.id.startsWith(id.toLowerCase()));
  if (found.length === 1 && id !== '') return found[0]!;
  const words = found.length === 0 ? 'there is no such job' : `${found.length} jobs begin so`;
  throw new CliFailure(EXIT.USAGE, `${id}: ${words}`, 'hexcodes job status lists all jobs.');
}
