// Delivers lines from backlogs to a sink, batch by batch and in order. A failing sink is retried at growing
// intervals; no readable line is skipped, so a batch may be delivered twice.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Backlog, Piece } from './backlog.js';
import { eachLine, type Sink } from './sinks/sink.js';

/** Resolves when the work is done or the time is over; rejects if the work does before. */
export async function within(timeMs: number, work: Promise<unknown>): Promise<void> {
  const waiting = new AbortController();
  const late = sleep(timeMs, undefined, { signal: waiting.signal }).catch(() => {});
  await Promise.race([work, late]).finally(() => waiting.abort());
}

const LINE_END = Buffer.from('\n');

/** @returns whole lines of NDJSON, and how many others were among them */
async function intactLines(lines: Buffer): Promise<{ lines: Buffer; damagedRows: number }> {
  const intact: Buffer[] = [];
  let damagedRows = 0;
  await eachLine(lines, (line) => {
    if (isObject(line)) intact.push(line, LINE_END);
    else damagedRows++;
  });
  return { lines: damagedRows === 0 ? lines : Buffer.concat(intact), damagedRows };
}

function isObject(line: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(line.toString());
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

export interface DeliveryLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface DeliveryOptions {
  readonly sink: Sink;
  /** Time for which a batch is collected, unless it is full before. */
  readonly batchMs: number;
  /** The backlog that is to be delivered next; undefined where all are empty. */
  readonly source: () => Promise<Backlog | undefined>;
  /** Rows that wait, of all backlogs. */
  readonly waitingRows: () => number;
  readonly log: DeliveryLog;
}

const BATCH_ROWS = 500;
/** Longer than the longest line. */
const BATCH_BYTES = 1024 * 1024;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;
/** Time that a sink has to cancel a delivery. */
const GIVE_UP_MS = 200;

export class Delivery {
  /** Why the sink accepts nothing; undefined while it does. */
  fault: string | undefined;
  deliveredRows = 0;
  readonly #giveUp = new AbortController();
  #isEnding = false;
  #isHurried = false;
  #wake: (() => void) | undefined;
  readonly #over: Promise<void>;

  constructor(private readonly options: DeliveryOptions) {
    this.#over = this.#run();
  }

  /** There are more rows. */
  notice(): void {
    if (this.options.waitingRows() >= BATCH_ROWS) this.#isHurried = true;
    this.#wake?.();
  }

  /** Delivers what it can within the time, and ends; a sink that does not cancel by then is abandoned. */
  async end(graceMs: number): Promise<void> {
    this.#isEnding = true;
    this.#wake?.();
    const timer = setTimeout(() => this.#giveUp.abort(), graceMs);
    await within(graceMs + GIVE_UP_MS, this.#over);
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    const { source, log, batchMs } = this.options;
    while (!this.#giveUp.signal.aborted) {
      try {
        const backlog = await source();
        if (backlog === undefined) {
          if (this.#isEnding) return;
          await this.#pause(undefined, () => this.options.waitingRows() > 0);
          await this.#pause(batchMs, () => this.#isHurried);
          continue;
        }
        if (!(await this.#deliverNext(backlog))) return;
        this.#isHurried = this.options.waitingRows() >= BATCH_ROWS;
        if (!this.#isHurried) await this.#pause(batchMs, () => this.#isHurried);
      } catch (error) {
        // The disk of the backlog cannot be read.
        log.error({ reason: (error as Error).message }, 'positions that wait cannot be read');
        if (this.#isEnding) return;
        await this.#pause(MAX_DELAY_MS, () => false);
      }
    }
  }

  /** @returns whether the delivery continues */
  async #deliverNext(backlog: Backlog): Promise<boolean> {
    const piece = await backlog.next(BATCH_BYTES, BATCH_ROWS);
    if (piece === undefined) return true;
    const { lines, damagedRows } = await this.#intact(piece);
    if (lines.length > 0 && !(await this.#bring(lines))) return false;
    await backlog.accept(piece);
    this.deliveredRows += piece.rows - damagedRows;
    if (lines.length > 0) this.#succeeded();
    return true;
  }

  async #intact(piece: Piece): Promise<{ lines: Buffer; damagedRows: number }> {
    // Lines of this process need no check: it has written them itself.
    if (!piece.isFound) return { lines: piece.lines, damagedRows: 0 };
    const found = await intactLines(piece.lines);
    const { damagedRows } = found;
    if (damagedRows > 0)
      this.options.log.error({ damaged: damagedRows }, 'lines on disk are damaged and left out');
    return found;
  }

  /**
   * Retries until the sink accepts the lines.
   * @returns false if it has not by the end
   */
  async #bring(lines: Buffer): Promise<boolean> {
    const { sink } = this.options;
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(MAX_DELAY_MS, 2 * delayMs)) {
      try {
        await sink.deliver(lines, this.#giveUp.signal);
        return true;
      } catch (error) {
        this.#failed((error as Error).message);
        if (this.#isEnding) return false;
        await this.#pause(delayMs, () => false);
      }
    }
  }

  #failed(reason: string): void {
    if (this.fault === undefined && !this.#giveUp.signal.aborted) {
      const fields = { sink: this.options.sink.name, reason, waiting: this.options.waitingRows() };
      this.options.log.warn(fields, 'the sink of positions takes none; they wait on disk');
    }
    this.fault = reason;
  }

  #succeeded(): void {
    if (this.fault === undefined) return;
    this.fault = undefined;
    const fields = { sink: this.options.sink.name, waiting: this.options.waitingRows() };
    this.options.log.info(fields, 'the sink of positions takes them again');
  }

  /**
   * Waits for a time, without end if undefined, or until woken with a reason to continue; not at all while ending.
   */
  async #pause(timeMs: number | undefined, isEnough: () => boolean): Promise<void> {
    const overMs = timeMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeMs;
    while (!this.#isEnding && !isEnough()) {
      const leftMs = overMs - performance.now();
      if (leftMs <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = Number.isFinite(leftMs) ? setTimeout(resolve, leftMs) : undefined;
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
  }
}
