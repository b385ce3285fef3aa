// The meter of one key: what it has used, two token buckets, and quotas of a day and a month. A key without limits is counted
// and no more. Points are reserved before their work and settled after it, so that requests that run at the same time cannot
// use the same points. Where processes share limits, each uses a lease at most before the store knows of it.

import type { KeyLimits } from '../../keys/key-limits.js';
import type { KeyInfo } from '../../keys/key-record.js';
import type { RateKind, UsedByKey } from '../../usage/batch.js';
import type { Calendar } from '../../usage/calendar.js';
import { OVER_LIMIT_MESSAGE, OVER_QUOTA_MESSAGE } from '../../wire/status-messages.js';
import { KeyUse } from './key-use.js';
import type { LimitRefusal, QuotaState, RateState } from './limit-state.js';
import { SharedBucket, type Sharing } from './shared-bucket.js';
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
  /** Undefined: no other process has the same limits. */
  readonly sharing: Sharing | undefined;
  /** Takes note of a bucket that has something to tell the store. */
  readonly spent: (bucket: SharedBucket) => void;
}

export class KeyMeter {
  /** Nothing is ever refused to this key. */
  isFree = true;
  #key: KeyInfo;
  #limits: KeyLimits = {};
  #points: TokenBucket | undefined;
  #requests: TokenBucket | undefined;
  readonly #use: KeyUse;

  constructor(
    key: KeyInfo,
    limits: KeyLimits,
    used: UsedByKey | undefined,
    private readonly context: MeterContext,
  ) {
    this.#key = key;
    this.#use = new KeyUse(used, () => context.dirty(this));
    this.setLimits(key, limits);
    // Others may have used more since this process read it.
    if (this.hasQuota) context.sharing?.hurry();
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
    this.#points = this.#bucket('points', this.#points, limits.pointsPerSecond, limits.pointsBurst);
    this.#requests = this.#bucket('requests', this.#requests, limits.requestsPerSecond, limits.requestsBurst);
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
      const left = Math.max(0, quota - used - this.#use.reserved);
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
    if (this.#requests?.mayTake(1) === false) return this.#settling();
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
    const quotas = this.quotas();
    const exceeded = quotas.filter(({ left }) => count > left).at(-1);
    if (exceeded !== undefined) {
      const { name, left, endsInMs } = exceeded;
      const period = name === 'points-day' ? 'day' : 'month';
      const message = `${OVER_QUOTA_MESSAGE}: ${left} points are left of this ${period}, ${count} were asked for`;
      return { kind: 'quota', message, waitMs: endsInMs };
    }
    const now = nowMs();
    const waitMs = this.#points?.waitMs(count, now) ?? 0;
    if (waitMs > 0) return { kind: 'rate', message: OVER_LIMIT_MESSAGE, waitMs };
    const ceilingMs = ceiling?.waitMs(count, now) ?? 0;
    if (ceilingMs > 0) return { kind: 'service', message: CEILING_REACHED, waitMs: ceilingMs };
    if (this.context.sharing === undefined) return undefined;
    if (this.#points?.mayTake(count) === false) return this.#settling();
    const { lease, allowance } = this.#quotaLease(quotas);
    return Math.min(count, lease) > allowance ? this.#settling() : undefined;
  }

  /** Points are under way. */
  get hasReserved(): boolean {
    return this.#use.reserved > 0;
  }

  /** Points that the rates let in now, one by one. */
  pointsNow(): number {
    const now = this.context.nowMs();
    const { ceiling } = this.context;
    const left = Math.min(this.#points?.left(now) ?? INFINITE, ceiling?.left(now) ?? INFINITE);
    return Math.max(0, Math.floor(Math.min(left, this.#allowance())));
  }

  /** The most points of one piece of work that would be let in now. */
  mostPoints(): number {
    const now = this.context.nowMs();
    let most = this.hasQuota ? this.quotaLeft() : INFINITE;
    most = Math.min(most, this.#allowance());
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
    if (this.context.sharing !== undefined) least = Math.min(least, this.#quotaLease(this.quotas()).lease);
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
    this.#use.reserved += count;
    this.#points?.take(count);
    this.context.ceiling?.take(count);
  }

  /** Counts points that are converted, `ok` and otherwise, of `reserved` ones. Those that were not needed are given back. */
  settle(operation: number, reserved: number, ok: number, failed: number): void {
    if (!this.isFree || this.#use.reserved > 0) this.#giveBack(reserved, ok + failed);
    this.#use.converted(operation, ok, failed);
  }

  /** Counts points that are refused. */
  refuse(operation: number, points: number): void {
    this.#use.refuse(operation, points);
  }

  /** Counts a request that is answered. */
  answered(operation: number, httpStatus: number): void {
    this.#use.answered(operation, httpStatus);
  }

  /** The use of the key until now, by all processes that share the store, as far as this one knows. */
  used(): UsedByKey {
    return this.#use.sums();
  }

  /** Its cells, and the sums of all processes, are kept here. */
  get use(): KeyUse {
    return this.#use;
  }

  /** The store knows of tokens that it was told of (`SharedBucket.settle`). */
  settleRate(kind: RateKind, spent: number, tokens: number | undefined): void {
    const bucket = kind === 'points' ? this.#points : this.#requests;
    if (bucket instanceof SharedBucket) bucket.settle(spent, tokens, this.context.nowMs());
  }

  /** Points that may be taken before the store knows of them. */
  #allowance(): number {
    if (this.context.sharing === undefined) return INFINITE;
    return Math.min(this.#points?.allowance() ?? INFINITE, this.#quotaLease(this.quotas()).allowance);
  }

  /** The lease of a quota is an eighth of what the store has left of it; of that, what this process may still use. */
  #quotaLease(quotas: readonly QuotaState[]): { lease: number; allowance: number } {
    const { sharing } = this.context;
    if (sharing === undefined || quotas.length === 0) return { lease: INFINITE, allowance: INFINITE };
    const ahead = this.#use.ahead(this.used());
    const left = quotas.reduce((least, quota) => Math.min(least, quota.left), INFINITE);
    const lease = Math.max(1, Math.floor((left + ahead) / LEASES_OF_QUOTA));
    if (2 * ahead >= lease) sharing.hurry();
    return { lease, allowance: ahead <= 0 || !sharing.mustSettle() ? INFINITE : Math.max(0, lease - ahead) };
  }

  /** Refuses until the store knows what was used. */
  #settling(): LimitRefusal {
    this.context.sharing?.hurry();
    return { kind: 'service', message: SETTLING, waitMs: SETTLE_MS };
  }

  #giveBack(reserved: number, used: number): void {
    // The limits may have come while the points were under way.
    this.#use.reserved = Math.max(0, this.#use.reserved - reserved);
    if (reserved === used) return;
    this.#points?.take(used - reserved);
    this.context.ceiling?.take(used - reserved);
  }

  #bucket(kind: RateKind, old: TokenBucket | undefined, perSecond = 0, burst = 0): TokenBucket | undefined {
    if (perSecond === 0) return undefined;
    const capacity = burst > 0 ? burst : Math.max(1, Math.ceil(perSecond));
    if (old?.perSecond === perSecond && old.capacity === capacity) return old;
    const { sharing, spent } = this.context;
    const nowMs = this.context.nowMs();
    if (sharing === undefined) return new TokenBucket(perSecond, capacity, nowMs, old?.left(nowMs));
    return new SharedBucket(perSecond, capacity, nowMs, { keyId: this.#key.id, kind, sharing, spent }, old);
  }
}

const INFINITE = Number.POSITIVE_INFINITY;
const REQUESTS_REACHED = 'the key has reached its limit of requests a second';
const CEILING_REACHED = 'the service has reached its limit of points a second';
const SETTLING = 'the limits of the key are being settled with the other processes of the service';
/** About as long as the store takes to answer. */
const SETTLE_MS = 25;
/** So many processes that use a lease of the same quota at the same time do not pass it. */
const LEASES_OF_QUOTA = 8;

function isSet(quota: number | undefined): quota is number {
  return quota !== undefined && quota > 0;
}
