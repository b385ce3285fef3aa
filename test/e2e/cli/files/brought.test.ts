// Files as people and their programs make them: titles above the header, lines and areas, tracks, workbooks out.
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { XlsxWriter } from '#dist/tables/xlsx/xlsx-writer.js';
import { CliFolder } from '../../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
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

  test('a word for a place in a row of data is no header', async () => {
    const { code, stderr } = await encoded('id,note\n1,map\n2,x\n', '-q');
    expect([code, stderr]).toEqual([3, expect.stringContaining('it has id, note')]);
  });

  test('--header-row says which row it is, as an editor counts', async () => {
    const content = 'Kho,,\n\nlat,lng\n21.0288,105.8525\n';
    expect((await encoded(content, '-q', '--header-row', '3')).stdout).toContain(OK);
    expect(
      (await encoded('Kho,a\n\nlat,lng\n21.0288,105.8525\n', '-q', '--header-row', '1')).stderr,
    ).toContain('no column lat');
    expect((await encoded(content, '-q', '--header-row', '0')).code).toBe(2);
  });

  test('in a workbook, and for decode and check', async () => {
    const book = new XlsxWriter(['Danh sách', '', '']);
    book.add(3, (row, c) => [[], ['id', 'lat', 'lng'], ['1', '21.0288', '105.8525']][row]![c]);
    book.end();
    folder.write('t.xlsx', Buffer.concat(book.take()));
    expect((await folder.run(['encode', 't.xlsx', '-q', '--prefix', 'n_'])).stdout).toContain(OK);
    expect(
      (await folder.run(['encode', 't.xlsx', '-q', '--prefix', 'n_', '--header-row', '3'])).stdout,
    ).toContain(OK);
    folder.write('c.csv', 'Mã\nhexcodes\nHN-6GHP4-83RFR\n');
    expect((await folder.run(['decode', 'c.csv', '-q'])).stdout).toContain('HN-6GHP4-83RFR,21.02');
    expect((await folder.run(['check', 'c.csv'])).stdout).toContain('1 code');
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
    const { code, stderr } = await folder.run(['encode', 'l.geojson', '-q', '-o', 'x.csv']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('a LineString, and --point centroid, first or each'),
    ]);
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

  test('another word is refused', async () => {
    const { code, stderr } = await folder.run(['encode', 'l.geojson', '--point', 'middle']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('must be one of centroid, first, each')]);
  });
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
    const { code, stderr } = await folder.run(['encode', 'cut.gpx', '-q', '-o', 'cut.csv']);
    expect([code, stderr]).toEqual([3, expect.stringContaining('cut.gpx: the file ends in the middle')]);
    expect(folder.names()).not.toContain('cut.csv');
  });

  test('areas of KML wait for a word', async () => {
    folder.write(
      'a.kml',
      '<kml><Placemark><LineString><coordinates>105.8525,21.0288 106,21</coordinates></LineString></Placemark></kml>',
    );
    const { code, stderr } = await folder.run(['encode', 'a.kml', '-q']);
    expect([code, stderr]).toEqual([3, expect.stringContaining('1 LineString')]);
    expect((await folder.run(['encode', 'a.kml', '-q', '--point', 'first'])).stdout).toContain(OK);
  });
});

describe('workbooks out', () => {
  test('a workbook through the command is the same table', async () => {
    folder.write('book.xlsx', readFileSync('test/fixtures/points.xlsx'));
    await folder.run(['encode', 'book.xlsx', '--sheet', '1', '-q', '-o', 'out.xlsx']);
    const csv = await folder.run(['encode', 'book.xlsx', '--sheet', '1', '-q']);
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
    const { code, stderr } = await folder.run(['encode', 'long.csv', '-q', '-o', 'long.xlsx']);
    expect([code, stderr]).toEqual([4, expect.stringContaining('row 1, column note')]);
    expect(folder.names()).not.toContain('long.xlsx');
  });
});

test.each([
  [
    's3://shops/a.csv',
    'aws s3 cp s3://shops/a.csv - | hexcodes …',
    'hexcodes … | aws s3 cp - s3://shops/a.csv',
  ],
  ["https://a.vn/it's.csv", "curl -fsSL 'https://a.vn/it'\\''s.csv' | hexcodes …", 'curl -fsSL -T - '],
])('an address in place of a path is named with its pipe: %s', async (address, from, to) => {
  const read = await folder.run(['encode', address, '-q', '-o', 'never.csv']);
  expect([read.code, read.stderr]).toEqual([3, expect.stringContaining(`Read it by a pipe: ${from}`)]);
  folder.write('plain.csv', 'lat,lng\n21.0288,105.8525\n');
  const written = await folder.run(['encode', 'plain.csv', '-q', '-o', address]);
  expect([written.code, written.stderr]).toEqual([4, expect.stringContaining(to)]);
});

test('the pipe of docs/command.md, with cat in place of the program of the storage', async () => {
  const [, line = ''] =
    /`aws s3 cp \S+ - \| hexcodes (encode - -o out\.csv)`/.exec(readFileSync('docs/command.md', 'utf8')) ??
    [];
  const stdin = 'lat,lng\n21.0288,105.8525\n';
  expect(await folder.run([...line.split(' '), '-q'], { stdin })).toMatchObject({ code: 0, stdout: '' });
  expect(folder.read('out.csv')).toContain(OK);
});
