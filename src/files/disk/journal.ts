// The journal beside an unfinished output: the progress of a run, from which `--resume` continues to the same bytes
// as an uninterrupted run.

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { AlteredStateError, checkedText, readChecked } from '../../config/checked-state.js';
import { badOutput, CliFailure, EXIT, reasonOf } from '../exit-codes.js';
import { visible } from '../terminal/say.js';
import { type FileDestination, journalPathOf, lockPathOf, partialPathOf } from './destination.js';
import { createAfresh, syncDirectory } from './output.js';

/** Progress of a run in its inputs. */
export interface Reached {
  /** The input that is being read, from 0. */
  readonly inputNumber: number;
  /** Progress in it, in bytes of content after decompression; 0 in a conversion by columns. */
  readonly inputOffset: number;
  /** Rows of the input that are converted. */
  readonly inputRows: number;
}

/** The state of a run at a row end of its output. */
export interface Checkpoint extends Reached {
  /** Inputs and options; a run with others must not continue this output. */
  readonly shape: string;
  /** Size of the output at the checkpoint. */
  readonly outputOffset: number;
  /** Size of the file of failed rows at the checkpoint; 0 without one. */
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
 *     out.csv.partial.journal  how far: input and output offsets, counts, everything that shapes the output
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
   * @throws CliFailure for an altered one: its offsets would give other bytes
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

// The lock beside an unfinished output, FILE.partial.lock: it names the writing process, so that a second run with
// this output is rejected while the process lives, and a run that was killed does not block others.

interface Holder {
  readonly host: string;
  readonly pid: number;
  /** Distinguishes a process from a later one with the same number; null where the system does not show it. */
  readonly started: string | null;
}

/** Time for which an empty lock may still be in the process of being written. */
const EMPTY_MS = 1000;

const held = new Set<string>();
let isExitWatched = false;

export class OutputLock {
  private constructor(private readonly path: string) {
    held.add(path);
    if (isExitWatched) return;
    isExitWatched = true;
    process.once('exit', () => {
      for (const each of held) rmSync(each, { force: true });
    });
  }

  /** @throws CliFailure BAD_OUTPUT if another process writes the same file, or its folder cannot be written */
  static take({ name, path: output }: FileDestination): OutputLock {
    const path = lockPathOf(output);
    const stale = `${path}.stale`;
    const own: Holder = { host: hostname(), pid: process.pid, started: startOf(process.pid) };
    try {
      while (!wasWritten(path, JSON.stringify(own))) {
        const text = textOf(path);
        if (text === null) {
          if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw refused(name, path, null);
          continue;
        }
        const holder = parsed(text);
        // A lock that stays empty: its process ended between creating and writing it.
        if (text !== '' && (holder === null || !isGone(holder))) throw refused(name, path, holder);
        removeStale(path, text, stale);
      }
      // A run that was killed while taking over a lock leaves this file.
      const left = parsed(readOrNull(stale) ?? '');
      if (left !== null && isGone(left)) rmSync(stale, { force: true });
    } catch (error) {
      throw error instanceof CliFailure ? error : badOutput(name, error);
    }
    return new OutputLock(path);
  }

  release(): void {
    if (held.delete(this.path)) rmSync(this.path, { force: true });
  }
}

/**
 * Creates a new file.
 * @returns false if it exists, or if another process has removed it as empty
 */
function wasWritten(path: string, text: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(file, text);
    return lstatSync(path, { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
  } finally {
    closeSync(file);
  }
}

/** The text of a lock, null if it is gone. Waits while it is empty: it is written within microseconds. */
function textOf(path: string): string | null {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += 10) {
    const text = readOrNull(path);
    if (text !== '' || waitedMs >= EMPTY_MS) return text;
    Atomics.wait(sleeper, 0, 0, 10);
  }
}

/** Removes the lock of a dead process; a lock that another run has taken meanwhile is put back. */
function removeStale(path: string, staleText: string, aside: string): void {
  try {
    renameSync(path, aside);
    if (readFileSync(aside, 'utf8') !== staleText) linkSync(aside, path);
    rmSync(aside, { force: true });
  } catch (error) {
    // Another run was faster.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  }
}

function refused(name: string, path: string, holder: Holder | null): CliFailure {
  const who =
    holder === null
      ? 'another run'
      : holder.host === hostname()
        ? `process ${holder.pid}`
        : `process ${holder.pid} on ${holder.host}`;
  return new CliFailure(
    EXIT.BAD_OUTPUT,
    `cannot write ${visible(name)}: ${visible(who)} is writing it`,
    `If that run has ended, remove ${visible(path)}.`,
  );
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function parsed(text: string): Holder | null {
  try {
    const { host, pid, started } = JSON.parse(text) as Holder;
    return typeof host === 'string' && Number.isInteger(pid) && pid > 0 ? { host, pid, started } : null;
  } catch {
    return null;
  }
}

/** Whether a holder certainly no longer runs. A process of another host or container is not visible. */
function isGone({ host, pid, started }: Holder): boolean {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
  }
  const now = startOf(pid);
  return now === 'ended' || (now !== null && started !== null && now !== started);
}

/** When a process started, in clock ticks of a boot; `ended` for one that only waits to be reaped; null if unknown. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // After the name in parentheses: field 3 is the state, field 22 the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return 'ended';
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${fields[19]}`;
  } catch {
    return null;
  }
}
