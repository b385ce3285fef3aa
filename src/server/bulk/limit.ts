// Limits of a key on one /bulk body: a block whose rows are covered by the key's points is converted as usual, of any
// other block as many rows as there are points. At a rate limit the body waits; once the quota is used up every row
// is rejected.
import type { Block } from '../../hexcodes/wire/bulk/splitters.js';
import { readFrameHeader } from '../../hexcodes/wire/frames/answer-frame.js';
import type { BulkJob, ConvertedRows } from '../../hexcodes/wire/job.js';
import type { Entry } from '../ledger/ledger.js';
import type { QuotaPeriod } from '../ledger/quota.js';
import { type LimitRefusal, WAIT } from '../ledger/rates.js';

const LINE_FEED = 10;
/** Rows of a partial block are converted in this thread, however expensive they are. */
const MAX_ROWS_OF_PART = 1024;
/** Retry time while the service itself is at its limit. */
const OTHERS_MS = 50;
/** Longest wait before the limits are checked again: a timer of more than 24 days would fire at once. */
const MAX_WAIT_MS = 60_000;

/** The amount that may be converted now. */
export interface Admission {
  readonly job: BulkJob;
  /** The block, or its first frames. */
  readonly part: Block;
  /** Rows of the part that may be converted; undefined: all. */
  readonly rows: number | undefined;
  /** Points reserved for it, and their day and month. */
  readonly reserved: number;
  readonly period: QuotaPeriod | undefined;
}

export class BulkLimit {
  #isRefusing = false;
  /** Whether the quota no longer covers a whole block. */
  #isScarce = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Requested points that are not available yet, and the answer. */
  #asked: { readonly least: number; readonly most: number } | undefined;
  #outcome: number | LimitRefusal | undefined;

  /** @param goOn called when a waiting body may continue */
  constructor(
    private readonly entry: Entry | undefined,
    private readonly goOn: () => void,
  ) {}

  /** The body waits for its key, not for its peer. */
  get isWaiting(): boolean {
    return this.#timer !== undefined || (this.#asked !== undefined && this.#outcome === undefined);
  }

  /** Whether rows may still be rejected, so that the size of the answer is not known in advance. */
  get mayRefuse(): boolean {
    return this.entry?.key.hasQuota === true;
  }

  /**
   * Reserves the points of a block, or of a part of it; undefined: it must wait. Each admission is settled.
   * @param mayBePart rows may be converted in this thread: none of the body are in the pool
   */
  admit(job: BulkJob, block: Block, mayBePart: boolean): Admission | undefined {
    const { entry } = this;
    if (entry === undefined || entry.isFree)
      return { job, part: block, rows: undefined, reserved: 0, period: undefined };
    if (this.#isRefusing) return refusing(job, block);
    if (this.isWaiting) return undefined;
    const most = maxRows(job, block);
    const now = entry.key.rates.now();
    if (now >= most && !this.#isScarce) {
      const taken = this.#take(entry, most);
      if (typeof taken === 'number')
        return { job, part: block, rows: undefined, reserved: taken, period: entry.period };
      if (taken === WAIT) return undefined;
      if (taken.kind !== 'quota') return this.#wait(taken.waitMs);
      // Reserves for as many rows of the block as the quota covers.
      this.#isScarce = true;
    }
    if (job.input === 'frames') return this.#admitFrame(entry, job, block);
    return mayBePart ? this.#admitRows(entry, job, block, most) : undefined;
  }

  /** Counts the rows of an admission. */
  settle(
    { job, reserved, period }: Admission,
    { rows, failed }: Pick<ConvertedRows, 'rows' | 'failed'>,
  ): void {
    if (job.refusal !== undefined) this.entry?.refuse(rows);
    else this.entry?.done(rows - failed, failed, reserved, period);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#giveBack();
  }

  #admitRows(entry: Entry, job: BulkJob, block: Block, most: number): Admission | undefined {
    const { rates } = entry.key;
    const rows = Math.min(most, rates.now(), MAX_ROWS_OF_PART);
    const least = Math.min(most, rates.worthwhile(most), MAX_ROWS_OF_PART);
    if (rows < least) {
      const verdict = rates.verdict(least);
      return this.#wait(typeof verdict === 'object' ? verdict.waitMs : OTHERS_MS);
    }
    const taken = this.#take(entry, 1, rows);
    if (typeof taken === 'number')
      return { job, part: block, rows: taken, reserved: taken, period: entry.period };
    if (taken === WAIT) return undefined;
    return taken.kind === 'quota' ? this.#refuse(job, block) : this.#wait(taken.waitMs);
  }

  /** A frame is converted as a whole or not at all. */
  #admitFrame(entry: Entry, job: BulkJob, block: Block): Admission | undefined {
    const header = readFrameHeader(block, 0);
    const taken = this.#take(entry, rowsOfFrame(header));
    if (typeof taken === 'number') {
      const part = block.subarray(0, header?.sizeBytes ?? block.length);
      return { job, part, rows: undefined, reserved: taken, period: entry.period };
    }
    if (taken === WAIT) return undefined;
    return taken.kind === 'quota' ? this.#refuse(job, block) : this.#wait(taken.waitMs);
  }

  /** Reserves points now or requests them; then `goOn` is called when they are granted or refused. */
  #take(entry: Entry, least: number, most = least): number | LimitRefusal | typeof WAIT {
    if (this.#asked?.least === least && this.#asked.most === most && this.#outcome !== undefined) {
      const outcome = this.#outcome;
      this.#asked = undefined;
      this.#outcome = undefined;
      return outcome;
    }
    this.#giveBack();
    const taken = entry.take(least, most);
    if (taken !== WAIT) return taken;
    this.#asked = { least, most };
    void entry.whenTaken(least, most).then((outcome) => {
      this.#outcome = outcome;
      if (this.#isClosed) this.#giveBack();
      else this.goOn();
    });
    return WAIT;
  }

  /** Returns requested points that are no longer needed. */
  #giveBack(): void {
    if (typeof this.#outcome === 'number') this.entry?.done(0, 0, this.#outcome);
    if (this.#outcome !== undefined) this.#asked = undefined;
    this.#outcome = undefined;
  }

  #refuse(job: BulkJob, block: Block): Admission {
    this.#isRefusing = true;
    return refusing(job, block);
  }

  #wait(waitMs: number): undefined {
    const delayMs = Math.min(MAX_WAIT_MS, Math.max(1, Math.ceil(waitMs)));
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.goOn();
    }, delayMs);
    return undefined;
  }
}

function refusing(job: BulkJob, block: Block): Admission {
  const refused = { ...job, refusal: 'OVER_QUERY_LIMIT' } as const;
  return { job: refused, part: block, rows: undefined, reserved: 0, period: undefined };
}

/** Upper bound of the rows of a block: exact for frames, and the number of lines for text. */
function maxRows(job: BulkJob, block: Block): number {
  let rows = 0;
  if (job.input === 'frames') {
    for (let at = 0; at < block.length; ) {
      const header = readFrameHeader(block, at);
      rows += rowsOfFrame(header);
      at += header?.sizeBytes ?? block.length;
    }
    return rows;
  }
  for (let at = block.indexOf(LINE_FEED); at >= 0; at = block.indexOf(LINE_FEED, at + 1)) rows++;
  return block.at(-1) === LINE_FEED ? rows : rows + 1;
}

/** Bytes that are not a frame are answered as one row, and so may be a frame of another kind than the body's. */
function rowsOfFrame(header: { readonly count: number } | undefined): number {
  return Math.max(1, header?.count ?? 1);
}
