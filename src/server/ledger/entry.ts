// One request, or one stream, in the ledger of its key. It is opened when the key is let in; points are admitted before
// their work and done after it. Quota, rates, usage, metrics and the log read what is written here.

import type { PointCounts } from '../observe/metrics/request-counts.js';
import type { KeyLedger } from './key-ledger.js';
import type { QuotaPeriod } from './quota.js';
import type { LimitRefusal, WAIT } from './rates.js';

export class Entry {
  /** Points or codes that are converted, and those among them that failed. */
  points = 0;
  failedPoints = 0;
  /** Points that are admitted and not done, of keys with limits. */
  #reserved = 0;
  /** When points were admitted last. */
  #period: QuotaPeriod | undefined;
  /** Pieces of work that may give points back. */
  #uncertain = 0;

  /** @param operation a place in the OPERATIONS of usage */
  constructor(
    readonly key: KeyLedger,
    readonly operation: number,
    private readonly counts: PointCounts,
  ) {}

  /** Nothing is refused to the key. */
  get isFree(): boolean {
    return this.key.isFree;
  }

  /** Reserves points for work, which `done` settles. WAIT: `whenAdmitted` tells. */
  admit(count: number): LimitRefusal | typeof WAIT | undefined {
    if (this.key.isFree) return undefined;
    const outcome = this.#noted(this.key.take(count));
    return typeof outcome === 'number' ? undefined : outcome;
  }

  /** Resolves once points are reserved or refused; work within the limits is never refused. */
  async whenAdmitted(count: number): Promise<LimitRefusal | undefined> {
    const outcome = this.#noted(await this.key.whenTaken(count));
    return typeof outcome === 'number' ? undefined : outcome;
  }

  /**
   * Reserves points for work of which only a bound is known. Where fewer are left fewer are reserved, at least one: the
   * work is then told how many, counts first, and comes again with its count if that is more.
   * @returns how many: to be settled by `doneWithin`
   */
  admitUpTo(bound: number): number | LimitRefusal | typeof WAIT {
    if (this.key.isFree) return bound;
    return this.#notedUpTo(this.key.take(1, bound));
  }

  async whenAdmittedUpTo(bound: number): Promise<number | LimitRefusal> {
    return this.#notedUpTo(await this.key.whenTaken(1, bound));
  }

  /** The day and the month that points were admitted in last; undefined for a key without quotas. */
  get period(): QuotaPeriod | undefined {
    return this.#period;
  }

  /**
   * Counts points that are converted, and gives back what of `reserved` was not needed.
   * @param period when they were admitted, where other pieces of work of this entry were admitted since
   */
  done(ok: number, failed: number, reserved = ok + failed, period = this.#period): void {
    this.points += ok + failed;
    this.failedPoints += failed;
    // Where limits have come meanwhile, nothing was reserved.
    const settled = Math.min(reserved, this.#reserved);
    this.#reserved -= settled;
    this.key.done(this.operation, settled, ok, failed, period);
    this.counts.add(this.key.counts, this.operation, ok, failed);
  }

  /** Counts points that were reserved by a bound, and gives back the rest of them. */
  doneWithin(reserved: number, ok: number, failed: number): void {
    if (this.#uncertain > 0) {
      this.#uncertain--;
      this.key.rates.countUncertain(-1);
    }
    this.done(ok, failed, reserved);
  }

  /**
   * Reserves some of many points, at least one and more where the quota is not scarce, within what the rates let in
   * now. A free key gets them all. To be settled by `done`.
   */
  admitSome(most: number): number | LimitRefusal | typeof WAIT {
    return this.key.isFree ? most : this.#noted(this.key.take(1, most));
  }

  async whenAdmittedSome(most: number): Promise<number | LimitRefusal> {
    return this.#noted(await this.key.whenTaken(1, most));
  }

  /** Counts points that are refused. */
  refuse(points: number): void {
    this.key.use.refuse(this.operation, points);
  }

  /** Counts the request; to be called when its status line is about to be written. */
  end(httpStatus: number): void {
    this.key.use.answered(this.operation, httpStatus);
  }

  /** Counts the request for the metrics, when it is over. */
  isOver(nowMs: number): void {
    const { counts } = this.key;
    counts.requests++;
    counts.lastMs = nowMs;
  }

  #noted<T extends number | LimitRefusal | typeof WAIT>(outcome: T): T {
    if (typeof outcome === 'number') {
      this.#reserved += outcome;
      this.#period = this.key.quota?.now;
    }
    return outcome;
  }

  #notedUpTo<T extends number | LimitRefusal | typeof WAIT>(outcome: T): T {
    if (typeof outcome !== 'number') return outcome;
    this.#uncertain++;
    this.key.rates.countUncertain(1);
    return this.#noted(outcome);
  }
}
