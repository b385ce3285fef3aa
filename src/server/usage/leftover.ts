// Batches that could not be stored until the service stopped, in files of the data folder: the next process that opens
// the store adds them, under the name of the process that made them, so that they are counted once however often they
// are found.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkedText, readChecked } from '../../config/checked-state.js';
import { ensureDataDir } from '../keys/secret.js';
import type { UsageBatch } from './batch.js';

const NAME = /^usage-left-([0-9a-f]+)\.json$/;

export interface Leftover {
  readonly path: string;
  /** Names the process. */
  readonly node: string;
  readonly batches: readonly UsageBatch[];
}

/** @throws errors of the file system */
export function keepLeftover(dataDir: string, node: string, batches: readonly UsageBatch[]): void {
  ensureDataDir(dataDir);
  // Tokens of rates are back by then, and nobody waits for points any more.
  const kept = batches.map((batch) => ({
    ...batch,
    cells: [...batch.cells],
    rates: [],
    quotas: [],
    watchedIds: [],
  }));
  const path = join(dataDir, `usage-left-${node}.json`);
  try {
    writeFileSync(path, checkedText(kept), { mode: 0o600 });
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/** Batches of version 0.2.0 know nothing of points that were held. */
type KeptBatch = Omit<UsageBatch, 'cells' | 'covered' | 'quotas' | 'returns'> & {
  readonly cells: readonly number[];
} & Partial<Pick<UsageBatch, 'covered' | 'returns'>>;

function batchOf(kept: KeptBatch): UsageBatch {
  const { cells, covered = [], returns = [] } = kept;
  return { ...kept, cells: Float64Array.from(cells), covered, returns, quotas: [] };
}

/**
 * A file that cannot be read, or was altered, is left where it is.
 * @param refused called with its path and the reason
 */
export function leftoversIn(
  dataDir: string,
  refused: (path: string, reason: string) => void = () => {},
): Leftover[] {
  return readdirSync(dataDir).flatMap((name): Leftover[] => {
    const node = NAME.exec(name)?.[1];
    if (node === undefined) return [];
    const path = join(dataDir, name);
    try {
      const text = readFileSync(path, 'utf8');
      // Versions before 0.4.0 wrote a list, without a digest.
      const kept = (text.startsWith('[') ? JSON.parse(text) : readChecked(text)) as KeptBatch[];
      return [{ path, node, batches: kept.map(batchOf) }];
    } catch (error) {
      refused(path, (error as Error).message);
      return [];
    }
  });
}

export function forgetLeftover({ path }: Leftover): void {
  rmSync(path, { force: true });
}
