// Service and command answer identical bytes identically, row by row; where they do not, the difference has its
// line with the reason in docs/command.md. Bodies are drawn from a seed: HEXCODES_SAME_BODIES says how many.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { below, pick, type Random } from '../support/mutate.js';
import { randomFrom } from '../support/open-world.js';
import {
  bytesOf,
  type CsvBody,
  csvBody,
  KINDS,
  type Kind,
  ndjsonRow,
  type Row,
} from '../support/same-bytes/bodies.js';
import { type Answer, isRefused, SameBytes } from '../support/same-bytes/doors.js';

const BODIES = Number(process.env.HEXCODES_SAME_BODIES ?? 40);

let doors: SameBytes;
beforeAll(async () => {
  doors = await SameBytes.open();
});
afterAll(() => doors.close());

const met = new Set<Kind>();

/** Compares the answers to rows; those of a kind that differs have another word of each. */
function compare(rows: readonly Row[], service: Answer, command: Answer, what: string): void {
  expect([what, isRefused(service) ? service : [], isRefused(command) ? command : []]).toEqual([
    what,
    [],
    [],
  ]);
  const [served, run] = [service as string[], command as string[]];
  expect([what, served.length, run.length]).toEqual([what, rows.length, rows.length]);
  for (const [row, { kind, service: says, mayBeRead }] of rows.entries()) {
    if (mayBeRead === true && served[row] === 'INVALID_REQUEST') continue;
    const where = `row ${row + 1}, ${JSON.stringify(rows[row]!.text.toString().slice(0, 200))}, of ${what}`;
    if (kind === undefined || says !== undefined) expect([where, run[row]]).toEqual([where, served[row]]);
    else {
      met.add(kind);
      expect([where, served[row], run[row]]).toEqual([
        where,
        'INVALID_REQUEST',
        expect.not.stringMatching('INVALID'),
      ]);
    }
  }
}

const shown = (body: Buffer): string => JSON.stringify(body.toString().slice(0, 800));

describe('CSV', () => {
  test(`${BODIES} bodies`, async () => {
    const random = randomFrom(101);
    for (let n = 0; n < BODIES; n++) {
      const body = csvBody(random);
      const { delimiter, rows } = body;
      const bytes = bytesOf(body);
      const what = `body ${n}: ${shown(bytes)}`;
      const served = await doors.bulk('csv', 'csv', bytes, delimiter);
      compare(rows, served, await doors.command('csv', 'csv', bytes, delimiter), `${what} to CSV`);
      compare(rows, served, await doors.command('csv', 'ndjson', bytes), `${what} to NDJSON`);
      expect([what, await doors.bulk('csv', 'ndjson', bytes)]).toEqual([what, served]);
      expect([what, await doors.frames(bytes)]).toEqual([what, served]);
    }
  });

  test('bytes that are no text are refused by both', async () => {
    const random = randomFrom(102);
    for (let n = 0; n < BODIES / 5; n++) {
      const drawn = csvBody(random);
      const bytes = bytesOf(drawn);
      // Behind the first letters of the header: a row above it may be a title.
      const start = Buffer.byteLength(drawn.head.trimEnd()) - 1;
      const at = start + below(bytes.length - start, random);
      const bad = Buffer.from(
        pick(['\0', '\xff', '\xc0\xaf', '\xed\xa0\x80', '\xf5\x80\x80\x80'], random),
        'latin1',
      );
      // Inside of a quoted field, a number, a name or a line end: anywhere.
      const body = Buffer.concat([bytes.subarray(0, at), bad, bytes.subarray(at)]);
      for (const to of ['csv', 'ndjson'] as const)
        expect([
          shown(body),
          isRefused(await doors.bulk('csv', to, body)),
          isRefused(await doors.command('csv', to, body)),
        ]).toEqual([shown(body), true, true]);
    }
  });

  test('lines that end in CR alone or CR CR LF are refused by both', async () => {
    const body = 'id,lat,lng\n1,21.0288,105.8525\n2,10.7769,106.7009\n';
    for (const end of ['\r', '\r\r\n']) {
      const bytes = Buffer.from(body.replaceAll('\n', end));
      expect(
        [await doors.bulk('csv', 'csv', bytes), await doors.command('csv', 'csv', bytes)].map(isRefused),
      ).toEqual([true, true]);
    }
  });

  /** Bodies that the command reads as the plain one, and the service refuses. */
  const BEFORE: readonly ((random: Random, plain: CsvBody) => readonly [Kind, Buffer])[] = [
    (_, plain) => ['header', Buffer.concat([Buffer.from(`Shops of Hà Nội${plain.lineEnd}`), bytesOf(plain)])],
    (_, plain) => ['utf16', Buffer.from(`\ufeff${bytesOf(plain)}`, 'utf16le')],
    (_, plain) => ['utf16', Buffer.from(`\ufeff${bytesOf(plain)}`, 'utf16le').swap16()],
  ];

  test('titles, UTF-16, a long header, no header, one column of positions', async () => {
    const random = randomFrom(103);
    for (let n = 0; n < BODIES / 5; n++) {
      const drawn = csvBody(random);
      const rows = drawn.rows.map((row) => ({ ...row, text: '1,21.0288,105.8525,a' }));
      const plain = { ...drawn, delimiter: ',', rows, head: `id,lat,lng,note${drawn.lineEnd}` };
      const due = await doors.command('csv', 'csv', bytesOf(plain));
      for (const make of BEFORE) {
        const [kind, body] = make(random, plain);
        met.add(kind);
        expect([kind, isRefused(await doors.bulk('csv', 'csv', body))]).toEqual([kind, true]);
        expect([shown(body), await doors.command('csv', 'csv', body)]).toEqual([shown(body), due]);
      }
    }
    for (const body of [
      'id,position\n1,"21.0288,105.8525"\n',
      '1,21.0288,105.8525\n2,21.0288,105.8525\n',
      `lat,lng,${'a'.repeat(70_000)}\n21.0288,105.8525,1\n`,
    ]) {
      const bytes = Buffer.from(body);
      expect(isRefused(await doors.bulk('csv', 'ndjson', bytes))).toBe(true);
      expect(((await doors.command('csv', 'ndjson', bytes)) as string[])[0]).toBe('OK HN-6GHP4-83RFR');
    }
  });

  test('an open quote, a name of ours, a name twice', async () => {
    const random = randomFrom(104);
    for (let n = 0; n < BODIES / 5; n++) {
      const body = csvBody(random);
      const { delimiter } = body;
      const bytes = bytesOf({ ...body, hasLastEnd: true });
      const open = Buffer.concat([bytes, Buffer.from(`1${delimiter}"21${delimiter}105\n1${delimiter}21\n`)]);
      const [due, served] = [
        await doors.bulk('csv', 'csv', bytes, delimiter),
        await doors.bulk('csv', 'ndjson', open),
      ];
      expect([shown(open), served]).toEqual([shown(open), [...(due as string[]), 'INVALID_REQUEST']]);
      for (const to of ['csv', 'ndjson'] as const)
        expect(await doors.command('csv', to, open)).toEqual({
          refused: expect.stringContaining('a quote is not closed'),
        });
    }
    met.add('quote');
    for (const [kind, name] of [
      ['ours', 'hexcodes'],
      ['twice', 'lat2'],
    ] as const) {
      met.add(kind);
      const bytes = Buffer.from(`lat,lng,${name},${kind === 'twice' ? name : 'a'}\n21.0288,105.8525,x,y\n`);
      expect(await doors.bulk('csv', 'ndjson', bytes)).toEqual(['OK HN-6GHP4-83RFR']);
      expect(isRefused(await doors.command('csv', 'ndjson', bytes))).toBe(true);
      const [served, run] = [await doors.bulk('csv', 'csv', bytes), await doors.command('csv', 'csv', bytes)];
      expect([isRefused(served), isRefused(run)]).toEqual(kind === 'ours' ? [true, true] : [false, false]);
    }
  });
});

describe('NDJSON', () => {
  const bodyOf = (rows: readonly Row[], random: Random, without = -1): Buffer => {
    const end = pick(['\n', '\r\n', '\n\n'], random);
    const mark = random() < 0.1 ? '\ufeff' : '';
    return Buffer.concat([
      Buffer.from(mark),
      ...rows.flatMap(({ text }, row) => (row === without ? [] : [Buffer.from(text), Buffer.from(end)])),
    ]);
  };
  // The names of the first line are those of the command's columns.
  const FIRST: Row = { text: '{"lat":21.0288,"lng":105.8525}' };

  test.each([[[]], [['texts', 'id', 'long']], [['lines']], [['beyond']], [['names']], [['ours']]] as [
    Kind[],
  ][])(`${BODIES} bodies with %j`, async (only) => {
    const random = randomFrom(105 + only.length);
    for (let n = 0; n < BODIES; n++) {
      const drawn = Array.from({ length: 1 + below(30, random) }, () => ndjsonRow(random, only));
      // One row that is refused is enough, and says the same as several.
      const first = drawn.findIndex((row) => row.isRefused === true);
      const rows = [FIRST, ...drawn.filter((row, at) => row.isRefused !== true || at === first)];
      const refused = rows.findIndex((row) => row.isRefused === true);
      const body = bodyOf(rows, random);
      const what = shown(body);
      const served = (await doors.bulk('ndjson', 'ndjson', body)) as string[];
      expect([what, await doors.bulk('ndjson', 'csv', body)]).toEqual([what, served]);
      const rest = rows.filter((_, at) => at !== refused);
      const due = served.filter((_, at) => at !== refused);
      for (const to of ['ndjson', 'csv'] as const) {
        if (refused >= 0) {
          const { kind, service = /^INVALID_REQUEST/ } = rows[refused]!;
          met.add(kind!);
          expect([what, served[refused]]).toEqual([what, expect.stringMatching(service)]);
          expect([what, await doors.command('ndjson', to, body)]).toEqual([
            what,
            { refused: expect.any(String) },
          ]);
        }
        compare(
          rest,
          due,
          await doors.command('ndjson', to, bodyOf(rows, random, refused)),
          `${what} to ${to}`,
        );
      }
      const items = rows.flatMap(({ text }, at) => (isItem(text) ? [[at, text.toString()] as const] : []));
      for (const results of await doors.batches(items.map(([, text]) => text)))
        expect([what, results]).toEqual([what, items.map(([at]) => served[at])]);
    }
  });

  const isItem = (text: string | Buffer): boolean => {
    if (typeof text !== 'string') return false;
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };

  test('UTF-16, and no line at all', async () => {
    const text = '{"lat":21.0288,"lng":105.8525}\n';
    const wide = Buffer.from(`\ufeff${text}`, 'utf16le');
    expect(await doors.command('ndjson', 'ndjson', wide)).toEqual(['OK HN-6GHP4-83RFR']);
    expect(await doors.bulk('ndjson', 'ndjson', wide)).toEqual(['INVALID_REQUEST', 'INVALID_REQUEST']);
    for (const body of ['', '\n', '\r\n\n'].map((each) => Buffer.from(each))) {
      expect(await doors.bulk('ndjson', 'ndjson', body)).toEqual([]);
      expect(isRefused(await doors.command('ndjson', 'ndjson', body))).toBe(true);
    }
    met.add('none');
  });
});

test('each difference has its line in the document, and each line was met', () => {
  const page = readFileSync('docs/command.md', 'utf8');
  const [, table] = /\n### The same bytes over HTTP\n([\s\S]*?)\n#/.exec(page)!;
  const cells = table!.split('\n').flatMap((line) => /^\| (.*?) \| (?!-)/.exec(line)?.[1] ?? []);
  expect(cells.slice(1)).toEqual(Object.values(KINDS));
  expect([...met].sort()).toEqual(Object.keys(KINDS).sort());
});
