// Workbooks of Excel through the command, and drawn ones that openpyxl and python-calamine judge.

import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { sheetsOf } from '#dist/tables/xlsx/workbook.js';
import { XlsxWriter } from '#dist/tables/xlsx/xlsx-writer.js';
import { workbookXml } from '../../../support/files/workbook-xml.js';
import { randomFrom } from '../../../support/open-world.js';
import { PYTHON, runPython } from '../../../support/python-env.js';
import { sharedCommand } from '../../../support/shared.js';

describe('through the command', () => {
  const folder = sharedCommand();

  const text = (of: string): string => `<c t="inlineStr"><is><t>${of}</t></is></c>`;

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

  test('a workbook into a workbook keeps them', async () => {
    folder.write('book.xlsx', BOOK);
    await folder.run('encode book.xlsx -q -o out.xlsx');
    const [, row] = sheetsOf(folder.bytes('out.xlsx'), () => {})[0]!.rows();
    expect(row!.join(',')).toContain(`7,21.0288,105.8525,${VALUES},HN-6GHP4-83RFR,`);
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
    // Built-in formats that the judges know; `test/unit/tables/workbooks` has the others.
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
    const folder = sharedCommand();
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
    const ours = (name: string): string[][] =>
      Array.from(sheetsOf(folder.bytes(name), () => {})[0]!.rows(), (row) => row.map(judged));

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
        const cells = [...numbers, text, ' t="b"><v>1</v>', ' t="str"><f>A1</f><v>f</v>'];
        const xml = cells.map(
          (cell, c) => `<c${hasPlaces ? ` r="${String.fromCharCode(65 + c)}${style + 1}"` : ''}${cell}</c>`,
        );
        return `<row${hasPlaces ? ` r="${style + 1}"` : ''}>${xml.join('')}</row>`;
      });
      return workbookXml({
        formats: FORMATS,
        sheets: { s: rows.join('') },
        properties: system,
        texts: texts.map((text) => `<si><t xml:space="preserve">${text}</t></si>`).join(''),
      });
    };

    const CASES = ['', 'date1904="1"', 'date1904="true"'].flatMap((system) =>
      [true, false].flatMap((hasPlaces) =>
        [true, false].map((isShared) => [system, hasPlaces, isShared] as const),
      ),
    );
    test.each(CASES)('%j, places %s, shared texts %s', async (system, hasPlaces, isShared) => {
      folder.write('drawn.xlsx', drawn(system, hasPlaces, isShared));
      const found = ours('drawn.xlsx');
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
      const rows = codes.map(
        (_, style) => `<row>${numbers.map((value) => `<c s="${style}"><v>${value}</v></c>`).join('')}</row>`,
      );
      folder.write('formats.xlsx', workbookXml({ formats: codes, sheets: { s: rows.join('') } }));
      const found = ours('formats.xlsx');
      const [one, other] = [
        await readBy('openpyxl', 'formats.xlsx'),
        await readBy('calamine', 'formats.xlsx'),
      ];
      let agreed = 0;
      const wrong: unknown[] = [];
      for (const [i, code] of codes.entries())
        for (const [c, value] of numbers.entries()) {
          if (one[i]![c] !== other[i]![c]) continue;
          agreed++;
          if (found[i]![c] !== one[i]![c]) wrong.push([code, value, found[i]![c], one[i]![c]]);
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
          const found = ours('written/before.xlsx');
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
              expect([system, FORMATS[r], c, value]).toEqual([system, FORMATS[r], c, wanted]);
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

    test('workbooks that are written', async () => {
      const names = ['t', 'd', 'm', 'h', 'e', 'n', 'i'];
      const row = [
        'Hà Nội',
        '2026-01-02',
        '2026-01-02T23:30:00.123',
        '08:30:00',
        'PT26H5M0S',
        '21.0288',
        '861234567890123457',
      ];
      const writer = new XlsxWriter(names);
      writer.add(1, (_, column) => row[column]);
      writer.end();
      folder.write('written.xlsx', Buffer.concat(writer.take()));
      const texts = row.map((text, c) => (names[c] === 'i' ? text : judged(text)));
      for (const judge of ['openpyxl', 'calamine'])
        expect([judge, await readBy(judge, 'written.xlsx')]).toEqual([judge, [names, texts]]);
    });
  });
});
