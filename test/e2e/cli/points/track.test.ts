// `hexcodes track` on files: a drive through three provinces, in several formats, and its refusals.
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { randomFrom } from '../../../support/open-world.js';
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

describe('stays', async () => {
  const library = await Hexcodes.load();
  /** Two cells of resolution 3, with a position in each of two provinces. */
  const CELLS = [
    ['HN', '21.0288,105.8525', 'HY', '20.9688,106.1325'],
    ['HCM', '10.7769,106.7009', 'TNH', '10.5569,106.6809'],
  ].map(([first, a, second, b]) => {
    const found = [a!, b!].map((text) => {
      const [lat, lng] = text.split(',').map(Number) as [number, number];
      return library.encode(lat, lng, 3);
    });
    expect(found.map(({ admin_code }) => admin_code)).toEqual([first, second]);
    const [cell, other] = found.map(({ hexcodes }) => library.read(hexcodes)!.cell);
    expect(cell).toBe(other);
    return { cell: cell!.toString(16), points: [a!, b!], admins: [first!, second!] };
  });

  interface Point {
    readonly ms: number;
    /** 0 is outside. */
    readonly cell: number;
    readonly admin: number;
  }
  const at = (ms: number, cell: number, admin = 1): Point => ({ ms, cell, admin });
  /** The minute of Unix time from which those of points count. */
  const FIRST_MINUTE = 30_000_000;

  /** The stays of every vehicle in short words. */
  async function staysOf(
    tracks: Record<string, readonly Point[]>,
    gapMs?: number,
  ): Promise<Record<string, string[]>> {
    const rows = Object.entries(tracks).flatMap(([id, points]) =>
      points.map(
        ({ ms, cell, admin }) =>
          `${id},${(FIRST_MINUTE + ms) * 60},${CELLS[cell - 1]?.points[admin - 1] ?? '0,0'}\n`,
      ),
    );
    folder.write('stays.csv', `id,ts,lat,lng\n${rows.join('')}`);
    const gap = gapMs === undefined ? [] : ['--gap', `${gapMs}m`];
    const args = [
      'track',
      'stays.csv',
      '--id',
      'id',
      '--time',
      'ts',
      '-r',
      '3',
      '--to',
      'ndjson',
      '-q',
      ...gap,
    ];
    const { stdout } = await folder.run(args);
    const found: Record<string, string[]> = Object.fromEntries(Object.keys(tracks).map((id) => [id, []]));
    for (const line of stdout.split('\n').filter((each) => each !== '')) {
      const stay = JSON.parse(line) as Row;
      const cell = 1 + CELLS.findIndex((each) => each.cell === stay.h3_cell);
      const adminOf = (code: unknown): number | '-' =>
        code === null ? '-' : 1 + CELLS.flatMap(({ admins }) => admins).indexOf(String(code));
      const [first, last] = [stay.entered, stay.left].map(
        (text) => Date.parse(String(text)) / 60_000 - FIRST_MINUTE,
      );
      const previous = adminOf(stay.previous_admin_code);
      found[String(stay.id)]!.push(`${cell} ${stay.event} ${previous} ${first}-${last} ${stay.points}`);
    }
    return found;
  }

  test('by hand: cells, provinces, positions outside, gaps, and positions earlier than the one before', async () => {
    const found = await staysOf({
      a: [at(1, 1), at(2, 1), at(2, 1), at(9, 2)],
      b: [at(1, 1, 1), at(2, 1, 2), at(3, 2, 2)],
      c: [at(1, 1, 1), at(2, 0), at(3, 1, 1)],
      d: [at(1, 1, 1), at(2, 0), at(3, 2, 2)],
      e: [at(1, 0)],
      f: [at(5, 1), at(4, 2), at(5, 1)],
    });
    expect(found).toEqual({
      a: ['1 first - 1-2 3', '2 province 1 9-9 1'],
      b: ['1 first - 1-1 1', '1 province 1 2-2 1', '2 province 2 3-3 1'],
      // Coming back is a change only into another province.
      c: ['1 first - 1-1 1', '1 cell 1 3-3 1'],
      d: ['1 first - 1-1 1', '2 province 1 3-3 1'],
      e: [],
      f: ['1 first - 5-5 2'],
    });
    expect(await staysOf({ a: [at(0, 1), at(10, 1), at(21, 1)] }, 10)).toEqual({
      a: ['1 first - 0-10 2', '1 cell 1 21-21 1'],
    });
  });

  test('any tracks: as cut by hand, one vehicle at a time', async () => {
    const random = randomFrom(26);
    const upTo = (most: number): number => Math.floor(random() * (most + 1));
    for (const gap of [5, 18, 40]) {
      const tracks = Object.fromEntries(
        Array.from({ length: 150 }, (_, n) => {
          let ms = 0;
          const points = Array.from({ length: upTo(60) }, () => {
            ms += upTo(30);
            return at(ms, upTo(2), 1 + upTo(1));
          });
          return [`v${n}`, points];
        }),
      );
      const due = Object.entries(tracks).map(([id, own]) => {
        const place = ({ cell, admin }: Point): string => (cell === 0 ? '' : `${cell} ${admin}`);
        const isBreak = (point: Point, i: number): boolean =>
          i === 0 || place(point) !== place(own[i - 1]!) || point.ms - own[i - 1]!.ms > gap;
        const starts = own.flatMap((point, i) => (isBreak(point, i) ? [i] : []));
        const runs = starts.map((start, n) => own.slice(start, starts[n + 1] ?? own.length));
        const stays = runs.filter(([first]) => first!.cell > 0);
        const adminOf = ([first]: readonly Point[]): number => 2 * (first!.cell - 1) + first!.admin;
        const words = stays.map((run, n) => {
          const before = n === 0 ? '-' : adminOf(stays[n - 1]!);
          const event = n === 0 ? 'first' : before === adminOf(run) ? 'cell' : 'province';
          return `${run[0]!.cell} ${event} ${before} ${run[0]!.ms}-${run.at(-1)!.ms} ${run.length}`;
        });
        return [id, words];
      });
      expect(await staysOf(tracks, gap)).toEqual(Object.fromEntries(due));
    }
  });
});
