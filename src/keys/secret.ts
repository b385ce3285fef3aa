// Key texts and what is kept of them: an HMAC-SHA-256 under a pepper that lives outside the store, so that a stolen
// store alone opens nothing. Texts have 256 random bits; no slow hash is needed to guard them.
import { createHmac, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A new key text: letters, digits, `-` and `_`, so that it needs no escape in a URL or a shell. */
export function makeKeyText(): string {
  return `hxk_${randomBytes(32).toString('base64url')}`;
}

export function digestOf(keyText: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(keyText, 'utf8').digest();
}

/** The data folder, made if it is not there, readable by its owner only. */
export function ensureDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
}

/** The pepper kept in the data folder; the first caller makes it, and of several at once exactly one. */
export function readOrMakePepper(dataDir: string): string {
  ensureDataDir(dataDir);
  const path = join(dataDir, 'pepper');
  try {
    writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const pepper = readFileSync(path, 'utf8').trim();
  if (pepper.length < 32) throw new Error(`${path} holds no pepper of at least 32 characters`);
  return pepper;
}

/** Writes a file that only its owner can read, whatever stood there before. */
export function writePrivateFile(path: string, text: string, flag: 'w' | 'wx'): void {
  writeFileSync(path, text, { flag, mode: 0o600 });
  chmodSync(path, 0o600);
}
