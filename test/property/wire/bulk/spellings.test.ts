// Rows that programs wrote, pairs, and ids of every kind: the answers are those of the slow peer, and the kernel reads
// every row. The spellings of test/support/spellings.ts are those of test/property/differential/engine.test.ts.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { anyLetter } from '../../../support/any-letter.js';
import { openKernel } from '../../../support/open-world.js';
import { itemByPeer, ndjsonByPeer } from '../../../support/peers/bulk-text.js';
import { type Asked, Wire } from '../../../support/wire.js';

const SEED = 20_261_126;
const RESOLUTION = 11;
const wire = new Wire(openKernel());
const library = new Hexcodes(openKernel());

/** The answer of `work`, and how many rows the host has read or written for it. */
function counted<T>(work: () => T): { answer: T; slow: number } {
  const before = wire.slowRows();
  const answer = work();
  return { answer, slow: wire.slowRows() - before };
}

const bulk = (asked: Asked, body: string): string =>
  wire.bulk({ resolution: RESOLUTION, delimiter: ',', ...asked }, body).toString();

/** The results of a batch and of a JSON frame with this array of items. */
function inArrays(array: string): string[] {
  const body = Buffer.from(
    `{"seq" : 1, "op":\t"encode","resolution": ${RESOLUTION},\r\n"points" : ${array}\n}`,
  );
  return [wire.batch('encode', body), wire.jsonFrame(body)].map((answer) => {
    const text = Buffer.from(answer).toString();
    return text.slice(text.indexOf('"results":[') + 11, -2);
  });
}

test('pairs', () => {
  for (const [between, inside] of [
    [',', ''],
    [', ', ''],
    [' ,\t', ' '],
  ]) {
    const rows = ['21.0288', '2.10288e1', '21.028800000000000000000000001'].map(
      (lat) => `[${inside}${lat}${between}105.8525${inside}]`,
    );
    const due = rows.map((row) => itemByPeer(library, 'encode', Buffer.from(row), RESOLUTION)).join();
    expect(counted(() => inArrays(`[${rows.join()}]`))).toEqual({ answer: [due, due], slow: 0 });
  }
});

test("members whose names begin or end like a hemisphere's are read by the kernel", () => {
  const starts = 'gps lat lng lon longitude n north eastern eng ne location latest longest'.split(' ');
  const ends = 'time satellites status ency_ms hdop fix accuracy ing zone int eval'.split(' ');
  const names = starts.flatMap((start) => ends.flatMap((end) => [start + end, `${start}_${end}`]));
  const rows = names.map((name) => `{"lat":21.0288,"lng":105.8525,${JSON.stringify(name)}:1}`);
  const usual = names.map(() => '{"lat":21.0288,"lng":105.8525}').join('\n');
  const due = { answer: bulk({ input: 'ndjson' }, usual), slow: 0 };
  expect(counted(() => bulk({ input: 'ndjson' }, rows.join('\n')))).toEqual(due);
});

test('ids with escapes, quotes and delimiters become fields of CSV, none by the host', () => {
  const ascii = (json: string): string =>
    json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const id = fc.oneof(
    fc.string({ unit: anyLetter, maxLength: 40 }).map((text) => JSON.stringify(text)),
    fc.string({ unit: anyLetter, maxLength: 20 }).map((text) => ascii(JSON.stringify(text))),
    fc
      .array(
        fc.constantFrom(
          '\\ud83d',
          '\\uDE00',
          '\\u0110',
          '\\n',
          '\\/',
          '\\"',
          '\\b\\f',
          ',',
          ';',
          'é',
          '\\u0000',
        ),
        {
          maxLength: 12,
        },
      )
      .map((parts) => `"${parts.join('')}"`),
  );
  fc.assert(
    fc.property(
      fc.array(id, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(',' as const, ';' as const, '\t' as const, '|' as const),
      (ids, delimiter) => {
        const lines = ids.map((each) => `{"id":${each},"lat":21.5,"lng":105.5}\n`).join('');
        const { answer, slow } = counted(() => bulk({ input: 'ndjson', output: 'csv', delimiter }, lines));
        const wanted = ids.map((each) => Buffer.from(JSON.parse(each) as string).toString());
        const fields = wanted.map((text) =>
          text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text,
        );
        const rest = answer.slice(answer.lastIndexOf('21.5') - 1).trimEnd();
        const [head] = answer.split('\n');
        expect(answer).toBe(`${head}\n${fields.map((field) => `${field}${rest}\n`).join('')}`);
        expect(slow).toBe(0);
      },
    ),
    { seed: SEED, numRuns: 500 },
  );
});

/**
 * Three positions in Hà Nội, each text named after the program and the call that wrote it: Python 3.12 (`json.dumps`,
 * `csv`), jq 1.6, Go 1.26 (`encoding/json`), Jackson 2.18, Gson 2.11, PHP 8.2, PostgreSQL 15, pandas, NumPy and DuckDB,
 * by their defaults where the name says no other. `.ndjson` has an object or a pair a line, `.json` one array.
 */
const WRITTEN: Readonly<Record<string, string>> = JSON.parse(
  readFileSync('test/fixtures/spellings.json', 'utf8'),
);

test.each(Object.entries(WRITTEN))('%s: as a program wrote it', (name, text) => {
  if (name.endsWith('.csv')) {
    const { answer, slow } = counted(() => bulk({ input: 'csv' }, text));
    const lines = answer.trimEnd().split(/\r?\n/);
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines.slice(1)) expect(line).toMatch(/,[A-Z]+-[0-9A-Z]+-[0-9A-Z]+,11,[A-Z]+,OK$/);
    expect(slow).toBe(0);
    return;
  }
  const isArray = name.endsWith('.json');
  const items = isArray
    ? (JSON.parse(text) as unknown[]).map((item) => JSON.stringify(item))
    : text.trimEnd().split('\n');
  expect(items.length).toBeGreaterThan(1);
  const due = items.map((row) => itemByPeer(library, 'encode', Buffer.from(row), RESOLUTION));
  for (const answer of due) expect(answer).toContain('"status":"OK"');
  const array = isArray ? text : `[${items.join()}]`;
  expect(counted(() => inArrays(array))).toEqual({ answer: [due.join(), due.join()], slow: 0 });
  if (isArray) return;
  const lines = ndjsonByPeer(library, 'encode', Buffer.from(text), RESOLUTION);
  expect(counted(() => bulk({ input: 'ndjson' }, text))).toEqual({
    answer: `${lines.join('\n')}\n`,
    slow: 0,
  });
});
