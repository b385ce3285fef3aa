// Members that say the hemisphere of a position (`ns`, `lat_dir`) and are not read: every reader of JSON refuses a row
// with both of them, whatever their spelling; names are drawn, and the judge is a list of spellings.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { below, pick } from '../support/mutate.js';
import { randomFrom } from '../support/open-world.js';
import { SameBytes } from '../support/same-bytes/doors.js';

let doors: SameBytes;
beforeAll(async () => {
  doors = await SameBytes.open();
});
afterAll(() => doors.close());

const ENDS = ['_dir', 'Dir', ' direction', '-hemi', 'Hemisphere', '_ref', '.ref'];
const LAT_SIDES = [
  'ns',
  'lat_ns',
  'N_S',
  'n/s',
  'North_South',
  ...ENDS.flatMap((end) => [`lat${end}`, `GPSLatitude${end}`]),
];
const LNG_SIDES = [
  'ew',
  'lonEW',
  'E_W',
  'e w',
  'eastwest',
  ...ENDS.flatMap((end) => [`lng${end}`, `gps_lon${end}`]),
];
/** Names that begin or end as the ones above, and are others. */
const OTHERS = [
  'name',
  'news',
  'notes',
  'ens',
  'new',
  'latency',
  'longer',
  'east_side',
  'northing',
  'gps',
  'gps_fix',
  'lat2',
  'event',
  'ngày',
  'n',
  'e',
  's',
];

const escaped = (name: string): string =>
  JSON.stringify(name)
    .replaceAll('/', '\\/')
    .replace(/[a-z]/, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
const spelled = (name: string, way: number): string =>
  way === 0 ? escaped(name) : JSON.stringify(way === 1 ? ` ${name}` : way === 2 ? `${name}\u00a0` : name);

test('rows with both are refused by every entry, rows with one are not', async () => {
  const random = randomFrom(104);
  const rows: { text: string; isRefused: boolean }[] = [];
  for (let i = 0; i < 600; i++) {
    const [hasLat, hasLng] = [below(2, random) === 0, below(2, random) === 0];
    const names = [
      ...(hasLat ? [pick(LAT_SIDES, random)] : []),
      ...(hasLng ? [pick(LNG_SIDES, random)] : []),
      ...Array.from({ length: below(3, random) }, () => pick(OTHERS, random)),
    ].map((name) => `${spelled(name, below(8, random))}:${pick(['"S"', '1', 'null'], random)}`);
    const members = ['"lat":21.0288', '"lng":105.8525', ...names].sort(() => random() - 0.5);
    rows.push({ text: `{${members.join(pick([',', ', '], random))}}`, isRefused: hasLat && hasLng });
  }
  const right = rows.map(({ isRefused }) => (isRefused ? 'INVALID_REQUEST' : 'OK HN-6GHP4-83RFR'));
  const lines = Buffer.from(rows.map(({ text }) => `${text}\n`).join(''));
  const served = await doors.bulk('ndjson', 'ndjson', lines);
  const wrong = rows.filter((_, row) => !Array.isArray(served) || served[row] !== right[row]);
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(served).toHaveLength(right.length);
  expect(await doors.bulk('ndjson', 'csv', lines)).toEqual(right);
  const [batch, frame] = await doors.batches(rows.map(({ text }) => text));
  expect(batch).toEqual(right);
  expect(frame).toEqual(right);
  for (const [row, { text }] of rows.slice(0, 100).entries())
    expect([text, await doors.single(text)]).toEqual([text, right[row]]);
  // The columns of a file are those of all its lines.
  const before = '{"lat":21.0288,"lng":105.8525}\n'.repeat(5000);
  for (const body of [rows.find(({ isRefused }) => isRefused)!.text, before + lines.toString()])
    expect(await doors.command('ndjson', 'ndjson', Buffer.from(`${body}\n`))).toMatchObject({
      refused: expect.stringContaining('hemisphere'),
    });
});
