// The store of keys, over a connection to SQLite or PostgreSQL. The service uses it from the keys' worker thread
// only. Only the digest of a secret is stored, and neither is logged. Triggers number every change of a key under a
// lock of the table `head`, so that numbers are in the order in which changes become visible.
import {
  type KeyLimits,
  type KeyState,
  SCOPES,
  type Scope,
  type StoredKey,
  type StoreHead,
} from '../key-record.js';
import { type Connection, type Dialect, given } from './connection.js';

/** A key as the database makes it an array, in the order of `columnsOf`. */
type Row = readonly [
  id: string,
  name: string,
  state: KeyState,
  digestHex: string,
  scopes: string,
  expiresMs: number | null,
  origins: string,
  cidrs: string,
  limits: string,
  createdMs: number,
  lastUsedMs: number | null,
  generation: number,
  formerDigestHex: string | null,
  formerUntilMs: number | null,
  change: number,
];

const columnsOf = ({ hex, listJson, objectJson }: Dialect): string =>
  `id, name, state, ${hex('digest')}, ${listJson('scopes')}, expires_ms, ${listJson('origins')}, ${listJson('cidrs')},
  ${objectJson('limits')}, created_ms, last_used_ms, generation, ${hex('former_digest')}, former_until_ms, change`;

const PAGE_KEYS = 1000;

function statementsOf(sql: Dialect) {
  const { key, head } = sql.tables;
  const columns = columnsOf(sql);
  return {
    head: `SELECT ${sql.epoch} AS epoch, change, pepper_check AS "pepperCheck" FROM ${head}`,
    lock: `SELECT change FROM ${head} ${sql.forUpdate}`,
    /** The next keys in the order of their changes: one statement for all would sort all of them in memory. */
    page: sql.select(
      columns,
      `(SELECT * FROM ${key} WHERE (change, id) > ($1, $2) ORDER BY change, id LIMIT ${PAGE_KEYS}) AS page`,
    ),
    one: sql.select(columns, `${key} WHERE id = $1`),
    count: `SELECT count(*) AS count FROM ${key}`,
    put: `INSERT INTO ${key} (id, name, state, digest, scopes, expires_ms, origins, cidrs, limits, created_ms,
        last_used_ms, generation, former_digest, former_until_ms)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, state = excluded.state, digest = excluded.digest,
        scopes = excluded.scopes, expires_ms = excluded.expires_ms, origins = excluded.origins, cidrs = excluded.cidrs,
        limits = excluded.limits, generation = excluded.generation, former_digest = excluded.former_digest,
        former_until_ms = excluded.former_until_ms`,
    removeAll: `DELETE FROM ${key}`,
    setPepperCheck: `UPDATE ${head} SET pepper_check = $1`,
    /** Skips rows locked by a change and goes by id: it waits for nobody, so it cannot deadlock. */
    touch: `UPDATE ${key} SET last_used_ms = used.ms FROM (
        SELECT id, given.ms FROM ${given(sql, '$1', 'id text, ms bigint')} JOIN ${key} AS k USING (id)
        WHERE coalesce(k.last_used_ms, 0) < given.ms ORDER BY id ${sql.skipLocked('k')}
      ) AS used WHERE ${key}.id = used.id`,
  };
}

export class KeyStore {
  readonly #statements: ReturnType<typeof statementsOf>;

  constructor(private readonly connection: Connection) {
    this.#statements = statementsOf(connection.sql);
  }

  /** Address for people, without credentials. */
  get address(): string {
    return this.connection.address;
  }

  /** Interval at which changes are looked for. */
  get pollMs(): number {
    return this.connection.pollMs;
  }

  async head(): Promise<StoreHead> {
    const [head] = await this.connection.all<StoreHead & { pepperCheck: string | null }>(
      this.#statements.head,
    );
    if (head === undefined) {
      const { head: table } = this.connection.sql.tables;
      throw new Error(`the key store in ${this.address} is damaged: ${table} has no row`);
    }
    return { epoch: head.epoch, change: head.change, pepperCheck: head.pepperCheck ?? undefined };
  }

  /** All keys, in the order they were made. */
  async keys(): Promise<StoredKey[]> {
    const keys: StoredKey[] = [];
    await this.connection.reading(async () => {
      for await (const page of this.changedKeys(-1)) keys.push(...page);
    });
    return keys.sort(byAge);
  }

  /** The keys changed after a change, -1 for all, by pages; a key that changes meanwhile comes again. */
  async *changedKeys(afterChange: number): AsyncGenerator<StoredKey[]> {
    const parsed = new Parsed();
    // Changes are whole numbers, and no id is empty.
    let after: [change: number, id: string] = [afterChange + 1, ''];
    let rows: Row[];
    do {
      rows = await this.connection.rows<Row>(this.#statements.page, after);
      yield rows.map((row) => this.#keyOf(row, parsed));
      const last = rows.at(-1);
      if (last !== undefined) after = [last[14], last[0]];
    } while (rows.length === PAGE_KEYS);
  }

  async find(id: string): Promise<StoredKey | undefined> {
    const [row] = await this.connection.rows<Row>(this.#statements.one, [id]);
    return row === undefined ? undefined : this.#keyOf(row, new Parsed());
  }

  async count(): Promise<number> {
    const [row] = await this.connection.all<{ count: number }>(this.#statements.count);
    return row!.count;
  }

  /** Writes a key, new or in place of the one with its id, without the time of its last use. */
  async put(key: StoredKey): Promise<void> {
    const { list } = this.connection.sql;
    await this.connection.run(this.#statements.put, [
      key.id,
      key.name,
      key.state,
      Buffer.from(key.digestHex, 'hex'),
      list(key.scopes),
      key.expiresMs ?? null,
      list(key.origins),
      list(key.cidrs),
      JSON.stringify(key.limits),
      key.createdMs,
      key.lastUsedMs ?? null,
      key.generation,
      key.formerDigestHex === undefined ? null : Buffer.from(key.formerDigestHex, 'hex'),
      key.formerUntilMs ?? null,
    ]);
  }

  removeAll(): Promise<void> {
    return this.connection.run(this.#statements.removeAll);
  }

  setPepperCheck(check: string): Promise<void> {
    return this.connection.run(this.#statements.setPepperCheck, [check]);
  }

  /** Stores when keys were used last, by id. Unknown ids are skipped, and so are times older than the stored ones. */
  touch(uses: ReadonlyMap<string, number>): Promise<void> {
    // A time of use is not a change, so no process has to read keys again.
    return this.connection.quietly(() =>
      this.connection.run(this.#statements.touch, [JSON.stringify([...uses])]),
    );
  }

  /** Excludes other writers of keys while `work` runs. Its changes are undone if it throws. */
  inTransaction<T>(work: () => Promise<T>): Promise<T> {
    return this.connection.inTransaction(async () => {
      await this.connection.all(this.#statements.lock);
      return work();
    });
  }

  /** 'gone': the store has to be opened again. */
  async news(): Promise<'none' | 'perhaps' | 'gone'> {
    return this.connection.news();
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  /** @throws Error that names store, key and column */
  #keyOf(row: Row, parsed: Parsed): StoredKey {
    try {
      return keyOf(row, parsed);
    } catch (error) {
      throw new Error(`${this.address}: key ${JSON.stringify(row[0])}: ${(error as Error).message}`);
    }
  }
}

/** A kind of values in a JSON column. */
interface JsonColumn<T> {
  readonly what: string;
  readonly is: (value: unknown) => value is T;
}

const isList = <T>(value: unknown, is: (each: unknown) => each is T): value is T[] =>
  Array.isArray(value) && value.every(is);
const isText = (value: unknown): value is string => typeof value === 'string';
const isScope = (value: unknown): value is Scope => (SCOPES as readonly unknown[]).includes(value);
const TEXTS: JsonColumn<string[]> = {
  what: 'a JSON list of texts',
  is: (value) => isList(value, isText),
};
const SCOPE_LIST: JsonColumn<Scope[]> = {
  what: `a JSON list of ${SCOPES.join(', ')}`,
  is: (value) => isList(value, isScope),
};
const LIMITS: JsonColumn<KeyLimits> = {
  what: 'a JSON object of numbers that are 0 or more',
  is: (value): value is KeyLimits =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((each) => typeof each === 'number' && each >= 0),
};

/** Values of JSON columns: equal texts are one object, which many keys share. */
class Parsed {
  readonly #values = new Map<JsonColumn<unknown>, Map<string, unknown>>();

  /** @throws Error that begins with the column's name */
  of<T>(name: string, text: string, column: JsonColumn<T>): T {
    let values = this.#values.get(column);
    if (values === undefined) {
      values = new Map();
      this.#values.set(column, values);
    }
    let value = values.get(text);
    if (value === undefined) {
      try {
        value = JSON.parse(text);
      } catch {
        value = undefined;
      }
      if (!column.is(value)) throw new Error(`${name} must be ${column.what}`);
      values.set(text, value);
    }
    return value as T;
  }
}

/** The greatest time that a Date holds. */
const MAX_TIME_MS = 8.64e15;

function checkTime(column: string, timeMs: number | null): void {
  if (timeMs !== null && !(Math.abs(timeMs) <= MAX_TIME_MS)) throw new Error(`${column} is not a time`);
}

/** @throws Error that begins with the column */
function keyOf(row: Row, parsed: Parsed): StoredKey {
  const [id, name, state, digestHex, scopes, expiresMs, origins, cidrs, limits, createdMs, ...rest] = row;
  const [lastUsedMs, generation, formerDigestHex, formerUntilMs] = rest;
  checkTime('created_ms', createdMs);
  checkTime('expires_ms', expiresMs);
  checkTime('last_used_ms', lastUsedMs);
  checkTime('former_until_ms', formerUntilMs);
  return {
    id,
    name,
    state,
    digestHex,
    scopes: parsed.of('scopes', scopes, SCOPE_LIST),
    expiresMs: expiresMs ?? undefined,
    origins: parsed.of('origins', origins, TEXTS),
    cidrs: parsed.of('cidrs', cidrs, TEXTS),
    limits: parsed.of('limits', limits, LIMITS),
    createdMs,
    lastUsedMs: lastUsedMs ?? undefined,
    generation,
    formerDigestHex: formerDigestHex || undefined,
    formerUntilMs: formerUntilMs ?? undefined,
  };
}

const byAge = (a: StoredKey, b: StoredKey): number =>
  a.createdMs - b.createdMs || (a.id < b.id ? -1 : Number(a.id > b.id));

export interface KeyChanges {
  /** New or changed. */
  readonly keys: readonly StoredKey[];
  readonly removedIds: readonly string[];
}

/**
 * Follows the keys of a store, whichever store or file it is: reports what has changed since the last call. Uses of
 * keys are not changes.
 */
export class Follower {
  #store: KeyStore | undefined;
  /** The head at the last read of the open store. */
  #head: StoreHead | undefined;
  /** The keys as returned last, by id. */
  readonly #known = new Map<string, StoredKey>();

  /** @param accept throws if the keys of a store cannot be used */
  constructor(
    private readonly open: () => Promise<KeyStore>,
    private readonly accept: (head: StoreHead) => void,
  ) {}

  /** The store, opened or reopened if needed. */
  async store(): Promise<KeyStore> {
    if (this.#store !== undefined && (await this.#store.news()) === 'gone') await this.close();
    this.#store ??= await this.open();
    return this.#store;
  }

  /** Yields pages of changes, if there are any. A page that was yielded is not repeated after a broken read. */
  async *read(): AsyncGenerator<KeyChanges> {
    const store = await this.store();
    if (this.#head !== undefined && (await store.news()) === 'none') return;
    const before = this.#head;
    // The head comes first: a change in between is then read twice, never missed.
    const head = await store.head();
    if (before !== undefined && isSame(before, head)) return;
    this.accept(head);
    const isWhole = before === undefined || before.epoch !== head.epoch || before.change > head.change;
    const unseenIds = new Set(isWhole ? this.#known.keys() : []);
    for await (const keys of store.changedKeys(isWhole ? -1 : before.change)) {
      for (const { id } of keys) unseenIds.delete(id);
      const changed = keys.filter((key) => !isKnown(this.#known.get(key.id), key));
      for (const key of changed) this.#known.set(key.id, key);
      if (changed.length > 0) yield { keys: changed, removedIds: [] };
    }
    for (const id of unseenIds) this.#known.delete(id);
    this.#head = head;
    if (unseenIds.size > 0) yield { keys: [], removedIds: [...unseenIds] };
  }

  async close(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    this.#head = undefined;
    await store?.close();
  }
}

/** Whether they differ in uses at most. */
const isKnown = (known: StoredKey | undefined, key: StoredKey): boolean =>
  known !== undefined && textOf(known) === textOf(key);

const textOf = (key: StoredKey): string => JSON.stringify({ ...key, lastUsedMs: undefined });

const isSame = (a: StoreHead, b: StoreHead): boolean => a.epoch === b.epoch && a.change === b.change;
