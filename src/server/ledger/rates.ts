// The rates of one key: a token bucket of points and one of requests, and the ceiling of the process. Where processes
// share limits, each uses a lease at most before the store knows of it.
import { OVER_LIMIT_MESSAGE } from '../../hexcodes/wire/job.js';
import type { KeyLimits } from '../keys/key-record.js';
import type { RateKind, RateUse } from '../usage/batch.js';
import type { Period } from '../usage/calendar.js';

// A token bucket on the monotonic clock. Work of more tokens than a full bucket holds is admitted when it is full, and
// the bucket then owes the rest: so no size of work is impossible, and the rate holds in the long run.

/** Sums of fractions of tokens are not exact. */
const ROUNDING = 1e-6;

export class TokenBucket {
  #tokens: number;
  #filledMs: number;

  /**
   * A full bucket.
   * @param perSecond tokens that come in a second, more than 0
   * @param capacity tokens that it holds at its fullest, at least 1
   * @param nowMs here and below of performance.now(). Times that go back bring and take no tokens
   */
  constructor(
    readonly perSecond: number,
    readonly capacity: number,
    nowMs: number,
    tokens = capacity,
  ) {
    this.#tokens = Math.min(tokens, capacity);
    this.#filledMs = nowMs;
  }

  /** Time until `count` tokens can be taken; 0: now. */
  waitMs(count: number, nowMs: number): number {
    this.#fill(nowMs);
    const missing = Math.min(count, this.capacity) - this.#tokens;
    return missing <= ROUNDING ? 0 : (1000 * missing) / this.perSecond;
  }

  /** Takes tokens, whether they are there or not; less than 0 gives some back. */
  take(count: number): void {
    this.#tokens = Math.min(this.capacity, this.#tokens - count);
  }

  /** Tokens that may be taken before a store of all processes knows of them. */
  allowance(): number {
    return Number.POSITIVE_INFINITY;
  }

  /** Whether tokens may be taken before it does. */
  mayTake(count: number): boolean {
    return count <= this.allowance();
  }

  /** Sets the tokens that it holds from now on. */
  protected set(tokens: number, nowMs: number): void {
    this.#tokens = Math.min(this.capacity, tokens);
    this.#filledMs = nowMs;
  }

  /** Tokens that are there; less than 0 where some are owed. */
  left(nowMs: number): number {
    this.#fill(nowMs);
    return this.#tokens;
  }

  #fill(nowMs: number): void {
    const elapsedMs = nowMs - this.#filledMs;
    this.#filledMs = nowMs;
    if (elapsedMs > 0)
      this.#tokens = Math.min(this.capacity, this.#tokens + (elapsedMs * this.perSecond) / 1000);
  }
}

/** The store, as far as shared limits need it. */
export interface Sharing {
  /** Time whose share of a rate is a lease. */
  readonly leaseMs: number;
  /** Nothing beyond a lease is admitted before the store knows of it. */
  readonly mustSettle: () => boolean;
  /** The store does not answer just now. */
  readonly isAway: () => boolean;
  /** Tells the store soon. */
  readonly hurry: () => void;
}

interface BucketOwner {
  readonly keyId: string;
  readonly kind: RateKind;
  readonly sharing: Sharing;
  /** Takes note of a bucket that has something to tell the store. */
  readonly spent: (bucket: SharedBucket) => void;
}

/**
 * A bucket that processes share through the store of usage. Each judges by a bucket of its own, takes from it without
 * asking anybody, and tells the store now and then what it has taken; the answer is how many tokens are left of all. A
 * process takes at most a lease before the store knows of it, so that together they pass a rate by a lease each.
 */
export class SharedBucket extends TokenBucket {
  readonly #lease: number;
  /** Taken since the store was told last. */
  #untold = 0;
  /** Told, and not answered. */
  #told = 0;
  #isNoted = false;

  /** @param previous the bucket that this one replaces */
  constructor(
    perSecond: number,
    capacity: number,
    nowMs: number,
    private readonly owner: BucketOwner,
    previous?: TokenBucket,
  ) {
    super(perSecond, capacity, nowMs, previous?.left(nowMs));
    this.#lease = Math.max(1, Math.floor((perSecond * owner.sharing.leaseMs) / 1000));
    if (!(previous instanceof SharedBucket)) return;
    this.#told = previous.#told;
    this.#note(previous.#untold);
    previous.#told = 0;
    previous.#untold = 0;
  }

  override take(count: number): void {
    super.take(count);
    // Nothing is owed to a store that nobody waits for: a minute without it would be followed by refusals.
    if (count > 0 && !this.owner.sharing.mustSettle()) return;
    this.#note(count);
    if (2 * this.#untold >= this.#lease) this.owner.sharing.hurry();
  }

  override allowance(): number {
    const ahead = this.#untold + this.#told;
    return ahead <= 0 || !this.owner.sharing.mustSettle() ? INFINITE : Math.max(0, this.#lease - ahead);
  }

  /** The tokens to tell the store of; undefined where there are none. */
  tell(): RateUse | undefined {
    const { keyId, kind } = this.owner;
    const spent = this.#untold;
    this.#untold = 0;
    this.#isNoted = false;
    if (spent === 0) return undefined;
    this.#told += spent;
    return { keyId, kind, perSecond: this.perSecond, capacity: this.capacity, spent };
  }

  /**
   * The store knows of tokens that it was told of.
   * @param tokens of all processes together; undefined: not known
   */
  settle(spent: number, tokens: number | undefined, nowMs: number): void {
    this.#told -= spent;
    if (tokens !== undefined) this.set(tokens - this.#told - this.#untold, nowMs);
  }

  #note(count: number): void {
    this.#untold += count;
    if (this.#isNoted || this.#untold === 0) return;
    this.#isNoted = true;
    this.owner.spent(this);
  }
}

/** Why points or a request are refused. */
export interface LimitRefusal {
  /**
   * 'quota': nothing of the day or month is left for this. 'service': it is not the key that did too much; the service
   * is at its own limit, or cannot settle the key's with other processes.
   */
  readonly kind: 'rate' | 'quota' | 'service';
  /** Sentence for people. */
  readonly message: string;
  readonly waitMs: number;
  /** The request alone has more points than the quota: no day and no month covers it. */
  readonly isForGood?: boolean;
}

/** Points may be admitted in a moment: the store, or work under way, has to tell first. */
export const WAIT = Symbol('wait');

interface RateState {
  readonly name: 'points' | 'requests';
  readonly bucket: TokenBucket;
  /** Less than 0 where some are owed. */
  readonly left: number;
  readonly fullInMs: number;
}

export interface QuotaState {
  readonly name: 'points-day' | 'points-month';
  readonly quota: number;
  readonly left: number;
  readonly period: Period;
  readonly endsInMs: number;
}

/** Shared by the rates of all keys. */
export interface RatesContext {
  /** Points of a second of the whole process; undefined: as many as it can. */
  readonly ceiling: TokenBucket | undefined;
  readonly nowMs: () => number;
  /** Undefined: no other process has the same limits. */
  readonly sharing: Sharing | undefined;
  /** Takes note of a bucket that has something to tell the store. */
  readonly spent: (bucket: SharedBucket) => void;
}

export class Rates {
  #points: TokenBucket | undefined;
  #requests: TokenBucket | undefined;
  /** Pieces of work under way that have more points reserved than they may need. */
  #uncertain = 0;

  constructor(
    private readonly keyId: string,
    private readonly context: RatesContext,
  ) {}

  /** Takes other limits; a bucket that is as before goes on, and a new one has no more than the old one. */
  setLimits(limits: KeyLimits): void {
    this.#points = this.#bucket('points', this.#points, limits.pointsPerSecond, limits.pointsBurst);
    this.#requests = this.#bucket('requests', this.#requests, limits.requestsPerSecond, limits.requestsBurst);
  }

  get hasLimits(): boolean {
    return this.#points !== undefined || this.#requests !== undefined;
  }

  states(): RateState[] {
    const now = this.context.nowMs();
    return [['points', this.#points] as const, ['requests', this.#requests] as const].flatMap(
      ([name, bucket]) =>
        bucket === undefined
          ? []
          : [{ name, bucket, left: bucket.left(now), fullInMs: bucket.waitMs(bucket.capacity, now) }],
    );
  }

  /** Takes a request, or says why not. */
  admitRequest(): LimitRefusal | undefined {
    const waitMs = this.#requests?.waitMs(1, this.context.nowMs()) ?? 0;
    if (waitMs > 0) return { kind: 'rate', message: REQUESTS_REACHED, waitMs };
    if (this.#requests?.mayTake(1) === false) return this.#settling();
    this.#requests?.take(1);
    return undefined;
  }

  /** Reason why `count` points would not be admitted now. */
  verdict(count: number): LimitRefusal | typeof WAIT | undefined {
    const { ceiling, nowMs, sharing } = this.context;
    const now = nowMs();
    const waitMs = this.#points?.waitMs(count, now) ?? 0;
    // Work under way may give tokens back.
    if (waitMs > 0) return this.#uncertain > 0 ? WAIT : { kind: 'rate', message: OVER_LIMIT_MESSAGE, waitMs };
    const ceilingMs = ceiling?.waitMs(count, now) ?? 0;
    if (ceilingMs > 0)
      return this.#uncertain > 0 ? WAIT : { kind: 'service', message: CEILING_REACHED, waitMs: ceilingMs };
    if (this.#points?.mayTake(count) !== false) return undefined;
    const refusal = this.#settling();
    return sharing?.isAway() === true ? refusal : WAIT;
  }

  /** Points that are admitted now, one by one. */
  now(): number {
    const now = this.context.nowMs();
    const left = Math.min(this.#points?.left(now) ?? INFINITE, this.context.ceiling?.left(now) ?? INFINITE);
    return Math.max(0, Math.floor(Math.min(left, this.#points?.allowance() ?? INFINITE)));
  }

  /** Most points of one piece of work that would be admitted now: more than a full bucket holds, where it is full. */
  most(): number {
    const now = this.context.nowMs();
    let most = this.#points?.allowance() ?? INFINITE;
    for (const bucket of [this.#points, this.context.ceiling]) {
      if (bucket === undefined || bucket.waitMs(bucket.capacity, now) === 0) continue;
      most = Math.min(most, Math.max(0, Math.floor(bucket.left(now))));
    }
    return most;
  }

  /** Points worth a piece of work of their own, among those that wait: the points of a twentieth of a second. */
  worthwhile(waiting: number): number {
    let least = waiting;
    for (const bucket of [this.#points, this.context.ceiling])
      if (bucket !== undefined) least = Math.min(least, bucket.capacity, Math.ceil(bucket.perSecond / 20));
    return least;
  }

  /** Takes points; less than 0 gives some back. */
  take(count: number): void {
    if (count === 0) return;
    this.#points?.take(count);
    this.context.ceiling?.take(count);
  }

  /** Counts work that may give points back, 1, or that has done so, -1. */
  countUncertain(change: 1 | -1): void {
    this.#uncertain += change;
  }

  /** The store knows of tokens that it was told of (`SharedBucket.settle`). */
  settle(kind: RateKind, spent: number, tokens: number | undefined): void {
    const bucket = kind === 'points' ? this.#points : this.#requests;
    if (bucket instanceof SharedBucket) bucket.settle(spent, tokens, this.context.nowMs());
  }

  /** Refuses until the store knows what was used. */
  #settling(): LimitRefusal {
    this.context.sharing?.hurry();
    return { kind: 'service', message: SETTLING, waitMs: SETTLE_MS };
  }

  #bucket(kind: RateKind, old: TokenBucket | undefined, perSecond = 0, burst = 0): TokenBucket | undefined {
    if (perSecond === 0) return undefined;
    const capacity = burst > 0 ? burst : Math.max(1, Math.ceil(perSecond));
    if (old?.perSecond === perSecond && old.capacity === capacity) return old;
    const { sharing, spent } = this.context;
    const nowMs = this.context.nowMs();
    if (sharing === undefined) return new TokenBucket(perSecond, capacity, nowMs, old?.left(nowMs));
    return new SharedBucket(perSecond, capacity, nowMs, { keyId: this.keyId, kind, sharing, spent }, old);
  }
}

const INFINITE = Number.POSITIVE_INFINITY;
const REQUESTS_REACHED = 'the key has reached its limit of requests a second';
const CEILING_REACHED = 'the service has reached its limit of points a second';
export const SETTLING = 'the limits of the key are being settled with the other processes of the service';
/** About as long as the store takes to answer. */
export const SETTLE_MS = 25;
