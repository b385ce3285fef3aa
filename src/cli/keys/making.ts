// `hexcodes keys create` and `rotate`: they make a text, which is shown or written once.
import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { reasonOf } from '../../files/file-faults.js';
import { say } from '../../files/terminal/say.js';
import { visible } from '../../files/terminal/visible.js';
import { parseDuration } from '../../server/keys/manage/durations.js';
import { DEFAULT_OVERLAP, NEW_KEY } from '../../server/keys/manage/key-calls.js';
import { KeyChanger, type MadeKey } from '../../server/keys/manage/key-changes.js';
import { readKeySettings } from '../../server/keys/manage/key-input.js';
import { writeNewPrivateFile } from '../../server/keys/private-files.js';
import { addKeyFlags, limitsJson, settingsJson } from './key-flags.js';
import { addStoreFlags, pepperOf, withStore } from './open-keys.js';

interface TextOptions {
  readonly out?: string;
  readonly show?: boolean;
}

export function addMaking(keys: Command): void {
  const create = keys
    .command('create')
    .description('make a key and show it once')
    .argument('[name]', 'whom the key is for')
    .option('--name <name>', 'the same as the argument');
  addKeyFlags(create);
  addTextFlags(create);
  addStoreFlags(create).action(
    (argument: string | undefined, options: TextOptions & Record<string, unknown>) => {
      refusePipe(options);
      const name = argument ?? options.name;
      if (name === undefined)
        throw new CliFailure(EXIT.USAGE, 'whom is the key for? hexcodes keys create NAME');
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
    .description('give a key a new text and show it once; the old one is let in for a while')
    .argument('<id>', 'id as listed')
    .option('--overlap <duration>', 'how long the old text is let in, as 24h, 7d or 0', DEFAULT_OVERLAP);
  addTextFlags(rotate);
  addStoreFlags(rotate).action((id: string, options: TextOptions & { overlap: string }) => {
    refusePipe(options);
    const overlapMs = parseDuration(options.overlap);
    if (overlapMs === undefined)
      throw new CliFailure(EXIT.USAGE, '--overlap must be a duration as 24h, 7d or 0');
    return withStore(rotate, async (store, config) => {
      const pepper = await pepperOf(store, config);
      const { key } = await keepingText(options, (keep) =>
        new KeyChanger(store).rotate(id, overlapMs, pepper, keep),
      );
      const until =
        key.formerUntilMs === undefined ? 'ends now' : `ends ${new Date(key.formerUntilMs).toISOString()}`;
      say(`key ${id} has a new text, which is not kept anywhere else; the one before ${until}\n`);
    });
  });
}

function addTextFlags(command: Command): void {
  command
    .option('--out <file>', 'write the key to a new file (mode 0600) instead of showing it')
    .option('--show', 'show the key even if standard output is no terminal');
}

function refusePipe({ out, show }: TextOptions): void {
  if (out === undefined && show !== true && !process.stdout.isTTY)
    throw new Error('standard output is no terminal: give --out FILE, or --show to print the key there');
}

/**
 * Writes the text before the key is stored: otherwise it could be lost. If the store then fails, there is no file.
 */
async function keepingText(
  { out }: TextOptions,
  make: (keep: (made: MadeKey) => void) => Promise<void>,
): Promise<MadeKey> {
  let made: MadeKey | undefined;
  try {
    await make((given) => {
      if (out === undefined) process.stdout.write(`${given.keyText}\n`);
      else writeKeyFile(out, given.keyText);
      made = given;
    });
  } catch (error) {
    if (made !== undefined && out !== undefined) rmSync(out, { force: true });
    throw error;
  }
  return made as unknown as MadeKey;
}

function writeKeyFile(path: string, keyText: string): void {
  try {
    writeNewPrivateFile(path, `${keyText}\n`);
  } catch (error) {
    throw new CliFailure(EXIT.FAILED, `cannot write ${path}: ${reasonOf(error)}`);
  }
}
