// The exit codes of the command, which docs/reference/command.md lists, the one error that carries them, and faults of
// files as sentences: an input that is malformed at some row and column, an output that cannot be written, a system
// error.

import { paintFor, say, shellWord, visible, visibleMessage } from './terminal/say.js';

/** Location of a fault in a file. Rows count from 1 without the header. */
export interface FaultLocation {
  /** The path as given, or `(stdin)`. */
  readonly file: string;
  readonly row?: number | undefined;
  readonly column?: string | undefined;
}

/** A malformed input: the message starts with file, row and column as far as they are known. */
export function badInput(location: FaultLocation, message: string, hint?: string): CliFailure {
  const parts = [location.file];
  if (location.row !== undefined) parts.push(`row ${location.row}`);
  if (location.column !== undefined) parts.push(`column ${location.column || '""'}`);
  return new CliFailure(EXIT.BAD_INPUT, `${visible(parts.join(', '))}: ${message}`, hint);
}

/** Options or arguments that are invalid. */
export const badUsage = (message: string, hint?: string): CliFailure =>
  new CliFailure(EXIT.USAGE, message, hint);

/** A whole number in plain digits. @throws CliFailure USAGE for any other text, whatever `Number` makes of it */
export function requireCount(name: string, text: string, least: number, most: number, unit = ''): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw badUsage(`${name} ${text}: must be a whole number${unit} from ${least} to ${most}`);
}

export const emptyName = (): CliFailure =>
  badUsage('the name of a file is empty', 'Perhaps a variable of the shell has no value.');

/** The fault of a file with a schema that is empty. */
export const NO_COLUMNS = 'it has no columns';

/** The failure for concatenated files with a footer: the last footer describes only the last file. */
export const joinedFiles = (file: string): CliFailure =>
  badInput(
    { file },
    'it is several files, one after the other',
    'Name each of them: they become one output.',
  );

/** The failure for data that break in the middle of a file; a failure with more detail stays unchanged. */
export function brokenAt(location: FaultLocation, error: unknown): CliFailure {
  if (error instanceof CliFailure) return error;
  return badInput(location, `cannot be read from here on (${reasonOf(error)})`);
}

/** The failure for an output that cannot be opened, written or renamed. */
export function badOutput(path: string, error: unknown, hint = pipeFor(path, 'to')): CliFailure {
  return new CliFailure(EXIT.BAD_OUTPUT, `cannot write ${visible(path)}: ${reasonOf(error)}`, hint);
}

/** The failure for an input that cannot be opened or read. */
export function unreadable(path: string, error: unknown): CliFailure {
  const message = `cannot read ${visible(path)}: ${reasonOf(error)}`;
  return new CliFailure(EXIT.BAD_INPUT, message, pipeFor(path, 'from'));
}

/** Programs that read and write what an address names, by its scheme. */
const PROGRAMS: Readonly<Record<string, Readonly<Record<'from' | 'to', string>>>> = {
  s3: { from: 'aws s3 cp ADDRESS -', to: 'aws s3 cp - ADDRESS' },
  gs: { from: 'gcloud storage cat ADDRESS', to: 'gcloud storage cp - ADDRESS' },
  http: { from: 'curl -fsSL ADDRESS', to: 'curl -fsSL -T - ADDRESS' },
};

/** A hint for an address in place of a path: programs that read and write it, by a pipe. */
function pipeFor(path: string, way: 'from' | 'to'): string | undefined {
  const [, scheme = ''] = /^(\w+):\/\//.exec(path) ?? [];
  const line = PROGRAMS[scheme.toLowerCase().replace('https', 'http')]?.[way];
  if (line === undefined) return undefined;
  const program = line.replace('ADDRESS', () => shellWord(path));
  return way === 'from'
    ? `Read it by a pipe: ${program} | hexcodes …`
    : `Write it by a pipe: hexcodes … | ${program}`;
}

const ERRNO: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EEXIST: 'it is there already',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
  ENOSPC: 'the disk is full',
  EFBIG: 'the file system, or a limit (ulimit -f), allows no larger file',
  EMFILE: 'too many open files',
  EPIPE: 'its reader has closed it',
  ELOOP: 'its links lead in a circle',
  EROFS: 'the file system is read-only',
};

/** Messages of V8 where a value cannot be allocated, and their meaning for a file. */
const BEYOND: readonly (readonly [RegExp, string])[] = [
  [/Maximum call stack size exceeded/, 'it is nested too deeply'],
  [/Invalid string length|string longer than/, 'a text is longer than memory can hold'],
  [
    /Array buffer allocation failed|Invalid (?:typed )?array length|Map maximum size|Set maximum size/,
    'it claims more than memory can hold',
  ],
  [/outside the bounds of the DataView|Start offset -?\d+ is outside/, 'it points beyond its end'],
];

/** A sentence for a system error or a limit of V8; any other error's message. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error) {
    const beyond = BEYOND.find(([pattern]) => pattern.test(error.message));
    if (beyond !== undefined) return beyond[1];
  }
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return (
    (code === undefined ? undefined : ERRNO[code]) ?? (error instanceof Error ? error.message : String(error))
  );
}

export const EXIT = {
  OK: 0,
  FAILED: 1,
  USAGE: 2,
  BAD_INPUT: 3,
  BAD_OUTPUT: 4,
  TOO_NOISY: 5,
  /** Exit code after Ctrl-C or SIGTERM, as in shells. */
  INTERRUPTED: 130,
  TERMINATED: 143,
} as const;

/** The meaning of each exit code: for the help, and for docs/reference/command.md. */
export const EXIT_CODES: readonly (readonly [code: number, short: string, whole: string])[] = [
  [
    EXIT.OK,
    'done; failed rows are as --errors says',
    'done; if some rows failed, `--errors` decided about them',
  ],
  [
    EXIT.FAILED,
    'the position or code failed, or every row',
    'the position or code on the command line failed; every row of the files failed, though the output is written; `check` found invalid codes or rows of another length; `diff` found a code that changes; `--errors stop` met a failed row; `suggest`, `aggregate`, `track` or `cover` found nothing; there is no key store, or no usage; `serve` could not start, as where its port is in use',
  ],
  [EXIT.USAGE, 'the command line or a setting is wrong', 'the command line, or a setting, is wrong'],
  [
    EXIT.BAD_INPUT,
    'an input cannot be read, or is malformed',
    'an input cannot be read, or is malformed; `bench --compare`: the two files have no figure in common',
  ],
  [EXIT.BAD_OUTPUT, 'the output cannot be written', 'the output cannot be written'],
  [
    EXIT.TOO_NOISY,
    'bench, plan: the machine was too noisy',
    '`bench`: the machine was too noisy for figures of tails, all others are in the results; `plan`: the results are of a noisy machine',
  ],
  [EXIT.INTERRUPTED, '', 'stopped by Ctrl-C'],
  [EXIT.TERMINATED, '', 'stopped by SIGTERM'],
];

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with one sentence for the user and an exit code; no stack is printed. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    /** The remedy for the user, printed on a line of its own. */
    readonly hint?: string,
    /** Other failures of the same call. */
    readonly others: readonly CliFailure[] = [],
  ) {
    super(message);
  }
}

/** Whether the caller reads JSON. `bench --json FILE` names a file. */
function isJsonAsked(): boolean {
  const [command, ...args] = process.argv.slice(2);
  const end = args.indexOf('--');
  return command !== 'bench' && args.slice(0, end < 0 ? args.length : end).includes('--json');
}

/** Writes a failure to standard error: a sentence and its hint, or a line of JSON where `--json` is requested. */
export function tellFailure({
  exitCode,
  message,
  hint,
}: Pick<CliFailure, 'exitCode' | 'message' | 'hint'>): void {
  const [said, remedy] = [visibleMessage(message), hint === undefined ? null : visibleMessage(hint)];
  if (isJsonAsked()) {
    const [name = ''] = Object.entries(EXIT).find(([, code]) => code === exitCode) ?? [];
    const error = { code: name.toLowerCase(), message: said, hint: remedy, exit_code: exitCode };
    say(`${JSON.stringify({ error })}\n`);
    return;
  }
  say(`${paintFor(process.stderr)('red', 'hexcodes:')} ${said}\n`);
  if (remedy !== null) say(`${remedy}\n`);
}

/**
 * Ends the command with a sentence where standard output cannot be written. A closed reader (`| head`) is not a
 * failure: the exit code stays unchanged.
 */
export function watchStandardOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    say(`hexcodes: ${badOutput('standard output', error).message}\n`);
    process.exit(EXIT.BAD_OUTPUT);
  });
}
