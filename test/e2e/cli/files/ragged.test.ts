// Rows of CSV with more or fewer fields than the header, by every way through the command: each is INVALID_REQUEST, the
// rows around it have their codes, and --errors says what becomes of it.
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

test('where every row counts they are refused', async () => {
  folder.write('list.csv', 'hexcodes,a\nHN-6GHP4-83RFR,1\nHN-6GHP4-83RFR\n');
  const { code, stderr } = await folder.run(['check', 'list.csv']);
  expect([code, stderr]).toEqual([3, expect.stringContaining('row 2, column a: 1 fields')]);
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
