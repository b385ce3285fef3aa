// The store of usage in memory: buckets, sums and quotas as both stores keep them, with a clock of the test. Quotas are
// given by the function that both stores give by.
import { Ledger } from '#dist/server/ledger/ledger.js';
import {
  askedIds,
  CELLS,
  cellAt,
  FAILED,
  grantOf,
  NOTHING_USED,
  OK,
  type QuotaGrant,
  type QuotaOrder,
  type RateLevel,
  REFUSED,
  returnedOf,
  rowsOf,
  SILENT_MS,
  type Stored,
  type UsageBatch,
  type UsageRow,
  usedOf,
} from '#dist/server/usage/batch.js';
import { openOrMakeUsage, openUsage, usagePath } from '#dist/server/usage/store/usage-store.js';

export type { Ledger, QuotaOrder, UsageBatch, UsageRow };

type LedgerOptions = ConstructorParameters<typeof Ledger>[0];
export type KeyLedger = ReturnType<Ledger['of']>;
export type KeyLimits = LedgerOptions['defaults'];

/** A ledger in the zone of Viet Nam, over a store that never hurries unless another is given. */
export const ledgerOf = (options: Partial<LedgerOptions> = {}): Ledger =>
  new Ledger({
    ...{ defaults: {}, pointsPerSecond: 0, zone: 'Asia/Ho_Chi_Minh', isOpen: true },
    store: { isAway: false, isSlow: false, hurry: () => {} },
    ...options,
  });
// The messages between service and store, and the words that they count by.
export { CELLS, cellAt, FAILED, grantOf, NOTHING_USED, OK, openOrMakeUsage, openUsage, REFUSED, usagePath };

interface Sum {
  requests: number;
  points: number;
  held: number;
}

interface Holder {
  points: number;
  isWanted: boolean;
  atMs: number;
}

export class UsageInMemory {
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();
  readonly #sums = new Map<string, Sum>();
  /** Holders by key and node. */
  readonly #holders = new Map<string, Map<string, Holder>>();
  /** The last batch of each node. */
  readonly #added = new Map<string, number>();

  /** @param nowMs of the store's own clock */
  constructor(private readonly nowMs: () => number) {}

  sum(period: string, keyId: string): Sum {
    const name = `${period} ${keyId}`;
    let sum = this.#sums.get(name);
    if (sum === undefined) {
      sum = { requests: 0, points: 0, held: 0 };
      this.#sums.set(name, sum);
    }
    return sum;
  }

  /** Adds a batch, once however often it comes. */
  add(node: string, batch: UsageBatch): Stored {
    const isNew = (this.#added.get(node) ?? 0) < batch.number;
    if (isNew) this.#added.set(node, batch.number);
    const rates = isNew ? this.#addNew(batch) : [];
    const grants = batch.quotas.map((order) =>
      isNew ? this.#grant(node, order, batch) : this.#grantedBefore(node, order),
    );
    const sums = askedIds(batch).flatMap((keyId) =>
      [batch.day, batch.month].map((period) => ({ period, keyId, ...this.sum(period, keyId) })),
    );
    return { used: usedOf(sums, batch.day), rates, grants };
  }

  #addNew(batch: UsageBatch): RateLevel[] {
    for (const { period, keyId, requests, points, held } of rowsOf(batch).sums) {
      const sum = this.sum(period, keyId);
      sum.requests += requests;
      sum.points += points;
      sum.held += held;
    }
    for (const { period, keyId, points } of returnedOf(batch)) this.sum(period, keyId).held -= points;
    return batch.rates.map(({ keyId, kind, perSecond, capacity, spent }) => {
      const bucket = this.#buckets.get(kind + keyId) ?? { tokens: capacity, atMs: this.nowMs() };
      const filled = bucket.tokens + ((this.nowMs() - bucket.atMs) * perSecond) / 1000;
      const tokens = Math.min(capacity, filled) - spent;
      this.#buckets.set(kind + keyId, { tokens, atMs: this.nowMs() });
      return { keyId, kind, tokens };
    });
  }

  #grant(node: string, order: QuotaOrder, { day, month }: UsageBatch): QuotaGrant {
    const { keyId, held, need } = order;
    const [ofDay, ofMonth] = [this.sum(day, keyId), this.sum(month, keyId)];
    const granted = grantOf(order, { day: ofDay.points + ofDay.held, month: ofMonth.points + ofMonth.held });
    ofDay.held += granted;
    ofMonth.held += granted;
    const holders = this.#holdersOf(keyId);
    const isWanted = holders.get(node)?.isWanted ?? false;
    if (granted < need) for (const [other, holder] of holders) if (other !== node) holder.isWanted = true;
    holders.set(node, { points: held + granted, isWanted: false, atMs: this.nowMs() });
    return { keyId, granted, others: this.#others(node, order), isWanted };
  }

  #grantedBefore(node: string, order: QuotaOrder): QuotaGrant {
    const { keyId, held } = order;
    const points = this.#holdersOf(keyId).get(node)?.points ?? held;
    return { keyId, granted: points - held, others: this.#others(node, order), isWanted: false };
  }

  #others(node: string, { keyId, isShared }: QuotaOrder): number {
    if (!isShared) return 0;
    return [...this.#holdersOf(keyId)]
      .filter(([other, { atMs }]) => other !== node && atMs > this.nowMs() - SILENT_MS)
      .reduce((sum, [, { points }]) => sum + points, 0);
  }

  #holdersOf(keyId: string): Map<string, Holder> {
    let holders = this.#holders.get(keyId);
    if (holders === undefined) {
      holders = new Map();
      this.#holders.set(keyId, holders);
    }
    return holders;
  }
}
