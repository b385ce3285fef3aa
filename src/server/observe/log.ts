// Log lines: JSON by pino to standard output, on a terminal lines for people, without blocking the event loop. Nothing
// that may contain a key is passed to it (no query, path or header); redaction and the mask for keys are further
// safeguards.
import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../../config/config.js';
import { holdsKey, maskKeyTexts } from '../../config/mask.js';
import { VERSION } from '../../hexcodes/version.js';
import { readApiKey } from '../../hexcodes/wire/params/query.js';
import type { Exchange } from '../http/exchange.js';

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

/**
 * Where log lines go: standard output, written in the background. A disk that is full, a reader that went away or
 * hangs holds up nothing: lines wait in bounded memory, lines beyond it are dropped and counted, and the count is
 * reported as soon as a write succeeds again. No call blocks on a pipe or terminal, the last one of the process
 * included.
 */
export class LogSink {
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
    private readonly target: LogTarget,
    /** Called after a successful write with the number of lines that were dropped before it. May call `write`. */
    private readonly recovered: (droppedLines: number) => void,
    maxWaitingBytes = MAX_WAITING_BYTES,
  ) {
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
        this.#chunk = chunk.subarray(this.target.writeSync(chunk));
      }
    } catch {
      // There is nobody left to tell.
    }
  }

  #writeNext(): void {
    const chunk = this.#nextChunk();
    if (chunk === undefined) return;
    this.#isWriting = true;
    this.target.write(chunk, (error, writtenBytes) => this.#written(chunk, error, writtenBytes));
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
function standardOutput(): LogTarget {
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

const LINE_MS = 1000;

/**
 * A line of the log that many peers may cause, at most once a second, with how often it was caused: a flood of
 * connections or requests is not a flood of lines.
 */
export class CountedLine {
  #count = 0;
  #fields: Readonly<Record<string, string>> = {};
  #timer: NodeJS.Timeout | undefined;

  /** @param counted the field that has the count */
  constructor(
    private readonly logger: Logger,
    private readonly counted: string,
    private readonly message: string,
  ) {}

  /**
   * Counts a cause. The first of a second is logged at once; of the others the last gives the fields of the next line.
   */
  add(fields: Readonly<Record<string, string>> = {}): void {
    this.#count++;
    this.#fields = fields;
    if (this.#timer !== undefined) return;
    this.#log();
    this.#timer = setInterval(() => {
      if (this.#count > 0) {
        this.#log();
        return;
      }
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, LINE_MS);
    this.#timer.unref();
  }

  #log(): void {
    this.logger.warn({ [this.counted]: this.#count, ...this.#fields }, this.message);
    this.#count = 0;
  }
}

export type { Logger } from 'pino';

/** Members whose values are not written, whether of a line itself or of an object in it. */
const SECRETS: ReadonlySet<string> = new Set([
  'apikey',
  'apiKey',
  'key',
  'secret',
  'pepper',
  'query',
  'rawQuery',
  'headers',
  'authorization',
]);
const CENSORED = '[redacted]';

/** Longer methods, or of other characters, are not named: they may be a key. */
const METHOD = /^[A-Z-]{1,15}$/;

/** A log that takes nothing does not hold up the end of the process for longer. */
const FLUSH_TIMEOUT_MS = 1000;

export interface Log {
  readonly logger: Logger;
  /** Resolves when all lines are written, after a second at the latest. */
  flush(): Promise<void>;
  /** Lines that could not be written, since the start. */
  readonly droppedLines: number;
}

export function openLog(level: LogLevel, to?: DestinationStream): Log {
  const options = {
    level,
    base: { service: 'hexcodes', version: VERSION },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    // pino's own `redact` takes eight times as long as all else that a line costs.
    formatters: { log: (fields: Fields) => withoutSecrets(fields) },
    serializers: { err: (error: Error) => withoutSecrets(pino.stdSerializers.err(error) as Fields) },
  };
  if (to !== undefined) return { logger: pino(options, masked(to)), flush: async () => {}, droppedLines: 0 };
  const sink = new LogSink(standardOutput(), (count) =>
    logger.error({ dropped_lines: count }, `${count} log lines were dropped`),
  );
  const isTerminal = isatty(1);
  const shown = isTerminal ? { write: (line: string) => sink.write(lineForPeople(line)) } : sink;
  const logger = pino(options, masked(shown));
  process.on('exit', () => sink.flushNow());
  return {
    logger,
    flush: () => sink.flush(FLUSH_TIMEOUT_MS),
    get droppedLines() {
      return sink.droppedInAll;
    },
  };
}

type Fields = Record<string, unknown>;

/** The object itself, or a copy without secrets where it or an object in it holds one. */
function withoutSecrets(fields: Fields, isInner = false): Fields {
  let copy: Fields | undefined;
  for (const name in fields) {
    const value = fields[name];
    const isPlain = typeof value === 'object' && value !== null && !(value instanceof Error);
    const shown = SECRETS.has(name)
      ? CENSORED
      : isPlain && !isInner
        ? withoutSecrets(value as Fields, true)
        : value;
    if (shown === value) continue;
    copy ??= { ...fields };
    copy[name] = shown;
  }
  return copy ?? fields;
}

/** Masks keys in every line, whichever field holds them. */
function masked(to: DestinationStream): DestinationStream {
  return { write: (line) => to.write(maskKeyTexts(line)) };
}

/** Takes `withheld` for the request id if that holds a key, from then on in the answer, too. */
export function withholdKey(x: Exchange): void {
  if (holdsKey(x.head.requestId, [readApiKey(x.head.rawQuery), x.head.apiKey])) x.head.requestId = 'withheld';
}

/** The method, or `UNKNOWN` if it is none of HTTP's. */
export function methodName(x: Exchange): string {
  return METHOD.test(x.head.method) ? x.head.method : 'UNKNOWN';
}

/** Levels of pino that are named; others are usual. */
const LEVELS: Readonly<Record<number, string>> = { 40: 'WARN  ', 50: 'ERROR ', 60: 'FATAL ' };
/** Characters that a terminal obeys. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const CONTROL = /[\0-\x1f\x7f-\x9f]/g;

/**
 * A log line as a person at a terminal reads it: the time, what happened, and the rest as names and values.
 * @param json a line of the log, with its line end
 */
export function lineForPeople(json: string): string {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(json) as Record<string, unknown>;
  } catch {
    return json;
  }
  const { level, time, msg, service: _service, version: _version, ...rest } = fields;
  const { method, route, http_status: status, duration_ms: durationMs, ...others } = rest;
  const isRequest = method !== undefined && status !== undefined;
  const what = isRequest ? `${method} ${route ?? ''} ${status} in ${durationMs} ms` : msg;
  const more = Object.entries(isRequest ? others : rest).map(
    ([name, value]) => ` ${name}=${JSON.stringify(value)}`,
  );
  const clock = typeof time === 'string' ? time.slice(11, 19) : '';
  const line = `${clock}  ${LEVELS[Number(level)] ?? ''}${what}${more.join('')}`;
  return `${line.replace(CONTROL, '\u00b7')}\n`;
}
