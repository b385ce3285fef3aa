// Rows that fail: the summary shows the first of each reason, a run in which every row fails says so by its exit code,
// and of several suggestions none becomes the answer.
import { afterAll, describe, expect, test } from 'vitest';
import { CliFolder, type Ran } from '../../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

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

describe('the first row of each reason, with columns and values', () => {
  const NOT_FOUND =
    '  2  NOT_FOUND: in no province of Viet Nam nor its sea\n                first: FILE, row 2: lat "48.8584", lng "2.2945"\n';
  const INVALID =
    '  2  INVALID_REQUEST: not a position in degrees, not a resolution, or no code\n                first: FILE, row 3: lat "abc"\n';

  test.each([
    ['by bytes', []],
    ['by columns', ['--to', 'ndjson']],
    ['apart', ['--errors', 'failed.csv']],
  ])('%s', async (_, args) => {
    folder.write('in.csv', LINES.join('\n'));
    const { code, stderr } = await ran('', 'encode', 'in.csv', ...args);
    expect(code).toBe(0);
    expect(stderr).toContain(NOT_FOUND.replace('FILE', 'in.csv'));
    expect(stderr).toContain(INVALID.replace('FILE', 'in.csv'));
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
      expect((await ran(body, 'encode', '--to', to)).stderr).toContain(`first: (stdin), ${first}\n`);
    }
  });

  test.each(['csv', 'ndjson'])('decode to %s', async (to) => {
    const body = 'place,id\nHN-6GHP4-83RFR,1\nHN-6GHP4-83RFQ,2\n,3\n';
    const { stderr } = await ran(body, 'decode', '--column', 'place', '--to', to);
    expect(stderr).toContain('first: (stdin), row 2: place "HN-6GHP4-83RFQ"\n');
    expect(stderr).toContain('first: (stdin), row 3: place is empty\n');
  });

  test('--errors stop', async () => {
    for (const to of ['csv', 'ndjson']) {
      const { code, stderr } = await ran(LINES.join('\n'), 'encode', '--errors', 'stop', '--to', to);
      expect(code).toBe(1);
      expect(stderr).toContain('(stdin), row 2: NOT_FOUND, lat "48.8584", lng "2.2945": in no province');
    }
  });
});

describe('a run in which every row fails', () => {
  test.each([[[]], [['--to', 'ndjson']], [['--errors', 'skip']], [['--errors', 'apart.csv']]])(
    'exits with 1 and has written its output: %j',
    async (args) => {
      folder.write('none.csv', 'lat,lng\nx,105\n48,2\n');
      const { code, stderr } = await ran('', 'encode', 'none.csv', '-o', 'none.out', '-q', ...args);
      expect(code).toBe(1);
      expect(stderr).toBe(
        'hexcodes: no row was encoded; the first: none.csv, row 1: lat "x" (INVALID_REQUEST)\n',
      );
      expect(folder.names()).toContain('none.out');
    },
  );

  test('codes, and a file without rows', async () => {
    expect((await ran('hexcodes\nnope\n', 'decode', '-q')).code).toBe(1);
    expect((await ran('lat,lng\n', 'encode', '-q')).code).toBe(0);
  });
});

describe('suggestions', () => {
  test('of several none is the answer', async () => {
    const decoded = await folder.run(['decode', 'HN-6GHP4-83RFQ']);
    expect(decoded.stderr).toMatch(
      /Did you mean one of 7: HN-\S+, HN-\S+, HN-\S+, …\?\n.*hexcodes suggest HN-6GHP4-83RFQ --near LAT,LNG\n$/,
    );
    const one = await folder.run(['decode', 'HN-6GHP4-B3RFR']);
    expect(one.stderr).toMatch(/Did you mean HN-6GHP4-83RFR\?\n$/);
  });

  test('check names those near the codes around the row first', async () => {
    const near = 'HN-6GHP4-899JC';
    const nearest = await folder.run(['suggest', 'HN-6GHP4-83RFQ', '--near', '21.0306,105.8489', '--json']);
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
