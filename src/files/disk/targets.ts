// The files of one run: the output, the file of failed rows if there is one, and the journal. Decides whether a run
// starts from scratch, resumes an unfinished one or only renames its files.

import { rmSync, statSync } from 'node:fs';
import { badUsage } from '../exit-codes.js';
import { isGzipName } from '../format.js';
import { Tally } from '../tally.js';
import { grouped } from '../terminal/say.js';
import {
  type Destination,
  destinationOf,
  type FileDestination,
  partialPathOf,
  STDOUT_NAME,
} from './destination.js';
import { type Checkpoint, isUnfinished, Journal, OutputLock, type Reached } from './journal.js';
import { DeviceOutput, FileOutput, GzipOutput, type Output, StandardOutput } from './output.js';

/** Bytes of output, and time, after which the journal is due. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024;
const CHECKPOINT_MS = 2000;

export interface TargetsRequest {
  readonly output: Destination;
  /** Destination of failed rows. */
  readonly rejects: Destination | null;
  /** Why the run cannot be resumed; null if it can. */
  readonly notResumable: string | null;
  readonly isResume: boolean;
  /** Everything that shapes the output, as one text. */
  readonly shape: string;
  /** Modification time of the newest input; absent where it is unknown. */
  readonly inputsMs?: number | undefined;
}

export class Targets {
  readonly output: Output;
  readonly rejects: Output | null;
  readonly tally: Tally;
  /** The checkpoint to resume from; null for a fresh start. */
  readonly from: Checkpoint | null;
  /** Whether an earlier run had written all rows: then only the renames may be missing. */
  readonly isDone: boolean;
  /** A line for the user about an earlier run. */
  readonly note: string | null;
  readonly #journal: Journal | null;
  readonly #checkpointBytes: number;
  /** The regular files among output and failed rows. */
  readonly #files: readonly FileDestination[];
  readonly #locks: OutputLock[] = [];
  /** Whether there is a journal on disk, which the end of the run must not contradict. */
  #hasJournal: boolean;
  #lastOffset = 0;
  #lastMs = performance.now();

  /** @throws CliFailure if a target cannot be written, or if the run to be resumed was another one */
  constructor(private readonly request: TargetsRequest) {
    const { output, rejects, notResumable } = request;
    const bytes = process.env.HEXCODES_CHECKPOINT_BYTES || CHECKPOINT_BYTES;
    this.#checkpointBytes = Number(bytes);
    if (!(this.#checkpointBytes > 0))
      throw badUsage(`HEXCODES_CHECKPOINT_BYTES=${bytes}: must be a number of bytes`);
    this.#files = [output, rejects].filter((each) => each?.kind === 'file');
    let opened: Output | null = null;
    try {
      // Locked before the journal is read: it belongs to the run that holds the lock.
      for (const each of this.#files) this.#locks.push(OutputLock.take(each));
      const { from, note, isDone } = startOf(request);
      const isResumable = notResumable === null && output.kind === 'file';
      this.from = from;
      this.#hasJournal = from !== null;
      this.note = note;
      this.isDone = isDone;
      this.tally = from === null ? new Tally() : Tally.restore(from.tally);
      this.#journal = isResumable ? new Journal(output.path) : null;
      if (isDone) {
        this.output = new StandardOutput(STDOUT_NAME, process.stdout);
        this.rejects = null;
        if (from !== null) this.#renamePartials(from);
        this.#release();
        return;
      }
      // Reported also for a resumable run before one that is not: it names another partial file.
      if (from === null && output.kind === 'file') new Journal(output.path).remove();
      opened = open(output, isResumable, from?.outputOffset ?? 0);
      this.output = opened;
      this.rejects = rejects === null ? null : open(rejects, isResumable, from?.rejectsOffset ?? 0);
      if (from !== null) this.#lastOffset = from.outputOffset;
    } catch (error) {
      opened?.abandon();
      this.#release();
      throw error;
    }
  }

  get isResumable(): boolean {
    return this.#journal !== null;
  }

  /**
   * Writes the journal if it is due.
   * @param reached progress up to which all output must be written
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
      shape: this.request.shape,
      ...reached,
      outputOffset: this.output.offset,
      rejectsOffset: rejects?.offset ?? 0,
      tally: this.tally.save(elapsedMs),
      isWhole,
    });
    this.#hasJournal = true;
    this.#lastOffset = this.output.offset;
    this.#lastMs = performance.now();
  }

  /**
   * After the last write: the files take their names, and the journal is removed. One file without a journal takes its
   * name in one step, so that no journal needs to say that it is whole.
   */
  async finish(elapsedMs: number): Promise<void> {
    if (this.#hasJournal || this.rejects !== null)
      this.#writeJournal({ inputNumber: 0, inputOffset: 0, inputRows: 0 }, elapsedMs, true);
    await this.output.finish();
    await this.rejects?.finish();
    this.#journal?.remove();
    this.#release();
  }

  /** Ends the run without success. @param isWorthKeeping whether files with a journal stay for `--resume` */
  abandon(isWorthKeeping: boolean): void {
    this.output.abandon();
    this.rejects?.abandon();
    if (this.#journal !== null && !(isWorthKeeping && this.#hasJournal)) {
      this.#journal.remove();
      for (const { path } of this.#files) rmSync(partialPathOf(path), { force: true });
    }
    this.#release();
  }

  #renamePartials({ outputOffset, rejectsOffset }: Checkpoint): void {
    for (const each of this.#files) {
      FileOutput.rename(each, each === this.request.output ? outputOffset : rejectsOffset);
    }
    this.#journal?.remove();
  }

  #release(): void {
    for (const lock of this.#locks) lock.release();
  }
}

function open(destination: Destination, isResumable: boolean, keepBytes: number): Output {
  const output =
    destination.kind === 'file'
      ? new FileOutput(destination, isResumable, keepBytes)
      : (standardOutput(destination) ?? new DeviceOutput(destination));
  return isGzipName(destination.name) ? new GzipOutput(output) : output;
}

function standardOutput(destination: Destination): Output | null {
  if (destination.kind !== 'descriptor') return null;
  const { name, descriptor } = destination;
  if (descriptor === 1) return new StandardOutput(name, process.stdout);
  return descriptor === 2 ? new StandardOutput(name, process.stderr) : null;
}

/** Writes a file, or to a device, in one go. @param path as given */
export async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const output = destinationOf(path);
  const notResumable = 'One answer cannot be resumed';
  const targets = new Targets({ output, rejects: null, notResumable, isResume: false, shape: '' });
  try {
    await targets.output.write(bytes);
    await targets.finish(0);
  } catch (error) {
    targets.abandon(false);
    throw error;
  }
}

interface Start {
  readonly from: Checkpoint | null;
  readonly note: string | null;
  readonly isDone: boolean;
}

/**
 * Decides how a run begins, by the files that an earlier run left.
 * @throws CliFailure USAGE if they had another shape
 */
function startOf({ output, notResumable, isResume, shape, inputsMs }: TargetsRequest): Start {
  const afresh = (note: string | null): Start => ({ from: null, note, isDone: false });
  if (output.kind !== 'file') {
    return afresh(
      isResume && notResumable !== null ? `${notResumable}: starting again from the first row.` : null,
    );
  }
  const { name, path } = output;
  if (!isResume) {
    if (!isUnfinished(path)) return afresh(null);
    return afresh(`An unfinished run of ${name} is overwritten (--resume would have gone on with it).`);
  }
  if (notResumable !== null) return afresh(`${notResumable}: starting again from the first row.`);
  const from = Journal.read(path);
  if (from === null && isNewer(path, inputsMs)) {
    const note = `${name} is finished, and newer than what it was made of: there is nothing to do. Without --resume it is made again.`;
    return { from, note, isDone: true };
  }
  if (from === null) {
    return afresh(`Nothing to resume, as no run of ${name} was broken off: starting from the first row.`);
  }
  if (from.shape !== shape) {
    throw badUsage(
      `the unfinished run of ${name} had other options, boundary data or another version of hexcodes, or its input has changed since`,
      'Run without --resume to start again.',
    );
  }
  if (from.isWhole) return { from, note: `All rows of ${name} were written already.`, isDone: true };
  if (!isUnfinished(path)) return afresh('The unfinished output is gone: starting from the first row.');
  return { from, note: `Going on after row ${grouped(Tally.restore(from.tally).rows)}.`, isDone: false };
}

/** Whether an output is there under its name and was written after its inputs. */
function isNewer(path: string, inputsMs: number | undefined): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && inputsMs !== undefined && stat.mtimeMs >= inputsMs;
}
