// Uploads through a proxy that the service refuses while most of them is still to come: every client must get the
// reason. So must one that sends small bodies in flights and reads after the last.
import { PASSED, sendInFlights, waysToSend } from '../flights.js';
import { REFUSALS, sendRefusedUpload, UPLOAD_CLIENTS } from '../refused-uploads.js';
import { COMMAND_KEY } from '../serve-command.js';
import type { Behind } from './behind-proxy.js';
import type { TaskOptions, TaskResult } from './task.js';

/** An upload that takes longer to be refused is named. */
const SLOW_MS = 5000;
const CONNECTIONS = 24;

export async function sendRefused({ base }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { times = 1, megabytes = 20, isBulkOnly = false } = options;
  const refusals = REFUSALS.filter(({ path }) => !isBulkOnly || path.endsWith('/bulk'));
  const faults: string[] = [];
  const notes: string[] = [];
  let done = 0;
  for (let time = 0; time < times; time++) {
    for (const client of UPLOAD_CLIENTS) {
      for (const refusal of refusals) {
        const startMs = performance.now();
        const fault = await sendRefusedUpload(client, base, COMMAND_KEY, refusal, megabytes);
        if (fault === undefined) done++;
        else faults.push(fault);
        const tookMs = performance.now() - startMs;
        if (tookMs > SLOW_MS) notes.push(`${client}, ${refusal.name}: ${(tookMs / 1000).toFixed(1)} s`);
      }
    }
  }
  const calls = [...waysToSend()].flatMap((way) => PASSED.map((refusal) => ({ way, refusal })));
  let at = 0;
  const sendNext = async (): Promise<void> => {
    while (at < calls.length) {
      const { way, refusal } = calls[at++]!;
      const fault = await sendInFlights(base, COMMAND_KEY, refusal, way);
      if (fault === undefined) done++;
      else faults.push(fault);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendNext));
  return { done, faults, notes };
}
