// The reader of workbooks: places and texts of cells, numbers, dates, sheets, and the files that it refuses.
import { describe, expect, test } from 'vitest';
import { TableError } from '#dist/tables/table-error.js';
import { sheetsOf } from '#dist/tables/xlsx/workbook.js';
import { type WorkbookXml, workbookXml } from '../../support/files/workbook-xml.js';

const NO_LIMIT = (): void => {};
const rowsOf = (of: WorkbookXml, first = 0): string[][] =>
  Array.from(sheetsOf(workbookXml(of), NO_LIMIT)[0]!.rows(first), (row) => [...row]);
const ofRows = (rows: string, more: WorkbookXml = {}): string[][] => rowsOf({ sheets: { s: rows }, ...more });

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
  /** Rows of two cells, or of one, but for one behind the head. */
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
    ['says what is no range', '<dimension ref="E1500:"/>'],
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
  ['a row before another', '<row r="2"/><row r="1"/>', /row 1 stands behind row 2/],
  ['a row beyond the last', '<row r="1048577"/>', /row 1048577 is none/],
  ['a row that is no number', '<row r="x"/>', /row NaN is none/],
  ['a cell in another row', '<row r="1"><c r="A2"/></row>', /cell A2 stands in row 1/],
  ['a cell beyond the last column', '<row r="1"><c r="XFE1"/></row>', /beyond the last column/],
  ['no place', '<row r="1"><c r="1A"/></row>', /"1A" is no place of a cell/],
  ['another type', '<row><c t="q"><v>1</v></c></row>', /is of type "q"/],
  ['no number', '<row><c><v>abc</v></c></row>', /its text is "abc"/],
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
  expect(work).toThrow(TableError);
  expect(work).toThrow(why);
});

test('refused: another truth of date1904, a sheet that is not there', () => {
  expect(() => rowsOf({ sheets: { s: '' }, properties: 'date1904="yes"' })).toThrow(/neither true nor false/);
  const parts = { 'xl/_rels/workbook.xml.rels': '<Relationships/>' };
  expect(() => rowsOf({ sheets: { s: '' }, parts })).toThrow(/sheet "s" is not in the workbook/);
});
