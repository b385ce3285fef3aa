// Files through the real command: every format in and out, policies, broken inputs, and runs that are broken off.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes, type HexcodesError } from '#dist/library/node.js';
import { CliFolder } from '../../../support/cli.js';
import { runKilled } from '../../../support/files/kill.js';
import { writePointsCsv } from '../../../support/files/points-csv.js';
import { randomFrom } from '../../../support/open-world.js';

const folder = new CliFolder();
let library: Hexcodes;
beforeAll(async () => {
  library = await Hexcodes.load();
  folder.write('shops.csv', `${SHOPS}\n`);
});
afterAll(() => folder.remove());

type Row = Record<string, string>;
const rowsOf = (text: string, delimiter = ','): Row[] => parse(text, { columns: true, delimiter });

/** What encode must add to a row. */
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
  test('rows as they stand, four columns more, a summary', async () => {
    const ran = await folder.run(['encode', 'shops.csv']);
    expect(ran.code).toBe(0);
    const expected = SHOP_ROWS.map((row) => ({ ...row, ...expectedOf(row.lat!, row.lng!) }));
    expect(rowsOf(ran.stdout)).toEqual(expected);
    // The input's bytes stand unchanged in the output.
    expect(ran.stdout).toContain('2,"The ""old"" post office",10.7799,106.7,HCM-');
    expect(ran.stderr).toContain('6 rows in');
    expect(ran.stderr).toContain('2  INVALID_REQUEST');
    expect(ran.stderr).toMatch(/1\s.*HN {3}Hà Nội/);
    expect(ran.stderr).toContain('1 of the failed positions lie in Viet Nam with lat and lng exchanged');
  });

  test('bytes and tables give the same rows', async () => {
    writePointsCsv(folder.file('points.csv'), 30_000, 1);
    const names = ['id', 'lat', 'lng', 'speed'];
    expect((await folder.run(['encode', 'points.csv', '-o', 'fast.csv', '-q'])).code).toBe(0);
    const table = await folder.run([
      'encode',
      'points.csv',
      '--keep',
      names.join(','),
      '-o',
      'table.csv',
      '-q',
    ]);
    expect(table).toMatchObject({ code: 0, stderr: '' });
    const fast = folder.read('fast.csv');
    expect(fast === folder.read('table.csv')).toBe(true);
    for (const row of rowsOf(folder.read('fast.csv')).slice(0, 2000)) {
      const { id, lat, lng, speed, ...ours } = row;
      expect(ours).toEqual(expectedOf(lat!, lng!));
    }
    const threads = await folder.run(['encode', 'points.csv', '--threads', '3', '-q']);
    expect(threads.stdout).toBe(folder.read('fast.csv'));
    expect((await folder.run(['encode', '-q'], { stdin: folder.bytes('points.csv') })).stdout).toBe(
      threads.stdout,
    );
  });

  test('column names, resolution, prefix, keep, drop, id', async () => {
    folder.write('xy.csv', 'Y;,y,x,status\na,21.0306,105.8489,new\n');
    expect((await folder.run(['encode', 'xy.csv'])).stderr).toContain('no column lat or latitude');
    const clash = await folder.run(['encode', 'xy.csv', '--lat', 'y', '--lng', 'x']);
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
    expect((await folder.run(['encode', 'own.csv', '-q'])).stdout).toBe(own);
    expect((await folder.run(['encode', 'own.csv', '-q', '--keep', 'lat,lng,resolution'])).stdout).toBe(own);
  });

  test('BOM, CRLF, blank lines, TSV, several files, a last row without its end', async () => {
    const { hexcodes: code } = library.encode(21.0306, 105.8489);
    folder.write('crlf.csv', '\ufefflat,lng\r\n21.0306,105.8489\r\n\r\n21.0306,105.8489');
    expect((await folder.run(['encode', 'crlf.csv', '-q'])).stdout).toMatch(
      new RegExp(
        `^lat,lng,hexcodes,resolution,admin_code,status\r\n(21.0306,105.8489,${code},13,HN,OK\r\n){2}$`,
      ),
    );
    folder.write('a.tsv', 'lat\tlng\n21.0306\t105.8489\n');
    folder.write('b.tsv', 'lat\tlng\n0\t0\n');
    expect((await folder.run(['encode', 'a.tsv', 'b.tsv', '-q'])).stdout).toBe(
      `lat\tlng\thexcodes\tresolution\tadmin_code\tstatus\n21.0306\t105.8489\t${code}\t13\tHN\tOK\n0\t0\t\t13\t\tNOT_FOUND\n`,
    );
    const piped = await folder.run(['encode', 'a.tsv', '-', '-q'], { stdin: 'lat\tlng\n0\t0\n' });
    expect(piped.stdout).toBe((await folder.run(['encode', 'a.tsv', 'b.tsv', '-q'])).stdout);
    folder.write('c.tsv', 'lng\tlat\n0\t0\n');
    const other = await folder.run(['encode', 'a.tsv', 'c.tsv', '-o', 'ac.tsv']);
    expect(other).toMatchObject({ code: 3 });
    expect(other.stderr).toContain('c.tsv: other columns than a.tsv');
    expect(folder.names().filter((name) => name.startsWith('ac.'))).toEqual([]);
  });

  test('gzip in and out', async () => {
    const plain = (await folder.run(['encode', 'points.csv', '-q'])).stdout;
    folder.write('points.csv.gz', gzipSync(folder.bytes('points.csv')));
    expect((await folder.run(['encode', 'points.csv.gz', '-q', '-o', 'out.csv.gz'])).code).toBe(0);
    expect(gunzipSync(folder.bytes('out.csv.gz')).toString()).toBe(plain);
  });
});

describe('failed rows', () => {
  const isOk = (row: Row): boolean => row.status === 'OK';
  test.each(['shops.csv', 'shops.ndjson'])('skip, stop and FILE: %s', async (name) => {
    folder.write('shops.ndjson', SHOP_ROWS.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const all = rowsOf((await folder.run(['encode', name, '--to', 'csv', '-q'])).stdout);
    const skipped = await folder.run(['encode', name, '--to', 'csv', '--errors', 'skip']);
    expect(rowsOf(skipped.stdout)).toEqual(all.filter(isOk));
    expect(skipped.stderr).toContain('failed (left out)');
    const apart = ['encode', name, '--errors', 'failed.csv', '-o', 'good.csv', '-q'];
    expect((await folder.run(apart)).code).toBe(0);
    expect(rowsOf(folder.read('good.csv'))).toEqual(all.filter(isOk));
    expect(rowsOf(folder.read('failed.csv'))).toEqual(all.filter((row) => !isOk(row)));
    const stopped = await folder.run(['encode', name, '--errors', 'stop', '-o', 'stopped.csv']);
    expect(stopped.code).toBe(1);
    expect(stopped.stderr).toContain(`${name}, row 5: INVALID_REQUEST`);
    expect(folder.names().filter((each) => each.startsWith('stopped'))).toEqual([]);
  });
});

describe('decode', () => {
  test('CSV by column, any spelling, both ways through', async () => {
    const codes = SHOP_ROWS.slice(0, 3).map(
      (row) => library.encode(Number(row.lat), Number(row.lng)).hexcodes,
    );
    const spelt = [codes[0]!, codes[1]!.toLowerCase(), codes[2]!.replaceAll('-', ' '), 'nonsense', ''];
    folder.write('codes.csv', `n,place\n${spelt.map((text, i) => `${i},${text}\n`).join('')}`);
    const ran = await folder.run(['decode', 'codes.csv', '--column', 'place']);
    const expected = spelt.map((text, i) => {
      const decoded = library.decode(text);
      const row = { n: String(i), place: text };
      const status = text === '' ? 'INVALID_REQUEST' : 'INVALID_HEXCODES';
      if (decoded === null) return { ...row, lat: '', lng: '', resolution: '', status };
      return { ...row, lat: String(decoded.lat), lng: String(decoded.lng), resolution: '13', status: 'OK' };
    });
    expect(rowsOf(ran.stdout)).toEqual(expected);
    expect(ran.stderr).toContain('1  INVALID_HEXCODES');
    for (const row of ['1   33.3 %  HN ', '1   33.3 %  DNG', '1   33.3 %  HCM'])
      expect(ran.stderr).toContain(row);
    const table = await folder.run(['decode', 'codes.csv', '--column', 'place', '--keep', 'n,place', '-q']);
    expect(table.stdout).toBe(ran.stdout);
  });
});

describe('other formats', () => {
  test('NDJSON keeps its rows as they are written', async () => {
    const big = '{"n":12345678901234567890, "lat":21.0306,"lng":105.8489,"tags":["a"]}';
    folder.write('in.ndjson', `${big}\n\n{"lat":0,"lng":0}\n{ }`);
    const { hexcodes: code } = library.encode(21.0306, 105.8489);
    const ran = await folder.run(['encode', 'in.ndjson', '-q']);
    expect(ran.stdout).toBe(
      `${big.slice(0, -1)},"hexcodes":"${code}","resolution":13,"admin_code":"HN","status":"OK"}\n` +
        '{"lat":0,"lng":0,"hexcodes":null,"resolution":13,"admin_code":null,"status":"NOT_FOUND"}\n' +
        '{"hexcodes":null,"resolution":13,"admin_code":null,"status":"INVALID_REQUEST"}\n',
    );
  });

  test('GeoJSON: features with their geometry, what stands around them stays', async () => {
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
      crs: { type: 'name' },
    };
    folder.write('in.geojson', JSON.stringify(collection, null, 1));
    const ran = await folder.run(['encode', 'in.geojson', '-q', '--prefix', 'h_']);
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
    const lines = await folder.run(['encode', 'lines.geojson', '-q', '--to', 'csv']);
    expect(rowsOf(lines.stdout)[0]).toEqual({
      lat: '21.0306',
      lng: '105.8489',
      name: 'x}]',
      ...expectedOf('21.0306', '105.8489'),
    });
    folder.write('to.csv', `hexcodes\n${code}\n`);
    const features = JSON.parse(
      (await folder.run(['decode', 'to.csv', '--to', 'geojson', '-q'])).stdout,
    ).features;
    const { lat, lng } = library.decode(code)!;
    expect(features).toMatchObject([{ geometry: { type: 'Point', coordinates: [lng, lat] } }]);
  });

  test('what formats say of themselves at stdin', async () => {
    const { hexcodes: code } = library.encode(21.0306, 105.8489);
    for (const stdin of [
      '{"lat":21.0306,"lng":105.8489}\n',
      'lat\tlng\n21.0306\t105.8489\n',
      'lat,lng\n21.0306,105.8489\n',
    ]) {
      for (const bytes of [Buffer.from(stdin), gzipSync(stdin)]) {
        expect((await folder.run(['encode', '-q'], { stdin: bytes })).stdout).toContain(code);
      }
    }
    expect((await folder.run(['encode', '-o', 'p.parquet', '-q', 'shops.csv'])).code).toBe(0);
    const piped = await folder.run(['decode', '--prefix', 'p_', '--to', 'csv', '-q'], {
      stdin: folder.bytes('p.parquet'),
    });
    expect(rowsOf(piped.stdout)).toHaveLength(6);
  });
});

describe('malformed files: file, row and column, and nothing under the final name', () => {
  const long = Buffer.alloc(100 * 1024 * 1024, 'x');
  const head = 'id,lat,lng\n1,21,105\n';
  const cases: [name: string, content: string | Uint8Array, message: RegExp][] = [
    ['short.csv', `${head}2,21\n`, /short\.csv, row 2, column lng: 2 fields, the header has 3/],
    ['wide.csv', `${head}2,21,105,9\n`, /wide\.csv, row 2: 4 fields, the header has 3/],
    ['utf8.csv', Buffer.from(`${head}\xff,21,105\n`, 'latin1'), /utf8\.csv, row 2, column id: not UTF-8/],
    ['nul.csv', `${head}2,2\u00001,105\n`, /nul\.csv, row 2, column lat: a NUL byte/],
    ['quote.csv', `${head}"2,21,105\n`, /quote\.csv, row 2/],
    ['long.csv', Buffer.concat([Buffer.from(head), long]), /long\.csv, row 2: .*longer than/],
    ['empty.csv', '', /empty\.csv: the file is empty/],
    ['missing.csv', 'id,x\n1,2\n', /missing\.csv: no column lat or latitude: it has id, x/],
    ['twice.csv', 'lat,LAT,lng\n1,2,3\n', /more than one column could be lat/],
    ['cut.csv.gz', gzipSync(head.repeat(1000)).subarray(0, 60), /cut\.csv\.gz: the gzip data is cut off/],
    [
      'bad.csv.gz',
      Buffer.concat([gzipSync(head).subarray(0, -8), Buffer.alloc(8, 1)]),
      /bad\.csv\.gz: broken gzip/,
    ],
    ['line.ndjson', '{"lat":1,"lng":2}\n{"lat":\n', /line\.ndjson, row 2: not JSON/],
    ['list.ndjson', '{"lat":1,"lng":2}\n[1,2]\n', /list\.ndjson, row 2: not a JSON object/],
    ['nul.ndjson', '{"lat":1,"lng":2}\n{"a":"\u0000"}\n', /nul\.ndjson, row 2: a NUL byte/],
    [
      'utf8.ndjson',
      Buffer.from('{"lat":1,"lng":2}\n{"a":"\xff"}\n', 'latin1'),
      /utf8\.ndjson, row 2: not UTF-8/,
    ],
    [
      'long.ndjson',
      Buffer.concat([Buffer.from('{"lat":1,"lng":2}\n'), long]),
      /long\.ndjson, row 2: a line of more than 16 MiB/,
    ],
    [
      'cut.geojson',
      '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{}',
      /cut\.geojson, row 1: the file ends in the middle/,
    ],
    [
      'other.geojson',
      '{"type":"FeatureCollection","features":[{"a":1},3]}',
      /other\.geojson, row 2: something that is no feature/,
    ],
    ['cut.parquet', Buffer.from('PAR1 and no more'), /cut\.parquet: not a whole Parquet file/],
    [
      'cut.arrow',
      Buffer.from('ARROW1\0\0\xff\xff\xff\xff\x10\0', 'latin1'),
      /cut\.arrow: the Arrow data is cut off/,
    ],
  ];
  test.each(cases)('%s', async (name, content, message) => {
    folder.write(name, content);
    const ran = await folder.run(['encode', name, '-o', `result-${name}`]);
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringMatching(message)]);
    expect(folder.names().filter((each) => each.startsWith('result-'))).toEqual([]);
  });

  test('the first of several faults is told, wherever its block is', async () => {
    const lines = folder.read('points.csv').split('\n');
    lines[9_000] = 'short,1';
    lines[25_000] = 'short,1';
    lines[28_000] = '\0,1,2,3';
    const ran = await folder.run(['encode', '--threads', '2'], { stdin: lines.join('\n') });
    expect([ran.code, ran.stderr]).toEqual([
      3,
      expect.stringContaining('(stdin), row 9000, column lng: 2 fields'),
    ]);
  });

  test('a truncated Parquet file, a missing file, a folder, an output that cannot be', async () => {
    const whole = folder.bytes('p.parquet');
    folder.write('half.parquet', Buffer.concat([whole.subarray(0, 200), whole.subarray(400)]));
    const half = await folder.run(['decode', 'half.parquet', '--prefix', 'x_', '-o', 'result-half.csv']);
    expect([half.code, half.stderr]).toEqual([3, expect.stringContaining('half.parquet')]);
    for (const [args, code, message] of [
      [['encode', 'none.csv'], 3, 'cannot read none.csv: no such file'],
      [['encode', '.'], 3, 'cannot read .: it is a directory'],
      [['encode', 'shops.csv', '-o', 'no/such/folder.csv'], 4, 'cannot write no/such/folder.csv'],
    ] as const) {
      const ran = await folder.run(args);
      expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(message)]);
    }
    expect(folder.names().filter((each) => each.startsWith('result-'))).toEqual([]);
  });
});

describe('runs that are broken off', () => {
  beforeAll(() => {
    writePointsCsv(folder.file('big.csv'), 120_000, 2);
  });

  test.each([
    ['csv', ['encode', 'big.csv', '--errors', 'rejected.csv', '-q']],
    ['ndjson', ['encode', 'big.csv', '--to', 'ndjson', '-q']],
  ] as const)('kill -9, five times, then resume: the same bytes (%s)', async (format, args) => {
    const seed = 3;
    console.log(`kill: seed ${seed}`);
    const start = performance.now();
    expect((await folder.run([...args, '-o', `whole.${format}`])).code).toBe(0);
    const spanMs = performance.now() - start;
    const rejected = args.includes('rejected.csv' as never) ? folder.bytes('rejected.csv') : null;
    const { kills } = await runKilled(
      [...args, '-o', `killed.${format}`],
      folder.path,
      5,
      spanMs,
      randomFrom(seed),
    );
    expect(kills).toBeGreaterThan(0);
    expect(folder.bytes(`killed.${format}`).equals(folder.bytes(`whole.${format}`))).toBe(true);
    if (rejected !== null) expect(folder.bytes('rejected.csv').equals(rejected)).toBe(true);
    expect(folder.names().filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('Ctrl-C keeps what is done and says how to go on; other options do not go on with it', async () => {
    const args = ['encode', 'big.csv', '--to', 'ndjson', '-o', 'stopped.ndjson'];
    const broken = await folder.run(args, {
      env: { HEXCODES_CHECKPOINT_BYTES: '65536' },
      started: (child) => {
        const poll = setInterval(() => {
          if (!existsSync(folder.file('stopped.ndjson.partial.journal')) && child.exitCode === null) return;
          clearInterval(poll);
          child.kill('SIGINT');
        }, 5);
      },
    });
    expect(broken.code).toBe(130);
    expect(broken.stderr).toMatch(
      /interrupted after [\d,]+ rows, which are kept\n.*--resume goes on from there/,
    );
    expect(existsSync(folder.file('stopped.ndjson'))).toBe(false);
    const other = await folder.run([...args, '--resume', '-r', '9']);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('had other options')]);
    const resumed = await folder.run([...args, '--resume']);
    expect(resumed.code).toBe(0);
    expect(resumed.stderr).toContain('120,000 rows');
    expect(folder.bytes('stopped.ndjson').equals(folder.bytes('whole.ndjson'))).toBe(true);
  });

  test('what cannot be resumed says so and starts again', async () => {
    const ran = await folder.run(['encode', 'shops.csv', '-o', 'again.parquet', '--resume']);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('Output in parquet cannot be resumed: starting again');
    for (const name of ['again.csv.gz', '.gz']) {
      const zipped = await folder.run(['encode', 'shops.csv', '-o', name, '--resume']);
      expect([name, zipped.stderr]).toEqual([
        name,
        expect.stringContaining('Output in gzip cannot be resumed'),
      ]);
    }
    const fresh = await folder.run(['encode', 'shops.csv', '-o', 'fresh.csv', '--resume']);
    expect(fresh.stderr).toContain('Nothing to resume');
  });
});

test('the peer script writes the same file', async () => {
  writePointsCsv(folder.file('peer.csv'), 20_000, 4);
  expect((await folder.run(['encode', 'peer.csv', '-o', 'ours.csv', '-q'])).code).toBe(0);
  const peer = spawnSync(process.execPath, [
    resolve('build/test/support/peers/files-script.js'),
    folder.file('peer.csv'),
    folder.file('theirs.csv'),
  ]);
  expect(peer.stderr.toString()).toBe('');
  const ours = folder.read('ours.csv').split('\n');
  const theirs = folder.read('theirs.csv').split('\n');
  expect(ours.filter((line, i) => line !== theirs[i])).toEqual([]);
  expect(ours.length).toBe(theirs.length);
});
