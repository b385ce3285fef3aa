// The generator's process: takes one job after the other through its channel, and ends when the channel does.
import { constants, setPriority } from 'node:os';
import { Traffic } from '../traffic/traffic.js';
import type { GeneratorMessage, Job } from './job.js';
import { runJob } from './run-job.js';

const tell = (message: GeneratorMessage): void => void process.send?.(message);

process.on('disconnect', () => process.exit(0));
// Signals of a terminal go to all its processes; the parent decides.
process.on('SIGINT', () => {});
try {
  // Other processes of the machine must not delay the starts of requests; the service keeps its usual priority.
  setPriority(constants.priority.PRIORITY_HIGHEST);
} catch {
  // Without the right to do so starts are late more often, and the report counts them.
}
const traffic = await Traffic.load();
process.on('message', (job: Job) => {
  runJob(job, traffic, () => tell({ kind: 'connected' })).then(
    (report) => tell({ kind: 'done', report }),
    (error: unknown) =>
      tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) }),
  );
});
tell({ kind: 'ready' });
