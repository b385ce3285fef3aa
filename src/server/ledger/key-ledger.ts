// The ledger of one key: its limits, its work under way and its use. A key without limits is only counted. Points are
// reserved before their work and settled after it, so that concurrent requests cannot use the same points; requests
// that must wait for the store, or for work under way, wait in the order of their arrival.

import { OVER_QUOTA_MESSAGE } from '../../hexcodes/wire/job.js';
import type { KeyInfo, KeyLimits } from '../keys/key-record.js';
import type { KeyCounts } from '../observe/metrics/request-counts.js';
import { cellAt, FAILED, NOTHING_USED, OK, REFUSED, restarted, type UsedByKey } from '../usage/batch.js';
import type { Calendar } from '../usage/calendar.js';
import { Quota, type QuotaPeriod, type QuotaStore } from './quota.js';
import {
  type LimitRefusal,
  type QuotaState,
  Rates,
  type RatesContext,
  SETTLE_MS,
  SETTLING,
  WAIT,
} from './rates.js';

/** Indexes of the outcomes among the counts of an operation: requests, followed by points. */
const OK_AT = cellAt(0, OK);
const FAILED_AT = cellAt(0, FAILED);
const REFUSED_AT = cellAt(0, REFUSED);

/**
 * The use of one key: counts that are flushed, and sums of the day and the month. The sums are those of all processes
 * that share the store, as far as this one knows. There may be very many keys, most of which use one operation only,
 * so counts are allocated at the first use of an operation.
 */
class KeyUse {
  /** Requests and points of each outcome by operation, as in the cells of a batch. */
  #counts: (number[] | undefined)[] = [];
  isDirty = false;

  constructor(
    /** The use by all processes until the cells were taken last. */
    public stored: UsedByKey,
    private readonly ledger: KeyLedger,
    /** Called with the first count after the cells were taken. */
    private readonly onFirst: (ledger: KeyLedger) => void,
  ) {}

  /** Counts points that are converted, `ok` and otherwise. */
  converted(operation: number, ok: number, failed: number): void {
    const counts = this.#of(operation);
    counts[OK_AT + 1]! += ok;
    counts[FAILED_AT + 1]! += failed;
  }

  /** Counts points that are refused. */
  refuse(operation: number, points: number): void {
    this.#of(operation)[REFUSED_AT + 1]! += points;
  }

  /** Counts a request that is answered. */
  answered(operation: number, httpStatus: number, isOverLimit = false): void {
    const outcomeAt = httpStatus < 400 ? OK_AT : isOverLimit ? REFUSED_AT : FAILED_AT;
    this.#of(operation)[outcomeAt]!++;
  }

  /** The use until now. */
  sums(): UsedByKey {
    let requests = 0;
    let points = 0;
    for (const counts of this.#counts) {
      if (counts === undefined) continue;
      requests += counts[OK_AT]! + counts[FAILED_AT]!;
      points += counts[OK_AT + 1]! + counts[FAILED_AT + 1]!;
    }
    const { dayRequests, dayPoints, monthRequests, monthPoints } = this.stored;
    return {
      ...this.stored,
      dayRequests: dayRequests + requests,
      dayPoints: dayPoints + points,
      monthRequests: monthRequests + requests,
      monthPoints: monthPoints + points,
    };
  }

  /** Moves the counts to cells, all of which are 0. */
  takeCells(to: Float64Array): void {
    this.stored = this.sums();
    for (const [operation, counts] of this.#counts.entries()) {
      if (counts === undefined) continue;
      to.set(counts, cellAt(operation, 0));
      counts.fill(0);
    }
    this.isDirty = false;
  }

  #of(operation: number): number[] {
    if (!this.isDirty) {
      this.isDirty = true;
      this.onFirst(this.ledger);
    }
    let counts = this.#counts[operation];
    if (counts === undefined) {
      counts = new Array<number>(cellAt(1, 0)).fill(0);
      this.#counts[operation] = counts;
    }
    return counts;
  }
}

/** Shared by the ledgers of all keys. */
export interface KeyLedgerContext extends RatesContext {
  readonly calendar: Calendar;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  /** Notes a ledger that has counted something since its cells were taken. */
  readonly dirty: (ledger: KeyLedger) => void;
  readonly store: QuotaStore;
}

interface Waiter {
  readonly least: number;
  readonly most: number;
  readonly resolve: (outcome: number | LimitRefusal) => void;
}

/** Interval of retries for points that other processes may return; work under way wakes waiters itself. */
const RETRY_MS = 40;

export class KeyLedger {
  /** Whether nothing is ever refused to this key. */
  isFree = true;
  /** The key has limits of its own, beside the ceiling of the process. */
  hasLimits = false;
  #key: KeyInfo;
  #limits: KeyLimits = {};
  readonly rates: Rates;
  /** Undefined until the key has had a quota. */
  quota: Quota | undefined;
  /** The cells of the key, and the sums of all processes. */
  readonly use: KeyUse;
  /** Allocated with the first waiter. */
  #waiters: Waiter[] | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    key: KeyInfo,
    limits: KeyLimits,
    used: UsedByKey = NOTHING_USED,
    /** Counts for the metrics. */
    readonly counts: KeyCounts,
    private readonly context: KeyLedgerContext,
  ) {
    this.#key = key;
    this.use = new KeyUse(used, this, context.dirty);
    this.rates = new Rates(key.id, context);
    this.setLimits(key, limits);
  }

  get key(): KeyInfo {
    return this.#key;
  }

  get limits(): KeyLimits {
    return this.#limits;
  }

  /** Changes the limits, also for work under way. */
  setLimits(key: KeyInfo, limits: KeyLimits): void {
    this.#key = key;
    this.#limits = limits;
    this.rates.setLimits(limits);
    if (this.hasQuota && this.quota === undefined) {
      const { calendar, store, nowMs } = this.context;
      const { day, month } = calendar.follow(this.context.wallMs());
      this.quota = new Quota(key.id, store, { day: day.name, month: month.name }, nowMs);
      this.quota.start(this.use.stored);
    }
    this.quota?.setLimits(set(limits.pointsPerDay), set(limits.pointsPerMonth));
    this.hasLimits = this.rates.hasLimits || this.hasQuota;
    this.isFree = !this.hasLimits && this.context.ceiling === undefined;
    this.pump();
  }

  get hasQuota(): boolean {
    return set(this.#limits.pointsPerDay) !== undefined || set(this.#limits.pointsPerMonth) !== undefined;
  }

  /** The quotas of the key, and what is left of them now. */
  quotas(): QuotaState[] {
    const { quota } = this;
    if (quota === undefined || !this.hasQuota) return [];
    const { pointsPerDay, pointsPerMonth } = this.#limits;
    const wallMs = this.context.wallMs();
    const { day, month } = this.context.calendar.follow(wallMs);
    const states: QuotaState[] = [];
    for (const [name, each, left, period] of [
      ['points-day', set(pointsPerDay), quota.leftOfDay, day],
      ['points-month', set(pointsPerMonth), quota.leftOfMonth, month],
    ] as const) {
      if (each === undefined) continue;
      const endsInMs = Math.max(0, period.endMs - wallMs);
      states.push({ name, quota: each, left: Math.max(0, left), period, endsInMs });
    }
    return states;
  }

  /**
   * Reserves points, each to be settled by `done`; to be called by its entries only.
   * @param least smallest useful number
   * @param most largest useful number
   * @returns the number reserved; WAIT: `whenTaken` resolves later; or why none
   */
  take(least: number, most = least): number | LimitRefusal | typeof WAIT {
    return this.#isWaitedFor ? WAIT : this.#takeNow(least, most);
  }

  /** Resolves once points are reserved or refused. */
  whenTaken(least: number, most = least): Promise<number | LimitRefusal> {
    return new Promise((resolve) => {
      this.#waiters ??= [];
      this.#waiters.push({ least, most, resolve });
      this.pump();
    });
  }

  /** Counts converted points, `ok` and otherwise, of `reserved` ones. Unneeded points are returned. */
  done(operation: number, reserved: number, ok: number, failed: number, period?: QuotaPeriod): void {
    const used = ok + failed;
    this.use.converted(operation, ok, failed);
    if (this.isFree && this.quota === undefined) return;
    this.quota?.settle(reserved, used, period);
    this.rates.take(used - reserved);
    if (this.#isWaitedFor) this.pump();
  }

  /** Admits waiters, in their order, as far as it can be decided. */
  pump(): void {
    for (;;) {
      const first = this.#waiters?.[0];
      if (first === undefined) break;
      const outcome = this.#takeNow(first.least, first.most);
      if (outcome === WAIT) {
        this.#timer ??= setTimeout(() => {
          this.#timer = undefined;
          this.pump();
        }, RETRY_MS);
        return;
      }
      this.#waiters?.shift();
      first.resolve(outcome);
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Why nothing can be converted before another day or month; undefined where something can, or it is not known yet.
   */
  quotaRefusal(): LimitRefusal | undefined {
    if (!this.hasQuota) return undefined;
    this.context.calendar.follow(this.context.wallMs());
    return this.quota?.isOver === true ? this.#overQuota(1) : undefined;
  }

  /** The use of the key until now, by all processes that share the store, as far as this one knows. */
  used(): UsedByKey {
    return this.use.sums();
  }

  /** Learns the use by all processes until the cells were taken last. */
  learn(used: UsedByKey): void {
    this.use.stored = used;
    this.quota?.learnTaken(used.dayPoints + used.dayHeld, used.monthPoints + used.monthHeld);
  }

  /** Another day or month has begun; the cells are taken. */
  startPeriod(dayIsNew: boolean, monthIsNew: boolean, period: QuotaPeriod): void {
    this.use.stored = restarted(this.use.stored, dayIsNew, monthIsNew);
    this.quota?.startPeriod(period, dayIsNew, monthIsNew);
  }

  get #isWaitedFor(): boolean {
    return this.#waiters !== undefined && this.#waiters.length > 0;
  }

  #takeNow(least: number, most: number): number | LimitRefusal | typeof WAIT {
    if (this.isFree || most === 0) return most;
    if (this.hasQuota) this.context.calendar.follow(this.context.wallMs());
    const quota = this.hasQuota ? this.quota : undefined;
    if (quota?.bound !== undefined && quota.bound < least) return this.#overQuota(least);
    const byRate = least === most ? most : Math.max(least, Math.min(most, this.rates.most()));
    const verdict = this.rates.verdict(least === most ? most : least);
    if (verdict !== undefined) return verdict;
    const taken = quota?.take(least, byRate) ?? byRate;
    if (taken === 'wait') return WAIT;
    if (taken === 'over') return this.#overQuota(least);
    if (taken === 'away') return { kind: 'service', message: SETTLING, waitMs: SETTLE_MS };
    this.rates.take(taken);
    return taken;
  }

  #overQuota(count: number): LimitRefusal {
    const quotas = this.quotas();
    const periodOf = ({ name }: QuotaState): string => (name === 'points-day' ? 'day' : 'month');
    const smaller = quotas.find(({ quota }) => count > quota);
    if (smaller !== undefined) {
      const message = `the request has ${count} points, and the key has ${smaller.quota} a ${periodOf(smaller)}: send it in parts`;
      return { kind: 'quota', message, waitMs: 0, isForGood: true };
    }
    // Others have used points that this process believed to be left.
    const exceeded = quotas.filter(({ left }) => count > left).at(-1) ?? quotas.at(-1)!;
    const of = `of the ${exceeded.quota} points of this ${periodOf(exceeded)}`;
    // Other processes may hold some: the number left is not known here.
    const message =
      count === 1
        ? `${OVER_QUOTA_MESSAGE}: ${of} none is left`
        : `the quota of the key does not cover the request: ${of} fewer than ${count} are left`;
    return { kind: 'quota', message, waitMs: exceeded.endsInMs };
  }
}

/** Undefined for a quota that is none. */
function set(quota: number | undefined): number | undefined {
  return quota !== undefined && quota > 0 ? quota : undefined;
}
