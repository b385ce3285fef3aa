// A key as the store keeps it, and as a request carries it. Neither has the secret.

import { Networks } from '../../config/networks.js';

/** `https://a.vn`, `http://localhost:3000`, `https://*.a.vn`; no path, no slash at the end. */
const ORIGIN = /^(https?:\/\/)(\*\.)?([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/;

/** The networks of a key are compiled at its first request. */
const networksOf = new WeakMap<KeyInfo, Networks>();

export function isOrigin(text: string): boolean {
  const match = ORIGIN.exec(text);
  if (match === null) return false;
  const [, scheme = '', , host = '', port = ''] = match;
  return URL.canParse(scheme + host + port) && new URL(scheme + host + port).origin === scheme + host + port;
}

/**
 * Why a request may not use a key from its origin or address, as a sentence; undefined if it may.
 * @param origin the Origin header, '' if there is none
 * @param address of the client, in canonical form; '' if it is not known
 */
export function boundFault(key: KeyInfo, origin: string, address: string): string | undefined {
  if (key.origins.length > 0 && !key.origins.some((allowed) => matches(allowed, origin)))
    return 'this API key is not allowed from this web origin';
  if (key.cidrs.length === 0) return undefined;
  let networks = networksOf.get(key);
  if (networks === undefined) {
    networks = new Networks(key.cidrs);
    networksOf.set(key, networks);
  }
  return address !== '' && networks.has(address)
    ? undefined
    : 'this API key is not allowed from this network address';
}

/** `*.` stands for one or more labels of the host. */
function matches(allowed: string, origin: string): boolean {
  const star = allowed.indexOf('*.');
  if (star === -1) return allowed === origin;
  const scheme = allowed.slice(0, star);
  const rest = allowed.slice(star + 1);
  const labels = origin.slice(scheme.length, -rest.length);
  return origin.startsWith(scheme) && origin.endsWith(rest) && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(labels);
}

/** Bursts and quotas are integers. Absent: the default of the settings applies. 0: no limit, whatever the default. */
export interface KeyLimits {
  /** Points per second, in the long run. */
  readonly pointsPerSecond?: number | undefined;
  /** Points at once after an idle time; by default those of one second, and at least one. */
  readonly pointsBurst?: number | undefined;
  readonly requestsPerSecond?: number | undefined;
  /** Requests at once after an idle time; by default those of one second, and at least one. */
  readonly requestsBurst?: number | undefined;
  /** Quotas of the calendar, in the time zone of the settings. */
  readonly pointsPerDay?: number | undefined;
  readonly pointsPerMonth?: number | undefined;
}

/**
 * The kinds of work that a key may do. The stream is `bulk`; one code, its suggestions and the grid are `lookup`;
 * provinces and versions accept any key.
 */
export const SCOPES = ['encode', 'decode', 'bulk', 'lookup', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Scopes of a key that is made without any, and of keys older than scopes. */
export const DEFAULT_SCOPES: readonly Scope[] = ['encode', 'decode', 'bulk', 'lookup'];

export type KeyState = 'active' | 'disabled' | 'revoked';

/** The operator's decisions about a key. Times are milliseconds since 1970. */
export interface KeySettings {
  /** The holder of the key. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Undefined: never. */
  readonly expiresMs: number | undefined;
  /**
   * Web origins a request must come from, as `https://a.vn` or `https://*.a.vn`; none: any, and requests without one.
   */
  readonly origins: readonly string[];
  /** Networks the client must be in, as `10.0.0.0/8` or `2001:db8::/32`; none: any. */
  readonly cidrs: readonly string[];
  readonly limits: KeyLimits;
}

/** Settings of a new key. */
export const NEW_KEY: KeySettings = {
  name: '',
  scopes: DEFAULT_SCOPES,
  expiresMs: undefined,
  origins: [],
  cidrs: [],
  limits: {},
};

export interface StoredKey extends KeySettings {
  readonly id: string;
  readonly state: KeyState;
  readonly createdMs: number;
  /** Time of the last request that was admitted, to within some seconds; undefined: never yet. */
  readonly lastUsedMs: number | undefined;
  /** HMAC-SHA-256 of the secret under the pepper. */
  readonly digestHex: string;
  /** 1 for the first secret of the key, and one more at each rotation. */
  readonly generation: number;
  /** Digest of the secret before the last rotation, which is accepted until `formerUntilMs`. */
  readonly formerDigestHex: string | undefined;
  readonly formerUntilMs: number | undefined;
}

/** A key as a request carries it. One object for each secret of the key, until anything about the key changes. */
export interface KeyInfo extends KeySettings {
  readonly id: string;
  /** Number of the secret that the request has presented. */
  readonly generation: number;
  /** The scopes as bits, see `SCOPE_BITS`. */
  readonly scopeBits: number;
  /** The key has origins or networks that a request is compared with. */
  readonly isBound: boolean;
}

/** Bits of `KeyInfo.scopeBits`. */
export const SCOPE_BITS: Readonly<Record<Scope, number>> = {
  encode: 1,
  decode: 2,
  bulk: 4,
  admin: 8,
  lookup: 16,
};

export function keyInfoOf(key: StoredKey, generation: number): KeyInfo {
  const { id, name, scopes, expiresMs, origins, cidrs, limits } = key;
  return {
    id,
    name,
    scopes,
    expiresMs,
    origins,
    cidrs,
    limits,
    generation,
    scopeBits: scopes.reduce((bits, scope) => bits | SCOPE_BITS[scope], 0),
    isBound: origins.length > 0 || cidrs.length > 0,
  };
}

/** Counts the changes of all keys; uses are not changes. */
export interface StoreHead {
  /** Changes when change numbers cannot be compared with earlier ones. */
  readonly epoch: string;
  /** The number of the last change. */
  readonly change: number;
  /** `pepperCheckOf` of the pepper under which the keys are hashed; undefined before the first key. */
  readonly pepperCheck: string | undefined;
}

// Keys as messages between threads. Most keys differ only in id, name, digest and age, so shared fields are sent
// once: one object for each key would cost more than the rest of a start.

type OwnField = 'id' | 'name' | 'digestHex' | 'createdMs' | 'lastUsedMs';
type SharedPart = Omit<StoredKey, OwnField>;

const DIGEST_LENGTH = 64;

export interface PackedKeys {
  readonly ids: readonly string[];
  readonly names: readonly string[];
  /** Digests, one after the other. */
  readonly digestsHex: string;
  readonly createdMs: Float64Array;
  readonly shared: readonly SharedPart[];
  /** The index in `shared` of each key. */
  readonly sharedAt: Uint32Array;
}

/** Packs keys without the time of their last use. */
export function packKeys(keys: readonly StoredKey[]): PackedKeys {
  const shared: SharedPart[] = [];
  const indexes = new Map<string, number>();
  const createdMs = new Float64Array(keys.length);
  const sharedAt = new Uint32Array(keys.length);
  for (const [index, key] of keys.entries()) {
    createdMs[index] = key.createdMs;
    const before = index === 0 ? 0 : sharedAt[index - 1]!;
    sharedAt[index] = isPartOf(key, shared[before]) ? before : indexOf(key, shared, indexes);
  }
  return {
    ids: keys.map(({ id }) => id),
    names: keys.map(({ name }) => name),
    digestsHex: keys.map(({ digestHex }) => digestHex).join(''),
    createdMs,
    shared,
    sharedAt,
  };
}

export function unpackKeys({ ids, names, digestsHex, createdMs, shared, sharedAt }: PackedKeys): StoredKey[] {
  return ids.map((id, index) => {
    const digestHex = digestsHex.slice(DIGEST_LENGTH * index, DIGEST_LENGTH * (index + 1));
    const own = { id, name: names[index]!, createdMs: createdMs[index]!, lastUsedMs: undefined, digestHex };
    return { ...shared[sharedAt[index]!]!, ...own };
  });
}

/** Whether a key has these very objects, as keys of one store do. */
function isPartOf(key: StoredKey, part: SharedPart | undefined): boolean {
  return (
    part !== undefined &&
    part.state === key.state &&
    part.scopes === key.scopes &&
    part.expiresMs === key.expiresMs &&
    part.origins === key.origins &&
    part.cidrs === key.cidrs &&
    part.limits === key.limits &&
    part.generation === key.generation &&
    part.formerDigestHex === key.formerDigestHex &&
    part.formerUntilMs === key.formerUntilMs
  );
}

function indexOf(key: StoredKey, shared: SharedPart[], indexes: Map<string, number>): number {
  const { id: _id, name: _name, digestHex: _digest, createdMs: _created, lastUsedMs: _used, ...part } = key;
  const text = JSON.stringify(part);
  let index = indexes.get(text);
  if (index === undefined) {
    index = shared.push(part) - 1;
    indexes.set(text, index);
  }
  return index;
}
