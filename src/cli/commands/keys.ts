// `hexcodes keys`: makes and changes API keys in the store. A running server sees a change within a second, of a store
// that several nodes share within five. The text of a key is shown or written once; the store keeps a digest.
import type { Command } from 'commander';
import { say } from '../../files/terminal/say.js';
import { KeyChanger } from '../../server/keys/manage/key-changes.js';
import { readKeySettings } from '../../server/keys/manage/key-input.js';
import { keyJson } from '../../server/keys/manage/key-json.js';
import { addArchiving } from '../keys/archiving.js';
import { addKeyFlags, limitsJson, settingsJson } from '../keys/key-flags.js';
import { addMaking } from '../keys/making.js';
import { addStoreFlags, pepperOf, withConfig, withOrMakeStore, withStore } from '../keys/open-keys.js';
import { addShowing } from '../keys/showing.js';

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
