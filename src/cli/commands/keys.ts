// `hexcodes keys`: makes, lists, disables and revokes API keys in the store of the data folder. A running server sees a
// change within a second. The text of a key is shown or written once, when it is made; the store keeps a digest.
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { readOrMakePepper } from '../../keys/secret.js';
import { KeyStore } from '../../keys/store.js';
import { addFlags, settingsOf } from '../settings.js';

const NAMES = ['dataDir', 'keyPepper'] as const;

export default function register(program: Command): void {
  const keys = program.command('keys').description('manage API keys');

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
    withStore(create, (store) => {
      // The file comes first: without it the text of a key that is made would be lost.
      if (options.out !== undefined) writeFileSync(options.out, '', { flag: 'wx', mode: 0o600 });
      const { id, keyText } = store.create(options.name);
      if (options.out === undefined) process.stdout.write(`${keyText}\n`);
      else writeFileSync(options.out, `${keyText}\n`);
      process.stderr.write(`made key ${id} for ${options.name}; its text is not kept anywhere else\n`);
    });
  });

  const list = keys.command('list').description('show all keys, without their texts');
  addFlags(list, NAMES).action(() => {
    withStore(list, (store) => {
      for (const { id, state, createdMs, name } of store.list()) {
        process.stdout.write(`${id}\t${state}\t${new Date(createdMs).toISOString()}\t${name}\n`);
      }
    });
  });

  for (const [verb, state, help] of [
    ['disable', 'disabled', 'refuse a key with 403 until further notice'],
    ['revoke', 'revoked', 'refuse a key for good, as if it had never been'],
  ] as const) {
    const change = keys.command(verb).description(help).argument('<id>', 'id as listed');
    addFlags(change, NAMES).action((id: string) => {
      withStore(change, (store) => {
        if (!store.setState(id, state)) throw new Error(`there is no key ${id} that could be ${state}`);
        process.stderr.write(`key ${id} is ${state}\n`);
      });
    });
  }
}

function withStore(command: Command, work: (store: KeyStore) => void): void {
  const config = settingsOf(command, NAMES);
  if (config === undefined) return;
  const store = new KeyStore(config.dataDir, config.keyPepper ?? readOrMakePepper(config.dataDir));
  try {
    work(store);
  } finally {
    store.close();
  }
}
