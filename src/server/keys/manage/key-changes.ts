// Changes of keys, for the command and the admin port. The secret of a key is made here, handed to the caller once,
// and not stored.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type KeySettings, type KeyState, NEW_KEY, type StoredKey, type StoreHead } from '../key-record.js';
import { digestOf, makeKeyText, pepperCheckOf, replacePrivateFile } from '../secret.js';
import type { KeyStore } from '../store/key-store.js';
import {
  invalid,
  KeyFault,
  type KeyJson,
  keyJson,
  objectOf,
  parseDuration,
  readKeySettings,
  type SettingFault,
} from './key-input.js';

export interface MadeKey {
  readonly key: StoredKey;
  readonly keyText: string;
}

/** @throws Error if the keys of a store are hashed under another pepper */
export function checkPepper(address: string, { pepperCheck }: StoreHead, pepper: string): void {
  if (pepperCheck === undefined || pepperCheck === pepperCheckOf(pepper)) return;
  throw new Error(
    `the keys of ${address} are hashed under another pepper than this one: give the one they were made with (HEXCODES_KEY_PEPPER, HEXCODES_KEY_PEPPER_FILE, or the file pepper of the data folder)`,
  );
}

export class KeyChanger {
  constructor(private readonly store: KeyStore) {}

  /**
   * Makes a key. Its secret is passed to `keep` before the key is stored, and the key is stored only if `keep`
   * returns: otherwise a secret could be lost.
   */
  create(settings: KeySettings, pepper: string, keep: (made: MadeKey) => void): Promise<void> {
    return this.store.inTransaction(() => this.#insert(settings, pepper, keep));
  }

  /** Makes a key in a store without any, and leaves its secret in the file `first-key` of the data folder. */
  createFirst(dataDir: string, pepper: string): Promise<void> {
    return this.store.inTransaction(async () => {
      if ((await this.store.count()) > 0) return;
      const path = join(dataDir, 'first-key');
      const first = { ...NEW_KEY, name: 'first' };
      await this.#insert(first, pepper, ({ keyText }) => replacePrivateFile(path, `${keyText}\n`));
    });
  }

  /**
   * Revoking a revoked key succeeds, for a caller that got no answer.
   * @throws KeyFault if there is no such key, or it is revoked and should become anything else: revocation is final
   */
  setState(id: string, state: KeyState): Promise<StoredKey> {
    return this.store.inTransaction(async () => {
      const there = await this.store.find(id);
      if (there?.state === 'revoked' && state === 'revoked') return there;
      const key = { ...(await this.#livingKey(id)), state };
      await this.store.put(key);
      return key;
    });
  }

  /** Changes the settings of a key. */
  update(id: string, settingsOf: (before: StoredKey) => KeySettings): Promise<StoredKey> {
    return this.store.inTransaction(async () => {
      const before = await this.#livingKey(id);
      const key = { ...before, ...settingsOf(before) };
      await this.store.put(key);
      return key;
    });
  }

  /**
   * Gives a key a new secret. The previous one is accepted until the overlap ends, older ones are not. `keep` as in
   * `create`.
   */
  rotate(id: string, overlapMs: number, pepper: string, keep: (made: MadeKey) => void): Promise<void> {
    return this.store.inTransaction(async () => {
      const before = await this.#livingKey(id);
      const keyText = makeKeyText();
      const key: StoredKey = {
        ...before,
        digestHex: digestOf(keyText, pepper).toString('hex'),
        generation: before.generation + 1,
        formerDigestHex: overlapMs > 0 ? before.digestHex : undefined,
        formerUntilMs: overlapMs > 0 ? Date.now() + overlapMs : undefined,
      };
      await this.#bindPepper(pepper);
      await this.store.put(key);
      keep({ key, keyText });
    });
  }

  /**
   * Adds keys exported by another store.
   * @returns their number
   * @param mayReplace whether a key may replace one with its id. A revoked one stays revoked
   */
  import(keys: readonly StoredKey[], pepper: string, mayReplace: boolean): Promise<number> {
    return this.store.inTransaction(async () => {
      const there = new Map((await this.store.keys()).map((key) => [key.id, key]));
      const twice = keys.filter(({ id }) => there.has(id)).map(({ id }) => id);
      if (twice.length > 0 && !mayReplace) {
        throw new KeyFault(
          'conflict',
          `the store has keys with these ids already: ${twice.slice(0, 5).join(', ')}${twice.length > 5 ? ', …' : ''}`,
        );
      }
      const ids = new Map([...there.values()].map(({ digestHex, id }) => [digestHex, id]));
      const other = keys.find(({ digestHex, id }) => (ids.get(digestHex) ?? id) !== id);
      if (other !== undefined)
        throw new KeyFault('conflict', `key ${other.id} is here already, as ${ids.get(other.digestHex)}`);
      if (keys.length > 0) await this.#bindPepper(pepper);
      for (const key of keys) {
        const state = there.get(key.id)?.state === 'revoked' ? 'revoked' : key.state;
        await this.store.put({ ...key, state });
      }
      return keys.length;
    });
  }

  /** Replaces all keys. `keep` is called before they are stored, and they are stored only if it returns. */
  replaceAll(keys: readonly StoredKey[], pepper: string, keep: () => void): Promise<void> {
    return this.store.inTransaction(async () => {
      await this.store.removeAll();
      await this.store.setPepperCheck(pepperCheckOf(pepper));
      for (const key of keys) await this.store.put(key);
      keep();
    });
  }

  async #insert(settings: KeySettings, pepper: string, keep: (made: MadeKey) => void): Promise<void> {
    const keyText = makeKeyText();
    const key: StoredKey = {
      ...settings,
      id: randomBytes(6).toString('hex'),
      state: 'active',
      createdMs: Date.now(),
      lastUsedMs: undefined,
      digestHex: digestOf(keyText, pepper).toString('hex'),
      generation: 1,
      formerDigestHex: undefined,
      formerUntilMs: undefined,
    };
    await this.#bindPepper(pepper);
    await this.store.put(key);
    keep({ key, keyText });
  }

  async #livingKey(id: string): Promise<StoredKey> {
    const key = await this.store.find(id);
    if (key === undefined) throw new KeyFault('unknown', `there is no key ${id}`);
    if (key.state === 'revoked') throw new KeyFault('revoked', `key ${id} is revoked, and that is for good`);
    return key;
  }

  /** Every secret of a store is hashed under one pepper. */
  async #bindPepper(pepper: string): Promise<void> {
    const head = await this.store.head();
    checkPepper(this.store.address, head, pepper);
    if (head.pepperCheck === undefined) await this.store.setPepperCheck(pepperCheckOf(pepper));
  }
}

// Calls of the admin port, as plain data: they are made in one thread and answered in another.

export type KeyCall =
  | { readonly op: 'list' }
  | { readonly op: 'show'; readonly id: string }
  /** `settings` as JSON.parse has made them. */
  | { readonly op: 'create'; readonly settings: unknown }
  | { readonly op: 'set'; readonly id: string; readonly settings: unknown }
  | { readonly op: 'state'; readonly id: string; readonly state: KeyState }
  | { readonly op: 'rotate'; readonly id: string; readonly body: unknown };

/** A key with its secret, which is shown only here. */
interface MadeKeyJson extends KeyJson {
  readonly key: string;
}

export type KeyAnswer =
  | { readonly kind: 'done'; readonly value: KeyJson | MadeKeyJson | readonly KeyJson[] }
  | {
      readonly kind: KeyFault['kind'] | 'unavailable';
      readonly message: string;
      readonly faults: readonly SettingFault[];
    };

export const DEFAULT_OVERLAP = '24h';

/** Errors of the store are rethrown. */
export async function answerCall(store: KeyStore, pepper: string, call: KeyCall): Promise<KeyAnswer> {
  try {
    return { kind: 'done', value: await answerValue(store, pepper, call) };
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error;
    return { kind: error.kind, message: error.message, faults: error.faults };
  }
}

async function answerValue(store: KeyStore, pepper: string, call: KeyCall) {
  const changer = new KeyChanger(store);
  switch (call.op) {
    case 'list':
      return (await store.keys()).map(keyJson);
    case 'show': {
      const key = await store.find(call.id);
      if (key === undefined) throw new KeyFault('unknown', `there is no key ${call.id}`);
      return keyJson(key);
    }
    case 'create': {
      const settings = readKeySettings(call.settings, NEW_KEY, Date.now());
      return made((keep) => changer.create(settings, pepper, keep));
    }
    case 'set':
      return keyJson(
        await changer.update(call.id, (before) => readKeySettings(call.settings, before, Date.now())),
      );
    case 'state':
      return keyJson(await changer.setState(call.id, call.state));
    case 'rotate': {
      const { overlap, ...others } = objectOf(call.body, 'the body');
      const faults = Object.keys(others).map((setting) => ({ setting, message: 'is not known: overlap is' }));
      const overlapMs = parseDuration(String(overlap ?? DEFAULT_OVERLAP));
      if (overlapMs === undefined)
        faults.push({ setting: 'overlap', message: 'must be a duration as 24h, 7d or 0' });
      if (overlapMs === undefined || faults.length > 0) throw invalid(faults);
      return made((keep) => changer.rotate(call.id, overlapMs, pepper, keep));
    }
  }
}

async function made(make: (keep: (made: MadeKey) => void) => Promise<void>): Promise<MadeKeyJson> {
  let kept: MadeKey | undefined;
  await make((given) => {
    kept = given;
  });
  const { key, keyText } = kept as unknown as MadeKey;
  return { ...keyJson(key), key: keyText };
}
