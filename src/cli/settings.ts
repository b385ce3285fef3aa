// Settings of config.ts as flags of a command. Flags, environment and file are read together; all faults are reported
// at once.

import type { Command } from 'commander';
import {
  type Config,
  ConfigError,
  flaglessOf,
  flagsOf,
  type ReadSettings,
  readSettings,
  type SettingName,
} from '../config/config.js';
import { EXIT, tellFailure } from '../files/exit-codes.js';

export function addFlags(command: Command, names: readonly SettingName[]): Command {
  for (const { flags, help } of flagsOf(names)) command.option(flags, help);
  for (const isSecret of [true, false]) {
    const settings = flaglessOf(names).filter((setting) => setting.isSecret === isSecret);
    const width = Math.max(...settings.map(({ variable }) => variable.length));
    const lines = settings.map(({ variable, help }) => `  ${variable.padEnd(width)}  ${help}`);
    const title = `${isSecret ? 'Secrets, f' : 'F'}rom the environment or the file only:`;
    if (lines.length > 0) command.addHelpText('after', ['', title, ...lines].join('\n'));
  }
  return command;
}

/** The settings; undefined after writing all faults to stderr and setting the exit code. */
export function settingsOf<K extends SettingName>(
  command: Command,
  names: readonly K[],
): Pick<Config, K> | undefined {
  try {
    return readAgain(command, names).config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    tellFaults(error);
    process.exitCode = EXIT.USAGE;
    return undefined;
  }
}

/**
 * Reads the settings, and may be called again: the file may have changed. Throws a ConfigError that names every
 * fault.
 */
export function readAgain<K extends SettingName>(command: Command, names: readonly K[]): ReadSettings<K> {
  return readSettings(names, command.opts(), process.env);
}

export function tellFaults(error: ConfigError): void {
  for (const message of error.faults) tellFailure({ exitCode: EXIT.USAGE, message });
}
