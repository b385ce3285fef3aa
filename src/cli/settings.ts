// Settings of config.ts as flags of a command. Flags and environment are read together; all faults are reported at once.
import type { Command } from 'commander';
import { ConfigError, flagsOf, readConfig, type ServeConfig, secretsOf } from '../config.js';
import { say } from './terminal/say.js';
import { visibleMessage } from './terminal/visible.js';

export function addFlags(command: Command, names: readonly (keyof ServeConfig)[]): Command {
  for (const { flags, help } of flagsOf(names)) command.option(flags, help);
  const secrets = secretsOf(names);
  if (secrets.length > 0) {
    const lines = secrets.map(({ variable, help }) => `  ${variable.padEnd(20)}  ${help}`);
    command.addHelpText('after', ['', 'Secrets, from the environment only:', ...lines].join('\n'));
  }
  return command;
}

/** The settings; undefined after writing all faults to stderr and setting exit code 1. */
export function settingsOf<K extends keyof ServeConfig>(
  command: Command,
  names: readonly K[],
): Pick<ServeConfig, K> | undefined {
  try {
    return readConfig(names, command.opts(), process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) say(`hexcodes: ${visibleMessage(fault)}\n`);
    process.exitCode = 1;
    return undefined;
  }
}
