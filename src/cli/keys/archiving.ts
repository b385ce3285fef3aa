// `hexcodes keys export` and `import` (digests), `backup` and `restore` (digests and the pepper).
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { reasonOf } from '../../files/file-faults.js';
import { say } from '../../files/terminal/say.js';
import { archiveText, type KeyArchive, readArchive } from '../../server/keys/manage/key-archive.js';
import { KeyChanger } from '../../server/keys/manage/key-changes.js';
import { KeyFault } from '../../server/keys/manage/key-fault.js';
import { ensureDataDir, writeNewPrivateFile } from '../../server/keys/private-files.js';
import { isFilePepper, pepperCheckOf, readPepper, replacePepper } from '../../server/keys/secret.js';
import { setAsideIfDamaged } from '../../server/keys/store/open-store.js';
import {
  addStoreFlags,
  givenPepper,
  type KeysConfig,
  optionsOf,
  pepperOf,
  withConfig,
  withOrMakeStore,
  withStore,
} from './open-keys.js';

const STANDARD = '-';

export function addArchiving(keys: Command): void {
  for (const [verb, help] of [
    ['export', 'write all keys, as digests, for a store with the same pepper'],
    ['backup', 'write all keys, as digests, together with the pepper'],
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
        else writeArchive(file, text);
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
    .option('--replace', 'also those whose id is here already; what is revoked stays so');
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
    .option('--force', 'even if there are keys, which are lost then, or the store is damaged');
  addStoreFlags(restore).action((file: string, { force }: { force?: boolean }) =>
    withConfig(restore, async (config) => {
      const archive = readFile(file);
      const { pepper } = archive;
      if (pepper === undefined)
        throw new CliFailure(
          EXIT.FAILED,
          'the file is no backup: it has no pepper',
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

function writeArchive(path: string, text: string): void {
  try {
    writeNewPrivateFile(path, text);
  } catch (error) {
    throw new CliFailure(EXIT.BAD_OUTPUT, `cannot write ${path}: ${reasonOf(error)}`);
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
