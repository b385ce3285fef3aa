// Files as users bring them: spreadsheets under Vietnamese settings, encodings, packed files; where positions and codes
// are found in them.

import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { broughtFile } from '../../../support/brought-files.js';
import type { Ran } from '../../../support/cli.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();

const HOAN_KIEM = 'HN-6GHP4-83RFR';

const ADDED = `${HOAN_KIEM},13,HN,OK`;

function quiet(stdin: string | Uint8Array, ...args: string[]): Promise<Ran> {
  return folder.run([...args, '-q'], { stdin });
}

describe('CSV of spreadsheets', () => {
  test.each([
    [
      'id;lat;lng\r\n1;21,0288;105,8525\r\n',
      'id;lat;lng;hexcodes;resolution;admin_code;status\r\n1;21,0288;105,8525;HN-6GHP4-83RFR;13;HN;OK\r\n',
    ],
    [
      'id,lat,lng\n1,"21,0288","105,8525"\n',
      `id,lat,lng,hexcodes,resolution,admin_code,status\n1,"21,0288","105,8525",${ADDED}\n`,
    ],
    [
      'id, lat, lng\n1, 21.0288, 105.8525 \n',
      `id, lat, lng,hexcodes,resolution,admin_code,status\n1, 21.0288, 105.8525 ,${ADDED}\n`,
    ],
    [
      'a|lat|lng\nx,y|21.0288|105.8525\n',
      'a|lat|lng|hexcodes|resolution|admin_code|status\nx,y|21.0288|105.8525|HN-6GHP4-83RFR|13|HN|OK\n',
    ],
    [
      'a\tlat\tlng\nx\t21.0288\t105.8525\n',
      'a\tlat\tlng\thexcodes\tresolution\tadmin_code\tstatus\nx\t21.0288\t105.8525\tHN-6GHP4-83RFR\t13\tHN\tOK\n',
    ],
    [
      '\ufeffsep=;\r\na,b;lat;lng\r\nx;21,0288;105,8525\r\n',
      '\ufeffsep=;\r\na,b;lat;lng;hexcodes;resolution;admin_code;status\r\nx;21,0288;105,8525;HN-6GHP4-83RFR;13;HN;OK\r\n',
    ],
    [
      '\ufefflat,lng\n21.0288,105.8525\n',
      `\ufefflat,lng,hexcodes,resolution,admin_code,status\n21.0288,105.8525,${ADDED}\n`,
    ],
    [
      'Vĩ độ,Kinh độ\n21.0288,105.8525\n',
      `Vĩ độ,Kinh độ,hexcodes,resolution,admin_code,status\n21.0288,105.8525,${ADDED}\n`,
    ],
    [
      'id,x,y\n1,105.8525,21.0288\n',
      `id,x,y,hexcodes,resolution,admin_code,status\n1,105.8525,21.0288,${ADDED}\n`,
    ],
  ])('%j', async (input, output) => {
    folder.write('in.csv', input);
    const ran = await folder.run('encode in.csv -q');
    expect([ran.stderr, ran.stdout]).toEqual(['', output]);
    // Columns give the same rows, though without what is peculiar to their bytes.
    const kept = await folder.run('encode in.csv -q --drop nope');
    expect(kept.code).toBe(3);
    const json = await folder.run('encode in.csv -q --to ndjson');
    expect(JSON.parse(json.stdout)).toMatchObject({ hexcodes: HOAN_KIEM, status: 'OK' });
  });

  test('a delimiter that is named holds', async () => {
    const body = 'a;b;c,lat,lng\nx,21.0288,105.8525\n';
    expect((await quiet(body, 'encode', '--delimiter', 'comma')).stdout).toContain(ADDED);
    const other = await quiet(body, 'encode', '--delimiter', ';');
    expect(other.code).toBe(3);
    expect((await quiet(body, 'encode', '--delimiter', 'x')).code).toBe(2);
    const written = await quiet(
      '{"lat":21.0288,"lng":105.8525}\n',
      'encode',
      '--to',
      'csv',
      '--delimiter',
      ';',
    );
    expect(written.stdout).toBe(
      'lat;lng;hexcodes;resolution;admin_code;status\n21.0288;105.8525;HN-6GHP4-83RFR;13;HN;OK\n',
    );
  });

  test('our numbers have a decimal comma where it is asked for', async () => {
    const semicolons = await quiet(`hexcodes;n\n${HOAN_KIEM};1.5\n`, 'decode', '--decimal', 'comma');
    expect(semicolons.stdout).toBe(
      'hexcodes;n;lat;lng;resolution;status\nHN-6GHP4-83RFR;1.5;21,02879832129181;105,85246512197683;13;OK\n',
    );
    const commas = await quiet(`hexcodes\n${HOAN_KIEM}\n`, 'decode', '--decimal', ',');
    expect(commas.stdout.split('\n')[1]).toBe(`${HOAN_KIEM},"21,02879832129181","105,85246512197683",13,OK`);
  });

  test('columns are written back with their delimiter and byte order mark', async () => {
    const ran = await quiet('\ufeffid;lat;lng\n1;21,0288;105,8525\n', 'encode', '--keep', 'id');
    expect(ran.stdout).toBe('\ufeffid;hexcodes;resolution;admin_code;status\n1;HN-6GHP4-83RFR;13;HN;OK\n');
  });
});

describe('encodings', () => {
  const text = 'tên,lat,lng\nTrần Hưng Đạo,21.0288,105.8525\n';
  const due = `\ufefftên,lat,lng,hexcodes,resolution,admin_code,status\nTrần Hưng Đạo,21.0288,105.8525,${ADDED}\n`;
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');

  test('UTF-16 is known by its byte order mark', async () => {
    expect((await quiet(utf16, 'encode')).stdout).toBe(due);
    expect((await quiet(Buffer.from(utf16).swap16(), 'encode')).stdout).toBe(due);
    const bare = utf16.subarray(2);
    expect((await quiet(bare, 'encode')).stderr).toContain('Perhaps it is UTF-16: --encoding utf-16le');
    expect((await quiet(bare, 'encode', '--encoding', 'utf-16le')).stdout).toBe(due);
    const odd = await quiet(utf16.subarray(0, -1), 'encode');
    expect([odd.code, odd.stderr]).toEqual([3, expect.stringContaining('not utf-16le')]);
  });

  test('Windows-1258 writes tones after their letters', async () => {
    const bytes = Buffer.from('t\xean,lat,lng\nTr\xe2\xccn H\xfdng \xd0a\xf2o,21.0288,105.8525\n', 'latin1');
    const refused = await quiet(bytes, 'encode');
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('--encoding windows-1258')]);
    expect((await quiet(bytes, 'encode', '--encoding', 'windows-1258')).stdout).toBe(due);
    expect((await quiet(bytes, 'encode', '--encoding', 'vni')).code).toBe(2);
  });
});

describe('packed and other files', () => {
  test('a workbook is read as CSV, one sheet of it', async () => {
    folder.write('book.xlsx', readFileSync('test/fixtures/points.xlsx'));
    const one = await folder.run(['encode', 'book.xlsx', '-q', '--sheet', 'Cửa hàng']);
    expect([one.stderr, one.stdout]).toEqual([
      '',
      `Tên,Vĩ độ,Kinh độ,Mở cửa,hexcodes,resolution,admin_code,status\n"Phở, bún",21.0288,105.8525,2025-07-01,${ADDED}\nChợ,10.7799,106.7,,HCM-GXC6M-P9845,13,HCM,OK\n`,
    ]);
    expect((await folder.run('encode book.xlsx -q --sheet 1')).stdout).toBe(one.stdout);
    const both = await folder.run('encode book.xlsx -q');
    expect([both.code, both.stderr]).toEqual([3, expect.stringContaining('"Cửa hàng", "Kho"')]);
    folder.write('cut.xlsx', readFileSync('test/fixtures/points.xlsx').subarray(0, 900));
    expect((await folder.run('encode cut.xlsx -q')).code).toBe(3);
  });

  test('gzip both ways', async () => {
    const packed = gzipSync('lat;lng\n21,0288;105,8525\n');
    folder.write('p.csv.gz', packed);
    const ran = await folder.run('encode p.csv.gz -q -o out.csv.gz');
    expect(ran.stderr).toBe('');
    expect(gunzipSync(folder.bytes('out.csv.gz')).toString()).toContain(
      '21,0288;105,8525;HN-6GHP4-83RFR;13;HN;OK',
    );
  });

  describe('Zstandard', () => {
    const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
    const isRead = major > 22 || (major === 22 && minor >= 15);
    /** A frame of one raw block. */
    const frameOf = (text: string): Buffer => {
      const raw = Buffer.from(text);
      const head = [0x28, 0xb5, 0x2f, 0xfd, 0x20, raw.length];
      return Buffer.concat([Buffer.from([...head, (raw.length << 3) | 1, raw.length >> 5, 0]), raw]);
    };
    const skipped = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const first = frameOf('id,lat,lng\n1,21.0288,105.8525\n');
    const second = frameOf('2,21.0288,105.8525\n');

    test.each<[string, Buffer[], string[]]>([
      ['one frame', [first], ['1']],
      ['frames in a row, as of pzstd and cat', [first, second, second], ['1', '2', '2']],
      ['frames to skip', [skipped, first, skipped, skipped, second, skipped], ['1', '2']],
    ])('%s: every row is read where Node has it, else it is named', async (_, frames, ids) => {
      folder.write('p.csv.zst', Buffer.concat(frames));
      const ran = await folder.run('encode p.csv.zst -q');
      if (isRead)
        expect(ran.stdout.split('\n').slice(1, -1)).toEqual(
          ids.map((id) => `${id},21.0288,105.8525,${ADDED}`),
        );
      else expect(ran.stderr).toContain('packed with Zstandard, which Node');
    });

    test.each<[string, Buffer, string]>([
      ['a frame', first.subarray(0, -1), 'the Zstandard data is cut off'],
      ['the size of a block', first.subarray(0, 7), 'the Zstandard data is cut off'],
      ['the beginning of a second frame', Buffer.concat([first, second.subarray(0, 2)]), 'is cut off'],
      ['a second frame', Buffer.concat([first, second.subarray(0, -1)]), 'is cut off'],
      ['a frame to skip', Buffer.concat([first, skipped.subarray(0, -1)]), 'is cut off'],
      ['other bytes', Buffer.concat([first, Buffer.from('3,21,105\n'), second]), 'no frame begins'],
    ])('a file that ends in %s is refused where Node has it', async (_, bytes, fault) => {
      folder.write('p.csv.zst', bytes);
      const { code, stderr } = await folder.run('encode p.csv.zst -q -o out.csv');
      expect([code, stderr]).toEqual([3, expect.stringContaining(isRead ? fault : 'which Node')]);
    });
  });

  const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
  const tar = latin1('a.csv'.padEnd(257, '\0').concat('ustar').padEnd(512, '\0').concat('lat,lng\n'));
  test.each<[string, Buffer, string]>([
    ['a.csv.xz', latin1('\xfd7zXZ\0...'), 'packed with xz'],
    ['a.zip', latin1('PK\x03\x04............a.csv'), 'a ZIP archive'],
    ['a.7z', latin1("7z\xbc\xaf'\x1c"), 'a 7z archive'],
    ['a.xls', latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), 'an Excel workbook from before 2007'],
    ['a.csv.gz', gzipSync(gzipSync('lat,lng\n')), 'packed with gzip twice'],
    ['a.tar', tar, 'a tar archive'],
    ['a.tar.gz', gzipSync(tar), 'a tar archive'],
  ])('%s is known by its first bytes', async (name, bytes, what) => {
    folder.write(name, bytes);
    const { code, stderr } = await folder.run(['encode', name, '-q']);
    expect([code, stderr]).toEqual([3, expect.stringContaining(`it is ${what}`)]);
  });

  test.each([
    ['o.arrow', 'ARROW1'],
    ['o.arrows', '\xff\xff\xff\xff'],
  ])('%s begins as its name says, packed too', async (name, magic) => {
    folder.write('one.csv', 'lat,lng\n21.0288,105.8525\n');
    for (const each of [name, `${name}.gz`])
      expect((await folder.run(['encode', 'one.csv', '-o', each, '-q'])).code).toBe(0);
    const packed = gunzipSync(folder.bytes(`${name}.gz`));
    for (const bytes of [folder.bytes(name), packed])
      expect(Buffer.from(bytes).toString('latin1', 0, magic.length)).toBe(magic);
  });

  test.each(['o.xls', 'o.xlsm.gz', 'o.csv.zst', 'o.csv.bz2', 'o.zip', 'o.kml'])(
    '%s is not written',
    async (name) => {
      const ran = await quiet('lat,lng\n21.0288,105.8525\n', 'encode', '-o', name);
      expect(ran.code).toBe(2);
      expect(folder.names().filter((each) => each.startsWith(name))).toEqual([]);
    },
  );
});

test('columns are named one by one or in a list, and one with a comma in its name between quotes', async () => {
  folder.write('names.csv', 'id,"price, VND",a,lat,lng\n1,2,3,21.0288,105.8525\n');
  const headOf = async (...options: string[]) => {
    const { code, stdout } = await folder.run(['encode', 'names.csv', ...options]);
    return [code, stdout.split('\n')[0]];
  };
  const added = 'hexcodes,resolution,admin_code,status';
  expect(await headOf('--keep', 'id', '--keep', 'a')).toEqual([0, `id,a,${added}`]);
  expect(await headOf('--keep', 'id,a')).toEqual([0, `id,a,${added}`]);
  expect(await headOf('--keep', 'id,a', '--keep', 'id')).toEqual([0, `id,a,${added}`]);
  expect(await headOf('--keep', 'id,"price, VND"')).toEqual([0, `id,"price, VND",${added}`]);
  expect(await headOf('--drop', 'lat,lng', '--drop', '"price, VND"')).toEqual([0, `id,a,${added}`]);
});

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
    expect((await folder.run('check', { stdin: 'HN-6GHP4-83RFR\nHN-2\n' })).stdout).toContain(
      'row 2: "HN-2"',
    );
    const json = await quiet('HN-6GHP4-83RFR\n', 'decode', '--to', 'ndjson');
    expect(JSON.parse(json.stdout)).toMatchObject({ 1: 'HN-6GHP4-83RFR', status: 'OK' });
  });

  test('decimal commas between other delimiters, and commas within quotes, are no delimiters', async () => {
    for (const between of [';', '\t', '|']) {
      const row = ['Hồ Gươm', '21,0288', '105,8525'].join(between);
      const added = ADDED.replaceAll(',', between);
      expect((await quiet(`${row}\n`, 'encode')).stdout).toBe(`${row}${between}${added}\n`);
    }
    const titled = await quiet(
      '"số, tên, nơi";kd;vd\n1;105,8525;21,0288\n',
      'encode',
      '--lat=vd',
      '--lng=kd',
    );
    expect(titled.stdout.split('\n')[1]).toBe(`1;105,8525;21,0288;${ADDED.replaceAll(',', ';')}`);
    const text = await quiet('21.0288,105.8525,a;b\n', 'encode');
    expect(text.stdout).toBe(`21.0288,105.8525,a;b,${ADDED}\n`);
  });

  test('a position without quotes below a header of one column is named', async () => {
    const { code, stderr } = await quiet('position\n21.0288,105.8525\n', 'encode');
    expect([code, stderr]).toEqual([3, expect.stringContaining('in quotes: "21.0288,105.8525"')]);
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
});

test('half of a surrogate pair: as it is in JSON, U+FFFD elsewhere', async () => {
  const row = '{"id":"a\\ud800b","lat":21.0288,"lng":105.8525}\n';
  expect((await quiet(row, 'encode', '--to', 'ndjson')).stdout).toContain('"a\\ud800b"');
  expect((await quiet(row, 'encode', '--to', 'csv')).stdout).toContain('a\ufffdb,');
});

test('objects of any names in some rows of a column, and texts in others', async () => {
  const texts = [
    '"21.0288,105.8525"',
    '{"lat":21.0288,"lng":105.8525}',
    '{"latitude":21.0288,"lon":105.8525}',
    '{"type":"Point","coordinates":[105.8525,21.0288]}',
    '"POINT(105.8525 21.0288)"',
    '{"lat":21.0288}',
    '5',
    '[1]',
  ];
  const due = texts.map((_, i) => i < 5);
  // The first row decides nothing about the others.
  for (const first of [0, 1, 3]) {
    const given = [...texts.slice(first), ...texts.slice(0, first)];
    const rows = given.map((text) => `{"position":${text}}\n`).join('');
    for (const to of ['ndjson', 'csv']) {
      const { stdout } = await quiet(rows, 'encode', '--to', to);
      const found = stdout.split('\n').filter((line) => /HN-6GHP4-83RFR|INVALID_REQUEST/.test(line));
      expect(found.map((line) => line.includes(HOAN_KIEM))).toEqual([
        ...due.slice(first),
        ...due.slice(0, first),
      ]);
    }
  }
  // Members that are chosen are read, and no others.
  const chosen = ['--lat', 'position.lat', '--lng', 'position.lng', '--to', 'ndjson'];
  const rows = texts.map((text) => `{"position":${text}}\n`).join('');
  const only = (await quiet(rows, 'encode', ...chosen)).stdout.trim().split('\n');
  expect(only.map((line) => line.includes('"OK"'))).toEqual(texts.map((_, i) => [0, 1, 4].includes(i)));
  // Rows beyond those that columns are inferred from are read by the same rule.
  const many = `${'{"position":"21.0288,105.8525"}\n'.repeat(300)}${rows}`;
  const { stdout } = await quiet(many, 'encode', '--position', 'position', '--to', 'ndjson');
  const last = stdout.trim().split('\n').slice(-texts.length);
  expect(last.map((line) => line.includes(HOAN_KIEM))).toEqual(due);
});

test.each([
  ['--position and --lat or --lng exclude one another', ['--position', 'id', '--lng', 'lng']],
  ['--lat and --lng name one column', ['--lat', 'lat', '--lng', 'LAT']],
])('%s', async (message, options) => {
  const { code, stderr } = await quiet('id,lat,lng\n1,21.0288,105.8525\n', 'encode', ...options);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
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
});

test('points in well-known binary, in a column of bytes of Parquet and as text of CSV', async () => {
  const hex = '0101000000c3f5285c8f765a40f31fd26f5f073540';
  const connection = await (await DuckDBInstance.create()).connect();
  const rows = `SELECT 7 AS id, from_hex('${hex}') AS geometry`;
  await connection.run(`COPY (${rows}) TO '${folder.file('wkb.parquet')}' (FORMAT parquet)`);
  folder.write('wkb.csv', `id,geom\n6,${hex}\n7,${hex}\n8,0102${hex.slice(4)}\n`);
  const parquet = await folder.run('encode wkb.parquet -q --to csv --keep id');
  expect([parquet.stderr, parquet.stdout]).toEqual([
    '',
    expect.stringContaining('7,HN-6GHP4-83RFR,13,HN,OK'),
  ]);
  const csv = await folder.run('encode wkb.csv -q --keep id');
  expect(csv.stdout).toContain('7,HN-6GHP4-83RFR,13,HN,OK\n8,,13,,INVALID_REQUEST');
});

test('a GeoPackage is refused where its last changes are elsewhere, where it is broken, and for another layer', async () => {
  const bytes = broughtFile('shops.gpkg');
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await folder.run(['encode', ...args, '-q', '-o', 'never.csv']);
    expect([code, folder.names().includes('never.csv')]).toEqual([3, false]);
    return stderr;
  };
  folder.write('open.gpkg', bytes);
  folder.write('open.gpkg-wal', 'x');
  expect(await refused('open.gpkg')).toContain('its last changes are in open.gpkg-wal');
  folder.write('cut.gpkg', bytes.subarray(0, 5000));
  expect(await refused('cut.gpkg')).toContain('the database is broken');
  folder.write('s.gpkg', bytes);
  expect(await refused('s.gpkg', '--sheet', 'x')).toContain('no layer x: it has "shops"');
});

test('options about CSV and workbooks are refused where they do not apply', async () => {
  folder.write('p.ndjson', '{"lat":21.0288,"lng":105.8525}\n'.repeat(3));
  folder.write('p.gpx', '<gpx><wpt lat="21.0288" lon="105.8525"/></gpx>');
  folder.write('p.csv', 'lat,lng\n21.0288,105.8525\n');
  await folder.run('encode p.csv -q -o p.parquet');
  const options = ['--header-row 2', '--no-header', '--sheet 1', '--delimiter ;', '--decimal comma'];
  for (const option of options)
    for (const run of ['encode p.ndjson', 'encode p.gpx --to parquet -o o.parquet', 'encode p.parquet']) {
      const { code, stderr, stdout } = await folder.run(`${run} -q ${option}`);
      expect([run, option, code, stdout]).toEqual([run, option, 2, '']);
      expect(stderr).toContain(`${option.split(' ')[0]} is for`);
    }
  for (const run of ['aggregate p.parquet --no-header', 'track p.ndjson --id a --time b --header-row 2'])
    expect((await folder.run(run)).code).toBe(2);
  expect((await folder.run('encode p.gpx -q --encoding utf-16le --to csv')).code).toBe(2);
  expect((await folder.run('encode p.ndjson -q --to csv --delimiter ;')).stdout).toContain(
    '21.0288;105.8525;HN-6GHP4-83RFR',
  );
});
