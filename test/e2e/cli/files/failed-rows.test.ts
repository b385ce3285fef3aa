// Rows that fail, rows with more or fewer fields than the header, and malformed files: exit codes, counts, places, and
// what --errors makes of them.

import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Ran } from '../../../support/cli.js';
import { writePointsCsv } from '../../../support/files/points-csv.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();

function ran(stdin: string, ...args: string[]): Promise<Ran> {
  return folder.run(args, { stdin });
}

const LINES = [
  'id,lat,lng',
  '1,21.0306,105.8489',
  '2,48.8584,2.2945',
  '3,abc,105.8',
  '4,48,2',
  '5,,105.8',
  '',
];

const FEATURES = Array.from({ length: 4500 }, (_, id) => {
  const far = id % 7 === 0 ? [2.2945, 48.8584] : [105.8489, 21.0306];
  const geometry = id % 11 === 0 ? null : { type: 'Point', coordinates: far };
  return { type: 'Feature', geometry, properties: { id, name: `n "${id}"`, list: [id] } };
});
const TEXTS = ['csv', 'ndjson', 'geojson'];

describe('failed rows of any output equal those of an output in their own format', () => {
  test.each(TEXTS)('%s', async (format) => {
    folder.write('in.geojson', JSON.stringify({ type: 'FeatureCollection', features: FEATURES }));
    const failedOf = async (to: string): Promise<string> => {
      const args = ['--to', to, '-o', `out.${to}`, '--errors', `failed.${format}`];
      expect((await ran('', 'encode', 'in.geojson', ...args)).code).toBe(0);
      return folder.read(`failed.${format}`);
    };
    const due = await failedOf(format);
    expect(due.match(/INVALID_REQUEST/g)).toHaveLength(Math.ceil(4500 / 11));
    expect(due.match(/NOT_FOUND/g)).toHaveLength(Math.ceil(4500 / 7) - Math.ceil(4500 / 77));
    for (const to of [...TEXTS, 'xlsx', 'parquet', 'arrow']) expect(await failedOf(to), to).toBe(due);
  });
});

describe('the first row of each reason, with columns and values', () => {
  const FIRST = ['row 2: lat "48.8584", lng "2.2945"', 'row 3: lat "abc"'];

  test.each([
    ['by bytes', []],
    ['by columns', ['--to', 'ndjson']],
    ['apart', ['--errors', 'failed.csv']],
  ])('%s', async (_, args) => {
    folder.write('in.csv', LINES.join('\n'));
    const { code, stderr } = await ran('', 'encode', 'in.csv', ...args);
    expect(code).toBe(0);
    for (const first of FIRST) expect(stderr).toContain(`in.csv, ${first}\n`);
  });

  test.each([
    ['two that are wrong', 'lat,lng\n21,105\nx,-181\n', 'row 2: lat "x", lng "-181"'],
    ['one that is empty', 'lat,lng\n21,105\n ,105\n', 'row 2: lat is empty'],
    ['a resolution', 'lat,lng,resolution\n21,105,9\n21,105,16\n', 'row 2: resolution "16"'],
    ['a resolution and no position', 'lat,lng,resolution\n21,105,9\nx,105,13\n', 'row 2: lat "x"'],
    ['one column', 'position\n"21,105"\nnowhere\n"21,105"\n', 'row 2: position "nowhere"'],
    ['an escape', 'lat,lng\n21,105\n"\u001b[31m",105\n', 'row 2: lat "\\u001b[31m"'],
    ['a long one', `lat,lng\n21,105\n${'9'.repeat(90)},105\n`, `row 2: lat "${'9'.repeat(60)}…"`],
  ])('encode: %s', async (_, body, first) => {
    for (const to of ['csv', 'ndjson']) {
      expect((await ran(body, 'encode', '--to', to)).stderr).toContain(`(stdin), ${first}\n`);
    }
  });

  test.each(['csv', 'ndjson'])('decode to %s', async (to) => {
    const body = 'place,id\nHN-6GHP4-83RFR,1\nHN-6GHP4-83RFQ,2\n,3\n';
    const { stderr } = await ran(body, 'decode', '--column', 'place', '--to', to);
    expect(stderr).toContain('first: (stdin), row 2: place "HN-6GHP4-83RFQ"\n');
    expect(stderr).toContain('first: (stdin), row 3: place is empty\n');
  });
});

describe('a run in which every row fails', () => {
  test.each([[[]], [['--to', 'ndjson']], [['--errors', 'skip']], [['--errors', 'apart.csv']]])(
    'exits with 1 and has written its output: %j',
    async (args) => {
      folder.write('none.csv', 'lat,lng\nx,105\n48,2\n');
      expect((await ran('', 'encode', 'none.csv', '-o', 'none.out', '-q', ...args)).code).toBe(1);
      expect(folder.names()).toContain('none.out');
    },
  );

  test('codes, and a file without rows', async () => {
    expect((await ran('hexcodes\nnope\n', 'decode', '-q')).code).toBe(1);
    expect((await ran('lat,lng\n', 'encode', '-q')).code).toBe(0);
  });
});

describe('suggestions', () => {
  test('check first names the codes near those of neighbouring rows', async () => {
    const near = 'HN-6GHP4-899JC';
    const nearest = await folder.run('suggest HN-6GHP4-83RFQ --near 21.0306,105.8489 --json');
    const [first] = JSON.parse(nearest.stdout) as { hexcodes: string }[];
    for (const rows of [
      ['HN-6GHP4-83RFQ', near],
      [near, 'HN-6GHP4-83RFQ'],
      ['HCM-GXC6M-P9845', 'HN-6GHP4-83RFQ', near],
    ]) {
      const checked = await ran(`hexcodes\n${rows.join('\n')}\n`, 'check');
      expect(checked.stdout).toContain(`"HN-6GHP4-83RFQ"  perhaps one of 7: ${first!.hexcodes}, HN-`);
    }
  });
});

/** A blank behind a quote is no text. */
const GOOD = ['1,21.0288,105.8525,a', '5,10.7769,106.7009,"b\nb" '];

/** Short, long, one field, long by an empty one, short with a quote, long with a quoted line feed. */
const RAGGED = [
  '2,21.0288,105.8525',
  '3,21.0288,105.8525,c,d',
  '4',
  '6,21,105,x,',
  '"7",21',
  '"8\n8",21,105,x,y',
  // Two rows of Spark and MySQL, whose quotes are escaped by backslashes.
  '"9\\"",21,105,x\n"10",10.7769,106.7009,y',
];

const BODY = ['id,lat,lng,note', GOOD[0], ...RAGGED, GOOD[1], ''].join('\n');

const CODES = ['HN-6GHP4-83RFR', 'HCM-GXC6M-PCP8H'];

test.each([
  ['as it is', []],
  ['in other columns', ['--drop', 'note']],
  ['with certainty', ['--certainty']],
  ['into NDJSON', ['--to', 'ndjson']],
  ['into NDJSON without a column', ['--to', 'ndjson', '--drop', 'note']],
  ['into GeoJSON', ['--to', 'geojson']],
  ['into TSV', ['--to', 'tsv']],
])('%s: kept, and left out by --errors skip', async (_, options) => {
  folder.write('r.csv', BODY);
  const kept = await folder.run(['encode', '-', ...options], { stdin: BODY });
  expect([kept.code, kept.stderr]).toEqual([0, expect.stringMatching(/9 rows in .*: 2 encoded, 7 failed/)]);
  expect(kept.stderr).toContain('row 2: 3 fields, the header has 4');
  expect(kept.stdout.split('INVALID_REQUEST')).toHaveLength(RAGGED.length + 1);
  const skipped = await folder.run(['encode', 'r.csv', '-q', '--errors', 'skip', ...options]);
  expect([skipped.code, skipped.stdout]).toEqual([0, expect.not.stringContaining('INVALID_REQUEST')]);
  for (const { stdout } of [kept, skipped])
    for (const code of CODES) expect(stdout.split(code)).toHaveLength(2);
});

test('--errors stop', async () => {
  folder.write('r.csv', BODY);
  const { code, stderr } = await folder.run('encode r.csv -q --errors stop -o out.x --to csv');
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('row 2: INVALID_REQUEST, 3 fields, the header has 4'),
  ]);
  expect(folder.names()).not.toContain('out.x');
});

test('--errors FILE has them', async () => {
  folder.write('r.csv', BODY);
  await folder.run('encode r.csv -q --errors bad.csv -o good.csv');
  expect(folder.read('bad.csv').split('INVALID_REQUEST')).toHaveLength(RAGGED.length + 1);
  expect(folder.read('good.csv').split('\n')).toHaveLength(5);
});

test('into Parquet and Arrow and a workbook', async () => {
  folder.write('r.csv', BODY);
  for (const [format, ...options] of [['parquet'], ['parquet', '--sort', 'cell'], ['arrow'], ['xlsx']]) {
    const { code, stderr } = await folder.run(['encode', 'r.csv', '-o', `out.${format}`, ...options]);
    expect(stderr).toContain('row 2: 3 fields, the header has 4');
    expect([format, code, stderr]).toEqual([format, 0, expect.stringMatching(/2 encoded, 7 failed/)]);
  }
});

test.each([
  ['aggregate', '--by', 'province'],
  ['track', '--id', 'id', '--time', 'time'],
])('%s leaves them out', async (command, ...options) => {
  const good = 'id,time,lat,lng\n1,2026-01-02T10:00:00,21.0288,105.8525\n';
  folder.write('all.csv', `${good}1,2026-01-02T11:00:00,10.7769\n1,2026-01-02T12:00:00,10.7769,106.7009,9\n`);
  folder.write('good.csv', good);
  const [all, whole] = await Promise.all(
    ['all.csv', 'good.csv'].map((name) => folder.run([command, name, '-q', '--to', 'csv', ...options])),
  );
  expect(all!.code).toBe(0);
  expect(all!.stdout.replace(/,3$/m, ',1')).toContain(whole!.stdout.split('\n')[1]);
  expect(all!.stdout).not.toContain('HCM');
});

describe('other commands', () => {
  const CODED = ['hexcodes,a', 'HN-6GHP4-83RFR,1', 'HN-6GHP4-83RFR', 'HCM-GXC6M-PCP8H,2', ''].join('\n');
  const TWICE = '{"hexcodes":"HN-6GHP4-83RFR"}\n{"hexcodes":"HN-6GHP4-83RFR","hexcodes":"HCM-GXC6M-PCP8H"}\n';

  test('check lists them as invalid', async () => {
    folder.write('list.csv', CODED);
    folder.write('list.ndjson', TWICE);
    const csv = await folder.run('check list.csv');
    expect([csv.code, csv.stdout]).toEqual([
      1,
      'list.csv, row 2: 1 fields, the header has 2\n3 codes: 1 invalid\n',
    ]);
    const json = await folder.run('check list.ndjson');
    expect([json.code, json.stdout]).toEqual([
      1,
      'list.ndjson, row 2: hexcodes is given more than once with different values\n2 codes: 1 invalid\n',
    ]);
    expect((await folder.run('check list.csv -q')).code).toBe(1);
  });

  test('diff counts them as not understood', async () => {
    const index = resolve('data/index.bin');
    folder.write('list.csv', CODED);
    folder.write('r.csv', BODY);
    const codes = await folder.run(['diff', index, index, 'list.csv']);
    expect([codes.code, codes.stderr]).toEqual([
      0,
      '3 rows: 0 changes; 1 not understood, the first in row 2: 1 fields, the header has 2\n',
    ]);
    const positions = await folder.run(['diff', index, index, 'r.csv']);
    expect(positions.stderr).toContain('9 rows: 0 changes; 7 not understood, the first in row 2');
  });

  test('the list of contains and the trace of plan are refused', async () => {
    folder.write('list.csv', CODED);
    folder.write('points.csv', 'lat,lng\n21.0288,105.8525\n');
    const zones = await folder.run('contains points.csv --in list.csv');
    expect([zones.code, zones.stderr]).toEqual([3, expect.stringContaining('list.csv, row 2: 1 fields')]);
    folder.write('trace.csv', 'time,vehicle\n0,a\n1\n2,b\n');
    const trace = await folder.run('plan --trace trace.csv --force');
    expect([trace.code, trace.stderr]).toEqual([3, expect.stringContaining('trace.csv, row 2: 1 fields')]);
  });

  test('contains leaves them out, or keeps them outside', async () => {
    folder.write('cells.csv', 'hexcodes\nHN-6GHP4-83RFR\n');
    folder.write('r.csv', BODY);
    const kept = await folder.run('contains r.csv --in cells.csv --all -q --to csv');
    expect([kept.code, kept.stdout.split(',true')]).toEqual([0, expect.objectContaining({ length: 2 })]);
    expect(kept.stdout.split(',false')).toHaveLength(9);
  });
});

test('a code that is given twice among properties, and systems around features', async () => {
  const feature = (properties: string): string =>
    `{"type":"Feature","properties":{${properties}},"geometry":null}`;
  const codes = feature('"hexcodes":"HN-6GHP4-83RFR","hexcodes":"HN-6GHP4-83RFV"');
  const decoded = await folder.run('decode - --from geojson --to csv --errors stop', { stdin: codes });
  expect(decoded.stderr).toContain('hexcodes is given more than once');
  const crs = (name: string): string => `"crs":{"type":"name","properties":{"name":"${name}"}}`;
  const around = `{"type":"FeatureCollection",${crs('EPSG:3405')},${crs('EPSG:4326')},"features":[${feature('')}]}`;
  const systems = await folder.run('encode - --from geojson --to csv', { stdin: around });
  expect([systems.code, systems.stderr]).toEqual([3, expect.stringContaining('crs is given more than once')]);
});

describe('a header that names a column twice', () => {
  const TWICE = 'id,name,name,lat,lng\n1,a,b,21.0288,105.8525\n';

  test('is refused, also where it is kept', async () => {
    const kept = await folder.run('encode --to ndjson --keep name,lat,lng', { stdin: TWICE });
    expect(kept.code).toBe(3);
    // As pandas writes an index of two levels.
    const { stderr } = await folder.run('encode --to ndjson', { stdin: TWICE.replaceAll('name', '') });
    expect(stderr).toContain('column "": the header names it twice');
  });

  test.each(['ndjson', 'csv'])('--drop leaves both out: %s', async (to) => {
    const { code, stdout } = await folder.run(['encode', '-q', '--to', to, '--drop', 'name'], {
      stdin: TWICE,
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining('HN-6GHP4-83RFR')]);
    expect(stdout).not.toMatch(/name|"b"|,b,/);
  });
});

describe('a malformed file: the message names file, row and column, and no output is left', () => {
  const long = Buffer.alloc(100 * 1024 * 1024, 'x');
  const head = 'id,lat,lng\n1,21,105\n';
  const INFLUX = '#group,,,,\r\n,result,table,lat,lng\r\n,,0,21,105\r\n';
  /** Each with the place that the message names. */
  const cases: [name: string, content: string | Uint8Array, place: string][] = [
    ['utf8.csv', Buffer.from(`${head}\xff,21,105\n`, 'latin1'), 'row 2, column id'],
    ['nul.csv', `${head}2,2\u00001,105\n`, 'row 2, column lat'],
    ['quote.csv', `${head}"2,21,105\n`, 'row 2'],
    ['last.csv', `id,lat,lng,note\n1,21,105,a\n2,21,105,"b\n`, 'row 2'],
    ['long.csv', Buffer.concat([Buffer.from(head), long]), 'row 2'],
    ['tables.csv', `${INFLUX}\r\n#group,,,,\r\n,result,table,lng,lat\r\n,,1,21,105\r\n`, 'row 3'],
    ['empty.csv', '', ''],
    ['missing.csv', 'id,x\n1,2\n', ''],
    ['twice.csv', 'lat,LAT,lng\n1,2,3\n', ''],
    ['cut.csv.gz', gzipSync(head.repeat(1000)).subarray(0, 60), ''],
    ['byte.csv.gz', gzipSync(head).subarray(0, 1), ''],
    ['bad.csv.gz', Buffer.concat([gzipSync(head).subarray(0, -8), Buffer.alloc(8, 1)]), ''],
    ['line.ndjson', '{"lat":1,"lng":2}\n{"lat":\n', 'row 2'],
    ['list.ndjson', '{"lat":1,"lng":2}\n[1,2]\n', 'row 2'],
    ['nul.ndjson', '{"lat":1,"lng":2}\n{"a":"\u0000"}\n', 'row 2'],
    ['utf8.ndjson', Buffer.from('{"lat":1,"lng":2}\n{"a":"\xff"}\n', 'latin1'), 'row 2'],
    ['long.ndjson', Buffer.concat([Buffer.from('{"lat":1,"lng":2}\n'), long]), 'row 2'],
    ['cut.geojson', '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{}', 'row 1'],
    ['other.geojson', '{"type":"FeatureCollection","features":[{"a":1},3]}', 'row 2'],
    ...['EPSG:3857', 'urn:ogc:def:crs:EPSG::3405'].flatMap((system) => {
      const crs = `"crs": { "type": "name", "properties": { "name": "${system}" } }`;
      const features = '"features":[{"type":"Feature","properties":{}}]';
      return [
        [`head-${system.slice(-4)}.geojson`, `{"type":"FeatureCollection",${crs},${features}}`, ''],
        [`tail-${system.slice(-4)}.geojson`, `{"type":"FeatureCollection",${features},${crs}}`, ''],
      ] satisfies (typeof cases)[number][];
    }),
    ['cut.parquet', Buffer.from('PAR1 and no more'), ''],
    ['cut.arrow', Buffer.from('ARROW1\0\0\xff\xff\xff\xff\x10\0', 'latin1'), ''],
  ];
  test.each(cases)('%s', async (name, content, place) => {
    folder.write(name, content);
    const ran = await folder.run(['encode', name, '-o', `result-${name}`]);
    expect([ran.code, ran.stderr]).toEqual([
      3,
      expect.stringContaining(place === '' ? name : `${name}, ${place}`),
    ]);
    expect(folder.names().filter((each) => each.startsWith('result-'))).toEqual([]);
  });

  test('a further table of the same columns is none', async () => {
    const { code, stdout } = await folder.run('encode --to ndjson -q', { stdin: `${INFLUX}${INFLUX}` });
    expect([code, stdout.match(/"OK"/g)]).toEqual([0, ['"OK"', '"OK"']]);
  });

  // From a pipe, encode converts in one thread and decode by workers.
  test.each(['encode', 'decode'])('%s reports the first of several faults', async (operation) => {
    writePointsCsv(folder.file('points.csv'), 30_000, 1);
    const lines = folder.read('points.csv').split('\n');
    lines[9_000] = '\0,1,2,3';
    lines[25_000] = '\0,1,2,3';
    lines[28_000] = '"open,1,2,3';
    lines[0] = operation === 'encode' ? lines[0]! : lines[0]!.replace('id', 'hexcodes');
    const options = operation === 'encode' ? [] : ['--threads', '2', '--prefix', 'h_'];
    const ran = await folder.run([operation, ...options], { stdin: lines.join('\n') });
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('(stdin), row 9000, column ')]);
  });

  test('a damaged Parquet file, a missing file, a folder, an output that cannot be opened', async () => {
    writePointsCsv(folder.file('few.csv'), 6, 1);
    expect((await folder.run('encode few.csv -o p.parquet -q')).code).toBe(0);
    const whole = folder.bytes('p.parquet');
    folder.write('half.parquet', Buffer.concat([whole.subarray(0, 200), whole.subarray(400)]));
    const half = await folder.run('decode half.parquet --prefix x_ -o result-half.csv');
    expect([half.code, half.stderr]).toEqual([3, expect.stringContaining('half.parquet')]);
    for (const [args, code] of [
      [['encode', 'absent.csv'], 3],
      [['encode', '.'], 3],
      [['encode', 'few.csv', '-o', 'no/such/folder.csv'], 4],
    ] as const) {
      const ran = await folder.run(args);
      expect(ran.code).toBe(code);
    }
    expect(folder.names().filter((each) => each.startsWith('result-'))).toEqual([]);
  });
});
