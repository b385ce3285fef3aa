// docs/sql: the macros of DuckDB and the functions of PostgreSQL, in both databases, against the recorded vectors, the
// kernel, and h3-js. None of them knows the reach, so neither does the kernel here.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { cellToParent } from 'h3-js';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ADMIN_UNITS } from '#hexcodes';
import { openKernel, randomFrom } from '../support/open-world.js';
import { kept } from '../support/peers/reading.js';
import { noPostgres, Postgres } from '../support/postgres.js';
import { sharedOf } from '../support/shared.js';
import { mangledTexts, randomCodes } from '../support/typos.js';
import { CODE_ROWS, READING_ROWS } from '../support/vectors.js';

/** A database with the functions and a table `texts (i, t)`. */
interface Database {
  /** Refills the table. */
  fill(texts: readonly string[]): Promise<void>;
  /** The first column of each row, as text. */
  column(sql: string): Promise<(string | null)[]>;
  close(): Promise<void>;
}

async function openDuckDb(): Promise<Database> {
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run(readFileSync('docs/sql/hexcodes-duckdb.sql', 'utf8'));
  return {
    async fill(texts) {
      await connection.run('CREATE OR REPLACE TABLE texts (i INTEGER, t VARCHAR)');
      const rows = await connection.createAppender('texts');
      for (const [i, text] of texts.entries()) {
        rows.appendInteger(i);
        rows.appendVarchar(text);
        rows.endRow();
      }
      rows.closeSync();
    },
    async column(sql) {
      const rows = (await connection.runAndReadAll(sql)).getRowsJson();
      return rows.map(([first]) => (first === null ? null : String(first)));
    },
    async close() {
      connection.closeSync();
    },
  };
}

async function openPostgres(): Promise<Database & { readonly url: string; readonly postgres: Postgres }> {
  const postgres = await Postgres.start();
  const url = postgres.newDatabase();
  const client = new Client(url);
  await client.connect();
  await client.query(readFileSync('docs/sql/hexcodes-postgres.sql', 'utf8'));
  await client.query('CREATE TABLE texts (i int, t text)');
  return {
    ...{ url, postgres },
    async fill(texts) {
      await client.query('TRUNCATE texts');
      await client.query(
        'INSERT INTO texts SELECT i - 1, t FROM unnest($1::text[]) WITH ORDINALITY AS given (t, i)',
        [texts],
      );
    },
    async column(sql) {
      const { rows } = await client.query({ text: sql, rowMode: 'array' });
      return rows.map(([first]) => (first === null ? null : String(first)));
    },
    async close() {
      await client.end();
      await postgres.remove();
    },
  };
}

const kernel = openKernel();
const canonicalOf = (text: string): string | null => (kernel.readText(text) === 0 ? kernel.textAt(32) : null);

/** The code of a cell in a province; null where it has none. */
function codeOf(cell: bigint, admin: number): string | null {
  return kernel.exports.pack(cell, admin) === 0 ? kernel.textAt(0) : null;
}

function readCode(code: string): { cell: bigint; resolution: number; admin: number } {
  if (kernel.readText(code) !== 0) throw new Error(code);
  return { cell: kernel.outputCells[2]!, resolution: kernel.output[24]!, admin: kernel.output[25]! };
}

function ancestorOf(code: string, resolution: number): string {
  const { cell, admin } = readCode(code);
  return codeOf(BigInt(`0x${cellToParent(cell.toString(16), resolution)}`), admin)!;
}

/** Whether a database can hold a text at all. */
const isStorable = (text: string): boolean => Buffer.from(text).toString() === text && !text.includes('\0');

const supply = mangledTexts(kernel, randomFrom(71));
const MANGLED = Array.from({ length: 6000 }, () => supply.next().value as string).filter(isStorable);

/** Codes with their ancestors, and the ancestors of neighbours in the tree: at each level another digit. */
const FAMILIES = randomCodes(kernel, randomFrom(73), 1)
  .filter((_, i) => i % 23 === 0)
  .map((code) => {
    const { cell, resolution, admin } = readCode(code);
    const family = new Set([code]);
    for (let level = 2; level <= resolution; level++) {
      const shift = BigInt(3 * (15 - level));
      const other = (((cell >> shift) & 7n) + 1n) % 7n;
      const sibling = codeOf((cell & ~(7n << shift)) | (other << shift), admin);
      for (const each of [code, ...(sibling === null ? [] : [sibling])])
        for (let of = 0; of <= resolution; of++) family.add(ancestorOf(each, of));
    }
    return [...family];
  });

const DATABASES: [string, (() => Promise<Database>) | null][] = [
  ['DuckDB', openDuckDb],
  ['PostgreSQL', noPostgres === undefined ? openPostgres : null],
];

describe.each(DATABASES)('%s', (name, open) => {
  describe.skipIf(open === null)('(needs its programs)', () => {
    const database = sharedOf(
      () => open!(),
      (made) => made.close(),
    );

    const answers = async (expression: string, texts: readonly string[]): Promise<(string | null)[]> => {
      await database.fill(texts);
      return database.column(`SELECT CAST(${expression} AS VARCHAR) FROM texts ORDER BY i`);
    };

    test('texts of the vectors as people type them', async () => {
      const rows = READING_ROWS.filter(({ text }) => isStorable(text));
      expect(rows.length).toBeGreaterThan(READING_ROWS.length - 3);
      const texts = rows.map(({ text }) => text);
      expect(await answers('hexcode_canonical(t)', texts)).toEqual(rows.map(({ code }) => code));
      expect(await answers('hexcode_is_valid(t)', texts)).toEqual(
        rows.map(({ code }) => String(code !== null)),
      );
    });

    test('codes of the vectors: province and resolution', async () => {
      const codes = CODE_ROWS.map(({ code }) => code);
      const names = new Map(ADMIN_UNITS.map((unit) => [unit.code, unit.name]));
      expect(await answers('hexcode_canonical(t)', codes)).toEqual(codes);
      expect(await answers('hexcode_admin_code(t)', codes)).toEqual(
        CODE_ROWS.map(({ adminCode }) => adminCode),
      );
      expect(await answers('hexcode_province(lower(t))', codes)).toEqual(
        CODE_ROWS.map(({ adminCode }) => names.get(adminCode)),
      );
      expect(await answers('hexcode_resolution(t)', codes)).toEqual(
        CODE_ROWS.map(({ resolution }) => String(resolution)),
      );
    });

    test(`${MANGLED.length} mangled texts as the kernel without the reach`, async () => {
      const due = MANGLED.map(canonicalOf);
      expect(due.filter((code) => code !== null).length).toBeGreaterThan(300);
      const found = await answers('hexcode_canonical(t)', MANGLED);
      expect(MANGLED.filter((_, i) => found[i] !== due[i])).toEqual([]);
    });

    test('every character of the first plane', async () => {
      const characters = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit)).filter(
        (character) => isStorable(character) && character !== '!',
      );
      const [spelt] = await answers('_hexcode_spelling(t)', [characters.join('!')]);
      const given = spelt!.split('!');
      expect(given.length).toBe(characters.length);
      // A character that is not part of a code may stay as it is.
      const isPart = (text: string): boolean => /^[A-Z2-9-]?$/.test(text);
      const wrong = characters.filter((character, i) => {
        const due = kept(character);
        return due === null ? isPart(given[i]!) : given[i] !== due;
      });
      expect(wrong).toEqual([]);
    });

    test('wrong codes have nothing', async () => {
      for (const code of ['HN-6GHP4-83RFQ', 'XX-66', '', 'HN'])
        for (const call of [
          'province(t)',
          'admin_code(t)',
          'resolution(t)',
          'parent(t, 1)',
          'from(t)',
          'to(t)',
        ])
          expect([call, code, await answers(`hexcode_${call}`, [code])]).toEqual([call, code, [null]]);
      expect(await answers('hexcode_canonical(NULL)', ['x'])).toEqual([null]);
      expect(await answers('hexcode_is_valid(NULL)', ['x'])).toEqual(['false']);
    });

    test.each(Array.from({ length: 16 }, (_, resolution) => resolution))(
      'parents of resolution %i',
      async (resolution) => {
        const codes = CODE_ROWS.filter((_, i) => i % 3 === resolution % 3).map(({ code }) => code);
        const due = codes.map((code) =>
          readCode(code).resolution < resolution ? null : ancestorOf(code, resolution),
        );
        expect(due.some((code) => code !== null)).toBe(true);
        expect(await answers(`hexcode_parent(t, ${resolution})`, codes)).toEqual(due);
      },
    );

    test('no parents of other resolutions', async () => {
      expect(await answers('hexcode_parent(t, 16)', ['HN-6GHP4-83RFX-JK'])).toEqual([null]);
      expect(await answers('hexcode_parent(t, -1)', ['HN-6GHP4-83RFX-JK'])).toEqual([null]);
    });

    test('ranges: of all pairs of relatives the descendants, and no others', async () => {
      await database.fill(FAMILIES.flatMap((family, i) => family.map((code) => `${i} ${code}`)));
      await database.column('DROP TABLE IF EXISTS cells');
      await database.column(`CREATE TABLE cells AS SELECT family, code, hexcode_from(code) AS lo, hexcode_to(code) AS hi
        FROM (SELECT split_part(t, ' ', 1) AS family, split_part(t, ' ', 2) AS code FROM texts) AS split`);
      const binary = name === 'PostgreSQL' ? 'COLLATE "C"' : '';
      const inRange = `a.code ${binary} >= b.lo AND a.code ${binary} < b.hi`;
      const pairsOf = async (condition: string): Promise<string[]> =>
        (await database.column(`SELECT a.code || ' ' || b.code FROM cells a JOIN cells b ON a.family = b.family
          WHERE ${condition}`)) as string[];
      const due = FAMILIES.flatMap((family) =>
        family.flatMap((code) => {
          const { resolution } = readCode(code);
          const above = new Set(Array.from({ length: resolution + 1 }, (_, of) => ancestorOf(code, of)));
          return family.filter((cell) => above.has(cell)).map((cell) => `${code} ${cell}`);
        }),
      );
      expect(due.length).toBeGreaterThan(2000);
      const found = new Set(await pairsOf(inRange));
      expect(due.filter((pair) => !found.has(pair))).toEqual([]);
      // The range alone lets in coarser codes only.
      const more = [...found].filter((pair) => !due.includes(pair)).map((pair) => pair.split(' '));
      expect(more.filter(([a, b]) => readCode(a!).resolution >= readCode(b!).resolution)).toEqual([]);
      const within = await pairsOf(`${inRange} AND length(a.code) > length(b.lo)`);
      expect(within.sort()).toEqual(due.sort());
    });

    test('hexcode_is_within: a join condition', async () => {
      const family = FAMILIES.find((each) => each.length > 60)!;
      const cell = family.find((code) => readCode(code).resolution === 5)!;
      await database.fill(family);
      const binary = name === 'PostgreSQL' ? ' COLLATE "C"' : '';
      const found = await database.column(
        `SELECT t FROM texts WHERE hexcode_is_within(t${binary}, '${cell}') ORDER BY i`,
      );
      const due = family.filter((code) => readCode(code).resolution >= 5 && ancestorOf(code, 5) === cell);
      expect(due.length).toBeGreaterThan(3);
      expect(found).toEqual(due);
    });
  });
});

test('DuckDB: the bounds of a literal are computed before the scan', async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run(readFileSync('docs/sql/hexcodes-duckdb.sql', 'utf8'));
  await connection.run("CREATE TABLE visits AS SELECT 'HN-6GHP4-83RFR' AS hexcode");
  const plan = JSON.stringify(
    (
      await connection.runAndReadAll(
        "EXPLAIN SELECT * FROM visits WHERE hexcode_is_within(hexcode, 'hn6ghp4r')",
      )
    ).getRowsJson(),
  );
  expect(plan).toContain("hexcode>='HN-6GHP4'");
  expect(plan).toContain("hexcode<'HN-6GHP4Y'");
  connection.closeSync();
});

test.skipIf(noPostgres !== undefined)(
  'PostgreSQL: the table of docs/sql/README.md takes canonical codes only, and its index is used (needs PostgreSQL)',
  async () => {
    const { url, postgres, close } = await openPostgres();
    onTestFinished(() => close());

    const [, sql = ''] = /```sql\n([\s\S]*?)```/.exec(readFileSync('docs/sql/README.md', 'utf8')) ?? [];
    const [made = '', index = '', asked = ''] = sql.split(';').map((each) => each.trim());
    postgres.sql(`${made}; ${index}`, url);
    const add = (code: string): string => postgres.sql(`INSERT INTO visits VALUES ('${code}', now())`, url);
    for (const code of ['HN-6GHP4-83RFR', 'HN-6GHP4-R', 'HN-6GHP5-X']) canonicalOf(code) && add(code);
    for (const code of ['HN-6GHP4-83RFQ', 'hn-6ghp4-83rfr'])
      expect(() => add(code)).toThrow('violates check constraint');
    expect(postgres.sql(asked, url)).toBe('2\n');
    const plan = postgres.sql(`SET enable_seqscan = off; EXPLAIN ${asked}`, url);
    expect(plan).toMatch(/Index Cond: \(\(hexcode >= 'HN-6GHP4'::text.* AND \(hexcode < 'HN-6GHP4Y'::text/);
  },
);
