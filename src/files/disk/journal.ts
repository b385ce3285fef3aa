// The journal beside an unfinished output: how far a run has come, so that `--resume` goes on from there with the same
// bytes as an uninterrupted run.

import { closeSync, existsSync, fsyncSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { AlteredStateError, checkedText, readChecked } from '../../config/checked-state.js';
import { badOutput, CliFailure, EXIT, reasonOf } from '../exit-codes.js';
import { visible } from '../terminal/say.js';
import { journalPathOf, partialPathOf } from './destination.js';
import { createAfresh, syncDirectory } from './file-output.js';

/** How far the inputs of a run are converted. */
export interface Reached {
  /** The input that is being read, from 0. */
  readonly inputNumber: number;
  /** How far it is converted, in bytes of content after decompression; 0 in a conversion by columns. */
  readonly inputOffset: number;
  /** Rows of the input that are converted. */
  readonly inputRows: number;
}

/** The state of a run at a row end of its output. */
export interface Checkpoint extends Reached {
  /** Digest of inputs and options; a run of another digest must not continue this output. */
  readonly digest: string;
  /** Bytes of output up to there. */
  readonly outputOffset: number;
  /** Bytes of the file of failed rows up to there; 0 without one. */
  readonly rejectsOffset: number;
  /** `Tally.save` */
  readonly tally: unknown;
  /** All rows are written; only the rename to the final name is missing. */
  readonly isWhole: boolean;
}

/**
 * The journal of a resumable output:
 *
 *     out.csv.partial          the rows so far
 *     out.csv.partial.journal  how far: input and output offsets, counts, a digest of everything that shapes the output
 *
 * Order at a checkpoint: rows written → fsync → journal written beside → fsync → renamed over the old journal. Rows
 * that the journal counts have therefore reached the disk before it. After a crash everything after the journal's
 * offset is cut off and converted again, so the end result is the same bytes.
 */
export class Journal {
  readonly #path: string;

  constructor(outputPath: string) {
    this.#path = journalPathOf(outputPath);
  }

  /**
   * The last checkpoint of an earlier run; null if there is no journal.
   * @throws CliFailure for one that is not as it was written: its offsets would give an output of other bytes
   */
  static read(outputPath: string): Checkpoint | null {
    const path = journalPathOf(outputPath);
    try {
      return readChecked(readFileSync(path, 'utf8')) as Checkpoint;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      const reason = error instanceof AlteredStateError ? error.message : reasonOf(error);
      throw new CliFailure(
        EXIT.BAD_OUTPUT,
        `cannot resume by ${visible(path)}: ${reason}`,
        'Without --resume the run begins again.',
      );
    }
  }

  /** @throws CliFailure if the journal cannot be written */
  write(checkpoint: Checkpoint): void {
    const beside = `${this.#path}.new`;
    try {
      const file = createAfresh(beside);
      writeFileSync(file, checkedText(checkpoint));
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

/** Whether an earlier run of this output is unfinished and resumable. */
export function isUnfinished(outputPath: string): boolean {
  return existsSync(partialPathOf(outputPath)) && existsSync(journalPathOf(outputPath));
}
