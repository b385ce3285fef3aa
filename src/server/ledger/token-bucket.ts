// A token bucket on the monotonic clock. Work of more tokens than the bucket holds at its fullest is let in when it is
// full, and the bucket then owes the rest: so no size of work is impossible, and the rate holds in the long run.

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
