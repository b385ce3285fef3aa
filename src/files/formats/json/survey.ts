// A look at all rows of JSON before the first is written: a target with types needs to know whether a field that begins
// with integers has a fraction, a text or a new neighbour in some later row.

import { type Input, type InputOptions, openInput, statOf } from '../../disk/input.js';
import { CliFailure } from '../../exit-codes.js';
import { badInput, reasonOf } from '../../file-faults.js';
import type { FileFormat } from '../../format.js';
import type { JsonDocument } from '../table.js';
import { type KnownFeatures, surveyGeoJson } from './feature-columns.js';
import { featureBatches } from './geojson-source.js';
import { documentsOf, surveyNdjson } from './ndjson.js';

/**
 * The columns of all inputs together, for a target with types; null for inputs of other formats, and where one is a
 * pipe, which can be read only once.
 * @param tick called after each batch; may throw to end the survey
 * @throws CliFailure BAD_INPUT for what is not JSON
 */
export async function surveyAll(
  paths: readonly string[],
  format: FileFormat,
  options: InputOptions,
  tick: () => void,
): Promise<KnownFeatures | null> {
  if (format !== 'ndjson' && format !== 'geojson') return null;
  if (paths.some((path) => statOf(path).sizeBytes === null)) return null;
  let file = paths[0] ?? '-';
  const noted = (path: string): void => {
    file = path;
  };
  try {
    if (format === 'ndjson') {
      const documents = batchesOf(paths, options, documentsOf, tick, noted);
      return { columns: await surveyNdjson(documents), idName: 'id' };
    }
    const features = (input: Input) => featureBatches(input, { head: '', tail: '' });
    return await surveyGeoJson(batchesOf(paths, options, features, tick, noted));
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw badInput({ file }, `cannot be read as ${format} (${reasonOf(error)})`);
  }
}

async function* batchesOf(
  paths: readonly string[],
  options: InputOptions,
  batches: (input: Input) => AsyncIterable<JsonDocument[]>,
  tick: () => void,
  noted: (path: string) => void,
): AsyncGenerator<JsonDocument[]> {
  for (const path of paths) {
    noted(path);
    const input = await openInput(path, options);
    try {
      for await (const batch of batches(input)) {
        yield batch;
        tick();
      }
    } finally {
      input.close();
    }
  }
}
