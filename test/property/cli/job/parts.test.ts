// The outputs of a file's parts, put together, are the output of the whole file, byte by byte: also where rows hold
// line breaks in quotes, where there is no header, and where columns are found by the values of the first rows.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { splitFile } from '#dist/cli/job/parts/split-file.js';
import { loadLibrary } from '#dist/files/library.js';
import { convertFiles } from '#dist/files/run.js';
import type { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { randomFrom } from '../../../support/open-world.js';

const SEED = 20_261_122;
const ROWS = 24_000;
const folder = mkdtempSync(join(tmpdir(), 'hexcodes-parts-'));
afterAll(() => rmSync(folder, { recursive: true }));
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await loadLibrary();
});

type Request = Parameters<typeof convertFiles>[1];
type Changes = Partial<Pick<Request, 'operation' | 'to' | 'columns' | 'errors' | 'isFormer'>>;

const requestOf = (changes: Changes, inputs: string[], output: string): Request => ({
  ...{
    operation: 'encode',
    inputs,
    output,
    from: null,
    to: null,
    resolution: 12,
    isFormer: false,
    sort: null,
  },
  columns: { prefix: '' },
  csv: { delimiter: null, decimal: '.', hasHeader: true },
  input: {},
  errors: { kind: 'keep' },
  ...{ isResume: false, threads: 1, isQuiet: true },
  ...changes,
});

interface Converted {
  readonly whole: Buffer;
  readonly parts: Buffer[];
  readonly rows: { readonly whole: number; readonly parts: number };
}

async function converted(path: string, ending: string, changes: Changes = {}): Promise<Converted> {
  mkdirSync(join(folder, 'out'), { recursive: true });
  const convert = async (number: number, input: Request['input']): Promise<[Buffer, number]> => {
    const output = join(folder, 'out', `${number}.${ending}`);
    const { tally } = await convertFiles(
      hexcodes,
      { ...requestOf(changes, [path], output), input },
      () => {},
    );
    return [readFileSync(output), tally.rows];
  };
  const isCode = (text: string): boolean => hexcodes.isValid(text);
  const { columns, csv } = requestOf(changes, [], '');
  const conversion = { from: null, columns, csv, input: {} };
  const split = await splitFile(path, { conversion, to: changes.to ?? null, partBytes: 200_000, isCode });
  const [whole, wholeRows] = await convert(0, {});
  const parts: Buffer[] = [];
  let partRows = 0;
  for (const part of split.parts) {
    const [bytes, rows] = await convert(1, { part });
    parts.push(bytes);
    partRows += rows;
  }
  return { whole, parts, rows: { whole: wholeRows, parts: partRows } };
}

/** Parts of CSV, each of which begins with the same bytes. */
function joined(parts: readonly Buffer[], headBytes: number): Buffer {
  return Buffer.concat(parts.map((part, i) => (i === 0 ? part : part.subarray(headBytes))));
}

const random = randomFrom(SEED);
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
const TEXTS = ['Hà Nội', '"a, b"', '"two\nlines"', '"a ""quote""\r\n\n"', '', 'plain', '"\n"', 'a"b'];

const lat = (): string => (8 + random() * 15).toFixed(5);
const lng = (): string => (102 + random() * 8).toFixed(5);
function rows(row: (i: number) => string, lineEnd = '\n'): string {
  return Array.from({ length: ROWS }, (_, i) => row(i) + lineEnd).join('');
}
function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}
const headEnd = (bytes: Buffer): number => bytes.indexOf('\n') + 1;

describe('CSV', () => {
  test.each([
    ['by bytes', {}],
    ['by columns', { columns: { keep: ['id', 'note'], prefix: 'x_' } }],
    ['failed rows left out', { errors: { kind: 'skip' } as const }],
  ])('with line breaks in quotes, %s', async (_, changes) => {
    const path = file('a.csv', `id,note,lat,lng\n${rows((i) => `${i},${pick(TEXTS)},${lat()},${lng()}`)}`);
    const { whole, parts, rows: counted } = await converted(path, 'csv', changes);
    expect(parts.length).toBeGreaterThan(2);
    expect(joined(parts, headEnd(whole)).equals(whole)).toBe(true);
    expect(counted.parts).toBe(counted.whole);
  });

  test('a byte order mark, a line sep=, semicolons and CRLF', async () => {
    const text = `\ufeffsep=;\r\nlat;lng;note\r\n${rows(() => `${lat()};${lng()};"x\r\ny"`, '\r\n')}`;
    const { whole, parts } = await converted(file('b.csv', text), 'csv');
    expect(parts.length).toBeGreaterThan(1);
    const head = whole.indexOf('note');
    expect(joined(parts, whole.indexOf('\n', head) + 1).equals(whole)).toBe(true);
  });

  test('without a header; the columns are found by the first rows, which later ones would not show', async () => {
    const text = rows((i) => (i < 200 ? `${i + 1000};${lat()};${lng()}` : `x y;${lat()},;90`));
    const { whole, parts } = await converted(file('c.csv', text), 'csv');
    expect(parts.length).toBeGreaterThan(1);
    expect(joined(parts, 0).equals(whole)).toBe(true);
  });

  test('whole positions in one column, and none in later rows', async () => {
    const text = `position;note\n${rows((i) => (i < 300 ? `${lat()}, ${lng()};a` : `"";${'longer '.repeat(4)}`))}`;
    const { whole, parts } = await converted(file('d.csv', text), 'csv');
    expect(parts.length).toBeGreaterThan(1);
    expect(joined(parts, headEnd(whole)).equals(whole)).toBe(true);
  });

  test('codes are decoded', async () => {
    const text = `id\tcode\n${rows((i) => `${i}\t${pick(['HN-6GHP4-83RFR', 'hn6ghp4', 'x', ''])}`)}`;
    const changes: Changes = { operation: 'decode', columns: { prefix: '', code: 'code' } };
    const { whole, parts } = await converted(file('e.tsv', text), 'tsv', changes);
    expect(parts.length).toBeGreaterThan(1);
    expect(joined(parts, headEnd(whole)).equals(whole)).toBe(true);
  });

  test('a quote that is not closed leaves the file whole: its conversion says so', async () => {
    const path = file('f.csv', `lat,lng,note\n${rows((i) => `${lat()},${lng()},${i === 9 ? '"' : ''}x`)}`);
    const splitting = { conversion: requestOf({}, [], ''), to: null, partBytes: 1000, isCode: () => false };
    expect((await splitFile(path, splitting)).parts).toEqual([undefined]);
  });
});

describe('NDJSON', () => {
  test('members that appear in later parts only change nothing', async () => {
    const line = (i: number): string =>
      i < 9000
        ? `{"lat":${lat()},"lng":${lng()}}`
        : `{"lng":${lng()},"lat":${lat()},"resolution":7,"note":"\\n"}`;
    const { whole, parts, rows: counted } = await converted(file('a.ndjson', rows(line)), 'ndjson');
    expect(parts.length).toBeGreaterThan(2);
    expect(joined(parts, 0).equals(whole)).toBe(true);
    expect(counted.parts).toBe(ROWS);
  });

  test('lines of very different length, blank ones among them, and no line end at the end', async () => {
    const line = (i: number): string =>
      i % 900 === 0
        ? `{"lat":21,"lng":105,"n":"${'x'.repeat(150_000)}"}`
        : i % 7 === 0
          ? ''
          : '{"lat":21,"lng":105}';
    const path = file('b.ndjson', rows(line).trimEnd());
    const { whole, parts } = await converted(path, 'ndjson');
    expect(parts.length).toBeGreaterThan(5);
    expect(joined(parts, 0).equals(whole)).toBe(true);
  });

  test('another target needs the columns of all rows: the file stays whole', async () => {
    const path = file(
      'c.ndjson',
      rows(() => `{"lat":${lat()},"lng":${lng()}}`),
    );
    for (const to of ['csv', 'parquet', 'geojson'] as const) {
      const splitting = { conversion: requestOf({}, [], ''), to, partBytes: 1000, isCode: () => false };
      expect((await splitFile(path, splitting)).parts).toEqual([undefined]);
    }
  });
});

test('Parquet, between row groups', async () => {
  const csv = file(
    'p.csv',
    `id,note,lat,lng\n${rows((i) => `${i},${pick(TEXTS)},${lat()},${lng()}`).repeat(3)}`,
  );
  const path = join(folder, 'p.parquet');
  const request = requestOf({ columns: { prefix: 'before_' } }, [csv], path);
  await convertFiles(hexcodes, request, () => {});
  const { whole, parts, rows: counted } = await converted(path, 'ndjson', { to: 'ndjson' });
  expect(parts.length).toBeGreaterThan(1);
  expect(joined(parts, 0).equals(whole)).toBe(true);
  expect(counted).toEqual({ whole: 3 * ROWS, parts: 3 * ROWS });
});

test.each(['x.csv.gz', 'x.geojson', 'x.arrow'])('%s stays whole', async (name) => {
  const csv = file('x.csv', `lat,lng\n${rows(() => `${lat()},${lng()}`)}`);
  const path = join(folder, name);
  await convertFiles(hexcodes, requestOf({ columns: { prefix: 'y_' } }, [csv], path), () => {});
  const splitting = { conversion: requestOf({}, [], ''), to: null, partBytes: 1000, isCode: () => false };
  expect((await splitFile(path, splitting)).parts).toEqual([undefined]);
});
