// The keys of requests, in memory. An accepted secret is hashed once and cached until any key changes or expires;
// every other text, missing, unknown, expired or revoked alike, takes the full path of hash and comparison.
import { timingSafeEqual } from 'node:crypto';
import { boundFault, type KeyInfo, keyInfoOf, SCOPE_BITS, type Scope, type StoredKey } from './key-record.js';
import { digestOf } from './secret.js';

/** Where a request came from. */
interface WorkSource {
  /** Its Origin header, '' if there was none. */
  readonly origin: string;
  /** Address of the client, in canonical form; '' if it is not known. */
  readonly address: string;
}

export interface KeyFault {
  readonly status: 401 | 403;
  readonly message: string;
}

const NO_LONGER_VALID: KeyFault = { status: 401, message: 'the key is no longer valid' };

/**
 * Long work, such as a stream, a bulk body or a batch: whether its key would still be accepted. After a change of the
 * key, the request is checked again as if it came now, from the same origin and address.
 */
export class OpenWork {
  /** The key at the last successful check. */
  #judged: KeyInfo;

  /** @param key that admitted the request */
  constructor(
    private readonly ring: KeyRing,
    private readonly key: KeyInfo,
    private readonly scope: Scope | undefined,
    private readonly source: WorkSource,
  ) {
    this.#judged = key;
  }

  /** Why the work must end; undefined if it may continue. Cheap unless the key has changed. */
  get fault(): KeyFault | undefined {
    const now = this.ring.current(this.key, this.scope);
    if (now === undefined) return NO_LONGER_VALID;
    if (now === this.#judged) return undefined;
    const message = now.isBound ? boundFault(now, this.source.origin, this.source.address) : undefined;
    if (message !== undefined) return { status: 403, message };
    this.#judged = now;
    return undefined;
  }
}

export type KeyVerdict =
  | { readonly kind: 'allowed'; readonly key: KeyInfo }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'denied' };

const DENIED: KeyVerdict = { kind: 'denied' };
const DISABLED: KeyVerdict = { kind: 'disabled' };

/** Replaced by tests, which count the calls. */
export interface KeyHashing {
  readonly digestOf: (keyText: string, pepper: string) => Buffer;
  readonly isEqual: (a: Buffer, b: Buffer) => boolean;
}

/** One secret of a key. */
class Credential {
  /** Whether a request has presented it since the last takeUses(). */
  isUsed = false;
  /** The cached secret; undefined until a request has presented it. */
  text: string | undefined;
  #verdict: { readonly kind: 'allowed'; readonly key: KeyInfo } | undefined;

  constructor(
    readonly of: StoredKey,
    readonly digestHex: string,
    readonly generation: number,
    /** When the secret expires, even if the key lasts; infinite for the newest one. */
    readonly endsMs: number,
    /** The previous secret. */
    readonly previous: Credential | undefined,
  ) {}

  get verdict(): { readonly kind: 'allowed'; readonly key: KeyInfo } {
    this.#verdict ??= { kind: 'allowed', key: keyInfoOf(this.of, this.generation) };
    return this.#verdict;
  }

  /** When the secret or its key expires. */
  get endMs(): number {
    return Math.min(this.endsMs, this.of.expiresMs ?? Number.POSITIVE_INFINITY);
  }
}

/** Ids of keys that have changed; undefined: time has passed, and any may have changed. */
type Changed = ReadonlySet<string> | undefined;

export class KeyRing {
  /** Credentials by digest. Attackers reach this map only through the pepper, so its timing reveals nothing. */
  readonly #byDigest = new Map<string, Credential>();
  /** The newest credential of each key by its id. */
  readonly #byId = new Map<string, Credential>();
  /** Credentials by secret, for those that requests have presented. */
  readonly #allowed = new Map<string, Credential>();
  /** Credentials with an end. */
  readonly #ending = new Set<Credential>();
  readonly #listeners: ((changed: Changed) => void)[] = [];
  readonly #nobody: Buffer;
  #used: Credential[] = [];
  /** When the next text or key ends. */
  #nextEndMs = Number.POSITIVE_INFINITY;
  #lastTickMs = 0;

  constructor(
    private readonly pepper: string,
    private readonly hashing: KeyHashing = { digestOf, isEqual: timingSafeEqual },
  ) {
    this.#nobody = digestOf('', pepper);
  }

  digestOf(keyText: string): Buffer {
    return this.hashing.digestOf(keyText, this.pepper);
  }

  /** Adds keys, or replaces those with the same ids; removes those of `removedIds`. */
  change(keys: readonly StoredKey[], removedIds: readonly string[] = []): void {
    const nowMs = Date.now();
    // An end between two ticks: the next one to wait for is found below, and this one would be passed over.
    this.tick(nowMs);
    for (const id of removedIds) this.#remove(id);
    for (const key of keys) {
      this.#remove(key.id);
      this.#add(key);
    }
    this.#findNextEnd(nowMs);
    this.#tell(new Set([...removedIds, ...keys.map(({ id }) => id)]));
  }

  /** Called after every change, and when a key or a secret expires. */
  onChange(listener: (changed: Changed) => void): void {
    this.#listeners.push(listener);
  }

  /** To be called several times a second: ends expired keys. The clock may be set back and forth. */
  tick(nowMs = Date.now()): void {
    const isDue = nowMs >= this.#nextEndMs || nowMs < this.#lastTickMs;
    this.#lastTickMs = nowMs;
    if (!isDue) return;
    // Any key may have ended, or become valid again.
    this.#allowed.clear();
    this.#findNextEnd(nowMs);
    this.#tell(undefined);
  }

  /**
   * The current state of a key, if a request that was admitted with it may continue: undefined once it is disabled,
   * revoked or expired, its secret has expired, or it has lost the scope.
   */
  current(before: KeyInfo, scope?: Scope, nowMs = Date.now()): KeyInfo | undefined {
    let found = this.#byId.get(before.id);
    while (found !== undefined && found.generation !== before.generation) found = found.previous;
    if (found === undefined || found.of.state !== 'active' || nowMs >= found.endMs) return undefined;
    const { key } = found.verdict;
    return scope === undefined || (key.scopeBits & SCOPE_BITS[scope]) !== 0 ? key : undefined;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Checks the secret that a request presents, '' if it presents none. */
  check(presented: string): KeyVerdict {
    const known = this.#allowed.get(presented);
    if (known === undefined || this.#isEndDue()) return this.#checkByDigest(presented);
    if (!known.isUsed) this.#use(known);
    return known.verdict;
  }

  /** Ids of keys that were used and not yet reported: at most `most`, or all. */
  takeUses(most = Number.POSITIVE_INFINITY): string[] {
    const used = this.#used.splice(0, most);
    for (const credential of used) credential.isUsed = false;
    return [...new Set(used.map(({ of }) => of.id))];
  }

  /** Whether a key or a secret has expired since the last tick: cached secrets may be invalid. */
  #isEndDue(): boolean {
    return this.#nextEndMs !== Number.POSITIVE_INFINITY && Date.now() >= this.#nextEndMs;
  }

  #checkByDigest(presented: string): KeyVerdict {
    const digest = this.digestOf(presented);
    const found = this.#byDigest.get(digest.toString('hex'));
    const wanted = found === undefined ? this.#nobody : Buffer.from(found.digestHex, 'hex');
    const isEqual = this.hashing.isEqual(digest, wanted);
    if (found === undefined || !isEqual || found.of.state === 'revoked' || Date.now() >= found.endMs)
      return DENIED;
    if (found.of.state === 'disabled') return DISABLED;
    // A copy: a text cut from a request would keep the whole request in memory.
    found.text = Buffer.from(presented).toString();
    this.#allowed.set(found.text, found);
    if (!found.isUsed) this.#use(found);
    return found.verdict;
  }

  #use(credential: Credential): void {
    credential.isUsed = true;
    this.#used.push(credential);
  }

  #add(key: StoredKey): void {
    const { digestHex, generation, formerDigestHex, formerUntilMs = 0 } = key;
    const previous =
      formerDigestHex === undefined
        ? undefined
        : new Credential(key, formerDigestHex, generation - 1, formerUntilMs, undefined);
    const newest = new Credential(key, digestHex, generation, Number.POSITIVE_INFINITY, previous);
    this.#byId.set(key.id, newest);
    for (const credential of previous === undefined ? [newest] : [newest, previous]) {
      this.#byDigest.set(credential.digestHex, credential);
      if (credential.endMs !== Number.POSITIVE_INFINITY) this.#ending.add(credential);
    }
  }

  #remove(id: string): void {
    let credential = this.#byId.get(id);
    for (; credential !== undefined; credential = credential.previous) {
      const { digestHex, text } = credential;
      if (this.#byDigest.get(digestHex) === credential) this.#byDigest.delete(digestHex);
      if (text !== undefined && this.#allowed.get(text) === credential) this.#allowed.delete(text);
      this.#ending.delete(credential);
    }
    this.#byId.delete(id);
  }

  #findNextEnd(nowMs: number): void {
    this.#nextEndMs = Number.POSITIVE_INFINITY;
    for (const { endMs } of this.#ending)
      if (endMs > nowMs && endMs < this.#nextEndMs) this.#nextEndMs = endMs;
  }

  #tell(changed: Changed): void {
    for (const listener of this.#listeners) listener(changed);
  }
}
