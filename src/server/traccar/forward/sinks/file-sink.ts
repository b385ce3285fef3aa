// A sink that is a file, CSV or NDJSON: batches are appended, each in one write. It is opened for each batch, so other
// programs may take it away at any time; one that has reached its size is renamed, and another begins. Renamed files
// are never touched again.
import { existsSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eachRow, type PositionRow, type Sink } from './sink.js';

/** All members but the attributes of the device, which have no columns of their own. */
const COLUMNS = [
  'id',
  'unique_id',
  'name',
  'fix_time',
  'device_time',
  'server_time',
  'lat',
  'lng',
  'hexcodes',
  'resolution',
  'admin_code',
  'status',
  'speed_kn',
  'course',
  'altitude_m',
  'accuracy_m',
  'valid',
  'protocol',
] as const satisfies readonly (keyof PositionRow)[];

const CSV_HEADER = `${COLUMNS.join(',')}\n`;

/** Whole lines of NDJSON as CSV, without the header. */
async function csvOf(lines: Buffer): Promise<Buffer> {
  let text = '';
  await eachRow(lines, (row) => {
    text += `${COLUMNS.map((name) => fieldOf(row[name])).join(',')}\n`;
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

export interface FileSinkOptions {
  readonly path: string;
  readonly format: 'csv' | 'ndjson';
  /** Size of the file at which another begins. */
  readonly fullBytes: number;
}

/** Owner and group: positions are nobody else's business. */
const MODE = 0o640;
const LINE_END = 10;
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

  async close(): Promise<void> {}
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

/** All bytes, or none: a disk that is full would leave a part of a line, and the batch is delivered again. */
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
