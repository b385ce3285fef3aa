// The exit codes of the command, and the one error that carries them. docs/command.md lists them for users.

export const EXIT = {
  /** Done. Failed rows, if there were any, were treated as `--errors` says. */
  OK: 0,
  /** The position or code given failed, `check` found invalid codes, or `--errors stop` met a failed row. */
  FAILED: 1,
  /** The command line itself is wrong. */
  USAGE: 2,
  /** An input cannot be read, or is not what its format says. */
  BAD_INPUT: 3,
  /** The output cannot be written. */
  BAD_OUTPUT: 4,
  /** Ctrl-C or SIGTERM, as shells count them. */
  INTERRUPTED: 130,
  TERMINATED: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with one sentence for the user and an exit code; never a stack. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    /** What the user can do about it, on a line of its own. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** Where in a file something is wrong. Rows count from 1 without the header; a name stands for stdin too. */
export interface Place {
  readonly file: string;
  readonly row?: number | undefined;
  readonly column?: string | undefined;
}

/** A malformed input: the message starts with file, row and column as far as they are known. */
export function badInput(place: Place, message: string, hint?: string): CliFailure {
  const parts = [place.file];
  if (place.row !== undefined) parts.push(`row ${place.row}`);
  if (place.column !== undefined) parts.push(`column ${place.column}`);
  return new CliFailure(EXIT.BAD_INPUT, `${parts.join(', ')}: ${message}`, hint);
}

/** Turns a failed write into a sentence. */
export function badOutput(path: string, error: unknown): CliFailure {
  return new CliFailure(EXIT.BAD_OUTPUT, `cannot write ${path}: ${reasonOf(error)}`);
}

const ERRNO: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is no directory',
  ENOSPC: 'the disk is full',
  EMFILE: 'too many open files',
  EROFS: 'the file system is read-only',
};

/** A system error as words, any other error as its message. */
export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return (
    (code === undefined ? undefined : ERRNO[code]) ?? (error instanceof Error ? error.message : String(error))
  );
}
