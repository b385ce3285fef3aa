// A token bucket that processes share through the store of usage. Each judges by a bucket of its own, takes from it
// without asking anybody, and tells the store now and then what it has taken; the answer is how many tokens are left of
// all. A process takes at most a lease before the store knows of it, so that together they pass a rate by a lease each.
import type { RateKind, RateUse } from '../usage/batch.js';
import { TokenBucket } from './token-bucket.js';

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

export interface BucketOwner {
  readonly keyId: string;
  readonly kind: RateKind;
  readonly sharing: Sharing;
  /** Takes note of a bucket that has something to tell the store. */
  readonly spent: (bucket: SharedBucket) => void;
}

export class SharedBucket extends TokenBucket {
  readonly #owner: BucketOwner;
  readonly #lease: number;
  /** Taken since the store was told last. */
  #untold = 0;
  /** Told, and not answered. */
  #told = 0;
  #isNoted = false;

  /** @param former the bucket in whose place this one comes */
  constructor(perSecond: number, capacity: number, nowMs: number, owner: BucketOwner, former?: TokenBucket) {
    super(perSecond, capacity, nowMs, former?.left(nowMs));
    this.#owner = owner;
    this.#lease = Math.max(1, Math.floor((perSecond * owner.sharing.leaseMs) / 1000));
    if (!(former instanceof SharedBucket)) return;
    this.#told = former.#told;
    this.#note(former.#untold);
    former.#told = 0;
    former.#untold = 0;
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

const INFINITE = Number.POSITIVE_INFINITY;
