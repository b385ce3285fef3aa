// `hexcodes serve`: runs the service, in this process or in several under this one; or checks its configuration
// (--check-config), or prints it (--print-config).
import type { Command } from 'commander';
import { ConfigError, SETTING_NAMES } from '../../config/config.js';
import { EXIT, watchStandardOutput } from '../../files/exit-codes.js';
import { readServedData } from '../../files/library.js';
import { say, visible } from '../../files/terminal/say.js';
import { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { addFlags, readAgain, settingsOf, tellFaults } from '../settings.js';

interface Options {
  readonly checkConfig?: true;
  readonly printConfig?: true;
}

export default function register(program: Command): void {
  const command = program.command('serve').description('answer encode and decode over HTTP');
  addFlags(command, SETTING_NAMES);
  command.option('--check-config', 'say whether the configuration can be used, and end (exit code 0 or 2)');
  command.option('--print-config', 'print every setting and where it is from, secrets masked, and end');
  command.action(async (options: Options) => {
    if (options.checkConfig || options.printConfig) {
      watchStandardOutput();
      process.exitCode = await examine(command, options);
      return;
    }
    const config = settingsOf(command, SETTING_NAMES);
    if (config === undefined) return;
    const { processes } = config;
    if (processes === undefined) await (await import('../serve/alone.js')).serveAlone(config);
    else {
      const { serveSupervised } = await import('../serve/supervised.js');
      await serveSupervised({ ...config, processes }, () => readAgain(command, SETTING_NAMES).config);
    }
  });
}

/** Opens no port and leaves no file behind. @returns the exit code */
async function examine(command: Command, { checkConfig, printConfig }: Options): Promise<number> {
  try {
    const { config, shown } = readAgain(command, SETTING_NAMES);
    if (printConfig) for (const line of shown) process.stdout.write(`${visible(line)}\n`);
    if (checkConfig) {
      const files = await readServedData(config);
      await Hexcodes.from(files);
      if (files.previousIndex !== undefined) await Hexcodes.from({ ...files, index: files.previousIndex });
      const { openBasemap } = await import('../../server/routes/basemap-archive.js');
      await (await openBasemap(config))?.close();
      await (await import('../../server/transport/load-uws.js')).loadUws(config.uws);
      await (await import('../../server/lifecycle/examine.js')).examineFiles(config);
      say('the configuration can be used\n');
    }
    return EXIT.OK;
  } catch (error) {
    if (error instanceof ConfigError) tellFaults(error);
    else say(`hexcodes: ${visible(error instanceof Error ? error.message : String(error))}\n`);
    return EXIT.USAGE;
  }
}
