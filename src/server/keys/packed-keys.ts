// Keys on their way between threads. Most differ in id, name, digest and age only: what they have in common goes once,
// as an object of its own for each key would cost more than all that is done with it at a start.
import type { StoredKey } from './key-record.js';

type OwnField = 'id' | 'name' | 'digestHex' | 'createdMs' | 'lastUsedMs';
type SharedPart = Omit<StoredKey, OwnField>;

const DIGEST_LENGTH = 64;

export interface PackedKeys {
  readonly ids: readonly string[];
  readonly names: readonly string[];
  /** One after the other. */
  readonly digestsHex: string;
  readonly createdMs: Float64Array;
  readonly shared: readonly SharedPart[];
  /** The index in `shared` of each key. */
  readonly sharedAt: Uint32Array;
}

/** When keys were used last is left out. */
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
    const { state, scopes, expiresMs, origins, cidrs, limits, generation, formerDigestHex, formerUntilMs } =
      shared[sharedAt[index]!]!;
    return {
      id,
      name: names[index]!,
      state,
      scopes,
      expiresMs,
      origins,
      cidrs,
      limits,
      createdMs: createdMs[index]!,
      lastUsedMs: undefined,
      digestHex: digestsHex.slice(DIGEST_LENGTH * index, DIGEST_LENGTH * (index + 1)),
      generation,
      formerDigestHex,
      formerUntilMs,
    };
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
