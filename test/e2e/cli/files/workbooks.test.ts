// Workbooks of Excel through the command: what is read of cells, formats and archives, what is written, and drawn ones
// that openpyxl and python-calamine judge.

import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { unzipSync } from 'fflate';
import { afterEach, describe, expect, test } from 'vitest';
import { type WorkbookXml, workbookXml } from '../../../support/files/workbook-xml.js';
import { randomFrom } from '../../../support/open-world.js';
import { PYTHON, runPython } from '../../../support/python-env.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();

const text = (of: string): string => `<c t="inlineStr"><is><t>${of}</t></is></c>`;
const rowOf = (...cells: readonly string[]): string => `<row>${cells.join('')}</row>`;
const value = (of: number | string, style = 0): string => `<c s="${style}"><v>${of}</v></c>`;
const position = value(21.0288) + value(105.8525);

describe('through the command', () => {
  const HEADER = `<row>${['id', 'lat', 'lng', 'ts', 'shift', 'worked', 'imei'].map(text).join('')}</row>`;

  const POSITION = '<c><v>7</v></c><c><v>21.0288</v></c><c><v>105.8525</v></c>';

  /** 2026-01-02 23:30, 08:30, 26 hours 5 minutes, and 18 digits. */
  const BOOK = workbookXml({
    formats: [0, 22, 'h:mm', '[h]:mm:ss'],
    sheets: {
      s: `${HEADER}<row>${POSITION}<c s="1"><v>46024.979166666664</v></c><c s="2"><v>0.35416666666666669</v></c><c s="3"><v>1.0868055555555556</v></c><c><v>861234567890123457</v></c></row>`,
    },
  });

  const VALUES = '2026-01-02T23:30:00,08:30:00,PT26H5M0S,861234567890123457';

  test('times have no zone, and integers all their digits', async () => {
    folder.write('book.xlsx', BOOK);
    const { stdout } = await folder.run('encode book.xlsx -q --to csv');
    expect(stdout).toContain(`\n7,21.0288,105.8525,${VALUES},HN-6GHP4-83RFR,`);
  });

  test.each([
    ['aggregate', '--time', 'ts', '--bucket', '1h', '--by', 'province', '--to', 'csv'],
    ['track', '--id', 'id', '--time', 'ts', '--to', 'csv'],
  ])('%s puts a time where it puts it in CSV', async (command, ...options) => {
    folder.write('book.xlsx', BOOK);
    folder.write('book.csv', `id,lat,lng,ts\n7,21.0288,105.8525,2026-01-02T23:30:00\n`);
    const [ofWorkbook, ofCsv] = await Promise.all(
      ['book.xlsx', 'book.csv'].map((name) => folder.run([command, name, '-q', ...options])),
    );
    expect(ofWorkbook!.stdout).toContain('2026-01-02T23:');
    expect(ofWorkbook).toEqual(ofCsv);
  });

  describe('damaged', () => {
    test.each([
      ['cells', '<row r="1"><c r="?"/></row>', /bad\.xlsx: sheet "s": "\?" is not a place of a cell/],
      ['XML', '<row><c></row>', /bad\.xlsx: it is not XML as it should be/],
      [
        'a reference',
        `${HEADER}<row><c t="s"><v>3</v></c></row>`,
        /bad\.xlsx: sheet "s": .* has text "3" of 0/,
      ],
    ])('%s: the file is named, and the exit code is 3', async (_, rows, why) => {
      folder.write('bad.xlsx', workbookXml({ sheets: { s: rows } }));
      const { code, stderr } = await folder.run('encode bad.xlsx -q');
      expect([code, stderr]).toEqual([3, expect.stringMatching(why)]);
    });

    test('an archive', async () => {
      folder.write('bad.xlsx', BOOK.slice(0, -30));
      const { code, stderr } = await folder.run('encode bad.xlsx -q --from xlsx');
      expect([code, stderr]).toEqual([3, expect.stringContaining('bad.xlsx')]);
    });
  });

  test('a workbook of 3 KB with a comment of starts of cells is read at once', async () => {
    const rows = `<!--${'<c '.repeat(340_000)}-->${HEADER}<row>${POSITION}</row>`;
    folder.write('comment.xlsx', workbookXml({ sheets: { s: rows } }));
    expect(folder.bytes('comment.xlsx').length).toBeLessThan(4000);
    const { stdout } = await folder.run('encode comment.xlsx -q --to csv');
    expect(stdout).toContain('HN-6GHP4-83RFR');
  });
});

/** The rows of a workbook below its header, by the command: what stands behind the position. */
async function cellsOf(of: WorkbookXml | Uint8Array, ...more: readonly string[]): Promise<string[][]> {
  folder.write('cells.xlsx', of instanceof Uint8Array ? of : workbookXml(of));
  const { stdout, stderr } = await folder.run(['encode', 'cells.xlsx', '-q', '--to', 'csv', ...more]);
  if (stdout === '') throw new Error(stderr);
  const [, ...rows] = parse(stdout, { bom: true }) as string[][];
  return rows.map((row) => row.slice(2, -4));
}
const HEAD = rowOf(...['lat', 'lng', 'a', 'b', 'c'].map(text));
const ofRows = (rows: string, more: WorkbookXml = {}): Promise<string[][]> =>
  cellsOf({ sheets: { s: HEAD + rows }, ...more });

describe('cells', () => {
  const A = ' t="inlineStr"><is><t>a</t></is></c>';
  const B = ' t="inlineStr"><is><t>b</t></is></c>';
  test.each([
    ['named', `<row r="2"><c r="C2"${A}<c r="E2"><v>1</v></c></row><row r="4"><c r="D4"${B}</row>`],
    ['in order', `<row><c/><c/><c${A}<c/>${value(1)}</row><row/><row><c/><c/><c/><c${B}</row>`],
    ['named alone', `<row><c r="C2"${A}<c r="E2"><v>1</v></c></row><row><c r="D4"${B}</row>`],
    [
      'out of order in a row',
      `<row r="2"><c r="E2"><v>1</v></c><c r="C2"${A}</row><row r="3"><c r="D3"${B}</row>`,
    ],
    [
      'with prefixes, comments and elements of others',
      `<x:row xmlns:x="m" r="2"><!-- <c r="Z1"> --><x:c r="C2" t="inlineStr"><x:is><x:t>a</x:t></x:is></x:c><x:c r="E2"><x:f>1+0</x:f><x:v>1</x:v><x:extLst><x:ext><x:v>9</x:v></x:ext></x:extLst></x:c></x:row><x:row xmlns:x="m"><x:c r="D3" t="inlineStr"><x:is><x:t>b</x:t></x:is></x:c></x:row>`,
    ],
  ])('places %s', async (_, rows) => {
    expect(await ofRows(rows)).toEqual([
      ['a', '', '1'],
      ['', 'b', ''],
    ]);
  });

  test.each([
    ['does not say it', ''],
    ['says it', '<dimension ref="A1:G1501"/>'],
    ['says its first cell alone', '<dimension ref="A1"/>'],
    ['says more', '<dimension ref="A1:XFD1048576"/>'],
    ['says what is not a range', '<dimension ref="E1500:"/>'],
  ])('a sheet that %s is as wide as its widest row, wherever that stands', async (_, before) => {
    for (const wide of [3, 1200]) {
      const rows = Array.from({ length: 1500 }, (_, i) =>
        rowOf(position, value(1).repeat(i === wide ? 5 : 1 + (i % 2))),
      );
      const found = await ofRows(rows.join(''), { before });
      expect(found[wide]).toEqual(['1', '1', '1', '1', '1']);
      expect(new Set(found.map(({ length }) => length))).toEqual(new Set([5]));
    }
  });

  test('a row that is wider than its sheet says is a failed row of its own', async () => {
    const rows = Array.from({ length: 1500 }, (_, i) => rowOf(position, value(1).repeat(i === 1200 ? 5 : 1)));
    const sheets = { s: HEAD + rows.join('') };
    folder.write('cells.xlsx', workbookXml({ sheets, before: '<dimension ref="A1:E1501"/>' }));
    const { stderr } = await folder.run('encode cells.xlsx -o out.csv');
    expect(stderr).toContain('row 1201: 7 fields, the header has 5');
    expect(stderr).toContain('1,499 encoded, 1 failed');
  });

  test('texts: shared, in the cell, of formulas, in runs, without how they are spoken', async () => {
    const texts = `<si><t xml:space="preserve"> a </t></si><si><r><t>Hà </t></r><r><rPr><b/></rPr><t>Nội</t></r><rPh sb="0" eb="1"><t>x</t></rPh><phoneticPr fontId="1"/></si><si/><si><t>\ufeff&#128512;&#x1F600;&lt;&amp;lt;_x0041__x005F_x0041_</t></si><si><t>a\r\nb</t></si>`;
    const cells = [0, 1, 2, 3, 4].map((i) => `<c t="s"><v>${i}</v></c>`).join('');
    const own =
      '<c t="inlineStr"><is><r><t>x</t></r><r><t xml:space="preserve"> y</t></r><rPh sb="0" eb="1"><t>z</t></rPh></is></c><c t="str"><f>A1</f><v> f </v></c><c t="e"><v>#N/A</v></c>';
    expect(await ofRows(rowOf(position, cells, own), { texts })).toEqual([
      [' a ', 'Hà Nội', '', '\ufeff😀😀<&lt;A_x0041_', 'a\nb', 'x y', ' f ', '#N/A'],
    ]);
  });

  test('shared texts, many and of any length, are themselves', async () => {
    const drawn = fc.sample(
      fc.oneof(
        {
          weight: 8,
          arbitrary: fc.string({ unit: fc.constantFrom('a', 'é', '😀', 'ộ', ' '), maxLength: 40 }),
        },
        fc.integer({ min: 4000, max: 8000 }).map((times) => 'Đà Nẵng '.repeat(times)),
      ),
      { seed: 26, numRuns: 300 },
    );
    const texts = [...drawn, ...Array.from({ length: 70_000 }, (_, i) => `text ${i}`)];
    const order = texts.map((_, i) => (i * 7919) % texts.length).slice(0, 70_000);
    const rows = order.map((i) => rowOf(position, `<c t="s"><v>${i}</v></c>`));
    const found = await ofRows(rows.join(''), {
      texts: texts.map((each) => `<si><t xml:space="preserve">${each}</t></si>`).join(''),
    });
    expect(found.map(([each]) => each)).toEqual(order.map((i) => texts[i]));
  });

  test('numbers', async () => {
    const NUMBERS = [
      ['9007199254740993', '9007199254740993'],
      ['-861234567890123457', '-861234567890123457'],
      ['12345678901234567890123', '12345678901234567890123'],
      ['1234567890123456.0', '1234567890123456'],
      ['8.6123456789012346E+17', '861234567890123460'],
      ['0.12345678901234567890', '0.12345678901234567890'],
      ['0.10000000000000001', '0.1'],
      ['1.0', '1'],
      ['007', '7'],
      ['+5', '5'],
      ['-0', '0'],
      ['0.001', '0.001'],
      ['-12.5', '-12.5'],
      ['0.0000001', '1e-7'],
      ['1E3', '1000'],
      ['1e999', '1e999'],
      [' 5 ', '5'],
      ['', ''],
    ] as const;
    const rows = NUMBERS.map(([xml]) => rowOf(position, value(xml), '<c t="b"><v>1</v></c>'));
    expect(await ofRows(rows.join(''))).toEqual(NUMBERS.map(([, due]) => [due, 'true', '']));
  });

  test('moments by the code of their format, in the systems of 1900 and of 1904', async () => {
    const MOMENTS: readonly (readonly [
      format: number | string,
      value: number,
      in1900: string,
      in1904: string,
    ])[] = [
      ['yyyy-mm-dd', 46024, '2026-01-02', '2030-01-03'],
      [14, 46024.979166666664, '2026-01-02T23:30:00', '2030-01-03T23:30:00'],
      [22, 46024, '2026-01-02T00:00:00', '2030-01-03T00:00:00'],
      ['[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', 46024, '2026-01-02', '2030-01-03'],
      ['d/m/yyyy;@', 46024, '2026-01-02', '2030-01-03'],
      ['h:mm', 0.3541666666666667, '08:30:00', '08:30:00'],
      ['mm:ss.000', 0.000011574, '00:00:01', '00:00:01'],
      ['h:mm', 46024.5, '2026-01-02T12:00:00', '2030-01-03T12:00:00'],
      ['[h]:mm:ss', 1.0868055555555556, 'PT26H5M0S', 'PT26H5M0S'],
      [46, -0.5, '-PT12H0M0S', '-PT12H0M0S'],
      ['[mm]:ss', 0.0416782407407, 'PT1H0M1S', 'PT1H0M1S'],
      [14, 1, '1900-01-01', '1904-01-02'],
      [14, 59, '1900-02-28', '1904-02-29'],
      [14, 60, '1900-02-29', '1904-03-01'],
      [14, 61, '1900-03-01', '1904-03-02'],
      [14, 0, '0', '1904-01-01'],
      [22, 0.5, '12:00:00', '1904-01-01T12:00:00'],
      [14, -1, '-1', '-1'],
      [14, 2958465, '9999-12-31', '2958465'],
      [14, 2958466, '2958466', '2958466'],
      ['0.00E+00', 46024, '46024', '46024'],
      ['"day" 0', 46024, '46024', '46024'],
      ['0\\d', 46024, '46024', '46024'],
      ['0_d', 46024, '46024', '46024'],
      ['[Red]0;[Color 5]-0', 46024, '46024', '46024'],
      ['[<100]0.0;d/m/yyyy', 46024, '2026-01-02', '2030-01-03'],
      ['[<100]0.0;d/m/yyyy', 5, '5', '5'],
      ['0;yyyy', 46024, '46024', '46024'],
      ['General', 46024, '46024', '46024'],
      ['mmm', 46024, '2026-01-02', '2030-01-03'],
      ['[$-411]ge.m.d', 46024, '2026-01-02', '2030-01-03'],
    ];
    const formats = [0, ...MOMENTS.map(([format]) => format)];
    const rows = MOMENTS.map(([, number], i) => rowOf(position, value(number, i + 1))).join('');
    for (const [properties, system] of [
      ...[['', 2] as const, ['date1904="0"', 2] as const, ['date1904="false"', 2] as const],
      ...[['date1904="1"', 3] as const, ['date1904="true"', 3] as const],
    ])
      expect([properties, (await ofRows(rows, { formats, properties })).map(([each]) => each)]).toEqual([
        properties,
        MOMENTS.map((each) => each[system]),
      ]);
  });

  // openpyxl and calamine do not know those of East Asian and Thai workbooks (ECMA-376, 18.8.30).
  test('formats that are named by number alone: every number from 0 to 200', async () => {
    const KINDS: readonly (readonly [
      shown: readonly string[],
      ...ids: readonly (number | readonly [number, number])[],
    ])[] = [
      [['2030-01-03', '1904-01-01T06:00:00'], [14, 17], [27, 31], 36, [50, 54], [57, 58], [71, 74], 81],
      [['2030-01-03T00:00:00', '06:00:00'], [18, 21], 45, 47, 75, 76, 78, 80],
      // The language decides which of 32 to 35, 55 and 56 are dates and which are times.
      [['2030-01-03T00:00:00', '1904-01-01T06:00:00'], 22, [32, 35], [55, 56], 77],
      [['PT1104576H0M0S', 'PT6H0M0S'], 46, 79],
    ];
    const wanted = Array<readonly string[]>(201).fill(['46024', '0.25']);
    for (const [shown, ...ids] of KINDS)
      for (const id of ids) {
        const [first, last] = typeof id === 'number' ? [id, id] : id;
        wanted.fill(shown, first, last + 1);
      }
    const rows = wanted.map((_, id) => rowOf(position, value(46024, id), value(0.25, id)));
    const formats = wanted.map((_, id) => id);
    const found = await ofRows(rows.join(''), { formats, properties: 'date1904="1"' });
    expect(found.map((row) => row.slice(0, 2))).toEqual(wanted);
  });

  test('a cell that names no style has the first; seconds of a day are themselves', async () => {
    const seconds = Array.from({ length: 86_400 / 67 }, (_, i) => 67 * i);
    const rows = seconds.map((second) =>
      rowOf(position.replaceAll('s="0"', 's="1"'), `<c><v>${46024 + second / 86_400}</v></c>`),
    );
    expect((await ofRows(rows.join(''), { formats: [22, 0] })).map(([each]) => each)).toEqual(
      seconds.map((second) => new Date(Date.UTC(2026, 0, 2) + 1000 * second).toISOString().slice(0, 19)),
    );
  });

  const TYPE = 'http://purl.oclc.org/ooxml/officeDocument/relationships';
  test.each<[string, Readonly<Record<string, string>>]>([
    ['names', {}],
    [
      'absolute targets, other letters and slashes',
      {
        'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="rId1" Type="${TYPE}/worksheet" Target="/XL/Worksheets/SHEET1.xml"/></Relationships>`,
      },
    ],
    [
      'a workbook elsewhere',
      {
        '_rels/.rels': `<Relationships><Relationship Id="x" Type="${TYPE}/officeDocument" Target="b/book.xml"/></Relationships>`,
        'b/book.xml': '<workbook><sheets><sheet name="A &amp; B" n:id="r1"/></sheets></workbook>',
        'b/_rels/book.xml.rels':
          '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="../xl/worksheets/sheet1.xml"/></Relationships>',
      },
    ],
  ])('sheets: %s', async (_, parts) => {
    const sheets = { 'A & B': HEAD + rowOf(position, value(1)) };
    expect(await cellsOf({ sheets, parts }, '--sheet', 'A & B')).toEqual([['1', '', '']]);
  });

  test.each<[string, string, RegExp, WorkbookXml?]>([
    ['a row before another', '<row r="3"/><row r="2"/>', /row 2 comes after row 3/],
    ['a row beyond the last', '<row r="1048577"/>', /row 1048577 is none/],
    ['a row that is not a number', '<row r="x"/>', /row NaN is none/],
    ['a cell in another row', '<row r="2"><c r="A3"/></row>', /cell A3 stands in row 2/],
    ['a cell beyond the last column', '<row r="2"><c r="XFE2"/></row>', /beyond the last column/],
    ['no place', '<row r="2"><c r="1A"/></row>', /"1A" is not a place of a cell/],
    ['another type', '<row><c t="q"><v>1</v></c></row>', /is of type "q"/],
    ['no number', rowOf(value('abc')), /its text is "abc"/],
    [
      'a cell twice',
      '<row><c r="A2"><v>1</v></c><c r="A2"><v>2</v></c></row>',
      /column 1 of row 2 stands there twice/,
    ],
    ['a value twice', '<row><c><v>1</v><v>2</v></c></row>', /column 1 of row 2 has two values/],
    ['no truth', '<row><c t="b"><v>2</v></c></row>', /neither true nor false: "2"/],
    ['no text', '<row><c t="s"><v>7</v></c></row>', /has text "7" of 0/],
    ['no style', rowOf(value(1, 5)), /has style 5/],
    ['XML that is cut off', '<row><c>', /not XML as it should be|ends in the middle/],
    ['another truth of date1904', '', /neither true nor false/, { properties: 'date1904="yes"' }],
    [
      'a sheet that is not there',
      '',
      /sheet "s" is not in the workbook/,
      { parts: { 'xl/_rels/workbook.xml.rels': '<Relationships/>' } },
    ],
  ])('refused: %s', async (_, rows, why, more = {}) => {
    await expect(ofRows(rows, { formats: [0], ...more })).rejects.toThrow(why);
  });
});

// Archives are checked before they are read: parts that are not as large as they say are refused, wherever the lie is,
// and sizes in the longer fields of ZIP64 are found.
describe('archives', () => {
  interface Made {
    readonly plain?: Buffer;
    readonly said?: number;
    readonly method?: number;
    readonly isZip64?: boolean;
  }
  const WHOLE = workbookXml({ sheets: { s: HEAD + rowOf(position, value(1)) } });

  /** The workbook in a new archive, whose directory says of its sheet, or of all parts, what a test wants. */
  function archive(made: Made, isAll = false): Buffer {
    const locals: Buffer[] = [];
    const entries: Buffer[] = [];
    const parts = Object.entries(unzipSync(WHOLE));
    for (const [name, xml] of parts) {
      const {
        plain = Buffer.from(xml),
        method = 8,
        isZip64 = false,
        ...of
      } = isAll || name.endsWith('sheet1.xml') ? made : {};
      const { said = plain.length } = of;
      const packed = method === 8 ? deflateRawSync(plain) : plain;
      const local = Buffer.alloc(30);
      local.writeUInt32LE(0x04034b50);
      local.writeUInt16LE(method, 8);
      local.writeUInt16LE(name.length, 26);
      const at = locals.reduce((sum, each) => sum + each.length, 0);
      locals.push(local, Buffer.from(name), packed);
      const entry = Buffer.alloc(46);
      entry.writeUInt32LE(0x02014b50);
      entry.writeUInt16LE(method, 10);
      entry.writeUInt16LE(name.length, 28);
      const sizes = [packed.length, said, at];
      for (const [i, place] of [20, 24, 42].entries())
        entry.writeUInt32LE(isZip64 ? 0xffff_ffff : sizes[i]!, place);
      // A field of another kind first; then size, packed size and place.
      const extra = Buffer.alloc(isZip64 ? 6 + 28 : 0);
      if (isZip64) {
        for (const [i, short] of [0x5455, 2, 0, 1, 24].entries()) extra.writeUInt16LE(short, 2 * i);
        for (const [i, long] of [said, packed.length, at].entries())
          extra.writeBigUInt64LE(BigInt(long), 10 + 8 * i);
      }
      entry.writeUInt16LE(extra.length, 30);
      entries.push(entry, Buffer.from(name), extra);
    }
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50);
    end.writeUInt16LE(parts.length, 10);
    end.writeUInt32LE(
      locals.reduce((sum, each) => sum + each.length, 0),
      16,
    );
    return Buffer.concat([...locals, ...entries, end]);
  }

  test.each<[string, Made]>([
    ['packed', {}],
    ['stored', { method: 0 }],
    ['with sizes in ZIP64', { isZip64: true }],
  ])('parts %s', async (_, made) => {
    for (const isAll of [false, true]) expect(await cellsOf(archive(made, isAll))).toEqual([['1', '', '']]);
  });

  test.each<[string, Uint8Array, RegExp]>([
    ['a part that is larger than it says', archive({ said: 3 }), /larger than it says/],
    [
      'a part that is a thousand times larger',
      archive({ plain: Buffer.alloc(50_000_000), said: 10 }),
      /larger than it says/,
    ],
    ['a part that is smaller than it says', archive({ said: 5000 }), /another size/],
    ['a part that is stored with another size', archive({ said: 5000, method: 0 }), /another size/],
    ['a part that is packed in another way', archive({ method: 12 }), /not read/],
    [
      'a part that unpacks to hundreds of times its size',
      archive({ plain: Buffer.alloc(1000), said: 300 * 2 ** 20 }),
      /times its size/,
    ],
    ['an archive that is cut off', archive({}).subarray(0, -30), /no directory/],
    [
      'an archive that has lost bytes',
      Buffer.concat([archive({}).subarray(0, 50), archive({}).subarray(55)]),
      /broken|cut off/,
    ],
  ])('refused: %s', async (_, bytes, why) => {
    await expect(cellsOf(bytes, '--from', 'xlsx')).rejects.toThrow(why);
  });
});

// Workbooks as they are written, and read back: what is a number, a date or a text.
describe('the writer', () => {
  afterEach(() => rmSync(folder.file('out.xlsx'), { force: true }));

  const back = async (): Promise<string[][]> => {
    const { stdout } = await folder.run('encode out.xlsx -q --to csv --prefix n_');
    return (parse(stdout) as string[][]).map((row) => row.slice(2, -7));
  };
  const sheet = (): string =>
    Buffer.from(unzipSync(folder.bytes('out.xlsx'))['xl/worksheets/sheet1.xml']!).toString();

  test('the kind of each cell, and its text', async () => {
    const KINDS: readonly (readonly [cell: string | number | bigint | boolean, kind: string])[] = [
      [21.0288, 'number'],
      // All digits of a double, and the longest number that Excel keeps.
      ...[[21.02879832129181, 'number'] as const, ['105.8525', 'number'] as const],
      ...[['123456789012345', 'number'] as const, ['1234567890123456', 'inlineStr'] as const],
      ...[[9007199254740993n, 'inlineStr'] as const, ['0901234567', 'inlineStr'] as const],
      ...[['21.0280', 'inlineStr'] as const, ['1e5', 'inlineStr'] as const],
      // The first date after the day that never was, and what is no date.
      ...[['2025-07-01', 'date'] as const, ['1900-03-01', 'date'] as const],
      ...['1900-02-28', '1900-02-29', '2025-02-30'].map((date) => [date, 'inlineStr'] as const),
      ...[['2026-01-02T23:30:00', 'moment'] as const, ['2026-01-02T00:00:00', 'moment'] as const],
      ...[
        ['2026-01-02T23:30:00.123', 'moment'] as const,
        ['2026-01-02T23:30:00.123456', 'inlineStr'] as const,
      ],
      ...[['2026-01-02T23:30:00Z', 'inlineStr'] as const, ['08:30:00', 'time'] as const],
      ...[
        ['23:59:59.999', 'time'] as const,
        ['08:30', 'inlineStr'] as const,
        ['24:00:00', 'inlineStr'] as const,
      ],
      ...[['PT26H5M0S', 'elapsed'] as const, ['-PT0H0M0.250S', 'elapsed'] as const],
      ...['P1DT2H', 'T', 'FALSE', `<Phở> & "Bún" 'x'`, 'a\nb', '  a ', '=1+1'].map(
        (cell) => [cell, 'inlineStr'] as const,
      ),
      ...[[true, 'b'] as const, ['false', 'b'] as const],
    ];
    const members = KINDS.map(
      ([cell], i) => `"c${i}":${typeof cell === 'bigint' ? cell : JSON.stringify(cell)}`,
    );
    folder.write('in.ndjson', `{"lat":21.0288,"lng":105.8525,${members}}\n`);
    await folder.run('encode in.ndjson -q -o out.xlsx');
    expect((await back())[1]).toEqual(KINDS.map(([cell]) => String(cell)));
    const kinds = [...sheet().matchAll(/<c r="[A-Z]+2"(?: t="(\w+)")?(?: s="(\d)")?>/g)].map(
      ([, type, style]) => type ?? ['number', 'date', '', 'moment', 'time', 'elapsed'][Number(style ?? 0)],
    );
    expect(kinds.slice(2, -4)).toEqual(KINDS.map(([, kind]) => kind));
  });

  test('each millisecond of a day is a time that reads back; equal rows give equal bytes', async () => {
    const texts = Array.from({ length: 3000 }, (_, i) =>
      new Date(Date.UTC(2026, 0, 2) + ((i * 28_657) % 86_400_000))
        .toISOString()
        .slice(0, 23)
        .replace('.000', ''),
    );
    folder.write('in.csv', `lat,lng,t\n${texts.map((each) => `21.0288,105.8525,${each}\n`).join('')}`);
    await folder.run('encode in.csv -q -o out.xlsx');
    const bytes = folder.bytes('out.xlsx');
    expect((await back()).slice(1)).toEqual(texts.map((each) => [each]));
    await folder.run('encode in.csv -q -o out.xlsx');
    expect(folder.bytes('out.xlsx').equals(bytes)).toBe(true);
  });

  test('cells that are empty, and columns beyond Z', async () => {
    const names = Array.from({ length: 703 }, (_, i) => `c${i + 1}`);
    folder.write('in.csv', `lat,lng,${names}\n21.0288,105.8525${','.repeat(703)}last\n`);
    await folder.run('encode in.csv -q -o out.xlsx');
    expect(await back()).toEqual([names, names.map((_, i) => (i === 702 ? 'last' : ''))]);
    expect(sheet()).not.toContain('<c r="C2"');
  });

  test.each([
    ['columns', `lat,lng,${Array.from({ length: 16_383 }, (_, i) => `c${i}`)}\n1,2\n`],
    ['letters', `lat,lng,a\n21.0288,105.8525,${'x'.repeat(32_768)}\n`],
  ])('more %s than Excel holds are refused with a way out', async (_, rows) => {
    folder.write('in.csv', rows);
    const { code, stderr } = await folder.run('encode in.csv -q -o out.xlsx');
    expect([code, stderr]).toEqual([4, expect.stringMatching(/of Excel.*\n.*write CSV/is)]);
    expect(folder.names()).not.toContain('out.xlsx');
  });
});

describe('judges', () => {
  const hasJudges = spawnSync(PYTHON, ['-c', 'import openpyxl, python_calamine']).status === 0;

  const hasLibreOffice = spawnSync('soffice', ['--version']).status === 0;

  const note = hasJudges ? '' : ' (openpyxl or python-calamine is missing: .ci/python installs them)';

  /** Each cell in the words of the reader: numbers with all digits of a double, times to the millisecond. */
  const READ = `
import datetime, json, sys
def text(value):
    if value is None: return ''
    if isinstance(value, bool): return 'true' if value else 'false'
    if isinstance(value, datetime.timedelta):
        ms = round(value.total_seconds() * 1000)
        s, f = divmod(abs(ms), 1000)
        return ('-' if ms < 0 else '') + f'PT{s // 3600}H{s // 60 % 60}M{s % 60}' + (f'.{f:03}' if f else '') + 'S'
    if isinstance(value, datetime.datetime):
        value = value + datetime.timedelta(microseconds=500)
        t = value.strftime('%Y-%m-%dT%H:%M:%S')
        return t + (f'.{value.microsecond // 1000:03}' if value.microsecond // 1000 else '')
    if isinstance(value, datetime.date): return value.isoformat() + 'T00:00:00'
    if isinstance(value, datetime.time):
        return value.strftime('%H:%M:%S') + (f'.{round(value.microsecond / 1000):03}' if value.microsecond >= 500 else '')
    # Beyond the digits of a double an integer is what its digits are; calamine has none of them.
    if isinstance(value, int) and abs(value) >= 10**15: return str(value)
    if isinstance(value, (int, float)): return repr(float(value))
    return str(value)
def openpyxl_of(path):
    import openpyxl
    return list(openpyxl.load_workbook(path, data_only=True).active.values)
def calamine_of(path):
    from python_calamine import CalamineWorkbook
    return CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python(skip_empty_area=False)
rows = globals()[sys.argv[1] + '_of'](sys.argv[2])
print(json.dumps([[text(value) for value in row] for row in rows]))
`;

  /** Our text in the judges' words: a date is midnight to them, and a number a double. */
  const judged = (text: string): string =>
    /^-?[\d.]+(?:e[+-]?\d+)?$/.test(text)
      ? pythonFloat(Number(text))
      : text.replace(/^\d{4}-\d\d-\d\d$/, '$&T00:00:00');

  function pythonFloat(value: number): string {
    const text = String(value);
    return /^-?\d+$/.test(text) ? `${text}.0` : text;
  }

  const FORMATS: readonly (number | string)[] = [
    // Built-in formats that the judges know; "every number from 0 to 200" has the others.
    ...Array.from({ length: 23 }, (_, id) => id),
    ...Array.from({ length: 13 }, (_, i) => 37 + i),
    ...['yyyy-mm-dd', 'd/m/yyyy;@', '[$-409]d/m/yyyy h:mm AM/PM;@', '[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy'],
    ...['[$-F400]h:mm:ss AM/PM', 'yyyy\\-mm\\-dd\\ hh:mm:ss.000', 'mm:ss', '[h]:mm:ss', '[mm]:ss', '[hh]:mm'],
    ...['0.00E+00', '"dmy" 0', '0\\d', '0_d', '[Red]0.0;[Blue]-0.0', '#,##0\\ "h"', '[Color 5]0', 'mmm\\-yy'],
  ];

  /** A format of numbers, dates or durations as people and programs write them. */
  function drawnFormat(random: () => number): string {
    const one = (...of: readonly string[]): string => of[Math.floor(random() * of.length)]!;
    const separator = () => one('/', '-', '\\-', ' ', '\\ ', '.', '", "', '"d"', ',\\ ');
    const joined = (...of: readonly string[]) => of.reduce((all, each) => all + separator() + each);
    const day = () => one('d', 'dd', 'ddd', 'dddd');
    const month = () => one('m', 'mm', 'mmm', 'mmmm', 'mmmmm', 'MM');
    const year = () => one('yy', 'yyyy', 'YYYY');
    const date = () =>
      one(
        joined(day(), month(), year()),
        joined(year(), month(), day()),
        joined(month(), year()),
        joined(day(), month()),
        year(),
      );
    const time = () =>
      one(
        'h:mm',
        'hh:mm:ss',
        'HH:MM',
        'h:mm AM/PM',
        'hh:mm:ss.000',
        'mm:ss',
        'mm:ss.0',
        'h"h"mm',
        'h:mm:ss\\ AM/PM',
      );
    const number = () =>
      one(
        '0',
        '0.00',
        '#,##0',
        '#,##0.00',
        '0%',
        '0.00E+00',
        '# ?/?',
        '0" days"',
        '0\\d',
        '#,##0\\ "₫"',
        '_(* #,##0.00_)',
        '_-* #,##0_-',
      );
    const before = () => one('', '', '[Red]', '[$-409]', '[$-42A]', '[$-F800]');
    const body = one(
      date(),
      `${date()}${separator()}${time()}`,
      time(),
      number(),
      one('[h]:mm', '[hh]:mm:ss', '[mm]:ss', '[h]:mm:ss.000'),
    );
    return before() + body + one('', '', ';@', ';[Red]-0', '_)', '*-');
  }

  /** Day numbers from March 1900 on, where all programs count alike, with times of whole milliseconds. */
  const VALUES = [61, 46024, 46024.979166666664, 46024 + 0.123 / 86_400, 45_000.25, 2_950_000.5];

  const TIMES = [0.3541666666666667, 0.000011574074074074073, 0.99998842592592596];

  describe.skipIf(!hasJudges)(`judges of workbooks${note}`, () => {
    const readBy = async (judge: string, name: string): Promise<string[][]> => {
      const { code, stdout, stderr } = await runPython([
        '-W',
        'ignore',
        '-c',
        READ,
        judge,
        folder.file(name),
      ]);
      expect([code, stderr]).toEqual([0, '']);
      return JSON.parse(stdout) as string[][];
    };
    const ours = async (name: string): Promise<string[][]> => {
      const { stdout } = await folder.run(['encode', name, '-q', '--to', 'csv']);
      return (parse(stdout) as string[][]).map((row) => row.slice(0, -4).map(judged));
    };
    const header = (columns: number): string =>
      rowOf(...['lat', 'lng', ...Array.from({ length: columns }, (_, c) => `c${c}`)].map(text));

    const drawn = (system: string, hasPlaces: boolean, isShared: boolean): Uint8Array => {
      const texts = ['a', ' b ', 'Hà Nội', 'x&amp;y', '😀'];
      const rows = FORMATS.map((format, style) => {
        const isTime =
          typeof format === 'number'
            ? [18, 19, 20, 21, 45, 46, 47].includes(format)
            : /^\[?(?:h|mm:|mm\]|\$-F400)/.test(format);
        const numbers = (isTime ? TIMES : VALUES).map((value) => ` s="${style}"><v>${value}</v>`);
        const text = isShared
          ? ` t="s"><v>${style % texts.length}</v>`
          : ` t="inlineStr"><is><t xml:space="preserve">${texts[style % texts.length]}</t></is>`;
        const place = ['21.0288', '105.8525'].map((degrees) => `><v>${degrees}</v>`);
        const cells = [...place, ...numbers, text, ' t="b"><v>1</v>', ' t="str"><f>A1</f><v>f</v>'];
        const xml = cells.map(
          (cell, c) => `<c${hasPlaces ? ` r="${String.fromCharCode(65 + c)}${style + 2}"` : ''}${cell}</c>`,
        );
        return `<row${hasPlaces ? ` r="${style + 2}"` : ''}>${xml.join('')}</row>`;
      });
      return workbookXml({
        formats: FORMATS,
        sheets: { s: header(9) + rows.join('') },
        properties: system,
        texts: texts.map((text) => `<si><t xml:space="preserve">${text}</t></si>`).join(''),
      });
    };

    const CASES = [
      ['', true, true],
      ['date1904="1"', false, true],
      ['date1904="true"', true, false],
      ['', false, false],
    ] as const;
    test.each(CASES)('%j, places %s, shared texts %s', async (system, hasPlaces, isShared) => {
      folder.write('drawn.xlsx', drawn(system, hasPlaces, isShared));
      const found = await ours('drawn.xlsx');
      for (const judge of ['openpyxl', 'calamine']) {
        const wanted = await readBy(judge, 'drawn.xlsx');
        const width = Math.max(...found.map((row) => row.length));
        const padded = wanted.map((row) => Array.from({ length: width }, (_, c) => row[c] ?? ''));
        expect([judge, found]).toEqual([judge, padded]);
      }
    });

    test('formats drawn from their grammar: where the judges agree, so does the reader', async () => {
      const random = randomFrom(20_260_102);
      const codes = [...new Set(Array.from({ length: 400 }, () => drawnFormat(random)))];
      const numbers = [46024.979166666664, 46024, 61.25];
      const rows = codes.map((_, style) => rowOf(position, ...numbers.map((each) => value(each, style))));
      const sheets = { s: header(numbers.length) + rows.join('') };
      folder.write('formats.xlsx', workbookXml({ formats: codes, sheets }));
      const found = await ours('formats.xlsx');
      const [one, other] = [
        await readBy('openpyxl', 'formats.xlsx'),
        await readBy('calamine', 'formats.xlsx'),
      ];
      let agreed = 0;
      const wrong: unknown[] = [];
      for (const [i, code] of codes.entries())
        for (const [c, value] of numbers.entries()) {
          const [ours, wanted, others] = [found, one, other].map((rows) => rows[i + 1]![c + 2]);
          if (wanted !== others) continue;
          agreed++;
          if (ours !== wanted) wrong.push([code, value, ours, wanted]);
        }
      expect(wrong).toEqual([]);
      expect(agreed).toBeGreaterThan(0.8 * 3 * codes.length);
    });

    test.skipIf(!hasLibreOffice)(
      'workbooks that LibreOffice has written: where the judges agree, so does the reader (needs libreoffice-calc-nogui)',
      async () => {
        for (const system of ['', 'date1904="1"']) {
          folder.write('before.xlsx', drawn(system, true, true));
          const { status, stderr } = spawnSync(
            'soffice',
            [
              `-env:UserInstallation=file://${folder.file('office')}`,
              ...[
                '--headless',
                '--convert-to',
                'xlsx:Calc MS Excel 2007 XML',
                '--outdir',
                folder.file('written'),
              ],
              folder.file('before.xlsx'),
            ],
            { encoding: 'utf8', env: { ...process.env, HOME: folder.path } },
          );
          expect(status, stderr).toBe(0);
          const found = await ours('written/before.xlsx');
          const [one, other] = [
            await readBy('openpyxl', 'written/before.xlsx'),
            await readBy('calamine', 'written/before.xlsx'),
          ];
          let agreed = 0;
          for (const [r, row] of found.entries())
            for (const [c, value] of row.entries()) {
              const wanted = one[r]?.[c] ?? '';
              if (wanted !== (other[r]?.[c] ?? '')) continue;
              agreed++;
              expect([system, FORMATS[r - 1], c, value]).toEqual([system, FORMATS[r - 1], c, wanted]);
            }
          expect(agreed).toBeGreaterThan(4 * FORMATS.length);
        }
      },
    );

    test('a workbook into a workbook: the judge finds every value in both', async () => {
      const random = randomFrom(1904);
      const kinds: readonly (readonly [format: number | string, value: () => string])[] = [
        ['yyyy-mm-dd', () => `${61 + Math.floor(random() * 2_900_000)}`],
        [22, () => `${(61 * 86_400_000 + Math.floor(random() * 2e14)) / 86_400_000}`],
        ['hh:mm:ss.000', () => `${Math.floor(random() * 86_400_000) / 86_400_000}`],
        ['[h]:mm:ss', () => `${Math.floor(random() * 1e10) / 86_400_000}`],
        [
          0,
          () =>
            Array.from({ length: 1 + Math.floor(random() * 30) }, () => 1 + Math.floor(random() * 9)).join(
              '',
            ),
        ],
        [0, () => `${random() * 1e6}`],
      ];
      const texts = (...names: readonly string[]) =>
        `<row>${names.map((name) => `<c t="inlineStr"><is><t>${name}</t></is></c>`).join('')}</row>`;
      for (const properties of ['', 'date1904="1"', 'date1904="true"']) {
        const rows = Array.from(
          { length: 300 },
          () =>
            `<row>${kinds.map(([, value], style) => `<c s="${style}"><v>${value()}</v></c>`).join('')}<c s="5"><v>21.0288</v></c><c s="5"><v>105.8525</v></c></row>`,
        );
        const header = texts('d', 'm', 't', 'e', 'i', 'n', 'lat', 'lng');
        folder.write(
          'in.xlsx',
          workbookXml({
            formats: kinds.map(([format]) => format),
            properties,
            sheets: { s: header + rows.join('') },
          }),
        );
        expect((await folder.run('encode in.xlsx -q -o out.xlsx')).code).toBe(0);
        const wanted = await readBy('openpyxl', 'in.xlsx');
        const found = await readBy('openpyxl', 'out.xlsx');
        expect(found.map((row) => row.slice(0, 8))).toEqual(wanted);
      }
    });
  });
});
