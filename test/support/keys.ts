// Keys for tests: a key as a store has it, and changes of the keys of a data folder.
import { KeyChanger } from '#dist/server/keys/manage/key-changes.js';
import { digestOf, pepperCheckOf, readOrMakePepper } from '#dist/server/keys/secret.js';
import { Follower } from '#dist/server/keys/store/key-store.js';
import {
  type KeyStore,
  openFollowedStore,
  openOrMakeStore,
  openStore,
  type StoreOptions,
  storePath,
} from '#dist/server/keys/store/open-store.js';

// The stores of keys, for the tests of their contract.
export {
  digestOf,
  Follower,
  KeyChanger,
  type KeyStore,
  openFollowedStore,
  openOrMakeStore,
  openStore,
  pepperCheckOf,
  type StoreOptions,
  storePath,
};

export type StoredKey = Awaited<ReturnType<KeyStore['keys']>>[number];
export type KeySettings = Parameters<KeyChanger['create']>[0];

export const PEPPER = 'p'.repeat(32);

/** An active key of a text, as `keys create` makes it. */
export function storedKey(keyText: string, overrides: Partial<StoredKey> = {}): StoredKey {
  return {
    id: 'a',
    name: 'a',
    state: 'active',
    scopes: ['encode', 'decode', 'bulk', 'lookup'],
    expiresMs: undefined,
    origins: [],
    cidrs: [],
    limits: {},
    createdMs: 1_700_000_000_000,
    lastUsedMs: undefined,
    digestHex: digestOf(keyText, PEPPER).toString('hex'),
    generation: 1,
    formerDigestHex: undefined,
    formerUntilMs: undefined,
    ...overrides,
  };
}

export async function allOf<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

/** Works on the store of a data folder as another process does. */
export async function inStore<T>(
  dataDir: string,
  work: (changer: KeyChanger, pepper: string, store: KeyStore) => Promise<T>,
): Promise<T> {
  const store = await openStore({ dataDir, url: undefined });
  try {
    return await work(new KeyChanger(store), readOrMakePepper(dataDir, 1, ''), store);
  } finally {
    await store.close();
  }
}

export interface MadeKey {
  readonly id: string;
  readonly text: string;
}

/** Makes a key in the store of a data folder, by default one for conversions without bounds. */
export function makeKey(dataDir: string, settings: Partial<KeySettings> = {}): Promise<MadeKey> {
  const plain: KeySettings = {
    ...{ name: 'n', scopes: ['encode', 'decode', 'bulk'], expiresMs: undefined },
    ...{ origins: [], cidrs: [], limits: {} },
  };
  return inStore(dataDir, async (changer, pepper) => {
    let made: MadeKey | undefined;
    await changer.create({ ...plain, ...settings }, pepper, ({ key, keyText }) => {
      made = { id: key.id, text: keyText };
    });
    return made as unknown as MadeKey;
  });
}

/** Changes the first key of a data folder, as another process would. */
export async function changeFirstKey(dataDir: string, changes: Partial<StoredKey>): Promise<void> {
  const store = await openStore({ dataDir, url: undefined });
  const [key] = await store.keys();
  await store.put({ ...key!, ...changes });
  await store.close();
}

export const setKeyState = (dataDir: string, state: StoredKey['state']): Promise<void> =>
  changeFirstKey(dataDir, { state });
