// The summary of a job that has ended, kept with the mark that says so: its progress is shown without reading all
// results again.
import type { JobPlan, PartResult } from './job.js';
import type { JobProgress } from './job-progress.js';
import type { JobEnd } from './job-store.js';
import { MOST_FAILED } from './read-job.js';

/** undefined where the mark would be larger than servers take, as too many parts have failed. */
export function endOf(progress: JobProgress): JobEnd | undefined {
  const { rows, failedRows, rowsPerS, bytesPerS, failures } = progress;
  if (failures.length > MOST_FAILED) return undefined;
  return { rows, failedRows, rowsPerS, bytesPerS, failed: failures.map(({ part }) => part) };
}

/** @param failures the results of the failed parts */
export function progressAtEnd(
  { parts }: Pick<JobPlan, 'parts'>,
  { rows, failedRows, rowsPerS, bytesPerS }: JobEnd,
  failures: readonly PartResult[],
): JobProgress {
  return {
    ...{ parts, doneParts: parts, failures, rows, failedRows, share: 1 },
    ...{ rowsPerS, bytesPerS, leftMs: null },
  };
}
