// Key texts and what is kept of them: an HMAC-SHA-256 under a pepper that lives outside the store, so that a stolen
// store alone opens nothing. Texts have 256 random bits; no slow hash is needed to guard them.
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replacePrivateFile, writeNewPrivateFile } from './private-files.js';

const MIN_PEPPER_LENGTH = 32;

/** A new key text: letters, digits, `-` and `_`, so that it needs no escape in a URL or a shell. */
export function makeKeyText(): string {
  return `hxk_${randomBytes(32).toString('base64url')}`;
}

export function digestOf(keyText: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(keyText, 'utf8').digest();
}

/** Tells one pepper from another without saying anything about it; kept with the keys that are hashed under it. */
export function pepperCheckOf(pepper: string): string {
  return digestOf('which pepper is this', pepper).toString('hex');
}

/**
 * The pepper kept in the data folder. If there is none, or an empty file, one is made; of several callers at once
 * exactly one makes it.
 *
 * @param storedKeys the number of keys in the store; with any, a lost pepper is never replaced
 * @param address of the store, for people
 * @throws Error with a sentence for people
 */
export function readOrMakePepper(dataDir: string, storedKeys: number, address: string): string {
  const path = join(dataDir, 'pepper');
  const found = readPepper(dataDir);
  if (found) return found;
  if (storedKeys > 0) {
    throw new Error(
      `${path} is ${found === '' ? 'empty' : 'missing'}, and without it the ${storedKeys} keys of ${address} are lost: restore pepper from the backup that the keys belong to, or set HEXCODES_KEY_PEPPER`,
    );
  }
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
