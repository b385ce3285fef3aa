// Files as people and their programs make them: titles above the header, lines and areas, tracks, workbooks; the files
// of test/fixtures/brought, by the command and by the page.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BROUGHT_FILES, broughtCases, broughtFile, SHOP_CODES } from '../../../support/brought-files.js';
import { CliFolder } from '../../../support/cli.js';
import { converted } from '../../../support/console-conversion.js';
import { workbookXml } from '../../../support/files/workbook-xml.js';
import { PYTHON } from '../../../support/python-env.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();

const OK = 'HN-6GHP4-83RFR,13,HN,OK';

describe('a header below titles', () => {
  const encoded = async (content: string, ...args: string[]) => {
    folder.write('t.csv', content);
    return folder.run(['encode', 't.csv', ...args]);
  };

  test.each([
    ['with the delimiters of a table', 'Danh sách cửa hàng,,\n\nid,lat,lng\n1,21.0288,105.8525\n'],
    ['without any', 'Danh sách cửa hàng\nid,lat,lng\n1,21.0288,105.8525\n'],
    ['over several lines', '"Danh sách\ncửa hàng",,\nNgày,1/7/2025,\nid,lat,lng\n1,21.0288,105.8525\n'],
    ['behind a byte order mark', '\ufeffDanh sách,,\nid,lat,lng\n1,21.0288,105.8525\n'],
  ])('titles %s', async (_, content) => {
    const { stdout, stderr } = await encoded(content);
    expect(stdout.replace('\ufeff', '')).toBe(
      `id,lat,lng,hexcodes,resolution,admin_code,status\n1,21.0288,105.8525,${OK}\n`,
    );
    expect(stderr).toMatch(/^The (?:row|\d rows) above the header/);
  });

  test('titles with another delimiter than the table', async () => {
    const { stdout } = await encoded('Kho, 2025\nid;lat;lng\n1;21,0288;105,8525\n', '-q');
    expect(stdout).toContain('1;21,0288;105,8525;HN-6GHP4-83RFR;13;HN;OK');
  });

  test('names that the user gives, and another format', async () => {
    const content = 'Kho,,\nid,a,b\n1,21.0288,105.8525\n';
    const { stdout } = await encoded(content, '--lat', 'a', '--lng', 'b', '-q', '--to', 'ndjson');
    expect(stdout).toContain('{"id":"1","a":21.0288,"b":105.8525,"hexcodes":"HN-6GHP4-83RFR"');
  });

  test('a word for a place in a row of data is not a header', async () => {
    expect((await encoded('id,note\n1,map\n2,x\n', '-q')).code).toBe(3);
  });

  test('--header-row says which row it is, as an editor counts', async () => {
    const content = 'Kho,,\n\nlat,lng\n21.0288,105.8525\n';
    expect((await encoded(content, '-q', '--header-row', '3')).stdout).toContain(OK);
    expect(
      (await encoded('Kho,a\n\nlat,lng\n21.0288,105.8525\n', '-q', '--header-row', '1')).stderr,
    ).not.toBe('');
    expect((await encoded(content, '-q', '--header-row', '0')).code).toBe(2);
    expect((await encoded(content, '-q', '--header-row', '99')).stderr).toContain('it ends before row 99');
  });

  test.each([
    'Màn hình 24"',
    'a,b "c, d',
    '"Kho ""5""\n2"',
    '\ufeff"Kho\n2",5"',
    '"5"" ""\n";6"',
    'x"|"a\n"',
  ])('quotes of titles open no field from within one, nor end one twice: %j', async (titles) => {
    const content = `${titles}\nid,lat,lng\n5",21.0288,105.8525\n"6",21.0288,105.8525\n`;
    const ran = await encoded(content, '-q', '--header-row', '2');
    expect(ran.stdout.split('\n').slice(0, 3)).toEqual([
      'id,lat,lng,hexcodes,resolution,admin_code,status',
      `5",21.0288,105.8525,${OK}`,
      `"6",21.0288,105.8525,${OK}`,
    ]);
  });

  test('in a workbook, and for decode and check', async () => {
    const cell = (of: string): string => `<c t="inlineStr"><is><t>${of}</t></is></c>`;
    const rows = [['Danh sách', '', ''], [], ['id', 'lat', 'lng'], ['1', '21.0288', '105.8525']];
    const xml = rows.map((row, i) => `<row r="${i + 1}">${row.map(cell).join('')}</row>`).join('');
    folder.write('t.xlsx', workbookXml({ sheets: { s: xml } }));
    expect((await folder.run('encode t.xlsx -q --prefix n_')).stdout).toContain(OK);
    expect((await folder.run('encode t.xlsx -q --prefix n_ --header-row 3')).stdout).toContain(OK);
    folder.write('c.csv', 'Mã\nhexcodes\nHN-6GHP4-83RFR\n');
    expect((await folder.run('decode c.csv -q')).stdout).toContain('HN-6GHP4-83RFR,21.02');
    expect((await folder.run('check c.csv')).stdout).toContain('1 code');
  });
});

describe('lines and areas', () => {
  const feature = (type: string, coordinates: unknown): string =>
    JSON.stringify({ type: 'Feature', properties: { n: type }, geometry: { type, coordinates } });
  const line = feature('LineString', [
    [105.8525, 21.0288],
    [105.8525, 21.0288],
    [106.7, 10.7799],
  ]);

  test('are named where no word says which point is meant', async () => {
    folder.write('l.geojson', `{"type":"FeatureCollection","features":[${line}]}`);
    expect((await folder.run('encode l.geojson -q -o x.csv')).code).toBe(1);
  });

  test.each([
    ['first', 1],
    ['each', 3],
  ])('--point %s', async (choice, rows) => {
    const { stdout } = await folder.run(['encode', 'l.geojson', '-q', '--to', 'csv', '--point', choice]);
    expect(stdout.trimEnd().split('\n').slice(1)).toHaveLength(rows);
    expect(stdout).toContain(`21.0288,105.8525,LineString,${OK}`);
    const again = await folder.run(['encode', 'l.geojson', '-q', '--point', choice]);
    expect(again.stdout).toContain('"geometry":{"type":"Point","coordinates":[105.8525,21.0288]}');
  });
});

test.each(['parquet', 'arrow'])('files of %s joined by cat are refused', async (format) => {
  const names = ['one', 'two', 'none'].map((name) => `${name}.${format}`);
  for (const [i, rows] of ['21.0288,105.8525\n', '10.7769,106.7009\n', ''].entries()) {
    folder.write('t.csv', `lat,lng\n${rows}`);
    await folder.run(['encode', 't.csv', '-q', '--prefix', 'hx_', '-o', names[i]!]);
  }
  const [one, two, none] = names.map((name) => folder.bytes(name));
  for (const parts of [
    [one!, two!],
    [one!, two!, one!],
    [one!, none!],
    [none!, two!],
  ]) {
    folder.write(`all.${format}`, Buffer.concat(parts));
    const ran = await folder.run(['encode', `all.${format}`, '--to', 'csv', '-q', '--prefix', 'new_']);
    expect(ran).toMatchObject({ code: 3, stderr: expect.stringContaining('several files') });
  }
  const ran = await folder.run(['encode', ...names.slice(0, 2), '--to', 'csv', '-q', '--prefix', 'new_']);
  expect(ran.stdout.match(/,OK,/g)).toHaveLength(2);
});

describe('GPX and KML', () => {
  const GPX =
    '<gpx version="1.1"><trk><name>Xe 1</name><trkseg><trkpt lat="21.0288" lon="105.8525"><time>2025-07-01T00:00:00Z</time></trkpt></trkseg></trk></gpx>';

  test.each(['t.gpx', 't.txt'])('a track in %s', async (name) => {
    folder.write(name, `<?xml version="1.0"?>\n${GPX}`);
    const { stdout, stderr } = await folder.run(['encode', name, '-q', '--keep', 'name,time,lat']);
    expect([stdout, stderr]).toEqual([
      `name,time,lat,hexcodes,resolution,admin_code,status\nXe 1,2025-07-01T00:00:00Z,21.0288,${OK}\n`,
      '',
    ]);
  });

  test('one that is cut off takes no name', async () => {
    folder.write('cut.gpx', GPX.slice(0, -9));
    expect((await folder.run('encode cut.gpx -q -o cut.csv')).code).toBe(3);
    expect(folder.names()).not.toContain('cut.csv');
  });

  test('areas of KML wait for a word', async () => {
    folder.write(
      'a.kml',
      '<kml><Placemark><LineString><coordinates>105.8525,21.0288 106,21</coordinates></LineString></Placemark></kml>',
    );
    expect((await folder.run('encode a.kml -q')).code).toBe(3);
    expect((await folder.run('encode a.kml -q --point first')).stdout).toContain(OK);
  });
});

describe('workbooks out', () => {
  test('a workbook through the command is an equal table', async () => {
    folder.write('book.xlsx', readFileSync('test/fixtures/points.xlsx'));
    await folder.run('encode book.xlsx --sheet 1 -q -o out.xlsx');
    const csv = await folder.run('encode book.xlsx --sheet 1 -q');
    const again = await folder.run([
      'decode',
      'out.xlsx',
      '-q',
      '--keep',
      'Tên,Vĩ độ,Kinh độ,Mở cửa,hexcodes',
    ]);
    const kept = (text: string): string[] =>
      text.split('\n').map((row) => row.split(',').slice(0, -3).join(','));
    expect(kept(again.stdout)[1]).toContain('2025-07-01,HN-6GHP4-83RFR');
    expect(csv.stdout).toContain('2025-07-01,HN-6GHP4-83RFR');
  });

  test('a text longer than a cell is refused by its place', async () => {
    folder.write('long.csv', `lat,lng,note\n21.0288,105.8525,${'x'.repeat(32_768)}\n`);
    const { code, stderr } = await folder.run('encode long.csv -q -o long.xlsx');
    expect([code, stderr]).toEqual([4, expect.stringContaining('row 1, column note')]);
    expect(folder.names()).not.toContain('long.xlsx');
  });
});

test('the pipe of docs/command.md, with cat in place of the program of the storage', async () => {
  const [, line = ''] =
    /`aws s3 cp \S+ - \| hexcodes (encode - -o out\.csv)`/.exec(readFileSync('docs/command.md', 'utf8')) ??
    [];
  const stdin = 'lat,lng\n21.0288,105.8525\n';
  expect(await folder.run([...line.split(' '), '-q'], { stdin })).toMatchObject({ code: 0, stdout: '' });
  expect(folder.read('out.csv')).toContain(OK);
});

const CASES = broughtCases();

for (const [name, bytes] of BROUGHT_FILES) folder.write(name, bytes);

const isCodes = (stdout: string): boolean => {
  // The first point of a training is written twice by gpsbabel.
  const found = new Set(stdout.match(/(?:HN|HCM|DNG)-[0-9A-Z]{5}-[0-9A-Z]{5}/g));
  // Some formats have an order of their own.
  return JSON.stringify([...found].sort()) === JSON.stringify([...SHOP_CODES].sort());
};

const EMPTY = 'polars-empty.arrow';

test.each(['csv', 'ndjson', 'parquet', 'arrow'])(
  `${EMPTY}, whose footer lists no rows, is a table without rows in %s`,
  async (to) => {
    expect(await folder.run(['encode', EMPTY, '-q', '-o', `empty.${to}`])).toMatchObject({
      code: 0,
      stderr: '',
    });
    const { stdout } = await folder.run(['encode', `empty.${to}`, '--prefix', 'x_', '-q', '--to', 'csv']);
    const added = 'hexcodes,resolution,admin_code,status';
    const head = `id,name,lat,lng,${added},x_hexcodes,x_admin_code,x_status\n`;
    expect(stdout).toBe(to === 'ndjson' ? `x_${added.replaceAll(',', ',x_')}\n` : head);
  },
);

test('60 files and more of a few kilobytes, each listed', () => {
  const files = new Set(CASES.map(({ file }) => file));
  const sources = ['areas.csv', 'times.csv', EMPTY];
  const parts = ['shx', 'prj', 'mid', 'dat', 'map', 'id'].map((extension) => `gdal.${extension}`);
  const others = [...sources, ...parts];
  expect(new Set([...files, ...others])).toEqual(new Set(BROUGHT_FILES.keys()));
  expect(files.size).toBeGreaterThan(60);
  const sizes = [...BROUGHT_FILES.values()].map(({ length }) => length);
  expect(Math.max(...sizes)).toBeLessThan(24 * 1024);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(448 * 1024);
});

test.each(CASES.map((each) => [each.file, each.options.join(' '), each] as const))(
  '%s %s',
  async (file, _, { options, command }) => {
    const { code, stdout, stderr } = await folder.run(['encode', file, '-q', '--to', 'csv', ...options]);
    if (command === 'codes') {
      expect([stderr, code, stdout]).toEqual(['', 0, expect.toSatisfy(isCodes)]);
      return;
    }
    const isRefused = !/^HN-/.test(command);
    if (isRefused) expect([code === 0, stdout.includes('OK')]).toEqual([false, false]);
    for (const words of command.split(' | ')) expect(isRefused ? stderr : stdout).toContain(words);
  },
);

const PROGRAMS =
  /(?<=: |\| |^)(?:soffice|ssconvert|ogr2ogr|gpsbabel|tr|jq|bzip2|xz|unzip|sqlite3|Rscript|python3) .*/;

/** Programs of Debian that .ci/packages leaves out: some hundred megabytes of offices, maps and statistics. */
const LARGE = /^(?:soffice|ssconvert|ogr2ogr|gpsbabel|Rscript) /;

/** Programs of Debian, and the modules of Python that .ci/python installs. */
const env = { ...process.env, HOME: folder.path, PATH: `${dirname(PYTHON)}:${process.env.PATH}` };

/** Whether a program or modules are installed, by the words that ask. */
const FOUND = new Map<string, boolean>();

/** The program or modules that a line needs and this machine lacks; pandas and geopandas write by way of pyarrow. */
function lackedBy(line: string): string | undefined {
  const [program = ''] = line.split(' ');
  const [, modules] = /^python3 -c 'import sys, ([\w., ]+);/.exec(line) ?? [];
  const has =
    modules === undefined
      ? ['which', program]
      : ['python3', '-c', `import ${modules}${modules.includes('pandas') ? ', pyarrow.parquet' : ''}`];
  const name = has.join(' ');
  const isThere = FOUND.get(name) ?? spawnSync(has[0]!, has.slice(1), { env }).status === 0;
  FOUND.set(name, isThere);
  return isThere ? undefined : `${modules ?? program} is not installed`;
}

/** Cases whose refusal has a line of a shell; of those with the same line one. */
const LINES = new Map(
  CASES.filter(({ options, command }) => options.length === 0 && PROGRAMS.test(command)).map((each) => [
    each.command.replaceAll(each.file, 'FILE'),
    each,
  ]),
);

describe('the line of a hint converts the file', () => {
  for (const { file, command } of LINES.values()) {
    const wanted = PROGRAMS.exec(command)![0];
    const isElsewhere = LARGE.test(wanted) && lackedBy(wanted) !== undefined;
    const name = isElsewhere ? `${file} (not on a machine without ${wanted.split(' ')[0]})` : file;
    test.skipIf(isElsewhere)(name, async (context) => {
      const { stderr } = await folder.run(['encode', file, '-q', '-o', 'never.csv']);
      const line = PROGRAMS.exec(stderr)?.[0] ?? '';
      expect(line).toContain(wanted);
      const lack = lackedBy(line);
      if (lack !== undefined) context.skip(lack);
      const own = new CliFolder();
      for (const [name, bytes] of BROUGHT_FILES) own.write(name, bytes);
      onTestFinished(() => own.remove());

      const piped = line.replace(/ \| hexcodes …$/, '');
      if (piped !== line) {
        const stdin = execFileSync('bash', ['-c', piped], { cwd: own.path, env });
        expect((await own.run('encode -q --to csv', { stdin })).stdout).toSatisfy(isCodes);
        return;
      }
      const target = /(?<=[ "])points\.\w+/.exec(line)?.[0] ?? file.replace(/\.\w+$/, '.xlsx');
      rmSync(own.file(target), { force: true });
      // An office of its own, by HOME: another that runs would take the file and end at once.
      const named = line.replace('FROM TABLE', 'FROM shops');
      execFileSync('bash', ['-c', named], { cwd: own.path, env, stdio: 'pipe' });
      const { stdout } = await own.run(['encode', target, '-q', '--to', 'csv']);
      expect(stdout).toSatisfy(isCodes);
    });
  }
});

const MARK = '\ufeff';

/** Without a mark, which the page writes at each answer that was not CSV in UTF-8. */
const rowsOf = (text: string): string[] => text.replace(MARK, '').replaceAll('\r\n', '\n').split('\n');

const fieldsOf = (text: string): string[][] => parse(text, { bom: true }) as string[][];

async function both(
  name: string,
  bytes: Buffer,
): Promise<{ page: string; command: string; titleRows: number }> {
  folder.write(name, bytes);
  const { stdout } = await folder.run(['encode', name, '-q']);
  const { text, titleRows } = await converted(bytes, name);
  return { page: text, command: stdout, titleRows };
}

const TABLES = broughtCases().filter(
  ({ file, options, command, page }) =>
    options.length === 0 &&
    command === 'codes' &&
    page === 'codes' &&
    !/json/.test(file) &&
    !/\.gz$/.test(file),
);

const CODE = /[A-Z]{2,3}-\w{5}-\w{5}/g;

/** The place of the added columns. */
const BESIDE: Readonly<Record<string, number>> = {
  'angles.csv': 4,
  'gdal-wkt.csv': 3,
  'geopandas-wkb.csv': 3,
};

test('there are tables', () => {
  expect(TABLES.length).toBeGreaterThan(20);
});

test.each(TABLES.map(({ file }) => file))('%s', async (file) => {
  const { page, command } = await both(file, broughtFile(file));
  const from = BESIDE[file];
  if (from === undefined) expect(rowsOf(page)).toEqual(rowsOf(command));
  else expect(fieldsOf(page).map((row) => row.toSpliced(from, 2))).toEqual(fieldsOf(command));
});

test.each<[string, string, number]>([
  ['titles', 'Danh sách\n"in ngày 1/7, ca sáng"\n\nSTT;lat;lng\n1;21.03;105.85\n2;10.77;106.7\n', 2],
  ['semicolons and a mark', `${MARK}Kho hàng;;\r\nmã;Vĩ độ;Kinh độ\r\na;21,03;105,85\r\n`, 1],
  ['a word that is a position', 'Bảng\nten\tvị trí\nHồ Gươm\t21.0288 105.8525\n', 1],
  ['a word that is an address', 'lat,lng\nten,vị trí\n21.03,105.85\n', 0],
  ['codes', 'Bảng kê\nhexcodes,n\nHN-6GHP4-83RFR,1\n', 1],
  ['a header at row 21', `${'t\n'.repeat(20)}lat,lng\n21.03,105.85\n`, 0],
  ['a header at row 20', `${'t\n'.repeat(19)}lat,lng\n21.03,105.85\n`, 19],
])('%s', async (name, text, titleRows) => {
  const operation = text.includes('hexcodes') ? 'decode' : 'encode';
  folder.write('t.csv', text);
  const { stdout } = await folder.run([operation, 't.csv', '-q']);
  const page = await converted(Buffer.from(text), 't.csv').catch((error: Error) => ({
    text: error.message,
    titleRows: 0,
  }));
  expect([name, page.titleRows]).toEqual([name, titleRows]);
  // A position in one column gets two more; where the page finds no columns it asks for them, as the command does.
  if (text.includes('vị trí')) expect(page.text.match(CODE)).toEqual(stdout.match(CODE));
  else if (titleRows > 0) expect(page.text).toBe(stdout);
  else expect([page.text, stdout]).toEqual([expect.stringContaining('There is no column lat'), '']);
});
