// Where log lines go: standard output, written in the background. A disk that is full, a reader that went away or
// hangs holds up nothing: lines wait in bounded memory, lines beyond it are dropped and counted, and the count
// is reported as soon as a write succeeds again. No call blocks on a pipe or terminal, the last one of the process
// included.
import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Writes some bytes and calls back with the count of those written, or with the error. */
type Write = (bytes: Buffer, done: (error: Error | null | undefined, writtenBytes: number) => void) => void;

/** The target of a sink. */
export interface LogTarget {
  readonly write: Write;
  /** Writes at once what fits without blocking, and returns its count of bytes. Throws if that is nothing. */
  readonly writeSync: (bytes: Buffer) => number;
}

/** Most bytes of lines that wait; some 5,000 lines. */
const MAX_WAITING_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Largest write to a pipe that is never mixed with those of other processes (PIPE_BUF, pipe(7)). */
const SHARED_CHUNK_BYTES = 4096;
/** After a failed write. */
const RETRY_MS = 250;
const FLUSH_POLL_MS = 5;

export class LogSink {
  readonly #target: LogTarget;
  readonly #maxWaitingBytes: number;
  /** Several processes of one supervisor write to the same output. */
  readonly #chunkBytes = process.connected === true ? SHARED_CHUNK_BYTES : CHUNK_BYTES;
  /** Lines that are in no chunk yet, and their bytes. */
  #lines: string[] = [];
  #linesBytes = 0;
  /** The bytes that are being written, or that the next try writes. */
  #chunk: Buffer | undefined;
  #isWriting = false;
  #retry: NodeJS.Timeout | undefined;
  #droppedLines = 0;
  /** Lines dropped since the start. */
  droppedInAll = 0;
  /** During `recovered`: its line is taken beyond the bound. */
  #isReporting = false;

  constructor(
    target: LogTarget,
    /** Called after a successful write with the number of lines that were dropped before it. May call `write`. */
    private readonly recovered: (droppedLines: number) => void,
    maxWaitingBytes = MAX_WAITING_BYTES,
  ) {
    this.#target = target;
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  /** Takes a line, with its line end. Never throws and never blocks. */
  write(line: string): void {
    const sizeBytes = Buffer.byteLength(line);
    if (this.waitingBytes + sizeBytes > this.#maxWaitingBytes && !this.#isReporting) {
      this.#droppedLines++;
      this.droppedInAll++;
      return;
    }
    this.#lines.push(line);
    this.#linesBytes += sizeBytes;
    if (!this.#isWriting && this.#retry === undefined) this.#writeNext();
  }

  get waitingBytes(): number {
    return this.#linesBytes + (this.#chunk?.length ?? 0);
  }

  /** Resolves when all lines are written, or when the time is over. */
  async flush(timeoutMs: number): Promise<void> {
    const overMs = performance.now() + timeoutMs;
    while (this.waitingBytes > 0 && performance.now() < overMs) await sleep(FLUSH_POLL_MS);
  }

  /** Writes the bytes that the target takes without blocking; called at the end of the process. */
  flushNow(): void {
    try {
      // A chunk that is being written may be on its way already.
      if (this.#isWriting) this.#chunk = undefined;
      this.#isWriting = true;
      for (let chunk = this.#nextChunk(); chunk !== undefined; chunk = this.#nextChunk()) {
        this.#chunk = chunk.subarray(this.#target.writeSync(chunk));
      }
    } catch {
      // There is nobody left to tell.
    }
  }

  #writeNext(): void {
    const chunk = this.#nextChunk();
    if (chunk === undefined) return;
    this.#isWriting = true;
    this.#target.write(chunk, (error, writtenBytes) => this.#written(chunk, error, writtenBytes));
  }

  /** The rest of the last chunk, or a new one of the lines that wait. */
  #nextChunk(): Buffer | undefined {
    if (this.#chunk !== undefined && this.#chunk.length > 0) return this.#chunk;
    this.#chunk = undefined;
    if (this.#lines.length === 0) return undefined;
    let count = 0;
    let sizeBytes = 0;
    do sizeBytes += Buffer.byteLength(this.#lines[count++] as string);
    while (
      count < this.#lines.length &&
      sizeBytes + Buffer.byteLength(this.#lines[count] as string) <= this.#chunkBytes
    );
    const chunk = Buffer.from(this.#lines.splice(0, count).join(''));
    this.#linesBytes -= chunk.length;
    this.#chunk = chunk;
    return chunk;
  }

  #written(chunk: Buffer, error: Error | null | undefined, writtenBytes: number): void {
    this.#isWriting = false;
    if (error) {
      // The chunk is kept: a disk gets room again, a named pipe another reader.
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#writeNext();
      }, RETRY_MS).unref();
      return;
    }
    this.#chunk = chunk.subarray(writtenBytes);
    if (this.#droppedLines > 0 && this.#chunk.length === 0) {
      const count = this.#droppedLines;
      this.#droppedLines = 0;
      this.#isReporting = true;
      this.recovered(count);
      this.#isReporting = false;
    }
    if (!this.#isWriting) this.#writeNext();
  }
}

/**
 * Standard output. A write to a pipe or socket goes through the stream of Node, which does not block; files are written
 * by a thread of libuv. The thread must never get stuck, because the process joins it at its end: so terminals, which
 * a person can stop with Ctrl-S, are opened a second time as non-blocking.
 */
export function standardOutput(): LogTarget {
  const kind = fstatSync(1);
  if (kind.isFIFO() || kind.isSocket()) {
    const { stdout } = process;
    // Every failed write also calls back with its error.
    stdout.on('error', () => {});
    return {
      write: (bytes, done) => stdout.write(bytes, (error) => done(error, bytes.length)),
      writeSync: (bytes) => writeSync(1, bytes),
    };
  }
  const fd = kind.isCharacterDevice() ? openedAgain() : 1;
  return {
    write: (bytes, done) => write(fd, bytes, 0, bytes.length, null, done),
    writeSync: (bytes) => writeSync(fd, bytes),
  };
}

function openedAgain(): number {
  try {
    return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // Not Linux.
    return 1;
  }
}
