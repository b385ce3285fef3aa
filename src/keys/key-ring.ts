// The keys as requests see them, in memory. A text that is let in is hashed once and remembered until anything changes;
// every other text, missing, unknown or revoked alike, takes the whole path of hash and comparison each time.
import { timingSafeEqual } from 'node:crypto';
import { digestOf } from './secret.js';

export type KeyState = 'active' | 'disabled' | 'revoked';

export interface KeyInfo {
  readonly id: string;
  readonly name: string;
}

export interface StoredKey extends KeyInfo {
  readonly digestHex: string;
  readonly state: KeyState;
}

export type KeyVerdict =
  | { readonly kind: 'allowed'; readonly key: KeyInfo }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'denied' };

const DENIED: KeyVerdict = { kind: 'denied' };
const DISABLED: KeyVerdict = { kind: 'disabled' };

/** Texts remembered; beyond it all are forgotten at once. */
const REMEMBERED_LIMIT = 10_000;

export class KeyRing {
  /** By digest. What an attacker can choose reaches it only through the pepper, so its timing tells nothing. */
  #keys = new Map<string, StoredKey>();
  #activeIds = new Set<string>();
  readonly #allowed = new Map<string, KeyVerdict>();
  readonly #nobody: Buffer;

  constructor(private readonly pepper: string) {
    this.#nobody = digestOf('', pepper);
  }

  /** Takes the place of all keys known so far. */
  replace(keys: Iterable<StoredKey>): void {
    this.#keys = new Map([...keys].map((key) => [key.digestHex, key]));
    this.#activeIds = new Set([...this.#keys.values()].filter((k) => k.state === 'active').map((k) => k.id));
    this.#allowed.clear();
  }

  /** Whether a key that was let in before may go on. */
  isActive(keyId: string): boolean {
    return this.#activeIds.has(keyId);
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Judges the text a request presents, '' if it presents none. */
  check(presented: string): KeyVerdict {
    return this.#allowed.get(presented) ?? this.#checkByDigest(presented);
  }

  #checkByDigest(presented: string): KeyVerdict {
    const digest = digestOf(presented, this.pepper);
    const found = this.#keys.get(digest.toString('hex'));
    const known = found === undefined ? this.#nobody : Buffer.from(found.digestHex, 'hex');
    const equal = timingSafeEqual(digest, known);
    if (found === undefined || !equal || found.state === 'revoked') return DENIED;
    if (found.state === 'disabled') return DISABLED;
    const verdict: KeyVerdict = { kind: 'allowed', key: found };
    if (this.#allowed.size >= REMEMBERED_LIMIT) this.#allowed.clear();
    // A copy: a text cut from a request would keep the whole request in memory.
    this.#allowed.set(Buffer.from(presented).toString(), verdict);
    return verdict;
  }
}
