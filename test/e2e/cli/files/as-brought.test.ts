// Files as users bring them: spreadsheets under Vietnamese settings, other encodings, packed files.
import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { CliFolder, type Ran } from '../../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

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
    const ran = await folder.run(['encode', 'in.csv', '-q']);
    expect([ran.stderr, ran.stdout]).toEqual(['', output]);
    // Columns give the same rows, though without what is peculiar to their bytes.
    const kept = await folder.run(['encode', 'in.csv', '-q', '--drop', 'nope']);
    expect(kept.stderr).toContain('no such column, named by --drop');
    const json = await folder.run(['encode', 'in.csv', '-q', '--to', 'ndjson']);
    expect(JSON.parse(json.stdout)).toMatchObject({ hexcodes: HOAN_KIEM, status: 'OK' });
  });

  test('a delimiter that is named holds', async () => {
    const body = 'a;b;c,lat,lng\nx,21.0288,105.8525\n';
    expect((await quiet(body, 'encode', '--delimiter', 'comma')).stdout).toContain(ADDED);
    const other = await quiet(body, 'encode', '--delimiter', ';');
    expect([other.code, other.stderr]).toEqual([3, expect.stringContaining('no column lat or latitude')]);
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

  test('the same columns are written back by columns: delimiter and byte order mark stay', async () => {
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

  test('Windows-1258 writes tones behind their letters', async () => {
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
    expect((await folder.run(['encode', 'book.xlsx', '-q', '--sheet', '1'])).stdout).toBe(one.stdout);
    const both = await folder.run(['encode', 'book.xlsx', '-q']);
    expect([both.code, both.stderr]).toEqual([3, expect.stringContaining('"Cửa hàng", "Kho"')]);
    folder.write('cut.xlsx', readFileSync('test/fixtures/points.xlsx').subarray(0, 900));
    expect((await folder.run(['encode', 'cut.xlsx', '-q'])).code).toBe(3);
  });

  test('gzip both ways', async () => {
    const packed = gzipSync('lat;lng\n21,0288;105,8525\n');
    folder.write('p.csv.gz', packed);
    const ran = await folder.run(['encode', 'p.csv.gz', '-q', '-o', 'out.csv.gz']);
    expect(ran.stderr).toBe('');
    expect(gunzipSync(folder.bytes('out.csv.gz')).toString()).toContain(
      '21,0288;105,8525;HN-6GHP4-83RFR;13;HN;OK',
    );
  });

  test('Zstandard is read where Node has it, else named', async () => {
    // "lat,lng\n21.0288,105.8525\n" in one raw block.
    const raw = Buffer.from('lat,lng\n21.0288,105.8525\n');
    const frame = Buffer.from([
      0x28,
      0xb5,
      0x2f,
      0xfd,
      0x20,
      raw.length,
      (raw.length << 3) | 1,
      raw.length >> 5,
      0,
    ]);
    folder.write('p.csv.zst', Buffer.concat([frame, raw]));
    const ran = await folder.run(['encode', 'p.csv.zst', '-q']);
    const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
    if (major > 22 || (major === 22 && minor >= 15)) expect(ran.stdout).toContain(ADDED);
    else expect(ran.stderr).toContain('packed with Zstandard, which Node');
  });

  test.each([
    ['a.csv.bz2', 'BZh91AY&SY....', 'packed with bzip2', 'bzip2 -dc'],
    ['a.csv.xz', '\xfd7zXZ\0...', 'packed with xz', 'xz -dc'],
    ['a.zip', 'PK\x03\x04............a.csv', 'a ZIP archive', 'unzip -p'],
    ['a.7z', "7z\xbc\xaf'\x1c", 'a 7z archive', '7z x'],
    ['a.xls', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'an Excel workbook of before 2007', '.xlsx'],
    ['a.csv', '<!DOCTYPE html><html>', 'a web page', 'login'],
    ['a.xml', '<?xml version="1.0"?><svg>', 'XML', 'ogr2ogr'],
    ['a.json', '[{"lat":21,"lng":105}]', 'a JSON array', 'jq -c'],
  ])('%s is named for what it is', async (name, bytes, what, wayOut) => {
    folder.write(name, Buffer.from(bytes, 'latin1'));
    const ran = await folder.run(['encode', name, '-q']);
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain(`${name}: it is ${what}`);
    expect(ran.stderr).toContain(wayOut);
  });

  test.each(['o.xls', 'o.csv.zst', 'o.csv.bz2', 'o.zip', 'o.kml'])('%s is not written', async (name) => {
    const ran = await quiet('lat,lng\n21.0288,105.8525\n', 'encode', '-o', name);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('is not written')]);
    expect(folder.names().filter((each) => each.startsWith(name))).toEqual([]);
  });
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
  expect(await headOf('--keep', 'id,"price, VND"')).toEqual([0, `id,"price, VND",${added}`]);
  expect(await headOf('--drop', 'lat,lng', '--drop', '"price, VND"')).toEqual([0, `id,a,${added}`]);
});
