// The `hexcodes` command: declares the called command, from registry.ts, and runs it.
import { closeSync, openSync } from 'node:fs';
import { Command } from 'commander';
import {
  badUsage,
  CliFailure,
  EXIT,
  EXIT_CODES,
  tellFailure,
  watchStandardOutput,
} from '../files/exit-codes.js';
import { say, visibleMessage } from '../files/terminal/say.js';
import { VERSION } from '../hexcodes/version.js';
import { COMMANDS } from './registry.js';

/** Open files that a process needs in order not to run short. */
const MIN_FILES = 256;

/** Whether an import failed because hexcodes-server is not installed. */
function isServerMissing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_MODULE_NOT_FOUND' && /'hexcodes-server[/']/.test(message);
}

/** The failure of a command that needs the server, with the line that installs it; other errors unchanged. */
function withoutServer(error: unknown, command: string): unknown {
  if (!isServerMissing(error)) return error;
  return new CliFailure(
    EXIT.FAILED,
    `${command} needs the package hexcodes-server: npm install ./hexcodes-server-${VERSION}.tgz, of the release that this command is of`,
  );
}

/** The version, and on request the build of uWebSockets.js that would serve here, or why none does. */
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
  // tellFailure reports the error.
  .configureOutput({ writeErr: (text) => say(visibleMessage(text)), outputError: () => {} })
  .exitOverride(({ code, exitCode, message }) => {
    // Some commands show their help when called without arguments.
    if (exitCode !== 0 && code !== 'commander.help') tellFailure(usageFailure(message));
    process.exit(exitCode === 0 ? EXIT.OK : EXIT.USAGE);
  })
  .addHelpText(
    'after',
    `
Examples:
  $ hexcodes encode 21.0288,105.8525
  $ hexcodes decode HN-6GHP4-83RFR
  $ hexcodes encode shops.csv -o shops.hex.csv
  $ hexcodes inspect HN-6GHP4-83RFR

Exit codes:
${EXIT_CODES.flatMap(([code, short]) => (short === '' ? [] : `  ${code}  ${short}`)).join('\n')}

Documents: docs/command.md of the source, /docs of a running service, man hexcodes`,
  );

const called = process.argv[2] === 'help' ? process.argv[3] : process.argv[2];
// The log of `serve` has its own rules (server/observe/log.ts).
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
  // main.ts reports it.
  if (isOutOfFiles(thrown)) throw Object.assign(thrown as Error, { code: 'EMFILE' });
  const error = withoutServer(thrown, called ?? 'hexcodes');
  const failure = failureOf(error);
  for (const each of [failure, ...failure.others]) tellFailure(each);
  process.exitCode = failure.exitCode;
}

/** If the process can open hardly any files, Node reports a package that it cannot read as absent. */
function isOutOfFiles(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ERR_MODULE_NOT_FOUND') return code === 'EMFILE';
  const opened: number[] = [];
  try {
    while (opened.length < MIN_FILES) opened.push(openSync(process.execPath, 'r'));
    return false;
  } catch {
    return true;
  } finally {
    for (const file of opened) closeSync(file);
  }
}

function failureOf(error: unknown): CliFailure {
  if (error instanceof CliFailure) return error;
  return new CliFailure(EXIT.FAILED, error instanceof Error ? error.message : String(error));
}

/** `error: unknown option '--josn'`, followed by the probable option in brackets. */
function usageFailure(text: string): CliFailure {
  const [message = '', ...hints] = text
    .replace(/^error: /, '')
    .trimEnd()
    .split('\n');
  const hint = hints.map((each) => each.replace(/^\((.*)\)$/, '$1')).join(' ');
  return badUsage(message, `${hint === '' ? '' : `${hint} `}--help shows what there is.`);
}

/** Declares the called command with its options, the others by name. */
async function declareForCall(): Promise<void> {
  for (const [name, { group, summary, load }] of Object.entries(COMMANDS)) {
    program.commandsGroup(group);
    if (name === called) (await load()).default(program);
    else program.command(name).summary(summary).description(summary);
  }
  program.commandsGroup('Help:').helpCommand('help [command]', 'display help for command');
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
      whole.command(name);
    }
    const command = whole.commands.at(-1)!;
    command.summary(command.summary() || summary);
  }
  return whole.commands;
}
