// Lines on disk between their senders and a sink, first in, first out: segments of whole lines in a folder, and a
// cursor of the delivered ones. Appended lines survive the end of the process, however it ends; a segment is removed
// when it is delivered. One append and one read at a time. Another process may take over the folder while this one is
// alive; it delivers the lines present at that time, and later ones do not count as appended.

import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  utimesSync,
} from 'node:fs';
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { checkedText, readChecked } from '../../../config/checked-state.js';

/** Lines that are to be delivered next. */
export interface Piece {
  /** Whole lines. */
  readonly lines: Buffer;
  readonly rows: number;
  readonly segment: number;
  /** Offset of the next piece in the segment. */
  readonly endBytes: number;
  /** An earlier process has written the segment: after a power cut the bytes of some lines may be others. */
  readonly isFound: boolean;
}

interface Segment {
  readonly number: number;
  /** The segment was there when the folder was opened. */
  readonly isFound: boolean;
  /** Size of the lines that are appended; the file may hold more after a write that failed. */
  sizeBytes: number;
  /** Bytes of each key, as far as this process has appended them. */
  readonly keyBytes: Map<string, number>;
}

const LINE_END = 10;
const SEGMENT_NAME = /^(\d{10})\.ndjson$/;
const CURSOR = 'cursor.json';

export class Backlog {
  /** Lines appended and not delivered. */
  rows = 0;
  /** Path of a cursor that is not as it was written. */
  doubtful: string | undefined;
  readonly #segments: Segment[] = [];
  #deliveredBytes = 0;
  /** Handle of the last segment, if lines are appended to it. */
  #writer: FileHandle | undefined;

  private constructor(
    readonly folder: string,
    private readonly segmentBytes: number,
  ) {}

  /**
   * Opens or creates a folder, with the lines that an earlier process has left in it.
   * @param segmentBytes size at which another segment begins
   */
  static async open(folder: string, segmentBytes: number): Promise<Backlog> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const backlog = new Backlog(folder, segmentBytes);
    await backlog.#find();
    return backlog;
  }

  /** Size of all segments, delivered parts of the first one included. */
  get sizeBytes(): number {
    return this.#segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  /** Bytes that wait, of one key. */
  bytesOf(keyId: string): number {
    return this.#segments.reduce((sum, { keyBytes }) => sum + (keyBytes.get(keyId) ?? 0), 0);
  }

  /**
   * Resolves when the whole lines are with the system; where it rejects, none of them counts. ENOENT: another process
   * has the folder now, or somebody has removed the file.
   * @param keyBytes bytes of each key
   */
  async append(
    lines: Buffer,
    rows: number,
    keyBytes: ReadonlyMap<string, number> = new Map(),
  ): Promise<void> {
    const segment = await this.#segmentFor(lines.length);
    const writer = this.#writer as FileHandle;
    const before = segment.sizeBytes;
    try {
      for (let at = 0; at < lines.length; )
        at += (await writer.write(lines, at, lines.length - at, before + at)).bytesWritten;
    } catch (error) {
      // A part of the lines may have been written. It is cut off, so that the next ones follow; otherwise they go to
      // another segment.
      await writer.truncate(before).catch(() => this.#endSegment());
      throw error;
    }
    // A process that takes over the folder looks for lines after the rename, so it finds these if the path still
    // leads to them.
    await stat(this.#pathOf(segment.number)).catch(async (error: Error) => {
      await this.#endSegment();
      throw error;
    });
    segment.sizeBytes += lines.length;
    for (const [key, bytes] of keyBytes) segment.keyBytes.set(key, (segment.keyBytes.get(key) ?? 0) + bytes);
    this.rows += rows;
  }

  /** The next whole lines, bounded in bytes and rows; undefined where all are delivered. */
  async next(maxBytes: number, maxRows: number): Promise<Piece | undefined> {
    for (;;) {
      const segment = this.#segments[0];
      if (segment === undefined) return this.#nothing();
      const left = segment.sizeBytes - this.#deliveredBytes;
      const lines = left > 0 ? await this.#read(segment, Math.min(left, maxBytes)) : Buffer.alloc(0);
      const [endBytes, rows] = endOfLines(lines, maxRows);
      if (rows > 0) {
        const end = this.#deliveredBytes + endBytes;
        const { number, isFound } = segment;
        return { lines: lines.subarray(0, endBytes), rows, segment: number, endBytes: end, isFound };
      }
      if (lines.length > 0 && lines.length < left) {
        // No line is longer: its end is damaged, and so is all that is read with it.
        this.#deliveredBytes += lines.length;
        continue;
      }
      if (this.#segments.length === 1 && this.#writer !== undefined) return this.#nothing();
      // All of it is delivered, except a line whose writer was killed: nobody was told that it had been accepted.
      await this.#drop();
    }
  }

  /** The piece is delivered. */
  async accept({ segment, endBytes, rows }: Piece): Promise<void> {
    this.rows -= rows;
    this.#deliveredBytes = endBytes;
    const isOver = this.#segments[0]?.sizeBytes === endBytes;
    if (isOver && (this.#segments.length > 1 || this.#writer === undefined)) await this.#drop();
    else await this.#keepCursor(segment, endBytes);
  }

  /** Whether the folder is still where this process has made it. */
  isThere(): Promise<boolean> {
    return stat(this.folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    );
  }

  /** Stops writing; removes the folder if everything in it is delivered. */
  async close(): Promise<void> {
    await this.#endSegment();
    if (this.rows === 0) await rm(this.folder, { recursive: true, force: true });
  }

  async #segmentFor(moreBytes: number): Promise<Segment> {
    const last = this.#segments.at(-1);
    const hasSpace = last !== undefined && last.sizeBytes + moreBytes <= this.segmentBytes;
    if (this.#writer !== undefined && last !== undefined && (hasSpace || last.sizeBytes === 0)) return last;
    await this.#endSegment();
    const segment = { number: (last?.number ?? 0) + 1, isFound: false, sizeBytes: 0, keyBytes: new Map() };
    this.#writer = await open(this.#pathOf(segment.number), 'w', 0o600);
    this.#segments.push(segment);
    if (this.#segments.length === 1) this.#deliveredBytes = 0;
    return segment;
  }

  async #endSegment(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    await writer?.close();
  }

  /** Nothing is left, even if the count differs because somebody has removed files. */
  #nothing(): undefined {
    this.rows = 0;
    return undefined;
  }

  async #read({ number }: Segment, sizeBytes: number): Promise<Buffer> {
    const file = await open(this.#pathOf(number), 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
    if (file === undefined) return Buffer.alloc(0);
    try {
      const bytes = Buffer.allocUnsafe(sizeBytes);
      const { bytesRead } = await file.read(bytes, 0, sizeBytes, this.#deliveredBytes);
      return bytes.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  async #drop(): Promise<void> {
    const segment = this.#segments.shift() as Segment;
    this.#deliveredBytes = 0;
    await rm(this.#pathOf(segment.number), { force: true });
  }

  /** A cursor that cannot be stored only costs repetitions after a kill. */
  async #keepCursor(segment: number, deliveredBytes: number): Promise<void> {
    const path = join(this.folder, CURSOR);
    await writeFile(`${path}.tmp`, checkedText({ segment, deliveredBytes }), { mode: 0o600 })
      .then(() => rename(`${path}.tmp`, path))
      .catch(() => {});
  }

  async #find(): Promise<void> {
    const cursor = await this.#readCursor();
    for (const name of (await readdir(this.folder)).sort()) {
      const number = Number(SEGMENT_NAME.exec(name)?.[1] ?? Number.NaN);
      if (Number.isNaN(number)) continue;
      const bytes = await readFile(this.#pathOf(number));
      const isNext = this.#segments.length === 0 && cursor?.segment === number;
      const from = isNext && isLineStart(bytes, cursor.deliveredBytes) ? cursor.deliveredBytes : 0;
      if (this.#segments.length === 0) this.#deliveredBytes = from;
      this.#segments.push({ number, isFound: true, sizeBytes: bytes.length, keyBytes: new Map() });
      this.rows += endOfLines(bytes.subarray(from), Number.POSITIVE_INFINITY)[1];
    }
  }

  /** undefined where there is none, or it is not as it was written: all of the first segment is delivered then. */
  async #readCursor(): Promise<{ segment?: unknown; deliveredBytes?: unknown } | undefined> {
    const path = join(this.folder, CURSOR);
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    try {
      // Versions before 0.4.0 wrote it without a digest.
      const cursor = text.startsWith('{"segment":') ? JSON.parse(text) : readChecked(text);
      return cursor as { segment?: unknown; deliveredBytes?: unknown };
    } catch {
      this.doubtful = path;
      return undefined;
    }
  }

  #pathOf(number: number): string {
    return join(this.folder, `${String(number).padStart(10, '0')}.ndjson`);
  }
}

const isLineStart = (bytes: Buffer, at: unknown): at is number =>
  at === 0 || (typeof at === 'number' && bytes[at - 1] === LINE_END);

/** End of the last whole line among the first `maxRows`, and their count. */
function endOfLines(bytes: Buffer, maxRows: number): [endBytes: number, rows: number] {
  let end = 0;
  let rows = 0;
  while (rows < maxRows) {
    const at = bytes.indexOf(LINE_END, end);
    if (at === -1) break;
    end = at + 1;
    rows++;
  }
  return [end, rows];
}

// Ownership of backlogs. A folder is named after the process that owns it, so processes with one data folder never
// share one. A folder whose process is gone is taken over by another process with a rename, which succeeds for
// exactly one. Where processes cannot see each other (containers, other machines), a folder that is not touched for a
// while counts as abandoned. No clocks are compared.

/** Interval at which owners touch their folders, and look for abandoned ones. */
export const TOUCH_MS = 3000;
/**
 * Consecutive looks at an untouched folder before it counts as abandoned: 15 s. A machine that hung for longer costs
 * one look.
 */
const UNTOUCHED_LOOKS = 5;

/** The name of a folder: when the backlog was begun, which never changes; the owner; whether the owner has left it. */
const NAME = /^backlog-(\d+)-(\d+)-(\d+)-(\w+)-(\w+)-\d+(-left)?$/;

/** An identity that no two processes share: number and start time, PID namespace, boot of the machine. */
interface Identity {
  readonly pid: number;
  readonly begunTicks: string;
  readonly namespace: string;
  readonly boot: string;
}

const own: Identity = {
  pid: process.pid,
  begunTicks: begunTicksOf(process.pid) ?? '0',
  namespace: textOf(() => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 'none'),
  boot: textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)),
};
/** Names of the folders of this process that are in use. */
const inUse = new Set<string>();
let made = 0;

/** A name for the folder of a backlog, which is in use from then on. */
export function nameOwn(begunMs = Date.now()): string {
  const name = `backlog-${begunMs}-${own.pid}-${own.begunTicks}-${own.namespace}-${own.boot}-${++made}`;
  inUse.add(name);
  return name;
}

export function release(name: string): void {
  inUse.delete(name);
}

/** Gives up a folder: it belongs to the first process that finds it. */
export function leave(folder: string): void {
  try {
    renameSync(folder, `${folder}-left`);
  } catch {
    // The folder is gone: its positions are delivered.
  }
  release(basename(folder));
}

/** Shows others that the folder has an owner. */
export function touch(folder: string): void {
  const now = new Date();
  try {
    utimesSync(folder, now, now);
  } catch {
    // The folder is gone: its positions are delivered.
  }
}

/** A folder whose owner cannot be seen. */
interface Watched {
  readonly touchedMs: number;
  /** Consecutive looks that found it unchanged. */
  readonly looks: number;
  /** The folder was touched since the first look. */
  readonly isAlive: boolean;
}

/** The backlogs below one folder, as they change from look to look. */
export class LeftFolders {
  readonly #watched = new Map<string, Watched>();

  constructor(private readonly parent: string) {}

  /** Whether there are folders of which it is not known yet if their owners are gone. */
  get hasUnjudged(): boolean {
    return [...this.#watched.values()].some(({ isAlive }) => !isAlive);
  }

  /**
   * Takes over the folders whose owners are gone; call it every TOUCH_MS.
   * @returns their new names, those begun first before the others
   */
  takeOver(): string[] {
    const names = readdirSync(this.parent).filter((name) => NAME.test(name));
    for (const name of this.#watched.keys()) if (!names.includes(name)) this.#watched.delete(name);
    return names
      .filter((name) => !(isOwned(name) ?? this.#isTouched(name)))
      .sort((a, b) => begunMsOf(a) - begunMsOf(b))
      .flatMap((name) => this.#take(name));
  }

  #isTouched(name: string): boolean {
    const touchedMs = statSync(join(this.parent, name), { throwIfNoEntry: false })?.mtimeMs;
    // Another process was faster.
    if (touchedMs === undefined) return true;
    const before = this.#watched.get(name);
    const isSame = before?.touchedMs === touchedMs;
    const looks = isSame ? before.looks + 1 : 0;
    const isAlive = before !== undefined && (before.isAlive || !isSame);
    this.#watched.set(name, { touchedMs, looks, isAlive });
    return looks < UNTOUCHED_LOOKS;
  }

  #take(name: string): string[] {
    this.#watched.delete(name);
    const taken = nameOwn(begunMsOf(name));
    try {
      renameSync(join(this.parent, name), join(this.parent, taken));
      touch(join(this.parent, taken));
      return [taken];
    } catch {
      // Another process was faster.
      release(taken);
      return [];
    }
  }
}

/** When a backlog was begun, by the name of its folder. */
export const begunMsOf = (name: string): number => Number(NAME.exec(name)?.[1]);

/** undefined where the name does not say, as the process is not visible from here. */
function isOwned(name: string): boolean | undefined {
  const [, , pid = '', begunTicks, namespace, boot, left] = NAME.exec(name) ?? [];
  if (left !== undefined) return false;
  if (namespace !== own.namespace || boot !== own.boot) return undefined;
  if (Number(pid) === own.pid && begunTicks === own.begunTicks) return inUse.has(name);
  return isRunning(Number(pid), begunTicks);
}

function isRunning(pid: number, begunTicks: string | undefined): boolean {
  if (existsSync('/proc/self/stat')) return begunTicksOf(pid) === begunTicks;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** When a process began, in ticks since the start of the machine; undefined where there is none (proc(5)). */
function begunTicksOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    // A zombie has ended.
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return 'none';
  }
}
