// How far a job has come, from its plan and the results so far.
import type { JobPlan, PartResult } from './job.js';
import type { JobEnd, StoredResult } from './job-store.js';
import { MOST_FAILED } from './read-job.js';

// The manifest of a job: every part once, in order, with its rows, failures and digest. It holds no times and no
// workers, so that whoever writes it writes the same.
export const manifestName = (job: string): string => `manifest-${job}.json`;

/** How every manifest of a job begins. */
export const manifestStart = (job: string): string => `{\n  "job": ${JSON.stringify(job)},\n`;

/** @param results in any order, one a part */
export function manifestOf(plan: JobPlan, results: readonly PartResult[]): string {
  const sorted = [...results].sort((a, b) => a.part - b.part);
  const failed: Record<string, number> = {};
  let [rows, failedParts] = [0, 0];
  for (const { output } of sorted) {
    if (output === null) failedParts++;
    rows += output?.rows ?? 0;
    for (const [status, count] of Object.entries(output?.failed ?? {}))
      failed[status] = (failed[status] ?? 0) + count;
  }
  const head = {
    ...{ job: plan.id, version: plan.version, operation: plan.operation, conversion: plan.conversion },
    ...{ files: plan.files, rows, failed, failedParts },
  };
  const parts = sorted.map(({ part, input, range, output, reason }) => ({
    ...{ part, input, range },
    ...(output === null
      ? { output: null, reason }
      : {
          ...{ output: output.name, rows: output.rows, failed: output.failed },
          ...{ sizeBytes: output.sizeBytes, sha256: output.sha256 },
        }),
  }));
  // A line a part, for people and for line tools.
  const lines = parts.map((part) => `    ${JSON.stringify(part)}`).join(',\n');
  return `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "parts": [\n${lines}\n  ]\n}\n`;
}

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

export interface JobProgress {
  readonly parts: number;
  readonly doneParts: number;
  /** In the order of their numbers. */
  readonly failures: readonly PartResult[];
  readonly rows: number;
  readonly failedRows: number;
  /** From 0 to 1, by bytes of the inputs. */
  readonly share: number;
  readonly rowsPerS: number;
  readonly bytesPerS: number;
  /** null where nothing was done lately, or nothing is left. */
  readonly leftMs: number | null;
}

/** Rates are those of the last minutes, so that a night without workers does not count. */
const RATE_MS = 120_000;

export function progressOf(
  { parts, sizeBytes }: Pick<JobPlan, 'parts' | 'sizeBytes'>,
  stored: readonly StoredResult[],
  nowMs: number,
): JobProgress {
  let [rows, failedRows, doneBytes, lastMs] = [0, 0, 0, 0];
  let firstMs = Number.POSITIVE_INFINITY;
  for (const { result, atMs } of stored) {
    rows += result.output?.rows ?? 0;
    failedRows += sumOf(result.output?.failed ?? {});
    doneBytes += result.inputBytes;
    lastMs = Math.max(lastMs, atMs);
    firstMs = Math.min(firstMs, atMs - result.elapsedMs);
  }
  const isDone = stored.length >= parts;
  // The times of results are the servers', whose clock may be ahead.
  const untilMs = isDone ? lastMs : Math.max(nowMs, lastMs);
  const fromMs = isDone ? firstMs : Math.max(firstMs, untilMs - RATE_MS);
  const seconds = Math.max(0.001, (untilMs - fromMs) / 1000);
  const recent = stored.filter(({ atMs }) => atMs > fromMs);
  const rowsPerS = sumBy(recent, ({ output }) => output?.rows ?? 0) / seconds;
  const bytesPerS = sumBy(recent, ({ inputBytes }) => inputBytes) / seconds;
  const leftBytes = Math.max(0, sizeBytes - doneBytes);
  return {
    ...{ parts, doneParts: stored.length, rows, failedRows, rowsPerS, bytesPerS },
    failures: stored
      .map(({ result }) => result)
      .filter(({ output }) => output === null)
      .sort((a, b) => a.part - b.part),
    share: isDone ? 1 : sizeBytes === 0 ? 0 : Math.min(1, doneBytes / sizeBytes),
    leftMs: isDone || bytesPerS === 0 ? null : (leftBytes / bytesPerS) * 1000,
  };
}

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

function sumBy(stored: readonly StoredResult[], read: (result: PartResult) => number): number {
  return stored.reduce((sum, { result }) => sum + read(result), 0);
}
