// Positions and codes on the command line in the texts that people have: messages, links, several at a time.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../../support/cli.js';

const folder = new CliFolder();
const CODE = 'HN-6GHP4-83RFR';
let centre = '';
beforeAll(async () => {
  const { lat, lng } = (await Hexcodes.load()).decode(CODE)!;
  centre = `${lat},${lng}\n`;
});
afterAll(() => folder.remove());

test.each([
  ['Toi o HN-6GHP4-83RFR nhe'],
  ['http://hexcodes.example/#HN-6GHP4-83RFR'],
  ['hexcodes.example/#HN-6GHP4-83RFR'],
  ['HN-6GHP4-83RFR/'],
  ['ha noi 6ghp4 83rfr'],
  ['8d415cb4e42613f'],
])('decode and inspect read the code in %s', async (text) => {
  expect(await folder.run(['decode', text])).toMatchObject({ code: 0, stdout: centre, stderr: '' });
  expect(await folder.run(['decode', ...text.split(' ')])).toMatchObject({ code: 0, stdout: centre });
  const inspected = await folder.run(['inspect', text, '--json']);
  expect(JSON.parse(inspected.stdout).hexcodes).toBe(CODE);
});

test('one of several that is none is named, the others are answered, exit 1', async () => {
  const decoded = await folder.run(['decode', CODE, 'HN-6GHP4-83RFQ', CODE]);
  expect(decoded).toMatchObject({ code: 1, stdout: centre + centre });
  expect(decoded.stderr).toContain('"HN-6GHP4-83RFQ" is not a hexcode');
  const encoded = await folder.run([
    'encode',
    '21.0288,105.8525',
    '48.8,2.3',
    '21.x,105',
    '21.0288,105.8525',
  ]);
  expect(encoded).toMatchObject({ code: 1, stdout: `${CODE}\n${CODE}\n` });
  expect(encoded.stderr).toContain('lat 48.8, lng 2.3');
  expect(encoded.stderr).toContain('"21.x,105" is not a position');
});

test('names of files that are absent are no texts', async () => {
  for (const args of [
    ['decode', 'absent.csv'],
    ['decode', `folder/${CODE}.csv`],
    ['decode', CODE, 'absent.csv'],
    ['encode', '21.0288,105.8525', 'folder/absent'],
  ])
    expect([args, await folder.run(args)]).toEqual([args, expect.objectContaining({ code: 3, stdout: '' })]);
});

test.each([
  ['https://www.google.com/maps/@21.0288,105.8525,17z', 'the middle of its view'],
  ['7PH72VH3+GX', "the middle of the Plus Code's cell"],
  ['2VH3+GX Hoàn Kiếm, Hà Nội', "the middle of the Plus Code's cell"],
])('encode says that the position of %s is a middle', async (text, words) => {
  const ran = await folder.run(['encode', text]);
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^HN-/) });
  expect(ran.stderr).toContain(words);
  expect((await folder.run(['encode', text, '--quiet'])).stderr).toBe('');
  expect((await folder.run(['encode', text.split(' ')[0]!])).code).toBe(text.startsWith('2') ? 3 : 0);
});

test('links without a pin are counted in the summary of files', async () => {
  folder.write('links.csv', 'link\nhttps://maps.google.com/?ll=21.0288\\,105.8525\n'.replace('\\,', '%2C'));
  const ran = await folder.run(['encode', 'links.csv', '--position', 'link']);
  expect(ran.stdout).toContain(`${CODE},13,HN,OK`);
  expect(ran.stderr).toContain('1 link has no pin: the middle of the view was taken');
});

test('cases of links and of degrees and minutes give the code of the pin', async () => {
  folder.write(
    'links.csv',
    [
      'link',
      '"https://maps.google.com/maps?ll=21.03,105.80&q=21.0288,105.8525"',
      '"https://maps.google.com/maps?q=21.0288,105.8525&ll=21.03,105.80"',
      'https://www.bing.com/maps?cp=21.03~105.80&sp=point.21.0288_105.8525_x',
      '"https://www.google.com/maps/place/21°01\'43.68""N+105°51\'09.0""E/@21.0288056,105.8499251,17z"',
      'N21 01.728 E105 51.150',
      '',
    ].join('\n'),
  );
  const { stdout } = await folder.run(['encode', 'links.csv', '--position', 'link', '--drop', 'link', '-q']);
  expect(stdout.trim().split('\n').slice(1)).toEqual(Array(5).fill(`${CODE},13,HN,OK`));
});

test('columns of hemispheres are refused, characters of no width around numbers are read', async () => {
  folder.write('sides.csv', 'lat,ns,lng,ew\n21.0288,S,105.8525,W\n');
  const refused = await folder.run(['encode', 'sides.csv']);
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toContain('"ns" and "ew" say the hemisphere of lat and lng');
  expect((await folder.run(['encode', 'sides.csv', '--lat', 'lat', '--lng', 'lng'])).code).toBe(3);
  folder.write('times.csv', 'lat,lng,ns\n21.0288,105.8525,5\n');
  expect((await folder.run(['encode', 'times.csv', '-q'])).stdout).toContain(`${CODE},13,HN,OK`);
  folder.write('marks.csv', 'lat,lng\n\u200e21.0288\u200e,\u200b105.8525\n\ufeff21.0288,105.8525\u202c\n');
  const read = await folder.run(['encode', 'marks.csv', '-q']);
  expect(read.stdout.match(/,OK$/gm)).toHaveLength(2);
});

test('positions as NMEA sentences have them are refused with their remedy', async () => {
  folder.write('nmea.csv', 'position\n"2101.7280,N,10551.1500,E"\n');
  const refused = await folder.run(['encode', 'nmea.csv']);
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toContain('looks like NMEA (ddmm.mmmm): write 21 01.7280N 105 51.1500E');
});

test('columns in ten-millionths of a degree are named, and the line that divides them runs', async () => {
  const rows = '{"latitudeE7":210288000,"longitudeE7":1058525000}\n';
  folder.write('e7.ndjson', rows);
  folder.write('e7.csv', 'latitudeE7,longitudeE7\n210288000,1058525000\n');
  const hints: string[] = [];
  for (const name of ['e7.ndjson', 'e7.csv']) {
    const { code, stderr } = await folder.run(['encode', name]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('hold degrees times 10,000,000')]);
    hints.push(/jq -c '([^']*)'/.exec(stderr)![1]!);
  }
  const [program] = new Set(hints);
  const jq = spawnSync('jq', ['-c', program!], { input: rows });
  if (jq.error !== undefined) return;
  folder.write('degrees.ndjson', jq.stdout);
  expect((await folder.run(['encode', 'degrees.ndjson', '-q', '--to', 'csv'])).stdout).toContain(CODE);
});

test.each([
  ['aggregate', '--time', 'ts', '--bucket', '1h', '--by', 'province'],
  ['track', '--id', 'id', '--time', 'ts'],
])('%s says which time it does not read, and the line that turns days runs', async (command, ...options) => {
  folder.write('days.csv', 'id,lat,lng,ts\n1,21.0288,105.8525,02/01/2026 23:30\n');
  const refused = await folder.run([command, 'days.csv', '-q', '--to', 'csv', ...options]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('"02/01/2026 23:30" is no time that is read');
  const program = /sed -E '([^']*)'/.exec(refused.stderr)![1]!;
  const sed = spawnSync('sed', ['-E', program, folder.file('days.csv')]);
  folder.write('turned.csv', sed.stdout);
  const { code, stdout } = await folder.run([command, 'turned.csv', '-q', '--to', 'csv', ...options]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('2026-01-02T23:')]);
});
