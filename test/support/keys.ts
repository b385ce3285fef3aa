// Keys for tests: a key as a store has it, and changes of the keys of a data folder.
import type { KeyState, StoredKey } from '#dist/server/keys/key-record.js';
import { digestOf } from '#dist/server/keys/secret.js';
import { openStore } from '#dist/server/keys/store/open-store.js';

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

/** Changes the first key of a data folder, as another process would. */
export async function changeFirstKey(dataDir: string, changes: Partial<StoredKey>): Promise<void> {
  const store = await openStore({ dataDir, url: undefined });
  const [key] = await store.keys();
  await store.put({ ...key!, ...changes });
  await store.close();
}

export const setKeyState = (dataDir: string, state: KeyState): Promise<void> =>
  changeFirstKey(dataDir, { state });
