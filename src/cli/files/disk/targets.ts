// The files of one run: the output, the file of failed rows where there is one, and the journal from which a run that
// was broken off goes on. The only place that knows what is on the disk at each moment.

import { existsSync, renameSync } from 'node:fs';
import { CliFailure, EXIT } from '../../exit-codes.js';
import { badOutput } from '../../file-faults.js';
import { Tally } from '../tally.js';
import { type Checkpoint, isUnfinished, Journal } from './journal.js';
import { FileOutput, GzipOutput, type Output, partialPathOf, StdoutOutput } from './output.js';

/** Output between two notes in the journal, in bytes; and the time after which one is made anyway. */
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
  /** Of everything that shapes the output. */
  readonly digest: string;
}

export class Targets {
  readonly output: Output;
  readonly rejects: Output | null;
  readonly tally: Tally;
  /** Where an earlier run stopped; null for a fresh start. */
  readonly from: Checkpoint | null;
  /** Whether an earlier run had done everything but the last rename. */
  readonly isDone: boolean;
  /** What the user should know of the start. */
  readonly note: string | null;
  readonly #request: TargetsRequest;
  readonly #journal: Journal | null;
  readonly #checkpointBytes: number;
  #lastOffset = 0;
  #lastMs = performance.now();

  constructor(request: TargetsRequest) {
    this.#request = request;
    const { path, rejectsPath, notResumable, isResume, digest } = request;
    const isResumable = notResumable === null && path !== null;
    this.#checkpointBytes = Number(process.env.HEXCODES_CHECKPOINT_BYTES ?? CHECKPOINT_BYTES);
    let from: Checkpoint | null = null;
    let note: string | null = null;
    let isDone = false;
    if (isResume && !isResumable) note = `${notResumable}: starting again from the first row.`;
    else if (isResume && path !== null) {
      from = Journal.read(path);
      if (from === null) note = 'Nothing to resume: starting from the first row.';
      else if (from.digest !== digest) {
        throw new CliFailure(
          EXIT.USAGE,
          `the unfinished run of ${path} had other options, or its input has changed since`,
          'Run without --resume to start again.',
        );
      } else if (from.isWhole) {
        isDone = true;
      } else if (!isUnfinished(path)) {
        from = null;
        note = 'The unfinished output is gone: starting from the first row.';
      }
    } else if (path !== null && isUnfinished(path)) {
      note = `An unfinished run of ${path} is overwritten (--resume would have gone on with it).`;
    }
    this.from = from;
    this.note = note;
    this.isDone = isDone;
    this.tally = from === null ? new Tally() : Tally.restore(from.tally);
    this.#journal = isResumable && path !== null ? new Journal(path) : null;
    if (isDone && path !== null) {
      this.output = new StdoutOutput();
      this.rejects = null;
      this.#renameLeftovers();
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

  /** Makes a note in the journal if it is time for one: everything up to here is written. */
  checkpoint(inputNumber: number, inputOffset: number, elapsedMs: number, isForced = false): void {
    if (this.#journal === null || !(this.output instanceof FileOutput)) return;
    const isDue =
      this.output.offset - this.#lastOffset >= this.#checkpointBytes ||
      performance.now() - this.#lastMs >= CHECKPOINT_MS;
    if (!isDue && !isForced) return;
    this.#note(inputNumber, inputOffset, elapsedMs, false);
  }

  #note(inputNumber: number, inputOffset: number, elapsedMs: number, isWhole: boolean): void {
    if (this.#journal === null || !(this.output instanceof FileOutput)) return;
    this.output.sync();
    const rejects = this.rejects instanceof FileOutput ? this.rejects : null;
    rejects?.sync();
    this.#journal.write({
      digest: this.#request.digest,
      inputNumber,
      inputOffset,
      outputOffset: this.output.offset,
      rejectsOffset: rejects?.offset ?? 0,
      tally: this.tally.save(elapsedMs),
      isWhole,
    });
    this.#lastOffset = this.output.offset;
    this.#lastMs = performance.now();
  }

  /** Everything is written: the files take their names. */
  async finish(elapsedMs: number): Promise<void> {
    this.#note(0, 0, elapsedMs, true);
    await this.output.finish();
    await this.rejects?.finish();
    this.#journal?.remove();
  }

  /** The run ends early. What is resumable stays if it is worth it. */
  abandon(isWorthKeeping: boolean): void {
    this.output.abandon();
    this.rejects?.abandon();
    const { path, rejectsPath } = this.#request;
    if (this.#journal === null || isWorthKeeping) return;
    this.#journal.remove();
    for (const each of [path, rejectsPath]) if (each !== null) FileOutput.removePartial(each);
  }

  #renameLeftovers(): void {
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
  return /\.gz$/i.test(path) ? new GzipOutput(file) : file;
}
