// Where positions and codes are found: in files without a header, in one column, nested, on the command line. Hints
// where they are not found.
import { afterAll, describe, expect, test } from 'vitest';
import { CliFolder, type Ran } from '../../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

const HOAN_KIEM = 'HN-6GHP4-83RFR';
const ADDED = `${HOAN_KIEM},13,HN,OK`;

function quiet(stdin: string | Uint8Array, ...args: string[]): Promise<Ran> {
  return folder.run([...args, '-q'], { stdin });
}

describe('without a header', () => {
  const rows = [`shop,21.0288,105.8525,${ADDED}`, 'b,10.7799,106.7,HCM-GXC6M-P9845,13,HCM,OK', ''];
  test('lists of codes and positions are known by their first row', async () => {
    const codes = await quiet('HN-6GHP4-83RFR\nnope\n', 'decode');
    expect(codes.stdout).toBe(
      'HN-6GHP4-83RFR,21.02879832129181,105.85246512197683,13,OK\nnope,,,,INVALID_HEXCODES\n',
    );
    expect((await quiet('21.0288,105.8525\n', 'encode')).stdout).toBe(`21.0288,105.8525,${ADDED}\n`);
    expect((await quiet('21.0288 105.8525\r\n', 'encode')).stdout).toBe(`21.0288 105.8525,${ADDED}\n`);
    const three = await quiet('shop,21.0288,105.8525\nb,10.7799,106.7\n', 'encode');
    expect(three.stdout.split('\n')).toEqual(rows);
    expect((await folder.run(['check'], { stdin: 'HN-6GHP4-83RFR\nHN-2\n' })).stdout).toContain(
      'row 2: "HN-2"',
    );
    const json = await quiet('HN-6GHP4-83RFR\n', 'decode', '--to', 'ndjson');
    expect(JSON.parse(json.stdout)).toMatchObject({ 1: 'HN-6GHP4-83RFR', status: 'OK' });
  });

  test('--no-header, with columns by number', async () => {
    const body = 'x,shop,105.8525,21.0288\n';
    const ran = await quiet(body, 'encode', '--no-header', '--lat', '4', '--lng', '3');
    expect(ran.stdout).toBe(`x,shop,105.8525,21.0288,${ADDED}\n`);
    expect((await quiet(body, 'encode', '--no-header')).stdout).toBe(ran.stdout);
    const kept = await quiet(body, 'encode', '--no-header', '--keep', '2');
    expect(kept.stdout).toBe(`shop,${ADDED}\n`);
    const codes = await quiet('place\nHN-6GHP4-83RFR\n', 'decode', '--no-header');
    expect(codes.stdout.split('\n')[0]).toBe('place,,,,INVALID_HEXCODES');
  });
});

describe('positions in other columns than a pair', () => {
  const NDJSON = ['--to', 'ndjson'];
  test.each([
    ['lat,lng', 'id,position\n1,"21.0288,105.8525"\n', []],
    ['WKT', 'id,geom\n1,POINT(105.8525 21.0288)\n', []],
    ['a link', 'id,map\n1,"https://www.google.com/maps/@21.0288,105.8525,17z"\n', []],
    ['named by an option', 'id,where\n1,"21.0288, 105.8525"\n', ['--position', 'where']],
    ['one column', 'where\n"21.0288, 105.8525"\n', []],
    ['angles', `lat,lng\n"21°01'43.68""N","105°51'09""E"\n`, []],
    ['nested', '{"location":{"lat":21.0288,"lng":105.8525}}\n', NDJSON],
    ['nested, in text', '{"gps":{"latitude":"21,0288","longitude":"105,8525"}}\n', NDJSON],
    [
      'deeply nested',
      '{"a":{"b":{"y":21.0288,"x":105.8525}}}\n',
      ['--lat', 'a.b.y', '--lng', 'a.b.x', ...NDJSON],
    ],
    ['a GeoJSON point', '{"id":1,"location":{"type":"Point","coordinates":[105.8525,21.0288]}}\n', NDJSON],
  ])('%s', async (_, body, options) => {
    const ran = await quiet(body, 'encode', ...options);
    expect([ran.stderr, ran.stdout.split('\n')[options.includes('ndjson') ? 0 : 1]]).toEqual([
      '',
      expect.stringContaining(HOAN_KIEM),
    ]);
    const features = await quiet(
      body,
      'encode',
      ...options.filter((o) => o !== 'ndjson' && o !== '--to'),
      '--to',
      'geojson',
    );
    const [feature] = (
      JSON.parse(features.stdout) as { features: { geometry: unknown; properties: object }[] }
    ).features;
    expect(feature!.geometry).toEqual({
      type: 'Point',
      coordinates: [expect.closeTo(105.8525, 9), expect.closeTo(21.0288, 9)],
    });
    expect(feature!.properties).not.toHaveProperty('lat', expect.any(Number));
  });

  test('structs of Parquet, and those that are text', async () => {
    const body = '{"id":1,"location":{"lat":21.0288,"lng":105.8525}}\n{"id":2,"location":null}\n';
    await quiet(body, 'encode', '--to', 'parquet', '-o', 'nested.parquet', '--keep', 'id,location');
    const ran = await folder.run(['encode', 'nested.parquet', '-q', '--keep', 'id', '--to', 'csv']);
    expect([ran.stderr, ran.stdout]).toEqual([
      '',
      `id,hexcodes,resolution,admin_code,status\n1,${ADDED}\n2,,13,,INVALID_REQUEST\n`,
    ]);
  });
});

describe('hints', () => {
  test.each([
    ['encode', 'id,v1,v2\n1,21.03,105.85\n', '--lat "v1" --lng "v2"'],
    ['encode', 'id,lat,other\n1,21.03,105.85\n', 'Name it with --lng; perhaps --lng "other".'],
    ['encode', 'id,where\n1,"21.03,105.85"\n', 'perhaps --position "where"'],
    [
      'encode',
      'id,lan,yard\n1,a,b\n',
      'Name them with --lat and --lng, or a column of whole positions with --position.',
    ],
    ['encode', 'id,x,y\n1,583960,2325461\n', 'Metres of VN-2000 or UTM must be converted'],
    ['decode', 'id,lat,lng\n1,21.03,105.85\n', 'Name it with --column.'],
    ['decode', 'id,place\n1,HN-6GHP4-83RFR\n', 'perhaps --column "place"'],
  ])('%s of %j', async (operation, body, hint) => {
    const ran = await quiet(body, operation);
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain(hint);
    if (!/--\w+ "/.test(hint)) expect(ran.stderr).not.toContain('perhaps');
  });
});

describe('one position or code', () => {
  test.each([
    [['encode', '21.0288', '105.8525'], HOAN_KIEM],
    [['encode', '21,0288', '105,8525'], HOAN_KIEM],
    [['encode', 'POINT(105.8525', '21.0288)'], HOAN_KIEM],
    [['encode', 'geo:21.0288,105.8525'], HOAN_KIEM],
    [['encode', '21°01\'43.68"N', '105°51\'09"E'], HOAN_KIEM],
    [['encode', '21.0288,105.8525', '10.7799,106.7'], `${HOAN_KIEM}\nHCM-GXC6M-P9845`],
    [['decode', 'HN', '6GHP4', '83RFR'], '21.02879832129181,105.85246512197683'],
    [
      ['decode', HOAN_KIEM, 'HCM-GXC6M-P9845'],
      '21.02879832129181,105.85246512197683\n10.779886483677254,106.70000293117751',
    ],
  ])('%j', async (args, output) => {
    const ran = await folder.run(args);
    expect([ran.stderr, ran.stdout]).toEqual(['', `${output}\n`]);
  });

  test.each([
    [['encode', 'foo', 'bar'], '"foo bar" is no file, and not a position'],
    [['encode', 'https://maps.app.goo.gl/abc'], 'Open it, and copy the long address'],
    [['decode', 'A', 'B'], '"A B" is no file, and not a hexcode'],
    [['encode', 'missing.csv'], 'cannot read missing.csv: no such file'],
  ])('%j is refused', async (args, message) => {
    const ran = await folder.run(args);
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining(message)]);
  });
});
