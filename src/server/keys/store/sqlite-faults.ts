// Faults of the embedded store, as sentences for people.
import { join } from 'node:path';

const SENTENCES: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'is damaged, or no key store',
  SQLITE_CORRUPT: 'is damaged',
  SQLITE_ERROR: 'is damaged, or no key store',
  SQLITE_FULL: 'cannot be written: the disk is full',
  SQLITE_READONLY: 'cannot be written: it is read-only',
  SQLITE_CANTOPEN: 'cannot be opened',
  SQLITE_BUSY: 'is locked by another process',
  SQLITE_IOERR: 'cannot be read or written: the disk reports an error, or is full',
};

/** Words for errors of the file system. */
const FOLDER_FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'cannot be made or written to: permission denied',
  EPERM: 'cannot be made or written to: permission denied',
  EROFS: 'cannot be made or written to: the disk is read-only',
  EEXIST: 'is a file, not a folder',
  ENOTDIR: 'lies below a file, not a folder',
};

/** Fault for an error of libsql or of the file system. */
export function sqliteFault(dataDir: string, error: unknown): string {
  const path = join(dataDir, 'keys.db');
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === 'ENOENT') return `${path} is not there`;
  const folderFault = FOLDER_FAULTS[String(code)];
  if (folderFault !== undefined) return `the data folder ${dataDir} ${folderFault}`;
  if (code === 'ENOSPC') return `the disk of ${dataDir} is full`;
  const kind = /^SQLITE_(?:IOERR|[A-Z]+)/.exec(String(code))?.[0] ?? '';
  const sentence = SENTENCES[kind];
  if (sentence === undefined) return typeof message === 'string' ? message : String(error);
  return `${path} ${sentence} (${message})`;
}

/** The file is no store, or a damaged one. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(NOTADB|CORRUPT|ERROR)/.test(String((error as { code?: unknown }).code));
}
