// `hexcodes keys`: makes, lists, enables, disables and revokes API keys in the store of the data folder. A running server sees a
// change within a second. The text of a key is shown or written once, when it is made; the store keeps a digest.
import { existsSync, rmSync } from 'node:fs';
import type { Command } from 'commander';
import type { ServeConfig } from '../../config.js';
import { folderWarning, writeNewPrivateFile } from '../../keys/private-files.js';
import { readOrMakePepper } from '../../keys/secret.js';
import { KeyStore, storeFault, storePath } from '../../keys/store.js';
import { CliFailure, EXIT } from '../exit-codes.js';
import { reasonOf } from '../file-faults.js';
import { addFlags, settingsOf } from '../settings.js';
import { say } from '../terminal/say.js';
import { visible } from '../terminal/visible.js';

const NAMES = ['dataDir', 'keyPepper'] as const;

export default function register(program: Command): void {
  const keys = program.command('keys').description('manage API keys');

  const init = keys.command('init').description('make an empty key store, as the first `serve` does');
  addFlags(init, NAMES).action(() => {
    withConfig(init, ({ dataDir, keyPepper }) => {
      const store = KeyStore.openOrMake(dataDir);
      try {
        if (keyPepper === undefined) readOrMakePepper(dataDir, store.count());
      } finally {
        store.close();
      }
      say(`the key store is ${storePath(dataDir)}\n`);
    });
  });

  const create = keys
    .command('create')
    .description('make a key and show it once')
    .requiredOption('--name <name>', 'whom the key is for')
    .option('--out <file>', 'write the key to a new file (mode 0600) instead of showing it')
    .option('--show', 'show the key even if standard output is no terminal');
  addFlags(create, NAMES).action((options: { name: string; out?: string; show?: boolean }) => {
    if (options.out === undefined && options.show !== true && !process.stdout.isTTY) {
      throw new Error('standard output is no terminal: give --out FILE, or --show to print the key there');
    }
    if (options.name.trim() === '') throw new Error('--name is empty');
    withStore(create, (store, { dataDir, keyPepper }) => {
      const pepper = keyPepper ?? readOrMakePepper(dataDir, store.count());
      let madeId = '';
      // The text is kept before the key is stored: otherwise a text could be lost. If the store then fails, there is
      // no file.
      const { out } = options;
      let isWritten = false;
      try {
        store.create(options.name, pepper, (keyText, id) => {
          madeId = id;
          if (out === undefined) process.stdout.write(`${keyText}\n`);
          else writeKeyFile(out, keyText);
          isWritten = true;
        });
      } catch (error) {
        if (isWritten && out !== undefined) rmSync(out, { force: true });
        throw error;
      }
      say(`made key ${madeId} for ${visible(options.name)}; its text is not kept anywhere else\n`);
    });
  });

  const list = keys.command('list').description('show all keys, without their texts');
  addFlags(list, NAMES).action(() => {
    withStore(list, (store) => {
      // For people; scripts get the rows alone.
      if (process.stdout.isTTY) process.stdout.write('ID\tSTATE\tMADE\tNAME\n');
      for (const { id, state, createdMs, name } of store.list()) {
        process.stdout.write(`${id}\t${state}\t${new Date(createdMs).toISOString()}\t${visible(name)}\n`);
      }
    });
  });

  for (const [verb, state, help] of [
    ['enable', 'active', 'let a disabled key in again'],
    ['disable', 'disabled', 'refuse a key with 403 until further notice'],
    ['revoke', 'revoked', 'refuse a key for good, as if it had never been'],
  ] as const) {
    const change = keys.command(verb).description(help).argument('<id>', 'id as listed');
    addFlags(change, NAMES).action((id: string) => {
      withStore(change, (store) => {
        if (!store.setState(id, state)) throw new Error(`there is no key ${id} that could be ${state}`);
        say(`key ${id} is ${state}\n`);
      });
    });
  }
}

function writeKeyFile(path: string, keyText: string): void {
  try {
    writeNewPrivateFile(path, `${keyText}\n`);
  } catch (error) {
    throw new CliFailure(EXIT.FAILED, `cannot write ${path}: ${reasonOf(error)}`);
  }
}

type Config = Pick<ServeConfig, (typeof NAMES)[number]>;

/** Opens the store that is there; only `serve` and `keys init` make one. */
function withStore(command: Command, work: (store: KeyStore, config: Config) => void): void {
  withConfig(command, (config) => {
    const { dataDir } = config;
    if (!existsSync(storePath(dataDir))) {
      const hint = 'give the folder of the server with --data-dir, or make a store with `hexcodes keys init`';
      throw new CliFailure(EXIT.FAILED, `there is no key store in ${dataDir}`, hint);
    }
    const store = KeyStore.open(dataDir);
    try {
      work(store, config);
    } finally {
      store.close();
    }
  });
}

function withConfig(command: Command, work: (config: Config) => void): void {
  const config = settingsOf(command, NAMES);
  if (config === undefined) return;
  try {
    work(config);
    const warning = folderWarning(config.dataDir);
    if (warning !== undefined) say(`hexcodes: ${warning}\n`);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure(EXIT.FAILED, storeFault(config.dataDir, error));
  }
}
