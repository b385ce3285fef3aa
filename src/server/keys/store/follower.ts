// Follows the keys of a store, whichever store or file it is: says what has changed since it was asked last. Uses of
// keys are no changes.
import type { StoredKey, StoreHead } from '../key-record.js';
import type { KeyStore } from './key-store.js';

export interface KeyChanges {
  /** New or changed. */
  readonly keys: readonly StoredKey[];
  readonly removedIds: readonly string[];
}

export class Follower {
  #store: KeyStore | undefined;
  /** As it was when the keys were read last from the store that is open. */
  #head: StoreHead | undefined;
  /** The keys as returned last, by id. */
  readonly #known = new Map<string, StoredKey>();

  /** @param accept throws if the keys of a store cannot be used */
  constructor(
    private readonly open: () => Promise<KeyStore>,
    private readonly accept: (head: StoreHead) => void,
  ) {}

  /** The store, opened if it is not open, or has to be opened again. */
  async store(): Promise<KeyStore> {
    if (this.#store !== undefined && (await this.#store.news()) === 'gone') await this.close();
    this.#store ??= await this.open();
    return this.#store;
  }

  /** Yields pages of changes, if there are any. A page that was yielded is not repeated after a broken read. */
  async *read(): AsyncGenerator<KeyChanges> {
    const store = await this.store();
    if (this.#head !== undefined && (await store.news()) === 'none') return;
    const before = this.#head;
    // The head comes first: a change in between is then read twice, and not missed.
    const head = await store.head();
    if (before !== undefined && isSame(before, head)) return;
    this.accept(head);
    const isWhole = before === undefined || before.epoch !== head.epoch || before.change > head.change;
    const unseenIds = new Set(isWhole ? this.#known.keys() : []);
    for await (const keys of store.changedKeys(isWhole ? -1 : before.change)) {
      for (const { id } of keys) unseenIds.delete(id);
      const changed = keys.filter((key) => !isKnown(this.#known.get(key.id), key));
      for (const key of changed) this.#known.set(key.id, key);
      if (changed.length > 0) yield { keys: changed, removedIds: [] };
    }
    for (const id of unseenIds) this.#known.delete(id);
    this.#head = head;
    if (unseenIds.size > 0) yield { keys: [], removedIds: [...unseenIds] };
  }

  async close(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    this.#head = undefined;
    await store?.close();
  }
}

/** Whether they differ in uses at most. */
const isKnown = (known: StoredKey | undefined, key: StoredKey): boolean =>
  known !== undefined && textOf(known) === textOf(key);

const textOf = (key: StoredKey): string => JSON.stringify({ ...key, lastUsedMs: undefined });

const isSame = (a: StoreHead, b: StoreHead): boolean => a.epoch === b.epoch && a.change === b.change;
