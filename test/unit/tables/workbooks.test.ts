// Workbooks: what is read of cells, formats and archives, what is written, and files that mean harm.

import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { unzipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { type Bytes, partsOf, piecesOf } from '#dist/tables/xlsx/archive.js';
import { builtInFormat, type Shown } from '#dist/tables/xlsx/number-format.js';
import { TextList } from '#dist/tables/xlsx/text-list.js';
import { sheetsOf } from '#dist/tables/xlsx/workbook.js';
import { type Cell, MAX_SHEET_ROWS, XlsxWriter } from '#dist/tables/xlsx/xlsx-writer.js';
import { type WorkbookXml, workbookXml } from '../../support/files/workbook-xml.js';

// The reader of workbooks: places and texts of cells, numbers, dates, sheets, and the files that it refuses.
describe('cells', () => {
  const NO_LIMIT = (): void => {};
  const rowsOf = (of: WorkbookXml, first = 0): string[][] =>
    Array.from(sheetsOf(workbookXml(of), NO_LIMIT)[0]!.rows(first), (row) => [...row]);
  const ofRows = (rows: string, more: WorkbookXml = {}): string[][] =>
    rowsOf({ sheets: { s: rows }, ...more });

  describe('places of cells', () => {
    const WANTED = [
      ['a', '', '1'],
      ['', 'b', ''],
    ];
    const A = '<is><t>a</t></is>';
    const B = '<is><t>b</t></is>';
    test.each([
      [
        'named',
        `<row r="1"><c r="A1" t="inlineStr">${A}</c><c r="C1"><v>1</v></c></row><row r="3"><c r="B3" t="inlineStr">${B}</c></row>`,
      ],
      [
        'in order',
        `<row><c t="inlineStr">${A}</c><c/><c><v>1</v></c></row><row/><row><c/><c t="inlineStr">${B}</c></row>`,
      ],
      [
        'named in cells alone',
        `<row><c r="A1" t="inlineStr">${A}</c><c r="C1"><v>1</v></c></row><row><c r="B3" t="inlineStr">${B}</c></row>`,
      ],
      [
        'out of order in a row',
        `<row r="1"><c r="C1"><v>1</v></c><c r="A1" t="inlineStr">${A}</c></row><row r="2"><c r="B2" t="inlineStr">${B}</c></row>`,
      ],
      [
        'with prefixes, comments and elements of others',
        `<x:row xmlns:x="m" r="1"><!-- <c r="Z1"> --><x:c r="A1" t="inlineStr"><x:is><x:t>a</x:t></x:is></x:c><x:c r="C1"><x:f>1+0</x:f><x:v>1</x:v><x:extLst><x:ext><x:v>9</x:v></x:ext></x:extLst></x:c></x:row><x:row xmlns:x="m"><x:c r="B2" t="inlineStr"><x:is><x:t>b</x:t></x:is></x:c></x:row>`,
      ],
    ])('%s', (_, rows) => {
      expect(ofRows(rows)).toEqual(WANTED);
    });

    test('rows from a number on, and the first ones as they are', () => {
      const rows =
        '<row r="2"><c><v>1</v></c></row><row r="4"><c/><c><v>2</v></c></row><row r="5"><c r="D5"/></row>';
      expect(rowsOf({ sheets: { s: rows } }, 2)).toEqual([['', '2']]);
      expect(sheetsOf(workbookXml({ sheets: { s: rows } }), NO_LIMIT)[0]!.firstRows(5)).toEqual([
        ['1'],
        ['', '2'],
      ]);
    });
  });

  describe('width', () => {
    const ROWS = 1500;
    /** Rows of two cells, or of one, but for one after the head. */
    const sheet = (wide: number, width: number): string =>
      Array.from({ length: ROWS }, (_, i) => {
        const cells = i + 1 === wide ? width : 1 + (i % 2);
        return `<row>${'<c><v>1</v></c>'.repeat(cells)}</row>`;
      }).join('');
    const widths = (rows: string, before: string): Set<number> =>
      new Set(ofRows(rows, { before }).map(({ length }) => length));

    test.each([
      ['does not say it', ''],
      ['says it', '<dimension ref="A1:E1500"/>'],
      ['says its first cell alone', '<dimension ref="A1"/>'],
      ['says more', '<dimension ref="A1:XFD1048576"/>'],
      ['says what is not a range', '<dimension ref="E1500:"/>'],
    ])('a sheet that %s is as wide as its widest row, wherever that stands', (_, before) => {
      expect(widths(sheet(1200, 5), before)).toEqual(new Set([5]));
      expect(widths(sheet(3, 5), before)).toEqual(new Set([5]));
    });

    test('a row that contradicts it keeps its cells, and the others are even', () => {
      const rows = ofRows(sheet(1200, 5), { before: '<dimension ref="A1:B1500"/>' });
      expect(rows[1199]).toEqual(['1', '1', '1', '1', '1']);
      expect(new Set(rows.filter((_, i) => i !== 1199).map(({ length }) => length))).toEqual(new Set([2]));
      expect(rows).toHaveLength(ROWS);
    });

    test('a sheet that bears out what it says is read once', () => {
      const reads = (before: string): number => {
        const bytes = workbookXml({ sheets: { s: sheet(1, 2) }, before });
        let read = 0;
        const archive = {
          length: bytes.length,
          subarray(start: number, end: number) {
            read += end - start;
            return bytes.subarray(start, end);
          },
        };
        for (const _ of sheetsOf(archive, NO_LIMIT)[0]!.rows());
        return read;
      };
      expect(reads('<dimension ref="A1:B1500"/>')).toBeLessThan(reads('<dimension ref="A1:C1500"/>'));
    });
  });

  test('texts: shared, in the cell, of formulas, in runs, without how they are spoken', () => {
    const texts = `<si><t xml:space="preserve"> a </t></si><si><r><t>Hà </t></r><r><rPr><b/></rPr><t>Nội</t></r><rPh sb="0" eb="1"><t>x</t></rPh><phoneticPr fontId="1"/></si><si/><si><t>\ufeff&#128512;&#x1F600;&lt;&amp;lt;_x0041__x005F_x0041_</t></si><si><t>a\r\nb</t></si>`;
    const cells = [0, 1, 2, 3, 4].map((i) => `<c t="s"><v>${i}</v></c>`).join('');
    const own =
      '<c t="inlineStr"><is><r><t>x</t></r><r><t xml:space="preserve"> y</t></r><rPh sb="0" eb="1"><t>z</t></rPh></is></c><c t="str"><f>A1</f><v> f </v></c><c t="e"><v>#N/A</v></c>';
    expect(ofRows(`<row>${cells}${own}</row>`, { texts })).toEqual([
      [' a ', 'Hà Nội', '', '\ufeff😀😀<&lt;A_x0041_', 'a\nb', 'x y', ' f ', '#N/A'],
    ]);
  });

  test.each([
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
  ])('number %j', (xml, text) => {
    expect(ofRows(`<row><c><v>${xml}</v></c><c t="b"><v>1</v></c></row>`)).toEqual([[text, 'true']]);
  });

  test.each<[number | string, number, string, string]>([
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
  ])('format %j of %d', (format, value, in1900, in1904) => {
    const rows = `<row><c s="0"><v>${value}</v></c></row>`;
    for (const [properties, wanted] of [
      ['', in1900],
      ['date1904="0"', in1900],
      ['date1904="false"', in1900],
      ['date1904="1"', in1904],
      ['date1904="true"', in1904],
    ] as const)
      expect([properties, ofRows(rows, { formats: [format], properties })]).toEqual([properties, [[wanted]]]);
  });

  test('a cell that names no style has the first', () => {
    expect(ofRows('<row><c><v>46024</v></c><c s="1"><v>46024</v></c></row>', { formats: [14, 0] })).toEqual([
      ['2026-01-02', '46024'],
    ]);
  });

  test('every second of a day is itself', () => {
    const seconds = Array.from({ length: 86_400 / 7 }, (_, i) => 7 * i);
    const rows = seconds.map((second) => `<row><c s="0"><v>${46024 + second / 86_400}</v></c></row>`);
    expect(ofRows(rows.join(''), { formats: [22] }).map(([text]) => text)).toEqual(
      seconds.map((second) => new Date(Date.UTC(2026, 0, 2) + 1000 * second).toISOString().slice(0, 19)),
    );
  });

  test.each<[string, WorkbookXml]>([
    ['names', {}],
    [
      'absolute targets, other letters and slashes',
      {
        parts: {
          'xl/_rels/workbook.xml.rels':
            '<Relationships><Relationship Id="rId1" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/worksheet" Target="/XL/Worksheets/SHEET1.xml"/></Relationships>',
        },
      },
    ],
    [
      'a workbook elsewhere',
      {
        parts: {
          '_rels/.rels':
            '<Relationships><Relationship Id="x" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument" Target="b/book.xml"/></Relationships>',
          'b/book.xml': '<workbook><sheets><sheet name="A &amp; B" n:id="r1"/></sheets></workbook>',
          'b/_rels/book.xml.rels':
            '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="../xl/worksheets/sheet1.xml"/></Relationships>',
        },
      },
    ],
  ])('sheets: %s', (_, more) => {
    const sheets = sheetsOf(
      workbookXml({ sheets: { 'A & B': '<row><c><v>1</v></c></row>' }, ...more }),
      NO_LIMIT,
    );
    expect(sheets.map(({ name, rows }) => [name, Array.from(rows(), (row) => [...row])])).toEqual([
      ['A & B', [['1']]],
    ]);
  });

  test.each([
    ['a row before another', '<row r="2"/><row r="1"/>', /row 1 comes after row 2/],
    ['a row beyond the last', '<row r="1048577"/>', /row 1048577 is none/],
    ['a row that is not a number', '<row r="x"/>', /row NaN is none/],
    ['a cell in another row', '<row r="1"><c r="A2"/></row>', /cell A2 stands in row 1/],
    ['a cell beyond the last column', '<row r="1"><c r="XFE1"/></row>', /beyond the last column/],
    ['no place', '<row r="1"><c r="1A"/></row>', /"1A" is not a place of a cell/],
    ['another type', '<row><c t="q"><v>1</v></c></row>', /is of type "q"/],
    ['no number', '<row><c><v>abc</v></c></row>', /its text is "abc"/],
    [
      'a cell twice',
      '<row><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>',
      /column 1 of row 1 stands there twice/,
    ],
    ['a value twice', '<row><c><v>1</v><v>2</v></c></row>', /column 1 of row 1 has two values/],
    ['no truth', '<row><c t="b"><v>2</v></c></row>', /neither true nor false: "2"/],
    ['no text', '<row><c t="s"><v>7</v></c></row>', /has text "7" of 0/],
    ['no style', '<row><c s="5"><v>1</v></c></row>', /has style 5/],
    [
      'a lone value in the last corner',
      '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
      /far from all others/,
    ],
    ['XML that is cut off', '<row><c>', /not XML as it should be|ends in the middle/],
  ])('refused: %s', (_, rows, why) => {
    const work = () => ofRows(rows, { formats: [0] });
    expect(work).toThrow(expect.objectContaining({ name: 'TableError' }));
    expect(work).toThrow(why);
  });

  test('refused: another truth of date1904, a sheet that is not there', () => {
    expect(() => rowsOf({ sheets: { s: '' }, properties: 'date1904="yes"' })).toThrow(
      /neither true nor false/,
    );
    const parts = { 'xl/_rels/workbook.xml.rels': '<Relationships/>' };
    expect(() => rowsOf({ sheets: { s: '' }, parts })).toThrow(/sheet "s" is not in the workbook/);
  });
});

// Formats that a workbook names by number alone, as ECMA-376 lists them (18.8.30): openpyxl and calamine do not know
// those of East Asian and Thai workbooks.
describe('formats', () => {
  const KINDS: readonly (readonly [shown: Shown, ...ids: readonly (number | readonly [number, number])[]])[] =
    [
      ['date', [14, 17], [27, 31], 36, [50, 54], [57, 58], [71, 74], 81],
      ['time', [18, 21], 45, 47, 75, 76, 78, 80],
      // The language decides which of 32 to 35, 55 and 56 are dates and which are times.
      ['moment', 22, [32, 35], [55, 56], 77],
      ['elapsed', 46, 79],
    ];

  test('every number from 0 to 200', () => {
    const wanted = Array<Shown>(201).fill('number');
    for (const [shown, ...ids] of KINDS)
      for (const id of ids) {
        const [first, last] = typeof id === 'number' ? [id, id] : id;
        wanted.fill(shown, first, last + 1);
      }
    expect(wanted.map((_, id) => builtInFormat(id).shownOf(46_024))).toEqual(wanted);
  });
});

// Archives of workbooks are checked before they are read: parts that are not as large as they say are refused, wherever
// the lie is, and sizes in the longer fields of ZIP64 are found.
describe('archives', () => {
  const NAME = 'xl/worksheets/sheet1.xml';
  const XML = '<worksheet><sheetData/></worksheet>';

  interface Made {
    readonly plain?: Buffer;
    readonly said?: number;
    readonly method?: number;
    readonly isZip64?: boolean;
  }

  /** An archive of parts whose directory says what a test wants. */
  function archive(parts: Readonly<Record<string, Made>>): Buffer {
    const locals: Buffer[] = [];
    const entries: Buffer[] = [];
    for (const [
      name,
      { plain = Buffer.from(XML), said = plain.length, method = 8, isZip64 = false },
    ] of Object.entries(parts)) {
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
        extra.writeUInt16LE(0x5455, 0);
        extra.writeUInt16LE(2, 2);
        extra.writeUInt16LE(1, 6);
        extra.writeUInt16LE(24, 8);
        for (const [i, value] of [said, packed.length, at].entries())
          extra.writeBigUInt64LE(BigInt(value), 10 + 8 * i);
      }
      entry.writeUInt16LE(extra.length, 30);
      entries.push(entry, Buffer.from(name), extra);
    }
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50);
    end.writeUInt16LE(Object.keys(parts).length, 10);
    end.writeUInt32LE(
      locals.reduce((sum, each) => sum + each.length, 0),
      16,
    );
    return Buffer.concat([...locals, ...entries, end]);
  }

  const NO_LIMIT = (): void => {};
  const unpacked = (bytes: Uint8Array): Record<string, string> =>
    Object.fromEntries(
      partsOf(bytes).map((part) => [part.name, Buffer.concat([...piecesOf(part)]).toString()]),
    );

  test.each<[string, Made]>([
    ['packed', {}],
    ['stored', { method: 0 }],
    ['with sizes in ZIP64', { isZip64: true }],
    ['empty', { plain: Buffer.alloc(0) }],
  ])('a part %s', (_, part) => {
    const wanted = (part.plain ?? Buffer.from(XML)).toString();
    expect(unpacked(archive({ [NAME]: part }))).toEqual({ [NAME]: wanted });
  });

  test.each<[string, Made, RegExp]>([
    ['is larger than it says', { said: 3 }, /larger than it says/],
    ['is a thousand times larger', { plain: Buffer.alloc(50_000_000), said: 10 }, /larger than it says/],
    ['is smaller than it says', { said: 1000 }, /another size/],
    ['is stored with another size', { said: 1000, method: 0 }, /another size/],
    ['is packed in another way', { method: 12 }, /not read/],
  ])('a part that %s is refused', (_, part, why) => {
    expect(() => unpacked(archive({ [NAME]: part }))).toThrow(why);
  });

  test('an archive that is cut off is refused', () => {
    const whole = archive({ [NAME]: {} });
    expect(() => partsOf(whole.subarray(0, whole.length - 30))).toThrow('no directory');
    expect(() => partsOf(whole.subarray(5))).toThrow(/broken|cut off/);
  });

  test('a part that unpacks to hundreds of times its size is refused before', () => {
    const bomb = archive({ [NAME]: { plain: Buffer.alloc(1000), said: 300 * 2 ** 20 } });
    expect(() => unpacked(bomb)).toThrow(/times its size/);
  });

  test('a workbook of an exporter that writes ZIP64 is read as any other', () => {
    const bytes = readFileSync('test/fixtures/points.xlsx');
    const parts = Object.entries(unzipSync(bytes)).map(([name, plain]) => [
      name,
      { plain: Buffer.from(plain), isZip64: true },
    ]);
    const rowsOf = (from: Uint8Array) =>
      sheetsOf(from, NO_LIMIT).map((sheet) => Array.from(sheet.rows(), (row) => [...row]));
    expect(rowsOf(archive(Object.fromEntries(parts)))).toEqual(rowsOf(bytes));
  });

  test('a file is read by ranges, whose bytes hold until the next of them', () => {
    const bytes = readFileSync('test/fixtures/points.xlsx');
    let last = new Uint8Array(0);
    const byRanges = {
      length: bytes.length,
      subarray(start: number, end: number) {
        last.fill(0xff);
        last = new Uint8Array(bytes.subarray(start, end));
        return last;
      },
    };
    const rowsOf = (from: Bytes) =>
      sheetsOf(from, NO_LIMIT).map((sheet) => [
        sheet.firstRows(2),
        Array.from(sheet.rows(), (row) => [...row]),
      ]);
    expect(rowsOf(byRanges)).toEqual(rowsOf(bytes));
  });
});

// The reader's work on XML that is made to be slow is bounded by its bytes: four times the bytes take some four times
// the CPU, and never the sixteen of work that grows with their square.
describe('hostile workbooks', () => {
  const ROW = '<row><c><v>1</v></c></row>';
  const filled = (piece: string, letters: number): string => piece.repeat(Math.ceil(letters / piece.length));
  type Hostile = (letters: number) => Parameters<typeof workbookXml>[0];
  const inRows =
    (xml: (letters: number) => string): Hostile =>
    (letters) => ({ sheets: { s: `${ROW}${xml(letters)}${ROW}` } });

  const HOSTILE: readonly (readonly [string, Hostile])[] = [
    ['one comment of starts of cells', inRows((letters) => `<!--${filled('<c ', letters)}-->`)],
    ['one comment of almost ends', inRows((letters) => `<!--${filled('- -', letters)}-->`)],
    ['one tag of quotes', inRows((letters) => `<row a="${filled("'<c r=", letters)}"/>`)],
    ['one tag of names', inRows((letters) => `<row ${filled('a ', letters)}/>`)],
    ['attributes without ends', inRows((letters) => `<row ${filled(`a='"' `, letters)}/>`)],
    [
      'sections of brackets',
      inRows((letters) => `<row><c t="str"><v><![CDATA[${filled(']]', letters)}]]></v></c></row>`),
    ],
    ['references', inRows((letters) => `<row><c t="str"><v>${filled('&#1', letters)}</v></c></row>`)],
    ['escapes', inRows((letters) => `<row><c t="str"><v>${filled('_x00', letters)}</v></c></row>`)],
    ['digits', inRows((letters) => `<row><c><v>${filled('1', letters)}</v></c></row>`)],
    ['digits and no number', inRows((letters) => `<row><c><v>${filled('1', letters)}x</v></c></row>`)],
    ['blanks', inRows((letters) => `<row><c><v>${filled(' ', letters)}1</v></c></row>`)],
    ['places of many letters', inRows((letters) => `<row><c r="${filled('A', letters)}1"/></row>`)],
    ['nesting and closing', inRows((letters) => filled('<a><a><a></a></a></a>', letters))],
    ['a format of brackets', (letters) => ({ formats: [filled('[', letters)], sheets: { s: ROW } })],
    ['a format of quotes', (letters) => ({ formats: [filled('""m', letters / 4)], sheets: { s: ROW } })],
    ['a format of sections', (letters) => ({ formats: [filled('y;', letters)], sheets: { s: ROW } })],
    [
      'texts of runs',
      (letters) => ({ texts: `<si>${filled('<r><t>a</t></r>', letters)}</si>`, sheets: { s: ROW } }),
    ],
    ['texts that are empty', (letters) => ({ texts: filled('<si/>', letters), sheets: { s: ROW } })],
  ];

  function cpuOf(bytes: Uint8Array): number {
    const start = process.cpuUsage();
    try {
      for (const sheet of sheetsOf(bytes, () => {})) for (const _ of sheet.rows());
    } catch (error) {
      if ((error as Error).name !== 'TableError') throw error;
    }
    const { user, system } = process.cpuUsage(start);
    return user + system;
  }

  const LETTERS = 2 ** 18;
  /** CPU of a run whatever its size, with a margin. */
  const FIXED_MICROS = 20_000;

  test.each(HOSTILE)('%s', (_, make) => {
    const [small, large] = [workbookXml(make(LETTERS)), workbookXml(make(4 * LETTERS))];
    const least = (bytes: Uint8Array): number => Math.min(...Array.from({ length: 3 }, () => cpuOf(bytes)));
    expect(least(large)).toBeLessThan(8 * (least(small) + FIXED_MICROS));
  });
});

// Shared texts of workbooks, of any length, against a plain list of them.
describe('shared texts', () => {
  test('every text is itself, wherever blocks end', () => {
    const text = fc.oneof(
      { weight: 8, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
      fc.integer({ min: 30_000, max: 120_000 }).map((length) => 'Đà Nẵng '.repeat(length / 8)),
      fc.constantFrom('', '\ufeff', '😀'),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 60 }), (texts) => {
        let held = 0;
        const list = new TextList((bytes) => {
          held += bytes;
        });
        for (const each of texts) list.add(each);
        expect(texts.map((_, i) => list.at(i))).toEqual(texts);
        expect([list.at(-1), list.at(0.5), list.at(texts.length), list.at(Number.NaN)]).toEqual(Array(4));
        expect(held).toBeGreaterThanOrEqual(texts.join('').length);
      }),
      { seed: 26, numRuns: 25 },
    );
  });

  test('more texts than one list of ends has', () => {
    const list = new TextList(() => {});
    for (let i = 0; i < 200_000; i++) list.add(`text ${i}`);
    for (const i of [0, 65_535, 65_536, 199_999]) expect(list.at(i)).toBe(`text ${i}`);
  });
});

// Workbooks as they are written, read back by the reader that the command has: what is a number, a date or a text.
describe('the writer', () => {
  function bytesOf(names: readonly string[], rows: readonly (readonly Cell[])[]): Buffer {
    const writer = new XlsxWriter(names);
    for (const row of rows) writer.add(1, (_, column) => row[column]);
    writer.end();
    return Buffer.concat(writer.take());
  }

  const readBack = (names: readonly string[], rows: readonly (readonly Cell[])[]): string[][] =>
    Array.from(sheetsOf(bytesOf(names, rows), () => {})[0]!.rows(), (row) => [...row]);

  /** The cell as XML: its type and style, which tell what it is. */
  function kindOf(cell: Cell): string {
    const xml = Buffer.from(unzipSync(bytesOf(['a'], [[cell]]))['xl/worksheets/sheet1.xml']!).toString();
    const [, type = '', style = ''] = /<c r="A2"(?: t="(\w+)")?(?: s="(\d)")?>/.exec(xml) ?? [];
    return type === '' ? (['number', 'date', '', 'moment', 'time', 'elapsed'][Number(style)] ?? '?') : type;
  }

  test.each<[string, Cell, string]>([
    ['a number', 21.0288, 'number'],
    ['all digits of a double', 21.02879832129181, 'number'],
    ['a text that is a number', '105.8525', 'number'],
    ['the longest number that Excel keeps', '123456789012345', 'number'],
    ['an integer beyond it', '1234567890123456', 'inlineStr'],
    ['a bigint beyond it', 9007199254740993n, 'inlineStr'],
    ['a zero before a number', '0901234567', 'inlineStr'],
    ['a zero after its point', '21.0280', 'inlineStr'],
    ['an exponent', '1e5', 'inlineStr'],
    ['a date', '2025-07-01', 'date'],
    ['the first date after the day that never was', '1900-03-01', 'date'],
    ['a date before it', '1900-02-28', 'inlineStr'],
    ['the day that never was', '1900-02-29', 'inlineStr'],
    ['no date', '2025-02-30', 'inlineStr'],
    ['a date with a time', '2026-01-02T23:30:00', 'moment'],
    ['midnight', '2026-01-02T00:00:00', 'moment'],
    ['milliseconds', '2026-01-02T23:30:00.123', 'moment'],
    ['microseconds', '2026-01-02T23:30:00.123456', 'inlineStr'],
    ['a time with a zone', '2026-01-02T23:30:00Z', 'inlineStr'],
    ['a time of day', '08:30:00', 'time'],
    ['the last millisecond of a day', '23:59:59.999', 'time'],
    ['a time of day that is not whole', '08:30', 'inlineStr'],
    ['no time of day', '24:00:00', 'inlineStr'],
    ['a duration', 'PT26H5M0S', 'elapsed'],
    ['a duration below 0', '-PT0H0M0.250S', 'elapsed'],
    ['a duration in other units', 'P1DT2H', 'inlineStr'],
    ['no date and no time', 'T', 'inlineStr'],
    ['true', true, 'b'],
    ['a truth value of a workbook', 'false', 'b'],
    ['another spelling', 'FALSE', 'inlineStr'],
    ['letters and signs of XML', `<Phở> & "Bún" 'x'`, 'inlineStr'],
    ['lines', 'a\nb', 'inlineStr'],
    ['blanks around', '  a ', 'inlineStr'],
    ['a formula is text', '=1+1', 'inlineStr'],
    ['no number', Number.NaN, 'inlineStr'],
  ])('%s', (_, cell, kind) => {
    expect(readBack(['a', 'b'], [[cell, 'end']])[1]).toEqual([String(cell), 'end']);
    expect(kindOf(cell)).toBe(kind);
  });

  test('each millisecond of a day is a time that reads back', () => {
    const texts = Array.from({ length: 3000 }, (_, i) =>
      new Date(Date.UTC(2026, 0, 2) + ((i * 28_657) % 86_400_000))
        .toISOString()
        .slice(0, 23)
        .replace('.000', ''),
    );
    expect(
      readBack(
        ['t'],
        texts.map((text) => [text]),
      ).slice(1),
    ).toEqual(texts.map((text) => [text]));
  });

  test('cells that are empty, and columns beyond Z', () => {
    const names = Array.from({ length: 703 }, (_, i) => `c${i + 1}`);
    const rows = readBack(names, [names.map((_, i) => (i === 702 ? 'last' : null))]);
    expect(rows[0]?.[702]).toBe('c703');
    expect(rows[1]?.findIndex((cell) => cell === 'last')).toBe(702);
  });

  test('the same rows are the same bytes', () => {
    expect(bytesOf(['a'], [['x']])).toEqual(bytesOf(['a'], [['x']]));
  });

  test.each([
    ['rows', () => new XlsxWriter(['a']).add(MAX_SHEET_ROWS, () => null)],
    ['columns', () => new XlsxWriter(Array(16_385).fill('a'))],
    ['letters', () => new XlsxWriter(['a']).add(1, () => 'x'.repeat(32_768))],
  ])('more %s than Excel holds are refused with a way out', (_, work) => {
    expect(work).toThrow(expect.objectContaining({ name: 'TableError' }));
    expect(work).toThrow(/of Excel/);
  });
});
