// The store and the pepper that a `hexcodes keys` command works with.
import type { Command } from 'commander';
import type { ServeConfig } from '../config/config.js';
import { CliFailure, EXIT } from '../files/exit-codes.js';
import { say } from '../files/terminal/say.js';
import { SCOPES } from '../server/keys/key-record.js';
import { KeyFault, LIMIT_NAMES } from '../server/keys/manage/key-input.js';
import { ensureDataDir, folderWarning, readOrMakePepper } from '../server/keys/secret.js';
import type { KeyStore } from '../server/keys/store/key-store.js';
import {
  mayBeThere,
  openOrMakeStore,
  openStore,
  type StoreOptions,
  storeFault,
} from '../server/keys/store/open-store.js';
import { addFlags, settingsOf } from './settings.js';

// The flags for the permissions of a key, as the JSON that manage/key-input.ts reads.

/** Stands for a list without entries. */
const ANY = 'any';

const collect = (text: string, before: readonly string[] = []): string[] => [...before, ...text.split(',')];

const LIMIT_HELP: Readonly<Record<string, string>> = {
  points_per_second: 'most points a second, on average',
  points_burst: 'points that may come at once (as many as in a second)',
  requests_per_second: 'most requests a second, on average',
  requests_burst: 'requests that may come at once (as many as in a second)',
  points_per_day: 'most points a day',
  points_per_month: 'most points a month',
};

const SCOPES_HELP = `
Scopes: encode (encode and its batch, /v1/reverse, /v1/traccar), decode (decode and its batch), bulk (both bulk calls and
the stream), lookup (one code, suggestions, places, grid), admin (the admin port). Provinces, versions and usage take any
key. Flags may be repeated, or hold several values with commas.`;

export function addKeyFlags(command: Command): Command {
  command
    .option('--scope <scopes>', `what it may do: ${SCOPES.join(', ')} (encode,decode,bulk,lookup)`, collect)
    .option('--expires <time>', 'when it ends: 90d, 2027-01-31, 2027-01-31T17:00:00Z, never')
    .option(
      '--origin <origin>',
      'web origin it is accepted from, as https://a.vn or https://*.a.vn; any',
      collect,
    )
    .option(
      '--cidr <network>',
      'network it is accepted from, as 192.0.2.0/24 or 2001:db8::/32; any',
      collect,
    );
  for (const [, name] of LIMIT_NAMES)
    command.option(`--${name.replaceAll('_', '-')} <number>`, `${LIMIT_HELP[name]}; none, default`);
  return command.addHelpText('after', SCOPES_HELP);
}

/** Settings from the flags that are given. */
export function settingsJson(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const lists = { scopes: options.scope, origins: options.origin, cidrs: options.cidr };
  const settings: Record<string, unknown> = {};
  for (const [name, list] of Object.entries(lists)) {
    if (list === undefined) continue;
    const isAny = name !== 'scopes' && (list as string[]).join() === ANY;
    settings[name] = isAny ? [] : list;
  }
  if (options.expires !== undefined) settings.expires = options.expires;
  return settings;
}

/** Limits with the flags' values in place of the previous ones. */
export function limitsJson(
  options: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, number>>,
): Record<string, number> {
  const limits = { ...before };
  for (const [member, name] of LIMIT_NAMES) {
    const text = options[member] as string | undefined;
    if (text === undefined) continue;
    if (text === 'default') delete limits[name];
    else if (text === 'none') limits[name] = 0;
    else if (/^\d{1,15}(\.\d{1,6})?$/.test(text)) limits[name] = Number(text);
    else {
      const flag = `--${name.replaceAll('_', '-')}`;
      throw new CliFailure(EXIT.FAILED, `${flag} must be a number, none or default`);
    }
  }
  return limits;
}

export const NAMES = ['dataDir', 'store', 'keyPepper', 'keyPepperFile'] as const;

export type KeysConfig = Pick<ServeConfig, (typeof NAMES)[number]>;

export const optionsOf = ({ dataDir, store }: KeysConfig): StoreOptions => ({ dataDir, url: store });

/** Adds the settings of the store to a command. */
export const addStoreFlags = (command: Command): Command => addFlags(command, NAMES);

/** Opens an existing store; only `serve`, `keys init` and `keys restore` create one. */
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

/** Opens the store, creating it if needed. */
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

/** The pepper of the environment; undefined: the one in the data folder is used. */
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
