// The keys as requests see them, in memory. A text that is let in is hashed once and remembered until any key changes
// or expires; every other text, missing, unknown, expired or revoked alike, takes the whole path of hash and
// comparison.
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
 * Work that lasts, as a stream, a bulk body or a batch: whether its key would still let it in. A change of the key is
 * judged as if the request came now, from where it came.
 */
export class OpenWork {
  /** As it was found to let the work go on. */
  #judged: KeyInfo;

  /** @param key as it let the request in */
  constructor(
    private readonly ring: KeyRing,
    private readonly key: KeyInfo,
    private readonly scope: Scope | undefined,
    private readonly source: WorkSource,
  ) {
    this.#judged = key;
  }

  /** Why the work must end; undefined if it may go on. Costs little unless the key has changed. */
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

/** Texts remembered; beyond it all are forgotten at once. */
const REMEMBERED_LIMIT = 10_000;

/** Replaced by tests, which count the calls. */
export interface KeyHashing {
  readonly digestOf: (keyText: string, pepper: string) => Buffer;
  readonly isEqual: (a: Buffer, b: Buffer) => boolean;
}

/** One text of a key. */
interface Credential {
  readonly of: StoredKey;
  readonly digest: Buffer;
  /** When it ends, whatever becomes of the key; infinite for the newest text. */
  readonly endsMs: number;
  readonly verdict: { readonly kind: 'allowed'; readonly key: KeyInfo };
  /** A request has presented it since the uses were taken last. */
  isUsed: boolean;
}

export class KeyRing {
  /** Credentials by digest. An attacker's text reaches it only through the pepper, so its timing tells nothing. */
  readonly #byDigest = new Map<string, Credential>();
  /** Credentials by the id of the key, the newest text first. */
  readonly #byId = new Map<string, readonly Credential[]>();
  readonly #allowed = new Map<string, Credential>();
  readonly #listeners: (() => void)[] = [];
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

  /** Adds keys, or takes them in the place of those with the same ids; removes those of `removedIds`. */
  change(keys: Iterable<StoredKey>, removedIds: Iterable<string> = []): void {
    for (const id of removedIds) this.#remove(id);
    for (const key of keys) {
      this.#remove(key.id);
      this.#add(key);
    }
    this.#forget();
  }

  /** Called after every change, and when a key or a text of one ends. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** To be called several times a second: ends what has expired. The clock may be set back and forth. */
  tick(nowMs = Date.now()): void {
    const isDue = nowMs >= this.#nextEndMs || nowMs < this.#lastTickMs;
    this.#lastTickMs = nowMs;
    if (isDue) this.#forget(nowMs);
  }

  /**
   * The key as it is now, if a request that was let in with it before may go on: undefined once it is disabled,
   * revoked, expired, its text has ended, or the scope is taken from it.
   */
  current(before: KeyInfo, scope?: Scope, nowMs = Date.now()): KeyInfo | undefined {
    const found = this.#byId
      .get(before.id)
      ?.find(({ verdict }) => verdict.key.generation === before.generation);
    if (found === undefined || found.of.state !== 'active' || isOver(found, nowMs)) return undefined;
    const { key } = found.verdict;
    return scope === undefined || (key.scopeBits & SCOPE_BITS[scope]) !== 0 ? key : undefined;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Judges the text a request presents, '' if it presents none. */
  check(presented: string): KeyVerdict {
    const known = this.#allowed.get(presented);
    if (known === undefined || this.#isEndDue()) return this.#checkByDigest(presented);
    if (!known.isUsed) this.#use(known);
    return known.verdict;
  }

  /** The ids of the keys that were let in since the last call. */
  takeUses(): string[] {
    const used = this.#used;
    this.#used = [];
    for (const credential of used) credential.isUsed = false;
    return [...new Set(used.map(({ of }) => of.id))];
  }

  /** A key or a text has ended since the last tick: the texts that are remembered can be over. */
  #isEndDue(): boolean {
    return this.#nextEndMs !== Number.POSITIVE_INFINITY && Date.now() >= this.#nextEndMs;
  }

  #checkByDigest(presented: string): KeyVerdict {
    const digest = this.hashing.digestOf(presented, this.pepper);
    const found = this.#byDigest.get(digest.toString('hex'));
    const isEqual = this.hashing.isEqual(digest, found === undefined ? this.#nobody : found.digest);
    if (found === undefined || !isEqual || found.of.state === 'revoked' || isOver(found, Date.now()))
      return DENIED;
    if (found.of.state === 'disabled') return DISABLED;
    if (this.#allowed.size >= REMEMBERED_LIMIT) this.#allowed.clear();
    // A copy: a text cut from a request would keep the whole request in memory.
    this.#allowed.set(Buffer.from(presented).toString(), found);
    if (!found.isUsed) this.#use(found);
    return found.verdict;
  }

  #use(credential: Credential): void {
    credential.isUsed = true;
    this.#used.push(credential);
  }

  #add(key: StoredKey): void {
    const credentials = [credentialOf(key, key.digestHex, key.generation, Number.POSITIVE_INFINITY)];
    if (key.formerDigestHex !== undefined)
      credentials.push(credentialOf(key, key.formerDigestHex, key.generation - 1, key.formerUntilMs ?? 0));
    this.#byId.set(key.id, credentials);
    for (const credential of credentials) this.#byDigest.set(credential.digest.toString('hex'), credential);
  }

  #remove(id: string): void {
    for (const { of, digest } of this.#byId.get(id) ?? []) {
      const digestHex = digest.toString('hex');
      if (this.#byDigest.get(digestHex)?.of === of) this.#byDigest.delete(digestHex);
    }
    this.#byId.delete(id);
  }

  #forget(nowMs = Date.now()): void {
    this.#allowed.clear();
    this.#nextEndMs = Number.POSITIVE_INFINITY;
    for (const credential of this.#byDigest.values()) {
      const endsMs = endOf(credential);
      if (endsMs > nowMs && endsMs < this.#nextEndMs) this.#nextEndMs = endsMs;
    }
    for (const listener of this.#listeners) listener();
  }
}

function credentialOf(of: StoredKey, digestHex: string, generation: number, endsMs: number): Credential {
  const verdict = { kind: 'allowed', key: keyInfoOf(of, generation) } as const;
  return { of, digest: Buffer.from(digestHex, 'hex'), endsMs, verdict, isUsed: false };
}

const endOf = ({ of, endsMs }: Credential): number =>
  Math.min(endsMs, of.expiresMs ?? Number.POSITIVE_INFINITY);

const isOver = (credential: Credential, nowMs: number): boolean => nowMs >= endOf(credential);
