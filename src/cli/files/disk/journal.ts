// The journal beside an unfinished output: how far a run has come, so that `--resume` goes on from there with the same
// bytes as an uninterrupted run.

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { badOutput } from '../../file-faults.js';
import { partialPathOf, syncDirectory } from './output.js';

const journalPathOf = (path: string): string => `${path}.partial.journal`;

/** What a run has done up to a byte of its output, as the journal keeps it. */
export interface Checkpoint {
  /** Digest of inputs and options: another one must not continue this file. */
  readonly digest: string;
  /** Which of the inputs, from 0, and how many bytes of its content (after gunzip) are done. */
  readonly inputNumber: number;
  readonly inputOffset: number;
  /** Bytes of output that belong to them. */
  readonly outputOffset: number;
  /** Bytes of the file of failed rows, where there is one. */
  readonly rejectsOffset: number;
  /** The counts of the summary so far. */
  readonly tally: unknown;
  /** The run was complete and only the rename was missing. */
  readonly isWhole: boolean;
}

/**
 * The journal of a resumable output:
 *
 *     out.csv.partial          the rows so far
 *     out.csv.partial.journal  how far: input and output offsets, counts, a digest of everything that shapes the output
 *
 * Order at a checkpoint: rows written → fsync → journal written beside → fsync → renamed over the old journal. Rows that
 * the journal counts have therefore reached the disk before it. After a crash everything behind the journal's offset is
 * cut off and converted again, so the end result is the same bytes.
 */
export class Journal {
  readonly #path: string;

  constructor(outputPath: string) {
    this.#path = journalPathOf(outputPath);
  }

  /** What an earlier run left; null if there is nothing that can be read. */
  static read(outputPath: string): Checkpoint | null {
    try {
      return JSON.parse(readFileSync(journalPathOf(outputPath), 'utf8')) as Checkpoint;
    } catch {
      return null;
    }
  }

  /** @throws CliFailure if the journal cannot be written */
  write(checkpoint: Checkpoint): void {
    const beside = `${this.#path}.new`;
    try {
      const file = openSync(beside, 'w');
      writeFileSync(file, JSON.stringify(checkpoint));
      fsyncSync(file);
      closeSync(file);
      renameSync(beside, this.#path);
      syncDirectory(this.#path);
    } catch (error) {
      throw badOutput(this.#path, error);
    }
  }

  remove(): void {
    rmSync(this.#path, { force: true });
    rmSync(`${this.#path}.new`, { force: true });
  }
}

/** Whether an unfinished earlier run stands beside a final name. */
export function isUnfinished(outputPath: string): boolean {
  return existsSync(partialPathOf(outputPath)) && existsSync(journalPathOf(outputPath));
}
