// Faults of the embedded store of usage, as sentences for people.
import { usagePath } from './sqlite-usage.js';

const SENTENCES: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'is damaged, or no store of usage',
  SQLITE_ERROR: 'is damaged, or no store of usage',
  SQLITE_CORRUPT: 'is damaged',
  SQLITE_FULL: 'cannot be written: the disk is full',
  SQLITE_READONLY: 'cannot be written: it is read-only',
  SQLITE_CANTOPEN: 'cannot be opened',
  SQLITE_BUSY: 'is locked by another process',
  SQLITE_IOERR: 'cannot be read or written: the disk reports an error, or is full',
  ENOSPC: 'cannot be written: the disk is full',
  EACCES: 'cannot be made or written to: permission denied',
  EPERM: 'cannot be made or written to: permission denied',
  EROFS: 'cannot be written: the disk is read-only',
  EEXIST: 'cannot be made: the data folder is a file',
  ENOTDIR: 'cannot be made: the data folder lies below a file',
};

export function sqliteUsageFault(dataDir: string, error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const kind = /^SQLITE_(?:IOERR|[A-Z]+)/.exec(String(code))?.[0] ?? String(code);
  const sentence = SENTENCES[kind];
  if (sentence === undefined) return typeof message === 'string' ? message : String(error);
  return `${usagePath(dataDir)} ${sentence}`;
}
