// The files of one run: the output, the file of failed rows if there is one, and the journal. Decides whether a run
// starts afresh, resumes an unfinished one or only renames its files.

import { existsSync, renameSync } from 'node:fs';
import { CliFailure, EXIT } from '../../exit-codes.js';
import { badOutput } from '../../file-faults.js';
import { isGzipName } from '../format.js';
import { Tally } from '../tally.js';
import { type Checkpoint, isUnfinished, Journal, type Reached } from './journal.js';
import { FileOutput, GzipOutput, type Output, partialPathOf, StdoutOutput } from './output.js';

/** The journal is due after so much output, or after so much time. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024;
const CHECKPOINT_MS = 2000;

export interface TargetsRequest {
  /** null for stdout. */
  readonly path: string | null;
  /** File of failed rows. */
  readonly rejectsPath: string | null;
  /** Why the run cannot be resumed; null if it can. */
  readonly notResumable: string | null;
  readonly isResume: boolean;
  /** Of all that shapes the output. */
  readonly digest: string;
}

export class Targets {
  readonly output: Output;
  readonly rejects: Output | null;
  readonly tally: Tally;
  /** The checkpoint to resume from; null for a fresh start. */
  readonly from: Checkpoint | null;
  /** Whether an earlier run had written all rows: its files are renamed, and nothing is left to do. */
  readonly isDone: boolean;
  /** A line for the user about an earlier run. */
  readonly note: string | null;
  readonly #request: TargetsRequest;
  readonly #journal: Journal | null;
  readonly #checkpointBytes: number;
  #lastOffset = 0;
  #lastMs = performance.now();

  constructor(request: TargetsRequest) {
    this.#request = request;
    const { path, rejectsPath, notResumable } = request;
    const { from, note, isDone } = startOf(request);
    const isResumable = notResumable === null && path !== null;
    this.#checkpointBytes = Number(process.env.HEXCODES_CHECKPOINT_BYTES ?? CHECKPOINT_BYTES);
    this.from = from;
    this.note = note;
    this.isDone = isDone;
    this.tally = from === null ? new Tally() : Tally.restore(from.tally);
    this.#journal = isResumable && path !== null ? new Journal(path) : null;
    if (isDone && path !== null) {
      this.output = new StdoutOutput();
      this.rejects = null;
      this.#renamePartials();
      return;
    }
    if (from === null) this.#journal?.remove();
    this.output = open(path, isResumable, from?.outputOffset ?? 0);
    try {
      this.rejects = rejectsPath === null ? null : open(rejectsPath, isResumable, from?.rejectsOffset ?? 0);
    } catch (error) {
      this.output.abandon();
      throw error;
    }
    if (from !== null) this.#lastOffset = from.outputOffset;
  }

  get isResumable(): boolean {
    return this.#journal !== null;
  }

  /**
   * Writes the journal if it is due.
   * @param reached all output up to there must be written
   * @param isForced writes it in any case
   */
  checkpoint(reached: Reached, elapsedMs: number, isForced = false): void {
    if (this.#journal === null || !(this.output instanceof FileOutput)) return;
    const isDue =
      this.output.offset - this.#lastOffset >= this.#checkpointBytes ||
      performance.now() - this.#lastMs >= CHECKPOINT_MS;
    if (!isDue && !isForced) return;
    this.#writeJournal(reached, elapsedMs, false);
  }

  #writeJournal(reached: Reached, elapsedMs: number, isWhole: boolean): void {
    if (this.#journal === null || !(this.output instanceof FileOutput)) return;
    this.output.sync();
    const rejects = this.rejects instanceof FileOutput ? this.rejects : null;
    rejects?.sync();
    this.#journal.write({
      digest: this.#request.digest,
      ...reached,
      outputOffset: this.output.offset,
      rejectsOffset: rejects?.offset ?? 0,
      tally: this.tally.save(elapsedMs),
      isWhole,
    });
    this.#lastOffset = this.output.offset;
    this.#lastMs = performance.now();
  }

  /** After the last write: the files take their names, and the journal is removed. */
  async finish(elapsedMs: number): Promise<void> {
    this.#writeJournal({ inputNumber: 0, inputOffset: 0, inputRows: 0 }, elapsedMs, true);
    await this.output.finish();
    await this.rejects?.finish();
    this.#journal?.remove();
  }

  /** Ends the run without success. @param isWorthKeeping whether the files of a resumable run stay for `--resume` */
  abandon(isWorthKeeping: boolean): void {
    this.output.abandon();
    this.rejects?.abandon();
    const { path, rejectsPath } = this.#request;
    if (this.#journal === null || isWorthKeeping) return;
    this.#journal.remove();
    for (const each of [path, rejectsPath]) if (each !== null) FileOutput.removePartial(each);
  }

  #renamePartials(): void {
    for (const each of [this.#request.path, this.#request.rejectsPath]) {
      if (each === null || !existsSync(partialPathOf(each))) continue;
      try {
        renameSync(partialPathOf(each), each);
      } catch (error) {
        throw badOutput(each, error);
      }
    }
    this.#journal?.remove();
  }
}

function open(path: string | null, isResumable: boolean, keepBytes: number): Output {
  if (path === null) return new StdoutOutput();
  const file = new FileOutput(path, isResumable, keepBytes);
  return isGzipName(path) ? new GzipOutput(file) : file;
}

interface Start {
  readonly from: Checkpoint | null;
  readonly note: string | null;
  readonly isDone: boolean;
}

/** How a run begins, given the files that an earlier run left. @throws CliFailure USAGE if that had another digest */
function startOf({ path, notResumable, isResume, digest }: TargetsRequest): Start {
  const afresh = (note: string | null): Start => ({ from: null, note, isDone: false });
  if (!isResume) {
    if (path === null || !isUnfinished(path)) return afresh(null);
    return afresh(`An unfinished run of ${path} is overwritten (--resume would have gone on with it).`);
  }
  if (path === null || notResumable !== null) {
    return afresh(`${notResumable}: starting again from the first row.`);
  }
  const from = Journal.read(path);
  if (from === null) return afresh('Nothing to resume: starting from the first row.');
  if (from.digest !== digest) {
    throw new CliFailure(
      EXIT.USAGE,
      `the unfinished run of ${path} had other options, or its input has changed since`,
      'Run without --resume to start again.',
    );
  }
  if (from.isWhole) return { from, note: null, isDone: true };
  if (!isUnfinished(path)) return afresh('The unfinished output is gone: starting from the first row.');
  return { from, note: null, isDone: false };
}
