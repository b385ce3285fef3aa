// State of a job: its progress, and whether anybody works on it.
import { progressAtEnd } from '../../bus/jobs/job-end.js';
import { type JobProgress, progressOf } from '../../bus/jobs/job-progress.js';
import type { JobStore, KnownJob, StoredPlan, StoredResult } from '../../bus/jobs/job-store.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';

export interface JobState extends JobProgress, StoredPlan {
  readonly state: 'ended' | 'cancelled' | 'under way' | 'no worker has a part';
  /** Parts that are not in the stream. */
  readonly missingParts: number;
}

/**
 * @param known results that need not be read again; those that were read are added
 * @throws CliFailure FAILED where the job is gone; errors of the bus
 */
export async function stateOf(
  jobs: JobStore,
  { id, isCancelled, isEnded }: KnownJob,
  known = new Map<number, StoredResult>(),
): Promise<JobState> {
  const stored = await jobs.planOf(id);
  if (stored === undefined) throw new CliFailure(EXIT.FAILED, `job ${id} is gone`);
  const end = isEnded ? await jobs.endOf(id) : undefined;
  if (end !== undefined) {
    const failures = (await jobs.resultsOf(id, end.failed)).map(({ result }) => result);
    return { ...stored, ...progressAtEnd(stored.plan, end, failures), missingParts: 0, state: 'ended' };
  }
  const isOfPlan = (part: number): boolean => part <= stored.plan.parts;
  const [results, parts, done, { taken }] = await Promise.all([
    jobs.results(id, known).then((all) => all.filter(({ result }) => isOfPlan(result.part))),
    jobs.partNumbers(id).then((all) => [...all].filter(isOfPlan)),
    jobs.resultNumbers(id).then((all) => new Set([...all].filter(isOfPlan))),
    jobs.underWay(),
  ]);
  for (const each of results) known.set(each.result.part, each);
  const there = new Set([...parts, ...done]).size;
  return {
    ...stored,
    ...progressOf(stored.plan, results, Date.now()),
    missingParts: isCancelled ? 0 : stored.plan.parts - there,
    state: isEnded
      ? 'ended'
      : isCancelled
        ? 'cancelled'
        : taken > 0 || done.size === stored.plan.parts
          ? 'under way'
          : 'no worker has a part',
  };
}
