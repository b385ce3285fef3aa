// `npm run proof -- job [--files 200] [--size 2e7] [--kills 10]`: files of CSV and Parquet through two workers of
// `hexcodes job`, each killed ten times; every part must be byte-equal to that of a job that was left alone, and once
// in the manifest.
import { parseArgs } from 'node:util';
import { runJob } from '../support/engine/job-run.js';
import { noNats } from '../support/nats.js';

export default async function proveJob(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      files: { type: 'string', default: '200' },
      size: { type: 'string', default: '2e7' },
      kills: { type: 'string', default: '10' },
    },
  });
  if (noNats !== undefined) throw new Error(noNats);
  const files = Number(values.files);
  const report = await runJob({
    ...{ files, rowsPerFile: Math.round(Number(values.size) / files), kills: Number(values.kills) },
    partSize: '1M',
  });
  for (const [name, count] of Object.entries(report)) console.log(`${name.padEnd(16)} ${count}`);
  const { failedParts, differing, doubled, missing, leftOver } = report;
  if (failedParts + differing + doubled + missing + leftOver > 0) process.exitCode = 1;
}
