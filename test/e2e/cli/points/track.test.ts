// `hexcodes track` on files: a drive through three provinces, in several formats, and its refusals.
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();

/** From Hà Nội to Hải Phòng, a position every ten seconds; a stop of an hour on the way. */
const lines = ['vehicle,ts,lat,lng'];
const START = Date.parse('2026-11-01T08:00:00+07:00');
for (let i = 0; i <= 600; i++) {
  const at = new Date(START + i * 10_000 + (i > 300 ? 3_600_000 : 0)).toISOString();
  lines.push(
    `51C-1,${at},${(21.0285 - (i * 0.1724) / 600).toFixed(5)},${(105.8542 + (i * 0.828) / 600).toFixed(5)}`,
  );
  if (i % 100 === 0) lines.push(`52C-2,${at},10.7769,106.7009`);
}
folder.write('drive.csv', `${lines.join('\n')}\n`);

type Row = Record<string, string | number | null>;
async function rowsOf(...args: string[]): Promise<Row[]> {
  const ran = await folder.run([
    'track',
    'drive.csv',
    '--id',
    'vehicle',
    '--time',
    'ts',
    '--to',
    'ndjson',
    '-q',
    ...args,
  ]);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  return ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

test('each position is in one stay, and each stay in the cell of its positions', async () => {
  const library = await Hexcodes.load();
  const stays = await rowsOf();
  const drive = stays.filter((row) => row.id === '51C-1');
  expect(drive.length).toBeGreaterThan(100);
  expect(drive.reduce((sum, row) => sum + Number(row.points), 0)).toBe(601);
  const points = lines.slice(1).map((line) => line.split(','));
  for (const { id, hexcodes, h3_cell, admin_code, entered, left } of drive) {
    const within = points.filter(
      ([vehicle, ts]) =>
        vehicle === id &&
        Date.parse(ts!) >= Date.parse(String(entered)) &&
        Date.parse(ts!) <= Date.parse(String(left)),
    );
    for (const [, , lat, lng] of within)
      expect(library.encode(Number(lat), Number(lng), 9)).toMatchObject({ hexcodes, admin_code });
    expect(library.read(String(hexcodes))!.cell.toString(16)).toBe(h3_cell);
  }
  expect(drive[0]).toMatchObject({
    event: 'first',
    previous_admin_code: null,
    entered: '2026-11-01T08:00:00+07:00',
  });
  expect(stays.at(-1)).toMatchObject({ id: '52C-2', points: 7, seconds: 9600 });
});

test('changes of province alone, and gaps', async () => {
  const changes = await rowsOf('--province-changes');
  expect(changes.map((row) => `${row.previous_admin_code} ${row.admin_code}`)).toEqual(['HN HY', 'HY HP']);
  const [all, cut] = [await rowsOf(), await rowsOf('--gap', '30m')];
  expect(cut.length).toBeGreaterThan(all.length);
});

test('GeoJSON has the hexagons; the summary counts what is left out', async () => {
  folder.write(
    'odd.csv',
    'vehicle,ts,lat,lng\na,2026-11-01,21,105.8\na,x,21,105.8\n,2026-11-01,21,105.8\na,2026-10-01,21,105.8\na,2026-11-02,0,0\na,2026-11-02,x,0\n',
  );
  const args = ['track', 'odd.csv', '--id', 'vehicle', '--time', 'ts', '--to', 'geojson'];
  const ran = await folder.run(args);
  const { features } = JSON.parse(ran.stdout);
  expect(features).toHaveLength(1);
  expect(features[0].geometry.type).toBe('Polygon');
  expect(ran.stderr).toMatch(/^6 rows in .*: 1 stay of 1 vehicle\n/);
  for (const words of [
    '1  in no province',
    '1  without a position',
    '1  without a time',
    '1  without a vehicle',
    '1  earlier than',
  ])
    expect(ran.stderr).toContain(words);
});
