// The manifest of a job: every part once, in order, with its rows, failures and digest. It holds no times and no
// workers, so that whoever writes it writes the same.
import type { JobPlan, PartResult } from './job.js';

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
