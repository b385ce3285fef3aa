// Takes lines to be forwarded, keeps them on disk and has them delivered. A line is taken when the system has it on disk; lines
// that come while a write is under way share the next one, and no caller waits for the sink.
import { join } from 'node:path';
import { Backlog } from './backlog/backlog.js';
import { nameOwn, release, TOUCH_MS, takeOver, touch } from './backlog/owner.js';
import { Delivery, type DeliveryLog } from './delivery.js';
import type { Sink } from './sinks/sink.js';

export interface ForwarderOptions {
  readonly sink: Sink;
  /** Folder of the backlogs of all processes. */
  readonly folder: string;
  /** Of all backlogs that this process has, on disk. */
  readonly mostBytes: number;
  readonly batchMs: number;
  readonly log: DeliveryLog;
}

/** The message is a sentence for people. */
export class NotTakenError extends Error {
  override readonly name = 'NotTakenError';
}

interface WaitingLine {
  readonly bytes: Buffer;
  readonly taken: () => void;
  readonly failed: (error: Error) => void;
}

const MIB = 1024 * 1024;
/** In memory, on their way to the disk. */
const MOST_UNWRITTEN_BYTES = 4 * MIB;
const END_MS = 2000;

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #own: Backlog;
  /** Left behind by processes that are gone, and taken over; oldest first. */
  readonly #older: Backlog[] = [];
  readonly #delivery: Delivery;
  readonly #timer: NodeJS.Timeout;
  #waiting: WaitingLine[] = [];
  #unwrittenBytes = 0;
  #writing: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  /** Lines refused since the last that was taken, and since the start. */
  #refused = 0;
  #refusedInAll = 0;

  private constructor(options: ForwarderOptions, own: Backlog) {
    this.#options = options;
    this.#own = own;
    this.#delivery = new Delivery({
      sink: options.sink,
      batchMs: options.batchMs,
      source: () => this.#source(),
      waitingRows: () => this.waitingRows,
      log: options.log,
    });
    this.#timer = setInterval(() => {
      for (const { folder } of [own, ...this.#older]) touch(folder);
      this.#lookForLeft();
    }, TOUCH_MS).unref();
  }

  /** Resolves when lines are taken, and those that earlier processes left are found. */
  static async open(options: ForwarderOptions): Promise<Forwarder> {
    const own = await Backlog.open(join(options.folder, nameOwn()), segmentBytesOf(options));
    const forwarder = new Forwarder(options, own);
    forwarder.#lookForLeft();
    await forwarder.#looking;
    return forwarder;
  }

  /** Lines that are taken and not delivered. */
  get waitingRows(): number {
    return [this.#own, ...this.#older].reduce((sum, { rows }) => sum + rows, 0);
  }

  /** A sentence for people while lines cannot be delivered. */
  get fault(): string | undefined {
    const reason = this.#delivery.fault;
    if (reason === undefined) return undefined;
    return `${this.#options.sink.name} takes no positions (${reason}): ${this.waitingRows} wait on disk`;
  }

  /** Counts of lines; `isAway` while the sink takes none. */
  get figures(): { waiting: number; delivered: number; refused: number; isAway: boolean } {
    const { deliveredRows, fault } = this.#delivery;
    const isAway = fault !== undefined;
    return { waiting: this.waitingRows, delivered: deliveredRows, refused: this.#refusedInAll, isAway };
  }

  /** Whether a line of this size can be taken: not where as much waits as may. */
  hasSpace(lineBytes: number): boolean {
    const onDisk = [this.#own, ...this.#older].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const unwritten = this.#unwrittenBytes + lineBytes;
    if (unwritten <= MOST_UNWRITTEN_BYTES && onDisk + unwritten <= this.#options.mostBytes) return true;
    this.#refuse(`as many wait as may, ${this.#options.mostBytes} bytes`, 1);
    return false;
  }

  /**
   * Resolves when the line is on disk.
   * @param line with its line end
   * @throws NotTakenError, as a rejection, where the disk takes nothing
   */
  take(line: string): Promise<void> {
    const bytes = Buffer.from(line);
    this.#unwrittenBytes += bytes.length;
    return new Promise((taken, failed) => {
      this.#waiting.push({ bytes, taken, failed });
      this.#writing ??= this.#write();
    });
  }

  /** Delivers what can be delivered in two seconds; the rest waits on disk for the next process. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.#delivery.end(END_MS);
    await this.#looking;
    await this.#options.sink.close();
    const { waitingRows } = this;
    for (const backlog of [this.#own, ...this.#older]) await this.#leave(backlog);
    if (waitingRows > 0)
      this.#options.log.warn({ waiting: waitingRows }, 'positions wait on disk for the next start');
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      const bytes = Buffer.concat(lines.map((line) => line.bytes));
      let fault: Error | undefined;
      try {
        await this.#own.append(bytes, lines.length);
      } catch (error) {
        fault = new NotTakenError('the disk of the service takes no positions', { cause: error });
        this.#refuse((error as Error).message, lines.length);
      }
      this.#unwrittenBytes -= bytes.length;
      for (const { taken, failed } of lines) {
        if (fault === undefined) taken();
        else failed(fault);
      }
      if (fault === undefined) this.#took();
    }
    this.#writing = undefined;
  }

  /** Said once, until a line is taken again. */
  #refuse(reason: string, lines: number): void {
    if (this.#refused === 0)
      this.#options.log.error({ reason, waiting: this.waitingRows }, 'positions are refused');
    this.#refused += lines;
    this.#refusedInAll += lines;
  }

  #took(): void {
    if (this.#refused > 0) this.#options.log.info({ refused: this.#refused }, 'positions are taken again');
    this.#refused = 0;
    this.#delivery.notice();
  }

  /** The backlog that is to be delivered next: the oldest with rows. */
  async #source(): Promise<Backlog | undefined> {
    for (let oldest = this.#older[0]; oldest !== undefined; oldest = this.#older[0]) {
      if (oldest.rows > 0) return oldest;
      this.#older.shift();
      await this.#leave(oldest);
    }
    return this.#own.rows > 0 ? this.#own : undefined;
  }

  #lookForLeft(): void {
    this.#looking ??= this.#openLeft()
      .catch((error: Error) => {
        this.#options.log.error({ reason: error.message }, 'positions that were left cannot be read');
      })
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async #openLeft(): Promise<void> {
    const { folder, log } = this.#options;
    for (const name of takeOver(folder)) {
      const backlog = await Backlog.open(join(folder, name), segmentBytesOf(this.#options));
      if (backlog.rows > 0) log.info({ waiting: backlog.rows }, 'positions that were left are delivered');
      this.#older.push(backlog);
      this.#delivery.notice();
    }
  }

  async #leave(backlog: Backlog): Promise<void> {
    await backlog.close();
    release(backlog.folder.slice(backlog.folder.lastIndexOf('/') + 1));
  }
}

/** So that a quarter of the space is free again when a segment is delivered. */
function segmentBytesOf({ mostBytes }: ForwarderOptions): number {
  return Math.min(4 * MIB, Math.floor(mostBytes / 4));
}
