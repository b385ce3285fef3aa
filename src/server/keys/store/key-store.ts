// Where keys are kept: one interface, whichever database it is. The service uses a store from the keys' worker thread
// only. No key text is ever stored or logged, only its digest.
import type { StoredKey } from '../key-record.js';

/** Counts the changes of all keys; uses are no changes. */
export interface StoreHead {
  /** Differs when the number of the last change says nothing about what was read before. */
  readonly epoch: string;
  /** The number of the last change. */
  readonly change: number;
  /** `pepperCheckOf` of the pepper under which the keys are hashed; undefined before the first key. */
  readonly pepperCheck: string | undefined;
}

export interface KeyStore {
  /** Where it is, for people; without credentials. */
  readonly address: string;
  head(): Promise<StoreHead>;
  /** The keys that were changed after a change, all by default; in the order they were made. */
  keys(afterChange?: number): Promise<StoredKey[]>;
  find(id: string): Promise<StoredKey | undefined>;
  count(): Promise<number>;
  /** Nobody else changes keys while `work` runs. Its changes are undone if it throws. */
  inTransaction<T>(work: () => Promise<T>): Promise<T>;
  /** Writes a key, new or in the place of the one with its id, but for when that was used last. */
  put(key: StoredKey): Promise<void>;
  removeAll(): Promise<void>;
  setPepperCheck(check: string): Promise<void>;
  /** Says when keys were used last, by id. Unknown ids are left out, and so is what is older than what is stored. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
  close(): Promise<void>;
}

/** A store as the worker thread follows it. */
export interface FollowedStore extends KeyStore {
  /** How often to ask whether anything has changed. */
  readonly pollMs: number;
  /** 'gone': the store has to be opened again. */
  news(): Promise<'none' | 'perhaps' | 'gone'>;
}
