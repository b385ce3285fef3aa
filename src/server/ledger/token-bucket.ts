// A token bucket on the monotonic clock. Work of more tokens than the bucket holds at its fullest is let in when it is
// full, and the bucket then owes the rest: so no size of work is impossible, and the rate holds in the long run.

import type { RateKind, RateUse } from '../usage/batch.js';

const INFINITE = Number.POSITIVE_INFINITY;

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
  mayTake(_count: number): boolean {
    return true;
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
  /** Nothing beyond a lease is let in before the store knows of it. */
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
  readonly #owner: BucketOwner;
  readonly #lease: number;
  /** Taken since the store was told last. */
  #untold = 0;
  /** Told, and not answered. */
  #told = 0;
  #isNoted = false;

  /** @param previous the bucket in whose place this one comes */
  constructor(
    perSecond: number,
    capacity: number,
    nowMs: number,
    owner: BucketOwner,
    previous?: TokenBucket,
  ) {
    super(perSecond, capacity, nowMs, previous?.left(nowMs));
    this.#owner = owner;
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
    if (count > 0 && !this.#owner.sharing.mustSettle()) return;
    this.#note(count);
    if (2 * this.#untold >= this.#lease) this.#owner.sharing.hurry();
  }

  override allowance(): number {
    const ahead = this.#untold + this.#told;
    return ahead <= 0 || !this.#owner.sharing.mustSettle() ? INFINITE : Math.max(0, this.#lease - ahead);
  }

  override mayTake(count: number): boolean {
    return count <= this.allowance();
  }

  /** The tokens to tell the store of; undefined where there are none. */
  tell(): RateUse | undefined {
    const { keyId, kind } = this.#owner;
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
    this.#owner.spent(this);
  }
}
