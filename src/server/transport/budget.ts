// Counts the bytes that the service holds in memory for its peers, and their requests and WebSockets, and refuses what
// would pass a limit: of one connection, of one key, or of the process. Whoever is about to hold bytes opens an
// account, says how many it holds whenever that changes, and closes it; what is refused is up to the holder.
import { AnsweredError } from './answered-error.js';

// The share of one key in what all keys share: disk of answers, disk of positions, memory, files.

/**
 * Whether a key may take more. A key alone holds three quarters at most: the last quarter is only for keys that hold
 * less than a quarter, so no key keeps the others out.
 * @param held what the key holds
 * @param total what all keys hold
 * @param more what it asks for
 * @param most what all may hold
 */
export function mayTake(held: number, total: number, more: number, most: number): boolean {
  if (total + more > most) return false;
  return held + more <= most / 4 || total + more <= 0.75 * most;
}

export interface BudgetLimits {
  /** Bytes held for one request or WebSocket. */
  readonly connectionBytes: number;
  /** Bytes held for all connections of one key. */
  readonly keyBytes: number;
  /** Bytes held for all connections. */
  readonly processBytes: number;
  /** Requests of one key that are under way at a time. */
  readonly requestsPerKey: number;
  /** Open WebSockets of one key. */
  readonly socketsPerKey: number;
}

export type Limit = keyof BudgetLimits;

export const UNLIMITED: BudgetLimits = {
  connectionBytes: Number.POSITIVE_INFINITY,
  keyBytes: Number.POSITIVE_INFINITY,
  processBytes: Number.POSITIVE_INFINITY,
  requestsPerKey: Number.POSITIVE_INFINITY,
  socketsPerKey: Number.POSITIVE_INFINITY,
};

/** The kinds of accounts. */
export type Holder = 'requests' | 'sockets';

/** A limit is reached. The message says which. */
export class OverBudgetError extends AnsweredError {
  override readonly name = 'OverBudgetError';

  /** The budget has it logged. */
  constructor(message: string) {
    super(message, { status: 503, retryAfterSec: 1, close: true });
  }
}

/** Bytes, requests and WebSockets of one key. */
interface KeyUse {
  readonly keyId: string;
  bytes: number;
  requests: number;
  sockets: number;
}

export class Budget {
  readonly #keys = new Map<string, KeyUse>();
  #bytes = 0;

  /** @param refused called with the key, the reason and the limit of everything that is refused */
  constructor(
    readonly limits: BudgetLimits,
    private readonly refused: (keyId: string, reason: string, limit: Limit) => void = () => {},
  ) {}

  /**
   * Opens an account of a key.
   * @throws OverBudgetError if the key has as many requests or WebSockets as it may have
   */
  open(keyId: string, holder: Holder): Account {
    const use = this.#keys.get(keyId) ?? { keyId, bytes: 0, requests: 0, sockets: 0 };
    const most = holder === 'requests' ? this.limits.requestsPerKey : this.limits.socketsPerKey;
    if (use[holder] >= most) {
      const what = holder === 'requests' ? 'requests under way' : 'open WebSockets';
      const reason = `the key has ${most} ${what}, the most it may have`;
      throw new OverBudgetError(this.refuse(keyId, reason, `${holder}PerKey`));
    }
    use[holder]++;
    this.#keys.set(keyId, use);
    return new Account(this, use, holder);
  }

  /**
   * Adds bytes of an account, less than 0 to give some back. Returns the limit that they would pass, if any; then none
   * are added.
   */
  take(use: KeyUse, heldBytes: number, moreBytes: number): string | undefined {
    if (moreBytes > 0) {
      const { connectionBytes, keyBytes, processBytes } = this.limits;
      const refuse = (whom: string, limit: 'connectionBytes' | 'keyBytes' | 'processBytes'): string =>
        this.refuse(use.keyId, `the bytes held for ${whom} pass ${this.limits[limit]}`, limit);
      if (heldBytes + moreBytes > connectionBytes) return refuse('one connection', 'connectionBytes');
      if (use.bytes + moreBytes > keyBytes) return refuse('one key', 'keyBytes');
      if (!mayTake(use.bytes, this.#bytes, moreBytes, processBytes))
        return refuse('all connections', 'processBytes');
    }
    use.bytes += moreBytes;
    this.#bytes += moreBytes;
    return undefined;
  }

  /** Closes an account that holds nothing any more. */
  leave(use: KeyUse, holder: Holder): void {
    use[holder]--;
    if (use.requests === 0 && use.sockets === 0) this.#keys.delete(use.keyId);
  }

  /** The sums over all keys now. */
  get figures(): { bytes: number; keys: number; requests: number; sockets: number } {
    const figures = { bytes: this.#bytes, keys: this.#keys.size, requests: 0, sockets: 0 };
    for (const { requests, sockets } of this.#keys.values()) {
      figures.requests += requests;
      figures.sockets += sockets;
    }
    return figures;
  }

  private refuse(keyId: string, reason: string, limit: Limit): string {
    this.refused(keyId, reason, limit);
    return reason;
  }
}

/** The bytes that one request or WebSocket holds. */
export class Account {
  #heldBytes = 0;
  #isClosed = false;

  constructor(
    private readonly budget: Budget,
    private readonly use: KeyUse,
    private readonly holder: Holder,
  ) {}

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Says how many bytes are held, or are about to be. More than before may be refused: then the limit is returned, as a
   * clause for people, and the count stays.
   */
  hold(bytes: number): string | undefined {
    if (this.#isClosed || bytes === this.#heldBytes) return undefined;
    const refusal = this.budget.take(this.use, this.#heldBytes, bytes - this.#heldBytes);
    if (refusal === undefined) this.#heldBytes = bytes;
    return refusal;
  }

  /** Nothing is held any more, and nothing will be. */
  close(): void {
    this.hold(0);
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.budget.leave(this.use, this.holder);
  }
}
