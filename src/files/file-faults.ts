// Faults of files as sentences: an input that is malformed at some row and column, an output that cannot be written,
// a system error in words.

import { CliFailure, EXIT } from './exit-codes.js';
import { visible } from './terminal/visible.js';

/** Where in a file something is wrong. Rows count from 1 without the header. */
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
  if (location.column !== undefined) parts.push(`column ${location.column}`);
  return new CliFailure(EXIT.BAD_INPUT, `${visible(parts.join(', '))}: ${message}`, hint);
}

/** The failure for an output that cannot be opened, written or renamed. */
export function badOutput(path: string, error: unknown): CliFailure {
  return new CliFailure(EXIT.BAD_OUTPUT, `cannot write ${visible(path)}: ${reasonOf(error)}`);
}

const ERRNO: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EEXIST: 'it is there already',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is no directory',
  ENOSPC: 'the disk is full',
  EMFILE: 'too many open files',
  EPIPE: 'its reader has closed it',
  ELOOP: 'its links lead in a circle',
  EROFS: 'the file system is read-only',
};

/** Messages of V8 where a value cannot be made, and their meaning for a file. */
const BEYOND: readonly (readonly [RegExp, string])[] = [
  [/Maximum call stack size exceeded/, 'it is nested too deeply'],
  [/Invalid string length|string longer than/, 'a text is longer than memory can hold'],
  [
    /Array buffer allocation failed|Invalid (?:typed )?array length|Map maximum size|Set maximum size/,
    'it claims more than memory can hold',
  ],
  [/outside the bounds of the DataView|Start offset -?\d+ is outside/, 'it points beyond its end'],
];

/** A system error or a limit of V8 in words; any other error as its message. */
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
