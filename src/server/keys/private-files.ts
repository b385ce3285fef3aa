// The data folder and the small files in it, readable by their owner only. A file is written beside its place and then
// put there whole: a full disk or a crash leaves either the old state or the new one, never an empty file.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';

const OTHERS_MAY_WRITE = 0o022;

/** The data folder, made if it is not there, readable by its owner only. */
export function ensureDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
}

/** A sentence if other users can replace the files of the folder; undefined otherwise. */
export function folderWarning(dataDir: string): string | undefined {
  const mode = statSync(dataDir, { throwIfNoEntry: false })?.mode ?? 0;
  if (process.platform === 'win32' || (mode & OTHERS_MAY_WRITE) === 0) return undefined;
  const digits = (mode & 0o777).toString(8).padStart(4, '0');
  return `other users can write to the data folder ${dataDir} (mode ${digits}) and so replace its keys: chmod 700 it`;
}

/** Writes a file in place of what stood there before. */
export function replacePrivateFile(path: string, text: string): void {
  withFileBeside(path, text, (beside) => renameSync(beside, path));
}

/** Writes a new file. Throws EEXIST if there is one; of several callers at once exactly one succeeds. */
export function writeNewPrivateFile(path: string, text: string): void {
  withFileBeside(path, text, (beside) => linkSync(beside, path));
}

function withFileBeside(path: string, text: string, moveOver: (beside: string) => void): void {
  const beside = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const fd = openSync(beside, 'wx', 0o600);
  try {
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    moveOver(beside);
  } finally {
    rmSync(beside, { force: true });
  }
}
