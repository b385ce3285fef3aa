// Follows the keys of a store, whichever store or file it is: says what has changed since it was asked last. Uses of
// keys are no changes.
import type { FollowedStore, StoredKey, StoreHead } from '../key-record.js';

export interface KeyChanges {
  /** New or changed. */
  readonly keys: readonly StoredKey[];
  readonly removedIds: readonly string[];
}

export class Follower {
  #store: FollowedStore | undefined;
  /** As it was when the keys were read last from the store that is open. */
  #head: StoreHead | undefined;
  /** The keys as returned last, by id. */
  readonly #known = new Map<string, StoredKey>();

  /** @param accept throws if the keys of a store cannot be used */
  constructor(
    private readonly open: () => Promise<FollowedStore>,
    private readonly accept: (head: StoreHead) => void,
  ) {}

  /** The store, opened if it is not open, or has to be opened again. */
  async store(): Promise<FollowedStore> {
    if (this.#store !== undefined && (await this.#store.news()) === 'gone') await this.close();
    this.#store ??= await this.open();
    return this.#store;
  }

  /** Undefined if nothing has changed. */
  async read(): Promise<KeyChanges | undefined> {
    const store = await this.store();
    if (this.#head !== undefined && (await store.news()) === 'none') return undefined;
    const before = this.#head;
    // The head comes first: a change in between is then read twice, and not missed.
    const head = await store.head();
    if (before !== undefined && isSame(before, head)) return undefined;
    this.accept(head);
    const isWhole = before === undefined || before.epoch !== head.epoch || before.change > head.change;
    const changes = this.#compare(await store.keys(isWhole ? undefined : before.change), isWhole);
    this.#head = head;
    return changes;
  }

  async close(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    this.#head = undefined;
    await store?.close();
  }

  #compare(keys: readonly StoredKey[], isWhole: boolean): KeyChanges | undefined {
    const changed = keys.filter((key) => {
      const before = this.#known.get(key.id);
      if (before !== undefined && textOf(before) === textOf(key)) return false;
      this.#known.set(key.id, key);
      return true;
    });
    const removedIds = isWhole ? this.#notAmong(keys) : [];
    for (const id of removedIds) this.#known.delete(id);
    return changed.length + removedIds.length > 0 ? { keys: changed, removedIds } : undefined;
  }

  #notAmong(keys: readonly StoredKey[]): string[] {
    if (this.#known.size === keys.length) return [];
    const ids = new Set(keys.map(({ id }) => id));
    return [...this.#known.keys()].filter((id) => !ids.has(id));
  }
}

const textOf = (key: StoredKey): string => JSON.stringify({ ...key, lastUsedMs: undefined });

const isSame = (a: StoreHead, b: StoreHead): boolean => a.epoch === b.epoch && a.change === b.change;
