// Files through the real command: every format in and out, columns, error policies, summaries.
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes, type HexcodesError } from '#hexcodes';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();
const library = await Hexcodes.load();
beforeAll(async () => {
  folder.write('shops.csv', `${SHOPS}\n`);
});

type Row = Record<string, string>;
const rowsOf = (text: string, delimiter = ','): Row[] => parse(text, { columns: true, delimiter });

/** The columns that encode must add to a row. */
function expectedOf(lat: string, lng: string, resolution = 13): Row {
  try {
    const encoded = library.encode(lat === '' ? Number.NaN : Number(lat), Number(lng), resolution);
    return {
      hexcodes: encoded.hexcodes,
      resolution: String(resolution),
      admin_code: encoded.admin_code,
      status: 'OK',
    };
  } catch (error) {
    const status = (error as HexcodesError).code === 'OUTSIDE_COVERAGE' ? 'NOT_FOUND' : 'INVALID_REQUEST';
    return { hexcodes: '', resolution: String(resolution), admin_code: '', status };
  }
}

const SHOPS = [
  'id,name,lat,lng',
  '1,"Phở 10, Lý Quốc Sư",21.0306,105.8489',
  '2,"The ""old"" post office",10.7799,106.7',
  '3,"two\nlines",16.0544,108.2022',
  '4,at sea,8.645,111.92',
  '5,nowhere,,105',
  '6,swapped,105.8489,21.0306',
].join('\n');
const SHOP_ROWS = rowsOf(SHOPS);

describe('encode, CSV', () => {
  test('rows are unchanged, four columns are added, a summary is written', async () => {
    const ran = await folder.run('encode shops.csv');
    expect(ran.code).toBe(0);
    const expected = SHOP_ROWS.map((row) => ({ ...row, ...expectedOf(row.lat!, row.lng!) }));
    expect(rowsOf(ran.stdout)).toEqual(expected);
    // Byte for byte, quotes included.
    expect(ran.stdout).toContain('2,"The ""old"" post office",10.7799,106.7,HCM-');
    expect(ran.stderr).toContain('6 rows in');
    expect(ran.stderr).toContain('2  INVALID_REQUEST');
    expect(ran.stderr).toMatch(/1\s.*HN {3}Hà Nội/);
    expect(ran.stderr).toContain('1 failed position lies in Viet Nam with lat and lng exchanged: ');
  });

  test('column names, resolution, prefix, keep, drop, id', async () => {
    folder.write('xy.csv', 'Y;,y,x,status\na,21.0306,105.8489,new\n');
    folder.write('yard.csv', 'yard,lane,status\n21.0306,105.8489,new\n');
    const none = await folder.run('encode yard.csv');
    expect(none.stderr).toContain('no column lat or latitude');
    expect(none.stderr).toContain('perhaps --lat "yard" --lng "lane"');
    const clash = await folder.run('encode xy.csv --lat y --lng x');
    expect(clash.code).toBe(2);
    expect(clash.stderr).toContain('a column status already');
    const options = ['--lat', 'y', '--lng', 'x', '-r', '9', '-q'];
    const { hexcodes: code } = library.encode(21.0306, 105.8489, 9);
    expect((await folder.run(['encode', 'xy.csv', ...options, '--prefix', 'h_'])).stdout).toBe(
      `Y;,y,x,status,h_hexcodes,h_resolution,h_admin_code,h_status\na,21.0306,105.8489,new,${code},9,HN,OK\n`,
    );
    expect((await folder.run(['encode', 'xy.csv', ...options, '--drop', 'status,x'])).stdout).toBe(
      `Y;,y,hexcodes,resolution,admin_code,status\na,21.0306,${code},9,HN,OK\n`,
    );
    expect((await folder.run(['encode', 'xy.csv', ...options, '--id', 'Y;'])).stdout).toBe(
      `Y;,hexcodes,resolution,admin_code,status\na,${code},9,HN,OK\n`,
    );
    folder.write('own.csv', 'lat,lng,resolution\n21.0306,105.8489,5\n21.0306,105.8489,16\n');
    const five = library.encode(21.0306, 105.8489, 5).hexcodes;
    const own = `lat,lng,resolution,hexcodes,admin_code,status\n21.0306,105.8489,5,${five},HN,OK\n21.0306,105.8489,16,,,INVALID_REQUEST\n`;
    expect((await folder.run('encode own.csv -q')).stdout).toBe(own);
    expect((await folder.run('encode own.csv -q --keep lat,lng,resolution')).stdout).toBe(own);
  });

  test('BOM, CRLF, blank lines, TSV, several files, a last row without a line end', async () => {
    const { hexcodes: code } = library.encode(21.0306, 105.8489);
    folder.write('crlf.csv', '\ufefflat,lng\r\n21.0306,105.8489\r\n\r\n21.0306,105.8489');
    expect((await folder.run('encode crlf.csv -q')).stdout).toMatch(
      new RegExp(
        `^\ufefflat,lng,hexcodes,resolution,admin_code,status\r\n(21.0306,105.8489,${code},13,HN,OK\r\n){2}$`,
      ),
    );
    folder.write('a.tsv', 'lat\tlng\n21.0306\t105.8489\n');
    folder.write('b.tsv', 'lat\tlng\n0\t0\n');
    expect((await folder.run('encode a.tsv b.tsv -q')).stdout).toBe(
      `lat\tlng\thexcodes\tresolution\tadmin_code\tstatus\n21.0306\t105.8489\t${code}\t13\tHN\tOK\n0\t0\t\t13\t\tNOT_FOUND\n`,
    );
    const piped = await folder.run('encode a.tsv - -q', { stdin: 'lat\tlng\n0\t0\n' });
    expect(piped.stdout).toBe((await folder.run('encode a.tsv b.tsv -q')).stdout);
    folder.write('c.tsv', 'lng\tlat\n0\t0\n');
    const other = await folder.run('encode a.tsv c.tsv -o ac.tsv');
    expect(other).toMatchObject({ code: 3 });
    expect(other.stderr).toContain('c.tsv: other columns than a.tsv: it has lng, lat\nFiles of one run have');
    folder.write('d.csv', 'lat;lng\n0;0\n');
    for (const format of ['tsv', 'ndjson', 'parquet']) {
      const { code, stderr } = await folder.run(['encode', 'a.tsv', 'd.csv', '-o', `ad.${format}`]);
      expect([code, stderr]).toEqual([
        3,
        expect.stringContaining('d.csv: other columns than a.tsv: it has lat;lng'),
      ]);
    }
    // As the message says.
    expect((await folder.run('encode d.csv -q')).code).toBe(1);
    expect(folder.names().filter((name) => name.startsWith('ac.'))).toEqual([]);
  });
});

test('empty files of NDJSON among others, as Spark writes them, are left out by every command and for every output', async () => {
  const row = '{"id":1,"lat":21.0306,"lng":105.8489,"hexcode":"HN-6GHP4-899JC"}\n';
  folder.write('part-0.ndjson', '');
  folder.write('list.csv', 'hexcodes\nHN-6GHP4-899JC\n');
  folder.write('part-1.ndjson', row);
  folder.write('part-2.ndjson.gz', gzipSync('\n'));
  folder.write('part-3.ndjson', row);
  const [all, full] = [
    'part-0.ndjson part-1.ndjson part-2.ndjson.gz part-3.ndjson',
    'part-1.ndjson part-3.ndjson',
  ];
  for (const format of ['ndjson', 'csv', 'geojson', 'parquet'])
    for (const [name, parts] of Object.entries({ all, full }))
      expect(await folder.run(`encode ${parts} -q -o ${name}.${format}`)).toMatchObject({
        code: 0,
        stderr: '',
      });
  for (const format of ['ndjson', 'csv', 'geojson', 'parquet'])
    expect(folder.bytes(`all.${format}`).equals(folder.bytes(`full.${format}`)), format).toBe(true);
  for (const command of [
    'decode -q --prefix d_',
    'aggregate -q',
    'contains -q --in list.csv',
    'check --column hexcode',
  ]) {
    const ran = await folder.run(`${command} ${all}`);
    expect(ran).toEqual(await folder.run(`${command} ${full}`));
    expect(ran.code).toBe(0);
  }
  expect((await folder.run('encode part-1.ndjson part-0.ndjson -o part-0.ndjson')).code).toBe(2);
  // Alone they are a table without rows.
  for (const to of ['ndjson', 'csv', 'geojson', 'parquet', 'arrow', 'xlsx'])
    for (const command of ['encode --keep id', 'decode', 'contains --in list.csv'])
      expect(
        await folder.run(`${command} part-0.ndjson part-2.ndjson.gz -q --to ${to} -o none`),
      ).toMatchObject({
        ...{ code: 0, stdout: '', stderr: '' },
      });
  expect((await folder.run('encode part-0.ndjson -q --to csv')).stdout).toBe(
    'hexcodes,resolution,admin_code,status\n',
  );
  expect((await folder.run('check part-0.ndjson')).stdout).toBe('0 codes: all valid\n');
  folder.write('bare.ndjson', '{}\n');
  expect((await folder.run('encode bare.ndjson')).code).toBe(3);
  folder.write('part-1.json', row);
  expect((await folder.run('encode part-1.json')).stderr).toMatch(
    /row 1: not a GeoJSON feature: .*\nObjects on lines of their own are read with --from ndjson\.\n$/,
  );
  expect((await folder.run('encode part-1.json --from ndjson')).code).toBe(0);
});

describe('other formats', () => {
  test('NDJSON keeps the text of its rows', async () => {
    const big = '{"n":12345678901234567890, "lat":21.0306,"lng":105.8489,"tags":["a"]}';
    folder.write('in.ndjson', `${big}\n\n{"lat":0,"lng":0}\n{ }`);
    const { hexcodes: code } = library.encode(21.0306, 105.8489);
    const ran = await folder.run('encode in.ndjson -q');
    expect(ran.stdout).toBe(
      `${big.slice(0, -1)},"hexcodes":"${code}","resolution":13,"admin_code":"HN","status":"OK"}\n` +
        '{"lat":0,"lng":0,"hexcodes":null,"resolution":13,"admin_code":null,"status":"NOT_FOUND"}\n' +
        '{"hexcodes":null,"resolution":13,"admin_code":null,"status":"INVALID_REQUEST"}\n',
    );
  });

  test('GeoJSON keeps geometries and the text around the features', async () => {
    const point = (properties: object, coordinates: number[]) => ({
      type: 'Feature',
      properties,
      geometry: { type: 'Point', coordinates },
    });
    const collection = {
      type: 'FeatureCollection',
      name: 'a "features" [ test {',
      features: [
        point({ name: 'x}]' }, [105.8489, 21.0306]),
        { type: 'Feature', properties: null, geometry: { type: 'LineString', coordinates: [[1, 2]] } },
      ],
      crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } },
    };
    folder.write('in.geojson', JSON.stringify(collection, null, 1));
    const ran = await folder.run('encode in.geojson -q --prefix h_');
    const { hexcodes: code } = library.encode(21.0306, 105.8489);
    const ours = (hexcodes: string | null, status: string) => ({
      h_hexcodes: hexcodes,
      h_resolution: 13,
      h_admin_code: hexcodes && 'HN',
      h_status: status,
    });
    const expected = structuredClone(collection) as typeof collection & {
      features: { properties: object | null }[];
    };
    expected.features[0]!.properties = { name: 'x}]', ...ours(code, 'OK') };
    expected.features[1]!.properties = ours(null, 'INVALID_REQUEST');
    expect(JSON.parse(ran.stdout)).toEqual(expected);
    folder.write(
      'lines.geojson',
      collection.features.map((feature) => `\u001e${JSON.stringify(feature)}\n`).join(''),
    );
    const lines = await folder.run('encode lines.geojson -q --to csv');
    expect(rowsOf(lines.stdout)[0]).toEqual({
      lat: '21.0306',
      lng: '105.8489',
      name: 'x}]',
      ...expectedOf('21.0306', '105.8489'),
    });
    folder.write('to.csv', `hexcodes\n${code}\n`);
    const features = JSON.parse((await folder.run('decode to.csv --to geojson -q')).stdout).features;
    const { lat, lng } = library.decode(code)!;
    expect(features).toMatchObject([{ geometry: { type: 'Point', coordinates: [lng, lat] } }]);
  });

  test('a record separator may be before a line of NDJSON', async () => {
    folder.write('separated.ndjson', '\u001e{"lat":21.0306,"lng":105.8489}\n'.repeat(2));
    const { stdout } = await folder.run('encode separated.ndjson -q --to csv');
    expect(rowsOf(stdout)).toHaveLength(2);
  });

  test('formats of stdin are detected by content', async () => {
    const { hexcodes: code } = library.encode(21.0306, 105.8489);
    for (const stdin of [
      '{"lat":21.0306,"lng":105.8489}\n',
      'lat\tlng\n21.0306\t105.8489\n',
      'lat,lng\n21.0306,105.8489\n',
    ]) {
      for (const bytes of [Buffer.from(stdin), gzipSync(stdin)]) {
        expect((await folder.run('encode -q', { stdin: bytes })).stdout).toContain(code);
      }
    }
    expect((await folder.run('encode -o p.parquet -q shops.csv')).code).toBe(0);
    const piped = await folder.run('decode --prefix p_ --to csv -q', {
      stdin: folder.bytes('p.parquet'),
    });
    expect(rowsOf(piped.stdout)).toHaveLength(6);
  });
});

const INDEX = resolve('data/index.bin');
const HOAN_KIEM = 'HN-6GHP4-83RFR';

test('a code among the spaces of a column of a fixed width is read on every way', async () => {
  const texts = [14, 64, 65, 255].flatMap((width) => [
    HOAN_KIEM.padEnd(width),
    HOAN_KIEM.padStart(width),
    HOAN_KIEM.replace('-', '–').padEnd(width),
  ]);
  folder.write('wide.csv', `hexcodes\n${texts.map((text) => `${text}\n`).join('')}`);
  folder.write('wide.ndjson', texts.map((text) => `${JSON.stringify({ hexcodes: text })}\n`).join(''));
  await folder.run('decode wide.ndjson -q -o wide.parquet --prefix n_');
  for (const input of ['wide.csv', 'wide.ndjson', 'wide.parquet']) {
    for (const to of ['csv', 'ndjson', 'geojson']) {
      const { stderr } = await folder.run(['decode', input, '--to', to, '-o', 'wide.out']);
      expect([input, to, stderr.split('\n')[0]]).toEqual([input, to, expect.stringMatching(/ 12 decoded$/)]);
    }
    expect([input, (await folder.run(['check', input])).code]).toEqual([input, 0]);
    expect([input, (await folder.run(['check', input, '--canonical', '--json'])).stdout]).toEqual([
      input,
      expect.stringContaining('"invalid":10,'),
    ]);
  }
  const inside = await folder.run('contains --in wide.csv -q', { stdin: 'lat,lng\n21.0288,105.8525\n' });
  expect(inside.stdout).toBe('lat,lng\n21.0288,105.8525\n');
  const changed = await folder.run(['diff', INDEX, INDEX, 'wide.csv']);
  expect(changed.stderr).toBe('12 rows: 0 changes\n');
});
