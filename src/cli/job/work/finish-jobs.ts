// Writes the manifests of jobs whose parts all have a result. Every worker may do it at any time: all write the same.
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { JobStore } from '../../../engine/jobs/job-store.js';
import { manifestName, manifestOf } from '../../../engine/jobs/manifest.js';
import { badOutput } from '../../file-faults.js';
import { destinationOf } from '../../files/disk/destination.js';
import { createAfresh, replaceBy } from '../../files/disk/file-output.js';
import type { SharedFolder } from '../shared-folder.js';
import { scratchName } from './convert-part.js';

/** @returns a sentence for each job that was ended now */
export async function finishJobs(store: JobStore, shared: SharedFolder): Promise<string[]> {
  const sentences: string[] = [];
  for (const { id, isCancelled, isEnded } of await store.jobs()) {
    if (isCancelled || isEnded) continue;
    const plan = (await store.planOf(id))?.plan;
    if (plan === undefined || (await store.resultNumbers(id)).size < plan.parts) continue;
    const results = (await store.results(id)).map(({ result }) => result);
    if (results.length < plan.parts) continue;
    const text = manifestOf(plan, results);
    writeManifest(shared, plan.output, manifestName(id), text);
    rmSync(dirname(shared.outputPath(plan.output, `${scratchName(id)}/x`)), { recursive: true, force: true });
    if ((await store.mark('ended', id)) === 'already') continue;
    const failed = results.filter(({ output }) => output === null).length;
    const end = failed === 0 ? '' : `, ${failed} failed`;
    sentences.push(`job ${id} has ended: ${plan.parts} parts${end}, ${plan.output}/${manifestName(id)}`);
  }
  return sentences;
}

/** @throws CliFailure BAD_OUTPUT */
function writeManifest(shared: SharedFolder, folder: string, name: string, text: string): void {
  const path = shared.outputPath(folder, name);
  const beside = `${path}.${randomUUID()}`;
  try {
    const destination = destinationOf(path);
    if (destination.kind !== 'file' || destination.path !== path) throw new Error('it is no regular file');
    const file = createAfresh(beside);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    replaceBy(beside, destination);
  } catch (error) {
    rmSync(beside, { force: true });
    throw badOutput(`${folder}/${name}`, error);
  }
}
