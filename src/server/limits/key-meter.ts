// The meter of one key: counts of usage in cells that are flushed, two token buckets, and quotas of a day and a month.
// A key without limits is counted and no more. Points are reserved before their work and settled after it, so that requests
// that run at the same time cannot use the same points.

import type { KeyLimits } from '../../keys/key-limits.js';
import type { KeyInfo } from '../../keys/key-record.js';
import type { UsedByKey } from '../../usage/batch.js';
import type { Calendar } from '../../usage/calendar.js';
import { CELLS, cellAt, FAILED, OK, REFUSED } from '../../usage/operations.js';
import { OVER_LIMIT_MESSAGE, OVER_QUOTA_MESSAGE } from '../../wire/status-messages.js';
import type { LimitRefusal, QuotaState, RateState } from './limit-state.js';
import { TokenBucket } from './token-bucket.js';

/** Shared by all meters. */
export interface MeterContext {
  readonly calendar: Calendar;
  /** Points of a second of the whole process; undefined: as many as it can. */
  readonly ceiling: TokenBucket | undefined;
  /** Monotonic, and milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  /** Takes note of a meter that has counted something since its cells were taken. */
  readonly dirty: (meter: KeyMeter) => void;
}

/** Requests and points of a key, refused ones left out. */
type Used = { -readonly [K in keyof UsedByKey]: UsedByKey[K] };

export class KeyMeter {
  /** Nothing is ever refused to this key. */
  isFree = true;
  #key: KeyInfo;
  #limits: KeyLimits = {};
  #points: TokenBucket | undefined;
  #requests: TokenBucket | undefined;
  /** Points under way. */
  #reserved = 0;
  /** Until the cells were taken last. */
  #used: Used = { dayRequests: 0, dayPoints: 0, monthRequests: 0, monthPoints: 0 };
  readonly #cells = new Float64Array(2 * CELLS);
  #isDirty = false;

  constructor(
    key: KeyInfo,
    limits: KeyLimits,
    used: UsedByKey | undefined,
    private readonly context: MeterContext,
  ) {
    this.#key = key;
    if (used !== undefined) this.#used = { ...used };
    this.setLimits(key, limits);
  }

  get key(): KeyInfo {
    return this.#key;
  }

  get limits(): KeyLimits {
    return this.#limits;
  }

  /** Takes other limits; a bucket that is as before goes on, and a new one has no more than the old one. */
  setLimits(key: KeyInfo, limits: KeyLimits): void {
    this.#key = key;
    this.#limits = limits;
    this.#points = this.#bucket(this.#points, limits.pointsPerSecond, limits.pointsBurst);
    this.#requests = this.#bucket(this.#requests, limits.requestsPerSecond, limits.requestsBurst);
    this.isFree = !this.hasLimits && this.context.ceiling === undefined;
  }

  get hasLimits(): boolean {
    return this.#points !== undefined || this.#requests !== undefined || this.hasQuota;
  }

  get hasQuota(): boolean {
    return isSet(this.#limits.pointsPerDay) || isSet(this.#limits.pointsPerMonth);
  }

  /** The rates of the key, and what is left of them now. */
  rates(): RateState[] {
    const now = this.context.nowMs();
    return [['points', this.#points] as const, ['requests', this.#requests] as const].flatMap(
      ([name, bucket]) =>
        bucket === undefined
          ? []
          : [{ name, bucket, left: bucket.left(now), fullInMs: bucket.waitMs(bucket.capacity, now) }],
    );
  }

  /** The quotas of the key, and what is left of them now. */
  quotas(): QuotaState[] {
    if (!this.hasQuota) return [];
    const { pointsPerDay, pointsPerMonth } = this.#limits;
    const wallMs = this.context.wallMs();
    const { day, month } = this.context.calendar.follow(wallMs);
    const { dayPoints, monthPoints } = this.used();
    const states: QuotaState[] = [];
    for (const [name, quota, used, period] of [
      ['points-day', pointsPerDay, dayPoints, day],
      ['points-month', pointsPerMonth, monthPoints, month],
    ] as const) {
      if (!isSet(quota)) continue;
      const left = Math.max(0, quota - used - this.#reserved);
      states.push({ name, quota, left, period, endsInMs: Math.max(0, period.endMs - wallMs) });
    }
    return states;
  }

  /** Points that the quotas leave. */
  quotaLeft(): number {
    return this.quotas().reduce((least, { left }) => Math.min(least, left), INFINITE);
  }

  /** Takes a request, or says why not. */
  admitRequest(): LimitRefusal | undefined {
    const waitMs = this.#requests?.waitMs(1, this.context.nowMs()) ?? 0;
    if (waitMs > 0) return { kind: 'rate', message: REQUESTS_REACHED, waitMs };
    this.#requests?.take(1);
    return undefined;
  }

  /** Reserves points, or says why not. Each is settled later. */
  admitPoints(count: number): LimitRefusal | undefined {
    if (this.isFree) return undefined;
    const refusal = this.pointsRefusal(count);
    if (refusal === undefined) this.reserve(count);
    return refusal;
  }

  /** Why so many points would be refused now. */
  pointsRefusal(count: number): LimitRefusal | undefined {
    if (this.isFree || count === 0) return undefined;
    const { ceiling, nowMs } = this.context;
    if (this.hasQuota) {
      const exceeded = this.quotas()
        .filter(({ left }) => count > left)
        .at(-1);
      if (exceeded !== undefined) {
        const { name, left, endsInMs } = exceeded;
        const period = name === 'points-day' ? 'day' : 'month';
        const message = `${OVER_QUOTA_MESSAGE}: ${left} points are left of this ${period}, ${count} were asked for`;
        return { kind: 'quota', message, waitMs: endsInMs };
      }
    }
    const now = nowMs();
    const waitMs = this.#points?.waitMs(count, now) ?? 0;
    if (waitMs > 0) return { kind: 'rate', message: OVER_LIMIT_MESSAGE, waitMs };
    const ceilingMs = ceiling?.waitMs(count, now) ?? 0;
    if (ceilingMs > 0) return { kind: 'ceiling', message: CEILING_REACHED, waitMs: ceilingMs };
    return undefined;
  }

  /** Points are under way. */
  get hasReserved(): boolean {
    return this.#reserved > 0;
  }

  /** Points that the rates let in now, one by one. */
  pointsNow(): number {
    const now = this.context.nowMs();
    const { ceiling } = this.context;
    const left = Math.min(this.#points?.left(now) ?? INFINITE, ceiling?.left(now) ?? INFINITE);
    return Math.max(0, Math.floor(left));
  }

  /** The most points of one piece of work that would be let in now. */
  mostPoints(): number {
    const now = this.context.nowMs();
    let most = this.hasQuota ? this.quotaLeft() : INFINITE;
    for (const bucket of [this.#points, this.context.ceiling]) {
      if (bucket === undefined || bucket.waitMs(bucket.capacity, now) === 0) continue;
      most = Math.min(most, Math.max(0, Math.floor(bucket.left(now))));
    }
    return most;
  }

  /** Points worth a piece of work of their own, of so many that wait: what comes in a twentieth of a second. */
  leastPoints(waiting: number): number {
    let least = waiting;
    for (const bucket of [this.#points, this.context.ceiling]) {
      if (bucket !== undefined) least = Math.min(least, bucket.capacity, Math.ceil(bucket.perSecond / 20));
    }
    return least;
  }

  /** Why nothing can be converted before another day or month; undefined where something can. */
  quotaRefusal(): LimitRefusal | undefined {
    const refusal = this.hasQuota ? this.pointsRefusal(1) : undefined;
    return refusal?.kind === 'quota' ? refusal : undefined;
  }

  /** Reserves points whatever the limits say. */
  reserve(count: number): void {
    if (this.isFree) return;
    this.#reserved += count;
    this.#points?.take(count);
    this.context.ceiling?.take(count);
  }

  /** Counts points that are converted, `ok` and otherwise, of `reserved` ones. Those that were not needed are given back. */
  settle(operation: number, reserved: number, ok: number, failed: number): void {
    if (!this.isFree || this.#reserved > 0) this.#giveBack(reserved, ok + failed);
    const cells = this.#cells;
    cells[cellAt(operation, OK) + 1]! += ok;
    cells[cellAt(operation, FAILED) + 1]! += failed;
    if (!this.#isDirty) this.#setDirty();
  }

  /** Counts points that are refused. */
  refuse(operation: number, points: number): void {
    this.#cells[cellAt(operation, REFUSED) + 1]! += points;
    if (!this.#isDirty) this.#setDirty();
  }

  /** Counts a request that is answered. */
  answered(operation: number, httpStatus: number): void {
    const outcome = httpStatus < 400 ? OK : httpStatus === 429 ? REFUSED : FAILED;
    this.#cells[cellAt(operation, outcome)]!++;
    if (!this.#isDirty) this.#setDirty();
  }

  /** The use of the key until now, by all processes that share the store, as far as this one knows. */
  used(): UsedByKey {
    let requests = 0;
    let points = 0;
    const cells = this.#cells;
    for (let at = 0; at < 2 * CELLS; at += cellAt(1, 0)) {
      for (const outcome of [OK, FAILED]) {
        requests += cells[at + cellAt(0, outcome)]!;
        points += cells[at + cellAt(0, outcome) + 1]!;
      }
    }
    const { dayRequests, dayPoints, monthRequests, monthPoints } = this.#used;
    return {
      dayRequests: dayRequests + requests,
      dayPoints: dayPoints + points,
      monthRequests: monthRequests + requests,
      monthPoints: monthPoints + points,
    };
  }

  /** Moves the cells to `to`, which has room for them. */
  takeCells(to: Float64Array): void {
    this.#used = { ...this.used() };
    to.set(this.#cells);
    this.#cells.fill(0);
    this.#isDirty = false;
  }

  /** Takes in the use by all processes until the cells were taken last. */
  learn(used: UsedByKey): void {
    this.#used = { ...used };
  }

  /** Another day or month has begun; the cells are taken. */
  startPeriod(dayIsNew: boolean, monthIsNew: boolean): void {
    if (dayIsNew) this.#used = { ...this.#used, dayRequests: 0, dayPoints: 0 };
    if (monthIsNew) this.#used = { ...this.#used, monthRequests: 0, monthPoints: 0 };
  }

  #giveBack(reserved: number, used: number): void {
    // The limits may have come while the points were under way.
    this.#reserved = Math.max(0, this.#reserved - reserved);
    if (reserved === used) return;
    this.#points?.take(used - reserved);
    this.context.ceiling?.take(used - reserved);
  }

  #bucket(old: TokenBucket | undefined, perSecond = 0, burst = 0): TokenBucket | undefined {
    if (perSecond === 0) return undefined;
    const capacity = burst > 0 ? burst : Math.max(1, Math.ceil(perSecond));
    if (old?.perSecond === perSecond && old.capacity === capacity) return old;
    const nowMs = this.context.nowMs();
    return new TokenBucket(perSecond, capacity, nowMs, old?.left(nowMs));
  }

  #setDirty(): void {
    this.#isDirty = true;
    this.context.dirty(this);
  }
}

const INFINITE = Number.POSITIVE_INFINITY;
const REQUESTS_REACHED = 'the key has reached its limit of requests a second';
const CEILING_REACHED = 'the service has reached its limit of points a second';

function isSet(quota: number | undefined): quota is number {
  return quota !== undefined && quota > 0;
}
