// The store and the pepper that a `hexcodes keys` command works with.
import type { Command } from 'commander';
import type { ServeConfig } from '../../config/config.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { say } from '../../files/terminal/say.js';
import { KeyFault } from '../../server/keys/manage/key-fault.js';
import { ensureDataDir, folderWarning } from '../../server/keys/private-files.js';
import { readOrMakePepper } from '../../server/keys/secret.js';
import type { KeyStore } from '../../server/keys/store/key-store.js';
import {
  mayBeThere,
  openOrMakeStore,
  openStore,
  type StoreOptions,
  storeFault,
} from '../../server/keys/store/open-store.js';
import { addFlags, settingsOf } from '../settings.js';

export const NAMES = ['dataDir', 'store', 'keyPepper', 'keyPepperFile'] as const;

export type KeysConfig = Pick<ServeConfig, (typeof NAMES)[number]>;

export const optionsOf = ({ dataDir, store }: KeysConfig): StoreOptions => ({ dataDir, url: store });

/** Adds the settings of the store to a command. */
export const addStoreFlags = (command: Command): Command => addFlags(command, NAMES);

/** Opens the store that is there; only `serve`, `keys init` and `keys restore` make one. */
export function withStore(
  command: Command,
  work: (store: KeyStore, config: KeysConfig) => Promise<void>,
): Promise<void> {
  return withConfig(command, async (config) => {
    if (!mayBeThere(optionsOf(config))) {
      const hint = 'Give the folder of the server with --data-dir, or make a store with `hexcodes keys init`';
      throw new CliFailure(EXIT.FAILED, `there is no key store in ${config.dataDir}`, hint);
    }
    await useStore(await openStore(optionsOf(config)), (store) => work(store, config));
  });
}

/** Opens the store, made if it is not there. */
export async function withOrMakeStore(config: KeysConfig, work: (store: KeyStore) => Promise<void>) {
  await useStore(await openOrMakeStore(optionsOf(config)), work);
}

async function useStore(store: KeyStore, work: (store: KeyStore) => Promise<void>): Promise<void> {
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** The pepper of the environment; undefined: that of the data folder holds. */
export const givenPepper = ({ keyPepper, keyPepperFile }: KeysConfig): string | undefined =>
  keyPepper ?? keyPepperFile;

export async function pepperOf(store: KeyStore, config: KeysConfig): Promise<string> {
  const given = givenPepper(config);
  if (given !== undefined) return given;
  ensureDataDir(config.dataDir);
  return readOrMakePepper(config.dataDir, await store.count(), store.address);
}

export async function withConfig(
  command: Command,
  work: (config: KeysConfig) => Promise<void>,
): Promise<void> {
  const config = settingsOf(command, NAMES);
  if (config === undefined) return;
  try {
    await work(config);
    const warning = folderWarning(config.dataDir);
    if (warning !== undefined) say(`hexcodes: ${warning}\n`);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const message = error instanceof KeyFault ? error.message : storeFault(optionsOf(config), error);
    throw new CliFailure(EXIT.FAILED, message);
  }
}
