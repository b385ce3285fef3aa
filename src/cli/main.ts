#!/usr/bin/env node
// The `hexcodes` command: a registry of subcommands. Each lives in its own module, which is loaded only when it is
// called, so that `hexcodes keys` never loads the server and `hexcodes --help` loads nothing. To add one: a module
// with a default export `(program: Command) => void` that declares the command of the same name, and a line here.
import { Command } from 'commander';
import { VERSION } from '../version.js';

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<{ default: (program: Command) => void }>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: { summary: 'answer encode and decode over HTTP', load: () => import('./serve.js') },
  keys: { summary: 'manage API keys', load: () => import('./keys.js') },
};

const program = new Command('hexcodes')
  .description('GPS positions in Viet Nam to short hexcodes and back')
  .version(VERSION)
  .showHelpAfterError();

const called = process.argv[2] === 'help' ? process.argv[3] : process.argv[2];
for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
  if (name === called) (await load()).default(program);
  else program.command(name).summary(summary).description(summary);
}

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`hexcodes: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
