// Tables and lines of the page before the readers take them: headers, columns, pasted lines, lines of JSON.

import { isUtf8 as isUtf8OfNode, Buffer as NodeBuffer } from 'node:buffer';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isJsonTable, jsonAsCsv } from '#dist/tables/rows-as-csv.js';
import { consoleModule } from '../../support/console-module.js';

// Lines of JSON become lines that the readers take, where their positions have other names or are not two numbers.
describe('lines of JSON', async () => {
  const { lineRewriter } = await consoleModule<{
    lineRewriter(beginning: string, isAll: boolean): ((line: string) => string) | undefined;
  }>('file/source.ts');

  const LAT_LNG = '{"lat":21.03,"lng":105.85}';

  test.each([
    ['{"name":"a","location":{"lat":21.03,"lng":105.85}}', LAT_LNG],
    [
      '{"id":7,"resolution":9,"at":{"type":"Point","coordinates":[105.85,21.03]}}',
      '{"id":7,"resolution":9,"lat":21.03,"lng":105.85}',
    ],
    ['{"latitude":"21.03","longitude":105.85}', LAT_LNG],
    ['{"Latitude":21.03,"Longitude":105.85}', LAT_LNG],
    ['{"Vĩ độ":"21,03","Kinh độ":"105,85"}', LAT_LNG],
    [`{"lat":"21°01'30\\"N","lng":"105°51'00\\"E"}`, '{"lat":21.025,"lng":105.85}'],
    ['{"vị trí":"21.03, 105.85"}', LAT_LNG],
  ])('%s', (line, wanted) => {
    expect(lineRewriter(`${line}\n`, true)?.(line)).toBe(wanted);
  });

  test.each([
    LAT_LNG,
    '{"latitude":21.03,"longitude":105.85}',
    '{"lat":21.03,"lon":105.85}',
    '{"hexcodes":"HN-6GHP4-83RFR"}',
    '"HN-6GHP4-83RFR"',
    '[21.03,105.85]',
    '{"a":{"b":1}}',
    '',
  ])('%j is taken as it is', (line) => {
    expect(lineRewriter(line, true)).toBe(undefined);
  });

  test('a line that is not an object stays, and one without a position gets null, which is named as a fault', () => {
    const rewrite = lineRewriter('{"at":{"lat":1,"lng":2}}\n{"at":{"l', false)!;
    expect(rewrite('{"at":')).toBe('{"at":');
    expect(rewrite('[1,2]')).toBe('[1,2]');
    expect(rewrite('{"at":{}}')).toBe('{"lat":null,"lng":null}');
  });
});

// JSON that is one table becomes CSV.
describe('tables of JSON', () => {
  const csvOf = (text: string): string[][] =>
    parse(Buffer.concat([...jsonAsCsv(text)]), { relax_column_count: true });

  test('rows in a list, or in the only list of an object, keep every value, also integers beyond doubles', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.dictionary(
            fc.string({ minLength: 1 }),
            fc.oneof(
              fc.string(),
              fc.double({ noNaN: true, noDefaultInfinity: true }),
              fc.bigInt(),
              fc.boolean(),
            ),
          ),
          { minLength: 1 },
        ),
        fc.boolean(),
        (rows, isWrapped) => {
          if (rows.every((row) => Object.keys(row).length === 0)) return;
          const members = rows.map(
            (row) =>
              `{${Object.entries(row).map(([name, value]) => `${JSON.stringify(name)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`)}}`,
          );
          const text = isWrapped ? `{"n":1,"rows":[${members}]}` : `[${members}]`;
          const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
          const shown = (value: unknown): string =>
            value === undefined
              ? ''
              : typeof value === 'string'
                ? value
                : typeof value === 'bigint'
                  ? String(value)
                  : JSON.stringify(value);
          const wanted = [
            names,
            ...rows.map((row) =>
              names.map((name) => shown(Object.hasOwn(row, name) ? row[name] : undefined)),
            ),
          ];
          expect(csvOf(text)).toEqual(wanted);
        },
      ),
    );
  });

  test.each([
    [
      '[[21,105],[10.5,106]]',
      [
        ['21', '105'],
        ['10.5', '106'],
      ],
    ],
    ['["a","b"]', [['a'], ['b']]],
    [
      '\u001e{"type":"Feature","properties":{"n":1},"geometry":{"type":"Point","coordinates":[105,21]}}\n{"type":"Point","coordinates":[106,10]}',
      [
        ['lat', 'lng', 'n'],
        ['21', '105', '1'],
        ['10', '106', ''],
      ],
    ],
  ])('%s', (text, wanted) => {
    expect(csvOf(text)).toEqual(wanted);
  });

  test.each([
    ['[1,{"lat":2}]', /several kinds/],
    ['7', /no rows/],
    ['{"type":"FeatureCollection"}', /without features/],
    ['[{"lat":21,', /not valid JSON/],
    ['{"type":"LineString","coordinates":[[105,21],[106,22]]}', /lines or areas/],
    [
      '{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"EPSG:3405"}},"features":[]}',
      /EPSG:3405/,
    ],
  ])('%s is refused', (text, reason) => {
    expect(() => [...jsonAsCsv(text)]).toThrow(reason);
  });

  test.each([
    ['[{"lat":1}]', true],
    ['[\n  [1,2]]', true],
    ['["HN-1"]', true],
    ['[21.03,105.85]\n[1,2]', false],
    ['{\n  "lat": 1\n}', true],
    ['{"data":[{"lat":1}]}', true],
    ['{"lat":1,"tags":[{"a":1}]}', false],
    ['{"lat":1}\n{"lat":2}', false],
    ['{"lat":1,}\n{"lat":2}', false],
    ['lat,lng', false],
  ])('%j is a table: %s', (text, isTable) => {
    expect(isJsonTable(text)).toBe(isTable);
  });
});

// Lines without a header row get one where the first of them shows a position of Viet Nam or a code.
describe('pasted lines', async () => {
  const { looksLikeJson, encodingOf, planOf } = await consoleModule<{
    encodingOf(beginning: Uint8Array): string;
    looksLikeJson(text: string): boolean;
    planOf(text: string, isAll: boolean): { delimiter: string; names: string[]; hasHeader: boolean };
  }>('file/table-plan.ts');

  test.each([
    ['21.0288,105.8525\n10.7,106.7', 'lat,lng'],
    ['105.8525\t21.0288', 'lng\tlat'],
    ['Hồ Gươm;21,0288;105,8525', 'column_1;lat;lng'],
    ['7,"21.03",105.85', 'column_1,lat,lng'],
    [`a;21°01'43.68"N;105°51'09"E`, 'column_1;lat;lng'],
    [`"21°01'43.68""N","105°51'09""E"`, 'lat,lng'],
    ['  \n105.8|z|21.03', 'lng|column_2|lat'],
    ['61.5,21.0288,105.8525', 'column_1,lat,lng'],
    ['"Hà Nội, VN",21.0288,105.8525\nx,10.7,106.7', 'column_1,lat,lng'],
    ['"a;b",21.0288,105.8525', 'column_1,lat,lng'],
    ['"a\nb",21.0288,105.8525', 'column_1,lat,lng'],
    ['a|b;21.0288;105.8525', 'column_1;lat;lng'],
    ['\t21.0288\t105.8525', 'column_1\tlat\tlng'],
    ['Map,21.0288,105.8525\nMap,10.7,106.7', 'column_1,lat,lng'],
    ['POINT (105.85 21.03)\nPOINT (106.7 10.7)', 'column_1'],
    ['https://www.google.com/maps?q=21.0288,105.8525', 'column_1'],
    ['a,"{""type"":""Point"",""coordinates"":[105.85,21.03]}"', 'column_1,column_2'],
    ['21.0288,105.8525,"geo:21.0288,105.8525"', 'lat,lng,column_3'],
    ['HN-6GHP4-83RFR\nHCM-GXC6M-QHR2P', 'hexcodes'],
    ['hn6ghp483rfr', 'hexcodes'],
    ['1;HN-6GHP4-83RFR', 'column_1;hexcodes'],
    ['"a, b",HN-6GHP4-83RFR', 'column_1,hexcodes'],
    // Several columns that may be one of the two: none is taken.
    ['10.5,21.0288,105.8525', 'column_1,column_2,column_3'],
    ['21.0288,105.8525,12.25', 'column_1,column_2,column_3'],
    ['21.0288,105.8525,"POINT (106.7 10.7)"', 'column_1,column_2,column_3'],
  ])('%j', (text, header) => {
    const { delimiter, names, hasHeader } = planOf(text, true);
    expect([names.join(delimiter), hasHeader]).toEqual([header, false]);
  });

  test.each([
    ['lat,lng\n21.03,105.85'],
    ['21,105'],
    ['105.85,106.7'],
    ['21.03,22.5'],
    ['91.5,170.2'],
    ['21.03,181.5'],
    ['name1,tọa độ\na,POINT (105.85 21.03)'],
    ['date1,hexcodes\n2024,HN-6GHP4-83RFR'],
    ['"Ghi chú, khác",Mã\n1,HN-6GHP4'],
    ['stt,Mã\n1,HN-6GHP4'],
    ['Ma\u0303 vi\u0323 tri\u0301\nHN-6GHP4'],
  ])('%j has names, or what may be some', (text) => {
    expect(planOf(text, true).hasHeader).toBe(true);
  });

  test('encodings of old programs are detected by the first bytes', () => {
    const text = 'tên,vĩ độ,kinh độ\nHồ Gươm,21.0288,105.8525\n';
    const utf16 = Buffer.from(text, 'utf16le');
    const swapped = Buffer.from(utf16).swap16();
    const utf8 = Buffer.from(text);
    expect(encodingOf(utf8)).toBe('utf-8');
    // The end of the first piece of a file lies anywhere.
    for (let size = 1; size < 12; size++) expect(encodingOf(utf8.subarray(0, size))).toBe('utf-8');
    expect(encodingOf(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]))).toBe('utf-16le');
    expect(encodingOf(Buffer.concat([Buffer.from([0xfe, 0xff]), swapped]))).toBe('utf-16be');
    expect(encodingOf(Buffer.from('lat,lng\n21.0,105.8\n', 'utf16le'))).toBe('utf-16le');
    expect(encodingOf(Buffer.from([0x74, 0xea, 0x6e, 0x2c, 0x6c, 0x61, 0x74]))).toBe('windows-1258');
  });

  test('JSON or a table', () => {
    expect([' {"a":1}', '[1]', 'a,b', '"HN"'].map(looksLikeJson)).toEqual([true, true, false, false]);
  });
});

// The columns of a table are told by its beginning, and the readers get header rows and rows instead of its own.
describe('columns', async () => {
  type Columns =
    | { kind: 'positions'; lat: number; lng: number }
    | { kind: 'position' | 'codes'; column: number };
  interface Plan {
    delimiter: string;
    names: string[];
    hasHeader: boolean;
    rows: string[][];
    columns: Columns | undefined;
    sample: { names: string[]; rows: string[][] };
  }
  type PositionOf = ((fields: readonly string[]) => readonly number[]) | undefined;
  const { planOf, positionReader, addedNames, withPosition, RowCutter } = await consoleModule<{
    planOf(beginning: string, isAll: boolean): Plan;
    positionReader(sample: Plan['sample'], columns: Columns): PositionOf;
    addedNames(plan: Plan): readonly string[];
    withPosition(row: string, plan: Plan, positionOf: PositionOf): string;
    RowCutter: new () => { push(text: string): string[]; end(): string[] };
  }>('file/table-plan.ts');

  test.each<[string, Columns | undefined, boolean]>([
    ['id,lat,lng\n1,21.0,105.8', { kind: 'positions', lat: 1, lng: 2 }, true],
    ['tên;kinh độ;vĩ độ\na;105,8;21,0', { kind: 'positions', lat: 2, lng: 1 }, true],
    ['a\t21.0288\t105.8525\nb\t10.7\t106.7', { kind: 'positions', lat: 1, lng: 2 }, false],
    ['tên,tọa độ\nHồ Gươm,"21.0288, 105.8525"', { kind: 'position', column: 1 }, true],
    ['stt,Mã\n1,HN-6GHP4', { kind: 'codes', column: 1 }, true],
    ['HN-6GHP4-83RFR\nHCM-GXC6M-QHR2P', { kind: 'codes', column: 0 }, false],
    ['sep=;\nlat;lng\n21,0;105,8', { kind: 'positions', lat: 0, lng: 1 }, true],
    ['name,location\na,12 Hàng Khay', undefined, true],
    ['name,street\na,b', undefined, true],
    ['', undefined, true],
  ])('%j', (text, columns, hasHeader) => {
    expect(planOf(text, true)).toMatchObject({ columns, hasHeader });
  });

  test('ten rows are shown, long fields cut, and a last row that is cut off left out', () => {
    const rows = Array.from({ length: 20 }, (_, i) => `${i},"a\n""b""",${'x'.repeat(90)}`);
    const { rows: shown, names } = planOf(`lat,"n, o",z\r\n${rows.join('\r\n')}`, false);
    expect(names).toEqual(['lat', 'n, o', 'z']);
    expect(shown).toHaveLength(10);
    expect(shown[9]).toEqual(['9', 'a\n"b"', `${'x'.repeat(39)}…`]);
    expect(planOf('lat,lng\n1,2\n3', false).rows).toEqual([['1', '2']]);
  });

  test('a position in one field becomes two', () => {
    const plan = planOf('a;tọa độ\n', true);
    const read = positionReader(plan.sample, { kind: 'position', column: 1 });
    expect(withPosition('1;21.0288, 105.8525', plan, read)).toBe('1;21.0288, 105.8525;21.0288;105.8525');
    expect(withPosition(`1;"21°01'43.68""N 105°51'09""E"`, plan, read)).toMatch(/;21\.0288;105\.8524\d+$/);
    expect(withPosition('1;nowhere', plan, read)).toBe('1;nowhere;;');
  });

  test('degrees and minutes in two fields become two more, numbers stay where they are', () => {
    const pair = { kind: 'positions', lat: 1, lng: 2 } as const;
    const plain = planOf('a,lat,lng\n1,21.03,105.85', true);
    expect(positionReader(plain.sample, pair)).toBe(undefined);
    const plan = planOf(`a,lat,Kinh độ\n1,21°01'43.68"N,105°51'09"E`, true);
    expect(plan.columns).toEqual(pair);
    const read = positionReader(plan.sample, pair);
    expect(withPosition(`1,21°01'43.68"N,105°51'09"E`, plan, read)).toMatch(/,21\.0288,105\.8524\d+$/);
    expect(withPosition('1,21.5,105.5', plan, read)).toBe('1,21.5,105.5,21.5,105.5');
    expect(addedNames(plan)).toEqual(['lat_deg', 'lng_deg']);
  });

  test('rows in chunks of any size, with line ends inside of quotes', () => {
    const text = 'a,"b\nc"\r\nd,e\n\n"f ""g\n"" h",i';
    for (const size of [1, 3, 100]) {
      const cutter = new RowCutter();
      const rows: string[] = [];
      for (let at = 0; at < text.length; at += size) rows.push(...cutter.push(text.slice(at, at + size)));
      expect([...rows, ...cutter.end()]).toEqual(['a,"b\nc"', 'd,e', '', '"f ""g\n"" h",i']);
    }
  });
});

// The parts of Node's Buffer that the page has in its place: each as Node's own.
describe('the Buffer of the page', async () => {
  interface Part {
    indexOf(byte: number, from?: number): number;
    includes(byte: number): boolean;
    fill(source: Uint8Array, from: number, to: number): Part;
    toString(encoding: 'latin1'): string;
  }
  const { Buffer, isUtf8 } = await consoleModule<{
    Buffer: {
      from(source: ArrayBuffer | string, offset?: number, size?: number): Part;
      byteLength(text: string): number;
    };
    isUtf8(bytes: Uint8Array): boolean;
  }>('file/node-buffer.ts');

  const bytes = Uint8Array.from({ length: 300 }, (_, i) => (i * 7) % 256);

  test.each([
    [0, undefined],
    [0, 20],
    [40, undefined],
    [40, 9],
  ] as const)('a view from %d of %s bytes', (offset, size) => {
    const [ours, node] = [
      Buffer.from(bytes.buffer, offset, size),
      NodeBuffer.from(bytes.buffer, offset, size),
    ];
    expect(ours.toString('latin1')).toBe(node.toString('latin1'));
    for (const byte of [0, 7, 40, 255]) {
      expect(ours.includes(byte)).toBe(node.includes(byte));
      expect(ours.indexOf(byte)).toBe(node.indexOf(byte));
      expect(ours.indexOf(byte, 5)).toBe(node.indexOf(byte, 5));
    }
  });

  test('texts, and what is UTF-8', () => {
    for (const text of ['', 'abc', 'Đường 1', '😀']) {
      expect(Buffer.byteLength(text)).toBe(NodeBuffer.byteLength(text));
      expect(Buffer.from(text).toString('latin1')).toBe(NodeBuffer.from(text).toString('latin1'));
    }
    for (const list of [[65], [0xc3, 0xa9], [0xc3], [0xff], [0xed, 0xa0, 0x80]])
      expect(isUtf8(Uint8Array.from(list))).toBe(isUtf8OfNode(Uint8Array.from(list)));
  });

  test('fill writes into the memory of another', () => {
    const memory = new Uint8Array(8);
    Buffer.from(memory.buffer, 2, 3).fill(Uint8Array.of(1, 2, 3), 0, 3);
    expect([...memory]).toEqual([0, 0, 1, 2, 3, 0, 0, 0]);
  });
});
