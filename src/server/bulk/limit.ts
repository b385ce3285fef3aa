// Limits of a key on one /bulk body: blocks whose rows the key has points for are converted as ever, of others as
// many rows as there are points. Where a rate is reached the body waits; once the quota is used up every row is refused.
import type { Block } from '../../wire/bulk/block-buffers.js';
import { readFrameHeader } from '../../wire/frames/frame-sequence.js';
import type { BulkJob, ConvertedRows } from '../../wire/job.js';
import type { KeyMeter } from '../limits/key-meter.js';

const LINE_FEED = 10;
/** Rows of a part of a block are converted in this thread, whatever work they are. */
const MOST_ROWS_OF_PART = 1024;
/** Points of the quota that other requests may give back are waited for in such steps. */
const OTHERS_MS = 50;

/** How much may be converted now. */
export interface Admission {
  readonly job: BulkJob;
  /** The block, or its first frames. */
  readonly part: Block;
  /** Rows of the part that may be converted; undefined: all. */
  readonly rows: number | undefined;
  /** Points that are taken for it. */
  readonly reserved: number;
}

export class BulkLimit {
  #isRefusing = false;
  #timer: NodeJS.Timeout | undefined;
  /** Admissions whose rows are not counted yet. */
  #unsettled = 0;

  /** @param goOn called when a body that had to wait may go on */
  constructor(
    private readonly meter: KeyMeter | undefined,
    private readonly operation: number,
    private readonly goOn: () => void,
  ) {}

  /** The body waits for its key, not for its peer. */
  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** The end of the body may be refused, so that the size of the answer is not known before. */
  get mayRefuse(): boolean {
    return this.meter?.hasQuota === true;
  }

  /**
   * Takes the points of a block, or of a part of it; undefined: it has to wait. Each admission is settled.
   * @param mayBePart rows may be converted in this thread: none of the body are in the pool
   */
  admit(job: BulkJob, block: Block, mayBePart: boolean): Admission | undefined {
    const { meter } = this;
    if (meter === undefined || meter.isFree) return { job, part: block, rows: undefined, reserved: 0 };
    if (this.#isRefusing) return this.#refusing(job, block);
    const most = mostRows(job, block);
    const quota = meter.quotaLeft();
    if (quota < most) {
      // Work under way may give some points back. Its own answers bring the body's next turn, others do not.
      if (this.#unsettled > 0) return undefined;
      if (quota === 0 && meter.hasReserved) return this.#wait(OTHERS_MS);
      if (quota === 0) return this.#refusing(job, block);
    } else if (meter.pointsNow() >= most) {
      return this.#take(meter, { job, part: block, rows: undefined, reserved: most });
    }
    if (job.input === 'frames') return this.#admitFrames(meter, job, block, quota);
    return mayBePart ? this.#admitRows(meter, job, block, Math.min(quota, most)) : undefined;
  }

  /** Counts the rows of an admission. */
  settle({ job, reserved }: Admission, { rows, failed }: Pick<ConvertedRows, 'rows' | 'failed'>): void {
    if (reserved > 0) this.#unsettled--;
    if (job.refusal !== undefined) this.meter?.refuse(this.operation, rows);
    else this.meter?.settle(this.operation, reserved, rows - failed, failed);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #admitRows(meter: KeyMeter, job: BulkJob, block: Block, most: number): Admission | undefined {
    const rows = Math.min(most, meter.pointsNow(), MOST_ROWS_OF_PART);
    const least = Math.min(most, meter.leastPoints(most));
    if (rows < Math.min(least, MOST_ROWS_OF_PART)) {
      return this.#wait(meter.pointsRefusal(Math.min(least, MOST_ROWS_OF_PART))?.waitMs ?? OTHERS_MS);
    }
    return this.#take(meter, { job, part: block, rows, reserved: rows });
  }

  /** A frame is converted as a whole or not at all. */
  #admitFrames(meter: KeyMeter, job: BulkJob, block: Block, quota: number): Admission | undefined {
    const now = meter.pointsNow();
    let end = 0;
    let points = 0;
    while (end < block.length) {
      const header = readFrameHeader(block, end);
      const count = rowsOfFrame(header);
      if (end > 0 && points + count > Math.min(now, quota)) break;
      if (end === 0 && count > quota) return this.#refusing(job, block);
      const refusal = end === 0 ? meter.pointsRefusal(count) : undefined;
      if (refusal !== undefined) return this.#wait(refusal.waitMs);
      points += count;
      end = Math.min(block.length, end + (header?.sizeBytes ?? block.length));
    }
    return this.#take(meter, { job, part: block.subarray(0, end), rows: undefined, reserved: points });
  }

  #take(meter: KeyMeter, admission: Admission): Admission {
    meter.reserve(admission.reserved);
    if (admission.reserved > 0) this.#unsettled++;
    return admission;
  }

  #refusing(job: BulkJob, block: Block): Admission {
    this.#isRefusing = true;
    return { job: { ...job, refusal: 'OVER_QUERY_LIMIT' }, part: block, rows: undefined, reserved: 0 };
  }

  #wait(waitMs: number): undefined {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.goOn();
      },
      Math.max(1, Math.ceil(waitMs)),
    );
    return undefined;
  }
}

/** Rows of a block at most: exactly those of frames, and lines of text. */
function mostRows(job: BulkJob, block: Block): number {
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

/** Bytes that are no frame are answered as one row, and so may be a frame of another kind than the body's. */
function rowsOfFrame(header: { readonly count: number } | undefined): number {
  return Math.max(1, header?.count ?? 1);
}
