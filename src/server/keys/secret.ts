// Secrets of keys and their stored form: an HMAC-SHA-256 under a pepper that lives outside the store, so that a
// stolen store alone opens nothing. Secrets have 256 random bits; they need no slow hash.

import { createHmac, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

// The data folder and the small files in it, readable by their owner only. A file is written beside its final path
// and renamed when complete: a full disk or a crash leaves either the old state or the new one, never an empty file.

const OTHERS_MAY_WRITE = 0o022;

/**
 * The data folder, made if it is not there, readable by its owner only. Node's own `recursive` tries without end where
 * a folder of the system takes no others, as /proc.
 * @returns the folders that were made, the outer ones first
 */
export function ensureDataDir(dataDir: string): string[] {
  if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory()) return [];
  const outer = dirname(dataDir);
  const made = outer === dataDir ? [] : ensureDataDir(outer);
  try {
    mkdirSync(dataDir, 0o700);
  } catch (error) {
    const isThere = statSync(dataDir, { throwIfNoEntry: false })?.isDirectory();
    // Another process was faster.
    if (isThere) return made;
    throw error;
  }
  return [...made, dataDir];
}

/** A sentence if other users can replace the files of the folder; undefined otherwise. */
export function folderWarning(dataDir: string): string | undefined {
  const mode = existsSync(dataDir) ? statSync(dataDir).mode : 0;
  if (process.platform === 'win32' || (mode & OTHERS_MAY_WRITE) === 0) return undefined;
  const digits = (mode & 0o777).toString(8).padStart(4, '0');
  return `other users can write to the data folder ${dataDir} (mode ${digits}) and so replace its keys: chmod 700 it`;
}

/** Writes a file in place of an existing one. */
export function replacePrivateFile(path: string, text: string): void {
  withFileBeside(path, text, (beside) => renameSync(beside, path));
}

/** Writes a new file. Throws EEXIST if there is one; of several concurrent callers exactly one succeeds. */
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

const MIN_PEPPER_LENGTH = 32;

/** A new secret: letters, digits, `-` and `_`, so that it needs no escape in a URL or a shell. */
export function makeKeyText(): string {
  return `hxk_${randomBytes(32).toString('base64url')}`;
}

export function digestOf(keyText: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(keyText, 'utf8').digest();
}

/** Distinguishes peppers without revealing them; stored with the keys that are hashed under it. */
export function pepperCheckOf(pepper: string): string {
  return digestOf('which pepper is this', pepper).toString('hex');
}

/**
 * The pepper kept in the data folder: undefined or '' where one is to be made.
 * @param storedKeys the number of keys in the store; with any, a lost pepper is never replaced
 * @param address of the store, for people
 * @throws Error with a sentence for people
 */
export function keptPepper(dataDir: string, storedKeys: number, address: string): string | undefined {
  const path = join(dataDir, 'pepper');
  const found = readPepper(dataDir);
  if (!found && storedKeys > 0) {
    throw new Error(
      `${path} is ${found === '' ? 'empty' : 'missing'}, and without it the ${storedKeys} keys of ${address} are lost: restore pepper from the backup that the keys belong to, or set HEXCODES_KEY_PEPPER`,
    );
  }
  return found;
}

/** The pepper of the data folder, made where there is none; of several callers at once exactly one makes it. */
export function readOrMakePepper(dataDir: string, storedKeys: number, address: string): string {
  const path = join(dataDir, 'pepper');
  const found = keptPepper(dataDir, storedKeys, address);
  if (found) return found;
  const text = `${randomBytes(32).toString('hex')}\n`;
  if (found === '') replacePrivateFile(path, text);
  else {
    try {
      writeNewPrivateFile(path, text);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return readPepper(dataDir) as string;
}

/** Whether the file in the data folder could hold it. */
export const isFilePepper = (pepper: string): boolean =>
  pepper === pepper.trim() && pepper.length >= MIN_PEPPER_LENGTH;

export function replacePepper(dataDir: string, pepper: string): void {
  replacePrivateFile(join(dataDir, 'pepper'), `${pepper}\n`);
}

/** The pepper of the data folder: undefined if there is no file, '' if it is empty. */
export function readPepper(dataDir: string): string | undefined {
  const path = join(dataDir, 'pepper');
  let pepper: string;
  try {
    pepper = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if (pepper !== '' && pepper.length < MIN_PEPPER_LENGTH) {
    throw new Error(`${path} holds no pepper of at least ${MIN_PEPPER_LENGTH} characters`);
  }
  return pepper;
}
