// Rows of CSV with more or fewer fields than the header, by every way through the command: each is INVALID_REQUEST, the
// rows around it have their codes, and --errors says what becomes of it.
import { resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

const GOOD = ['1,21.0288,105.8525,a', '5,10.7769,106.7009,b'];
/** Short, long, one field, long by an empty one, short with a quote, long with a quoted line feed. */
const RAGGED = [
  '2,21.0288,105.8525',
  '3,21.0288,105.8525,c,d',
  '4',
  '6,21,105,x,',
  '"7",21',
  '"8\n8",21,105,x,y',
];
const BODY = ['id,lat,lng,note', GOOD[0], ...RAGGED, GOOD[1], ''].join('\n');
const CODES = ['HN-6GHP4-83RFR', 'HCM-GXC6M-PCP8H'];

describe.each([
  ['as it is', []],
  ['in other columns', ['--drop', 'note']],
  ['with certainty', ['--certainty']],
  ['into NDJSON', ['--to', 'ndjson']],
  ['into NDJSON without a column', ['--to', 'ndjson', '--drop', 'note']],
  ['into GeoJSON', ['--to', 'geojson']],
  ['into TSV', ['--to', 'tsv']],
])('%s', (_, options) => {
  test.each(['file', 'pipe'])('from a %s', async (from) => {
    folder.write('r.csv', BODY);
    const name = from === 'file' ? 'r.csv' : '-';
    const kept = await folder.run(['encode', name, ...options], from === 'file' ? {} : { stdin: BODY });
    expect([kept.code, kept.stderr]).toEqual([0, expect.stringMatching(/8 rows in .*: 2 encoded, 6 failed/)]);
    expect(kept.stderr).toContain('row 2: 3 fields, the header has 4');
    for (const code of CODES) expect(kept.stdout.split(code)).toHaveLength(2);
    expect(kept.stdout.split('INVALID_REQUEST')).toHaveLength(RAGGED.length + 1);
  });

  test('--errors', async () => {
    folder.write('r.csv', BODY);
    const skipped = await folder.run(['encode', 'r.csv', '-q', '--errors', 'skip', ...options]);
    expect([skipped.code, skipped.stdout]).toEqual([0, expect.not.stringContaining('INVALID_REQUEST')]);
    for (const code of CODES) expect(skipped.stdout).toContain(code);
    const stopped = await folder.run([
      'encode',
      'r.csv',
      '-q',
      '--errors',
      'stop',
      '-o',
      'out.x',
      '--to',
      'csv',
    ]);
    expect([stopped.code, stopped.stderr]).toEqual([
      1,
      expect.stringContaining('row 2: INVALID_REQUEST, 3 fields, the header has 4'),
    ]);
  });
});

test('--errors FILE has them', async () => {
  folder.write('r.csv', BODY);
  await folder.run(['encode', 'r.csv', '-q', '--errors', 'bad.csv', '-o', 'good.csv']);
  expect(folder.read('bad.csv').split('INVALID_REQUEST')).toHaveLength(RAGGED.length + 1);
  expect(folder.read('good.csv').split('\n')).toHaveLength(4);
});

test('into Parquet and Arrow and a workbook', async () => {
  folder.write('r.csv', BODY);
  for (const [format, ...options] of [['parquet'], ['parquet', '--sort', 'cell'], ['arrow'], ['xlsx']]) {
    const { code, stderr } = await folder.run(['encode', 'r.csv', '-o', `out.${format}`, ...options]);
    expect(stderr).toContain('row 2: 3 fields, the header has 4');
    expect([format, code, stderr]).toEqual([format, 0, expect.stringMatching(/2 encoded, 6 failed/)]);
  }
});

test('codes', async () => {
  const body = 'id,hexcodes\n1,HN-6GHP4-83RFR\n2,HN-6GHP4-83RFR,x\n3\n';
  for (const to of ['csv', 'ndjson']) {
    const { code, stdout, stderr } = await folder.run(['decode', '--to', to], { stdin: body });
    expect([code, stderr]).toEqual([0, expect.stringContaining('row 2: 3 fields, the header has 2')]);
    expect(stdout.split('INVALID_REQUEST')).toHaveLength(3);
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
    const csv = await folder.run(['check', 'list.csv']);
    expect([csv.code, csv.stdout]).toEqual([
      1,
      'list.csv, row 2: 1 fields, the header has 2\n3 codes: 1 invalid\n',
    ]);
    const json = await folder.run(['check', 'list.ndjson']);
    expect([json.code, json.stdout]).toEqual([
      1,
      'list.ndjson, row 2: hexcodes is given more than once, with different values\n2 codes: 1 invalid\n',
    ]);
    expect((await folder.run(['check', 'list.csv', '-q'])).code).toBe(1);
  });

  test('diff counts them as not understood', async () => {
    const index = resolve('data/index.bin');
    folder.write('list.csv', CODED);
    folder.write('r.csv', BODY);
    const codes = await folder.run(['diff', index, index, 'list.csv']);
    expect([codes.code, codes.stderr]).toEqual([
      0,
      '3 rows: 0 change; 1 not understood, the first in row 2: 1 fields, the header has 2\n',
    ]);
    const positions = await folder.run(['diff', index, index, 'r.csv']);
    expect(positions.stderr).toContain('8 rows: 0 change; 6 not understood, the first in row 2');
  });

  test('the list of contains and the trace of plan are refused', async () => {
    folder.write('list.csv', CODED);
    folder.write('points.csv', 'lat,lng\n21.0288,105.8525\n');
    const zones = await folder.run(['contains', 'points.csv', '--in', 'list.csv']);
    expect([zones.code, zones.stderr]).toEqual([3, expect.stringContaining('list.csv, row 2: 1 fields')]);
    folder.write('trace.csv', 'time,vehicle\n0,a\n1\n2,b\n');
    const trace = await folder.run(['plan', '--trace', 'trace.csv', '--force']);
    expect([trace.code, trace.stderr]).toEqual([3, expect.stringContaining('trace.csv, row 2: 1 fields')]);
  });

  test('contains leaves them out, or keeps them outside', async () => {
    folder.write('cells.csv', 'hexcodes\nHN-6GHP4-83RFR\n');
    folder.write('r.csv', BODY);
    const kept = await folder.run(['contains', 'r.csv', '--in', 'cells.csv', '--all', '-q', '--to', 'csv']);
    expect([kept.code, kept.stdout.split(',true')]).toEqual([0, expect.objectContaining({ length: 2 })]);
    expect(kept.stdout.split(',false')).toHaveLength(8);
  });
});

describe('positions as people write them below the first rows', () => {
  const plain = Array.from({ length: 3000 }, (_, i) => `${i},21.0288,105.8525,x`);
  const written = ['a,+21.0288,105.8525,x', `b,21°01'43.68"N,"105°51'09""E",x`, 'c,48.8584N,2.2945E,x'];
  const body = `id,lat,lng,note\r\n${[...plain, ...written, 'd,21,105', ...plain, 'e,x,1,"y"""'].join('\r\n')}\r\n`;

  test.each([[[]], [['--certainty', '--former']], [['--threads', '2']]])('%j', async (options) => {
    folder.write('late.csv', body);
    const { code, stderr } = await folder.run(['encode', 'late.csv', '-o', 'late.out.csv', ...options]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/6,005 rows in .*: 6,002 encoded, 3 failed/)]);
    expect(stderr).toContain('row 3004: 3 fields');
    const slow = await folder.run(['encode', 'late.csv', '--to', 'ndjson', '-q', ...options]);
    const rows = slow.stdout.trim().split('\n');
    const lines = folder.read('late.out.csv').trim().split('\r\n').slice(1);
    expect(lines).toHaveLength(rows.length);
    for (const [n, line] of lines.entries()) {
      const { hexcodes, status, certainty } = JSON.parse(rows[n]!) as Record<string, unknown>;
      const fields = line.split(',');
      expect([line, fields.at(-1)]).toEqual([line, status]);
      if (hexcodes !== null) expect(line).toContain(`,${hexcodes},13,`);
      if (options.includes('--certainty') && hexcodes !== null) expect(fields.at(-2)).toBe(String(certainty));
    }
    expect(lines.slice(3000, 3003).map((line) => line.split(',')[0])).toEqual(['a', 'b', 'c']);
  });

  test('--errors', async () => {
    folder.write('late.csv', body);
    await folder.run(['encode', 'late.csv', '-q', '--errors', 'bad.csv', '-o', 'good.csv']);
    expect(folder.read('good.csv').split('\r\n')).toHaveLength(6002 + 2);
    expect(
      folder
        .read('bad.csv')
        .split('\r\n')
        .map((line) => line[0]),
    ).toEqual(['i', 'c', 'd', 'e', undefined]);
  });
});

describe('a header that names a column twice', () => {
  const TWICE = 'id,name,name,lat,lng\n1,a,b,21.0288,105.8525\n';

  test('is refused with the way out', async () => {
    const { code, stderr } = await folder.run(['encode', '--to', 'ndjson'], { stdin: TWICE });
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/column name: the header names it twice\n.*--drop/),
    ]);
    const kept = await folder.run(['encode', '--to', 'ndjson', '--keep', 'name,lat,lng'], { stdin: TWICE });
    expect([kept.code, kept.stderr]).toEqual([3, expect.stringContaining('names it twice')]);
  });

  test.each(['ndjson', 'csv'])('--drop leaves both out: %s', async (to) => {
    const { code, stdout } = await folder.run(['encode', '-q', '--to', to, '--drop', 'name'], {
      stdin: TWICE,
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining('HN-6GHP4-83RFR')]);
    expect(stdout).not.toMatch(/name|"b"|,b,/);
  });
});

test.each([
  ['CR CR LF', '\r\r\n', /lines end in CR CR LF.*\n.*tr -d/],
  ['CR alone', '\r', /lines end in CR alone.*\n.*tr '/],
])('lines that end in %s are refused in one sentence', async (_, end, why) => {
  const { code, stderr } = await folder.run(['encode'], {
    stdin: ['id,lat,lng', '1,21.0288,105.8525', ''].join(end),
  });
  expect([code, stderr]).toEqual([3, expect.stringMatching(why)]);
});
