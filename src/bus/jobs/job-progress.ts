// How far a job has come, from its plan and the results so far.
import type { JobPlan, PartResult } from './job.js';
import type { StoredResult } from './job-store.js';

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
