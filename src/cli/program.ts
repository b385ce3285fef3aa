// The `hexcodes` command: a registry of subcommands. Each is a module of its own that is loaded only when it is called,
// so that `hexcodes keys` never loads the server. To add one: a module whose default export, `(program: Command) =>
// void`, declares the command of the same name, and a line here.
import { Command } from 'commander';
import { CliFailure, EXIT } from '../files/exit-codes.js';
import { paintFor } from '../files/terminal/paint.js';
import { say } from '../files/terminal/say.js';
import { visibleMessage } from '../files/terminal/visible.js';
import { VERSION } from '../hexcodes/version.js';
import { isServerMissing, withoutServer } from './missing-server.js';
import { watchStandardOutput } from './standard-output.js';

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<{ default: (program: Command) => void }>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  encode: {
    summary: 'positions to hexcodes: one, or files of them',
    load: () => import('./commands/encode.js'),
  },
  decode: {
    summary: 'hexcodes to positions: one, or files of them',
    load: () => import('./commands/decode.js'),
  },
  inspect: { summary: 'show what a hexcode says', load: () => import('./commands/inspect.js') },
  suggest: { summary: 'what a mistyped code was meant to be', load: () => import('./commands/suggest.js') },
  aggregate: {
    summary: 'points to one row a cell, province and time',
    load: () => import('./commands/aggregate.js'),
  },
  contains: {
    summary: 'which points lie in the cells of a list',
    load: () => import('./commands/contains.js'),
  },
  cover: { summary: 'the codes of an area', load: () => import('./commands/cover.js') },
  track: {
    summary: 'positions of vehicles to stays in cells',
    load: () => import('./commands/track.js'),
  },
  check: { summary: 'validate a column of codes', load: () => import('./commands/check.js') },
  diff: {
    summary: 'which codes change with new borders',
    load: () => import('./diff/command.js'),
  },
  provinces: {
    summary: 'list the 34 provinces and their codes',
    load: () => import('./commands/provinces.js'),
  },
  serve: { summary: 'answer encode and decode over HTTP', load: () => import('./commands/serve.js') },
  worker: {
    summary: 'convert the messages of a NATS JetStream stream',
    load: () => import('./bus/worker-command.js'),
  },
  job: {
    summary: 'convert many files on many machines',
    load: () => import('./job/job-command.js'),
  },
  usage: { summary: 'what keys have used', load: () => import('./commands/usage.js') },
  keys: { summary: 'manage API keys', load: () => import('./commands/keys.js') },
  bench: {
    summary: 'measure what this machine carries, or compare two measurements',
    load: () => import('./capacity/bench.js'),
  },
  plan: { summary: 'how many machines a fleet needs', load: () => import('./capacity/plan.js') },
  top: {
    summary: 'live rates, latencies and keys of a running service',
    load: () => import('./commands/top.js'),
  },
};

/** The version, and where it is asked for the build of uWebSockets.js that would serve here, or why none does. */
async function versionText(args: readonly string[]): Promise<string> {
  if (!args.includes('--version')) return VERSION;
  const transport = await import('../server/transport/load-uws.js')
    .then(({ loadUws }) => loadUws())
    .then(
      ({ build }) => `${build.name} ${build.version}`,
      (error: Error) =>
        `none: ${isServerMissing(error) ? 'hexcodes-server is not installed' : error.message}`,
    );
  return `${VERSION}\ntransport ${transport}`;
}

// As people try it first.
const FIRST_WORDS_FOR_VERSION = ['version', '-v', '-V'];
if (FIRST_WORDS_FOR_VERSION.includes(process.argv[2] ?? '')) process.argv[2] = '--version';

const program = new Command('hexcodes')
  .description('GPS positions in Viet Nam to short hexcodes and back')
  .version(await versionText(process.argv.slice(2)), '-V, --version')
  .showHelpAfterError('(--help shows what there is)')
  .configureOutput({ writeErr: (text) => say(visibleMessage(text)) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? EXIT.OK : EXIT.USAGE))
  .addHelpText(
    'after',
    `
Examples:
  $ hexcodes encode 21.0288,105.8525
  $ hexcodes decode HN-6GHP4-83RFR
  $ hexcodes encode shops.csv -o shops.hex.csv
  $ hexcodes inspect HN-6GHP4-83RFR`,
  );

const called = process.argv[2] === 'help' ? process.argv[3] : process.argv[2];
// The log of `serve` has rules of its own (server/log-sink.ts).
if (called !== 'serve') watchStandardOutput();
// A position south of the equator begins as options do: a blank in front makes it an argument.
if (called === 'encode')
  process.argv = process.argv.map((each) => (/^-[\d.]+\s*[,;\s]/.test(each) ? ` ${each}` : each));

try {
  await declareForCall();
  const isWord = called !== undefined && !called.startsWith('-');
  if (isWord && !program.commands.some((command) => command.name() === called)) {
    const failure = await (await import('./commands/other-command.js')).noCommand(called);
    if (failure !== null) throw failure;
  }
  await program.parseAsync();
} catch (thrown) {
  const error = withoutServer(thrown, called ?? 'hexcodes');
  // main.ts has a sentence for it.
  if ((error as NodeJS.ErrnoException).code === 'EMFILE') throw error;
  const paint = paintFor(process.stderr);
  const message = error instanceof Error ? error.message : String(error);
  say(`${paint('red', 'hexcodes:')} ${visibleMessage(message)}\n`);
  if (error instanceof CliFailure && error.hint !== undefined) say(`${visibleMessage(error.hint)}\n`);
  process.exitCode = error instanceof CliFailure ? error.exitCode : EXIT.FAILED;
}

/** The command that is called with its options, the others by name. */
async function declareForCall(): Promise<void> {
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    if (name === called) (await load()).default(program);
    else program.command(name).summary(summary).description(summary);
  }
  if (called === 'completion') {
    (await import('./commands/completion.js')).declareCompletion(program, declareAll);
  } else {
    program.command('completion').summary('shell completion for bash, zsh or fish');
  }
}

/** Every command with its options, for completion scripts. */
async function declareAll(): Promise<readonly Command[]> {
  const whole = new Command('hexcodes');
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    try {
      (await load()).default(whole);
    } catch (error) {
      if (!isServerMissing(error)) throw error;
      whole.command(name).summary(summary);
    }
  }
  return whole.commands;
}
