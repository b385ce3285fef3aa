// A destination of positions, as their delivery sees it.

import { existsSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Publisher } from '../../../../bus/bus.js';

const LINE_END = 10;
/** Bytes of lines that are parsed before requests have their turn: some 100 µs. */
const TURN_BYTES = 32 * 1024;

/**
 * @param lines whole lines
 * @param each gets a line without its end
 */
export async function eachLine(lines: Buffer, each: (line: Buffer) => void): Promise<void> {
  let turnEnd = TURN_BYTES;
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf(LINE_END, at);
    each(lines.subarray(at, end));
    at = end + 1;
    if (at >= turnEnd) {
      turnEnd = at + TURN_BYTES;
      await nextTurn();
    }
  }
}

/** A position as sinks get it: the members of a line of NDJSON, in this order. null: not known. */
export interface PositionRow {
  /** An id that stays however often the position is sent or delivered. */
  readonly id: string;
  readonly unique_id: string;
  readonly name: string | null;
  /** ISO 8601, in UTC, as the two that follow. */
  readonly fix_time: string | null;
  readonly device_time: string | null;
  readonly server_time: string | null;
  readonly lat: number;
  readonly lng: number;
  readonly hexcodes: string | null;
  readonly resolution: number;
  readonly admin_code: string | null;
  readonly status: 'OK' | 'NOT_FOUND';
  readonly speed_kn: number | null;
  readonly course: number | null;
  readonly altitude_m: number | null;
  readonly accuracy_m: number | null;
  readonly valid: boolean | null;
  readonly protocol: string | null;
  readonly attributes: Readonly<Record<string, unknown>> | null;
}

/** Names of the members in their order, with the types of their columns in PostgreSQL. */
export const COLUMNS = [
  ['id', 'uuid PRIMARY KEY'],
  ['unique_id', 'text NOT NULL'],
  ['name', 'text'],
  ['fix_time', 'timestamptz'],
  ['device_time', 'timestamptz'],
  ['server_time', 'timestamptz'],
  ['lat', 'double precision NOT NULL'],
  ['lng', 'double precision NOT NULL'],
  ['hexcodes', 'text'],
  ['resolution', 'smallint NOT NULL'],
  ['admin_code', 'text'],
  ['status', 'text NOT NULL'],
  ['speed_kn', 'double precision'],
  ['course', 'double precision'],
  ['altitude_m', 'double precision'],
  ['accuracy_m', 'double precision'],
  ['valid', 'boolean'],
  ['protocol', 'text'],
  ['attributes', 'jsonb'],
] as const satisfies readonly (readonly [keyof PositionRow, string])[];

export interface Sink {
  /** Names the sink in sentences, without anything secret. */
  readonly name: string;
  /**
   * Resolves when the sink has all lines. A delivery that ignores `signal` is abandoned at the end of the process.
   * @param lines whole lines of NDJSON, each a PositionRow
   * @param signal cancels the delivery
   */
  deliver(lines: Buffer, signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
}

/** Calls `each` with every row of whole lines, in several turns of the event loop where there are many. */
export function eachRow(lines: Buffer, each: (row: PositionRow, line: Buffer) => void): Promise<void> {
  return eachLine(lines, (line) => each(JSON.parse(line.toString()) as PositionRow, line));
}

// A sink at a URL: each batch is the body of a POST, as NDJSON. Every answer but 2xx means that nothing was accepted.

const ANSWER_TIMEOUT_MS = 30_000;
/** A longer answer is not read: its connection is closed. */
const MAX_ANSWER_BYTES = 65_536;

export class HttpSink implements Sink {
  readonly name: string;
  readonly #headers: Record<string, string>;

  constructor(
    private readonly url: string,
    header: readonly [name: string, value: string] | undefined,
  ) {
    // The path may be a secret, as of webhooks, and so may the query.
    this.name = new URL(url).origin;
    this.#headers = {
      'Content-Type': 'application/x-ndjson',
      ...(header === undefined ? {} : { [header[0]]: header[1] }),
    };
  }

  async deliver(lines: Buffer, signal: AbortSignal): Promise<void> {
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const answer = await fetch(this.url, {
      method: 'POST',
      headers: this.#headers,
      body: new Uint8Array(lines),
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    }).catch((error: Error) => {
      throw new Error(timeout.aborted ? `no answer within ${ANSWER_TIMEOUT_MS} ms` : causeOf(error));
    });
    await readToEnd(answer).catch(() => {});
    if (!answer.ok) throw new Error(`it answers ${answer.status}`);
  }
}

/**
 * Read to its end, the connection can be used again. By the bytes that come out: a few that are packed can be any
 * number.
 */
async function readToEnd({ body }: Response): Promise<void> {
  let sizeBytes = 0;
  for await (const bytes of body ?? []) {
    sizeBytes += bytes.length;
    if (sizeBytes > MAX_ANSWER_BYTES) return;
  }
}

/** fetch says «fetch failed», and its cause why. */
function causeOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

// A sink on NATS JetStream: each position is a message, under its id, so that the server drops a second one of the same
// within the duplicate window of its stream.

export class NatsSink implements Sink {
  #publisher: Promise<Publisher> | undefined;

  constructor(
    readonly name: string,
    private readonly open: () => Promise<Publisher>,
  ) {}

  async deliver(lines: Buffer): Promise<void> {
    const publisher = await this.#opened();
    const messages: { id: string; bytes: Uint8Array }[] = [];
    await eachRow(lines, ({ id }, bytes) => messages.push({ id, bytes }));
    await publisher.publish(messages);
  }

  /** @returns a publisher that is not closed: two refusals of its credentials in a row close one for good */
  async #opened(): Promise<Publisher> {
    if ((await this.#publisher)?.isClosed()) this.#publisher = undefined;
    this.#publisher ??= this.open().catch((error: Error) => {
      this.#publisher = undefined;
      throw error;
    });
    return this.#publisher;
  }

  async close(): Promise<void> {
    await this.#publisher?.then((publisher) => publisher.close()).catch(() => {});
  }
}

// A sink that is a file, CSV or NDJSON: batches are appended, each in one write. It is opened for each batch, so
// other programs may remove it at any time; at its maximum size it is renamed, and another begins. Renamed files are
// never touched again.

/** All members but the attributes of the device, which have no columns of their own. */
const CSV_COLUMNS = COLUMNS.map(([name]) => name).filter((name) => name !== 'attributes');

const CSV_HEADER = `${CSV_COLUMNS.join(',')}\n`;

/** Whole lines of NDJSON as CSV, without the header. */
async function csvOf(lines: Buffer): Promise<Buffer> {
  let text = '';
  await eachRow(lines, (row) => {
    text += `${CSV_COLUMNS.map((name) => fieldOf(row[name])).join(',')}\n`;
  });
  return Buffer.from(text);
}

/**
 * A text that a spreadsheet takes for a formula: `=cmd|…`, `@SUM(…`, `-2+…`. A telephone number (`+84 90 123`) is none.
 */
const FORMULA = /^[=@\t\r]|^[+-](?![\d\s.()/-]*$)/;
/** Control characters but tabs and line ends: databases refuse NUL, and no field of a table has the others. */
const CONTROL = /(?![\t\r\n])\p{Cc}/gu;

function fieldOf(value: string | number | boolean | null): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? harmless(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A text of a device as it may be in a table that people open. NDJSON keeps it as it came. */
function harmless(text: string): string {
  const shown = text.replace(CONTROL, '\ufffd');
  return FORMULA.test(shown) ? `'${shown}` : shown;
}

interface FileSinkOptions {
  readonly path: string;
  readonly format: 'csv' | 'ndjson';
  /** Size of the file at which another begins. */
  readonly fullBytes: number;
}

/** Owner and group: positions are nobody else's business. */
const MODE = 0o640;
/** Longest time that another process of this service may be writing to the file. */
const SETTLED_MS = 500;
const TAIL_BYTES = 64 * 1024;

export class FileSink implements Sink {
  readonly name: string;
  /** The file is known to end with a whole line. */
  #isWhole = false;

  constructor(private readonly options: FileSinkOptions) {
    this.name = `file:${options.path}`;
  }

  async deliver(lines: Buffer): Promise<void> {
    const { path, format, fullBytes } = this.options;
    const bytes = format === 'csv' ? await csvOf(lines) : lines;
    const header = format === 'csv' ? Buffer.from(CSV_HEADER) : Buffer.alloc(0);
    let file = await openForAppending(path);
    try {
      let sizeBytes = (await file.stat()).size;
      if (sizeBytes >= fullBytes) {
        await file.close();
        await rename(path, setAside(path)).catch(ignoreMissing);
        file = await openForAppending(path);
        sizeBytes = (await file.stat()).size;
      }
      if (!this.#isWhole) sizeBytes = await withoutTornLine(file, sizeBytes);
      this.#isWhole = false;
      await appendWhole(file, sizeBytes === 0 ? Buffer.concat([header, bytes]) : bytes);
      this.#isWhole = true;
    } finally {
      await file.close();
    }
  }
}

const openForAppending = (path: string): Promise<FileHandle> => open(path, 'a+', MODE);

/**
 * `positions.csv` becomes `positions.20261122T081502114Z.csv`, with `-2` before `.csv` where that is there already: a
 * clock that was set back shows a time twice.
 */
function setAside(path: string): string {
  const { dir, name, ext } = parse(path);
  const named = join(dir, `${name}.${new Date().toISOString().replace(/[-:.]/g, '')}`);
  let aside = named + ext;
  for (let number = 2; existsSync(aside); number++) aside = `${named}-${number}${ext}`;
  return aside;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Writes all bytes, or none: a full disk would leave a part of a line, and the batch is delivered again. */
async function appendWhole(file: FileHandle, bytes: Buffer): Promise<void> {
  const before = (await file.stat()).size;
  try {
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
  } catch (error) {
    await file.truncate(before).catch(() => {});
    throw error;
  }
}

/**
 * Cuts off a last line without an end, which a process was killed in: it is delivered again.
 * @returns the size from then on
 */
async function withoutTornLine(file: FileHandle, sizeBytes: number): Promise<number> {
  const tornFrom = await endOfLastLine(file, sizeBytes);
  if (tornFrom === sizeBytes) return sizeBytes;
  await sleep(SETTLED_MS);
  const { size } = await file.stat();
  if (size !== sizeBytes) return size;
  await file.truncate(tornFrom);
  return tornFrom;
}

async function endOfLastLine(file: FileHandle, sizeBytes: number): Promise<number> {
  const tail = Buffer.alloc(TAIL_BYTES);
  for (let end = sizeBytes; end > 0; ) {
    const start = Math.max(0, end - TAIL_BYTES);
    const { bytesRead } = await file.read(tail, 0, end - start, start);
    const at = tail.subarray(0, bytesRead).lastIndexOf(LINE_END);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}
