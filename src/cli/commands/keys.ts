// `hexcodes keys`: creates and changes API keys in the store. A running server sees a change within a second, in a
// store that several nodes share within five. The secret of a key is shown or written once; the store keeps a digest.

import { readFileSync, rmSync } from 'node:fs';
import type { Command } from 'commander';
import { columns } from '../../capacity/report/figures.js';
import { badUsage, CliFailure, EXIT, type ExitCode, reasonOf } from '../../files/exit-codes.js';
import { say, visible } from '../../files/terminal/say.js';
import { NEW_KEY, type StoredKey } from '../../server/keys/key-record.js';
import { DEFAULT_OVERLAP, KeyChanger, type MadeKey } from '../../server/keys/manage/key-changes.js';
import {
  archiveText,
  type KeyArchive,
  KeyFault,
  keyJson,
  parseDuration,
  readArchive,
  readKeySettings,
} from '../../server/keys/manage/key-input.js';
import {
  ensureDataDir,
  isFilePepper,
  pepperCheckOf,
  readPepper,
  replacePepper,
  writeNewPrivateFile,
} from '../../server/keys/secret.js';
import { setAsideIfDamaged } from '../../server/keys/store/open-store.js';
import {
  addKeyFlags,
  addStoreFlags,
  givenPepper,
  type KeysConfig,
  limitsJson,
  optionsOf,
  pepperOf,
  settingsJson,
  withConfig,
  withOrMakeStore,
  withStore,
} from '../key-options.js';

// `hexcodes keys export` and `import` (digests), `backup` and `restore` (digests and the pepper).
const STANDARD = '-';

function addArchiving(keys: Command): void {
  for (const [verb, help] of [
    ['export', 'write all keys, as digests, for a store with the same pepper'],
    ['backup', 'write all keys, as digests, together with the pepper: the file is a secret'],
  ] as const) {
    const write = keys
      .command(verb)
      .description(help)
      .argument('<file>', 'a new file (mode 0600), or - for standard output');
    addStoreFlags(write).action((file: string) =>
      withStore(write, async (store, config) => {
        const all = await store.keys();
        const text = archiveText(all, await pepperOf(store, config), verb === 'backup');
        if (file === STANDARD) process.stdout.write(text);
        else writePrivate(file, text, EXIT.BAD_OUTPUT);
        say(
          `wrote ${all.length} keys${verb === 'backup' ? ' and the pepper: whoever has both can test guesses' : ''}\n`,
        );
      }),
    );
  }

  const add = keys
    .command('import')
    .description('add keys that another store has exported')
    .argument('<file>', 'as `keys export` writes it; - for standard input')
    .option(
      '--replace',
      'also those whose id is here already, which are refused otherwise; what is revoked stays so',
    );
  addStoreFlags(add).action((file: string, { replace }: { replace?: boolean }) =>
    withStore(add, async (store, config) => {
      const archive = readFile(file);
      const pepper = await pepperOf(store, config);
      if (pepperCheckOf(pepper) !== archive.pepperCheck)
        throw new CliFailure(
          EXIT.FAILED,
          'the keys of the file are hashed under another pepper than this store',
        );
      const count = await new KeyChanger(store).import(archive.keys, pepper, replace === true);
      say(`took in ${count} keys\n`);
    }),
  );

  const restore = keys
    .command('restore')
    .description('put a backup in the place of all keys')
    .argument('<file>', 'as `keys backup` writes it; - for standard input')
    .option('--force', 'even if there are keys, which are lost then, or the store is damaged')
    .addHelpText(
      'after',
      `
All keys are replaced, and the pepper of the data folder, unless the environment has it. A damaged keys.db is renamed to
keys.db.damaged. A running service follows within a second; if the pepper changed too, it says so and must be restarted.`,
    );
  addStoreFlags(restore).action((file: string, { force }: { force?: boolean }) =>
    withConfig(restore, async (config) => {
      const archive = readFile(file);
      const { pepper } = archive;
      if (pepper === undefined)
        throw new CliFailure(
          EXIT.FAILED,
          'the file is not a backup: it has no pepper',
          'take it in with `hexcodes keys import`',
        );
      if (force === true) await setAsideIfDamaged(optionsOf(config));
      await withOrMakeStore(config, async (store) => {
        const count = await store.count();
        if (count > 0 && force !== true) {
          const hint = '--force puts the backup in their place';
          throw new CliFailure(EXIT.FAILED, `${store.address} has ${count} keys`, hint);
        }
        await new KeyChanger(store).replaceAll(archive.keys, pepper, () => keepPepper(config, pepper));
      });
      say(`restored ${archive.keys.length} keys and the pepper\n`);
    }),
  );
}

/** The pepper goes into the data folder, unless the environment has it. */
function keepPepper(config: KeysConfig, pepper: string): void {
  const given = givenPepper(config);
  if (given === undefined) {
    if (!isFilePepper(pepper)) {
      const way = 'the backup was made with a pepper of the environment: set HEXCODES_KEY_PEPPER to that one';
      throw new KeyFault('conflict', way);
    }
    ensureDataDir(config.dataDir);
    if (readPepper(config.dataDir) !== pepper) replacePepper(config.dataDir, pepper);
  } else if (given !== pepper) {
    throw new KeyFault('conflict', 'the pepper of the environment is not the one of the backup');
  }
}

function writePrivate(path: string, text: string, exitCode: ExitCode): void {
  try {
    writeNewPrivateFile(path, text);
  } catch (error) {
    throw new CliFailure(exitCode, `cannot write ${path}: ${reasonOf(error)}`);
  }
}

function readFile(path: string): KeyArchive {
  let text: string;
  try {
    text = readFileSync(path === STANDARD ? 0 : path, 'utf8');
  } catch (error) {
    throw new CliFailure(EXIT.BAD_INPUT, `cannot read ${path}: ${reasonOf(error)}`);
  }
  try {
    return readArchive(text);
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error;
    throw new CliFailure(EXIT.BAD_INPUT, `${path}: ${error.message}`);
  }
}

function addShowing(keys: Command): void {
  const list = keys
    .command('list')
    .description('show all keys, without their texts')
    .option('--json', 'as one JSON array');
  addStoreFlags(list).action(({ json }: { json?: boolean }) =>
    withStore(list, async (store) => {
      const all = await store.keys();
      if (json === true) writeJson(all.map(keyJson));
      else process.stdout.write(process.stdout.isTTY ? tableOf(all) : rowsOf(all));
    }),
  );

  const show = keys
    .command('show')
    .description('show all about a key, without its text')
    .argument('<id>', 'id as listed')
    .option('--json', 'as a JSON object');
  addStoreFlags(show).action((id: string, { json }: { json?: boolean }) =>
    withStore(show, async (store) => {
      const key = await store.find(id);
      if (key === undefined) throw new KeyFault('unknown', `there is no key ${id}`);
      if (json === true) writeJson(keyJson(key));
      else process.stdout.write(detailsOf(key));
    }),
  );
}

function writeJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 1)}\n`);
}

/** Rows for scripts; the name comes last, because it may contain anything. */
function rowsOf(keys: readonly StoredKey[]): string {
  return keys
    .map(
      ({ id, state, createdMs, name }) =>
        `${visible(id)}\t${state}\t${new Date(createdMs).toISOString()}\t${visible(name)}\n`,
    )
    .join('');
}

const HEAD = ['ID', 'STATE', 'MADE', 'LAST USED', 'EXPIRES', 'SCOPES', 'NAME'];

function tableOf(keys: readonly StoredKey[]): string {
  const rows = keys.map((key) => [
    visible(key.id),
    stateOf(key),
    day(key.createdMs),
    key.lastUsedMs === undefined ? 'never' : day(key.lastUsedMs),
    key.expiresMs === undefined ? 'never' : day(key.expiresMs),
    key.scopes.join(','),
    visible(key.name),
  ]);
  return `${columns([HEAD, ...rows])}\n`;
}

function detailsOf(key: StoredKey): string {
  const { name, state: _, limits, ...rest } = keyJson(key);
  const lines: [string, unknown][] = [
    ['name', name],
    ['state', stateOf(key)],
    ...Object.entries(rest),
    ...Object.entries(limits),
  ];
  return lines
    .map(([title, value]) => {
      const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
      return `${title.replaceAll('_', ' ').padEnd(20)}${text === '' ? '-' : visible(text)}\n`;
    })
    .join('');
}

const stateOf = ({ state, expiresMs }: StoredKey): string =>
  state === 'active' && expiresMs !== undefined && expiresMs <= Date.now() ? 'expired' : state;

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

interface TextOptions {
  readonly out?: string;
  readonly show?: boolean;
}

function addMaking(keys: Command): void {
  const create = keys
    .command('create')
    .description('make a key and show it once')
    .argument('[name]', 'whom the key is for')
    .option('--name <name>', 'name, as the argument gives it');
  addKeyFlags(create);
  addTextFlags(create);
  addStoreFlags(create).action(
    (argument: string | undefined, options: TextOptions & Record<string, unknown>) => {
      refusePipe(options);
      if (argument !== undefined && options.name !== undefined)
        throw badUsage('NAME and --name exclude one another');
      const name = argument ?? options.name;
      if (name === undefined) throw badUsage('whom is the key for? hexcodes keys create NAME');
      if (String(name).trim() === '') throw new CliFailure(EXIT.FAILED, 'the name is empty');
      return withStore(create, async (store, config) => {
        const given = { ...settingsJson(options), name, limits: limitsJson(options, {}) };
        const settings = readKeySettings(given, NEW_KEY, Date.now());
        const pepper = await pepperOf(store, config);
        const made = await keepingText(options, (keep) =>
          new KeyChanger(store).create(settings, pepper, keep),
        );
        say(`made key ${made.key.id} for ${visible(settings.name)}; its text is not kept anywhere else\n`);
      });
    },
  );

  const rotate = keys
    .command('rotate')
    .description('give a key a new text and show it once; the old one stays valid for a while')
    .argument('<id>', 'id as listed')
    .option('--overlap <duration>', 'how long the old text stays valid, as 24h, 7d or 0', DEFAULT_OVERLAP);
  addTextFlags(rotate);
  addStoreFlags(rotate).action((id: string, options: TextOptions & { overlap: string }) => {
    refusePipe(options);
    const overlapMs = parseDuration(options.overlap);
    if (overlapMs === undefined) throw badUsage('--overlap must be a duration as 24h, 7d or 0');
    return withStore(rotate, async (store, config) => {
      const pepper = await pepperOf(store, config);
      const { key } = await keepingText(options, (keep) =>
        new KeyChanger(store).rotate(id, overlapMs, pepper, keep),
      );
      const until =
        key.formerUntilMs === undefined ? 'ends now' : `ends ${new Date(key.formerUntilMs).toISOString()}`;
      say(`key ${visible(id)} has a new text, which is not kept anywhere else; the one before ${until}\n`);
    });
  });
}

function addTextFlags(command: Command): void {
  command
    .option('--out <file>', 'write the key to a new file (mode 0600) instead of showing it')
    .option('--show', 'show the key even if standard output is not a terminal');
}

function refusePipe({ out, show }: TextOptions): void {
  if (out === undefined && show !== true && !process.stdout.isTTY)
    throw badUsage('standard output is not a terminal: give --out FILE, or --show to print the key there');
}

/**
 * Writes the secret before the key is stored: otherwise it could be lost. If the store then fails, no file remains.
 */
async function keepingText(
  { out }: TextOptions,
  make: (keep: (made: MadeKey) => void) => Promise<void>,
): Promise<MadeKey> {
  let made: MadeKey | undefined;
  try {
    await make((given) => {
      if (out === undefined) process.stdout.write(`${given.keyText}\n`);
      else writePrivate(out, `${given.keyText}\n`, EXIT.FAILED);
      made = given;
    });
  } catch (error) {
    if (made !== undefined && out !== undefined) rmSync(out, { force: true });
    throw error;
  }
  return made as unknown as MadeKey;
}

export default function register(program: Command): void {
  const keys = program.command('keys').description('manage API keys');

  const init = keys.command('init').description('make an empty key store, as the first `serve` does');
  addStoreFlags(init).action(() =>
    withConfig(init, (config) =>
      withOrMakeStore(config, async (store) => {
        await pepperOf(store, config);
        say(`the key store is ${store.address}\n`);
      }),
    ),
  );

  addMaking(keys);
  addShowing(keys);

  const set = keys
    .command('set')
    .description('change what a key may do; what is not given stays')
    .argument('<id>', 'id as listed')
    .option('--name <name>', 'whom the key is for');
  addKeyFlags(set);
  addStoreFlags(set).action((id: string, options: Record<string, unknown>) =>
    withStore(set, async (store) => {
      const { name } = options;
      await new KeyChanger(store).update(id, (before) => {
        const limits = limitsJson(options, keyJson(before).limits);
        const given = { ...settingsJson(options), ...(name === undefined ? {} : { name }), limits };
        return readKeySettings(given, before, Date.now());
      });
      say(`key ${id} is changed\n`);
    }),
  );

  for (const [verb, state, help] of [
    ['enable', 'active', 'let a disabled key in again'],
    ['disable', 'disabled', 'refuse a key with 403 until further notice'],
    ['revoke', 'revoked', 'refuse a key for good, as if it had never been'],
  ] as const) {
    const change = keys.command(verb).description(help).argument('<id>', 'id as listed');
    addStoreFlags(change).action((id: string) =>
      withStore(change, async (store) => {
        await new KeyChanger(store).setState(id, state);
        say(`key ${id} is ${state}\n`);
      }),
    );
  }

  addArchiving(keys);
}
