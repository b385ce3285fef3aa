// The columns of a table are told by its beginning, and the readers get header rows and rows in the place of its own.
import { expect, test } from 'vitest';
import { consoleModule } from '../../../support/console-module.js';

type Columns =
  | { kind: 'positions'; lat: number; lng: number }
  | { kind: 'position' | 'codes'; column: number };
interface Plan {
  delimiter: string;
  names: string[];
  hasHeader: boolean;
  rows: string[][];
  columns: Columns | undefined;
  sample: { names: string[]; rows: string[][] };
}
type PositionOf = ((fields: readonly string[]) => readonly number[]) | undefined;
const { planOf, headerFor, positionReader, addedNames, withPosition, RowCutter } = await consoleModule<{
  planOf(beginning: string, isAll: boolean): Plan;
  headerFor(plan: Plan, columns: Columns): string;
  positionReader(sample: Plan['sample'], columns: Columns): PositionOf;
  addedNames(plan: Plan): readonly string[];
  withPosition(row: string, plan: Plan, positionOf: PositionOf): string;
  RowCutter: new () => { push(text: string): string[]; end(): string[] };
}>('file/table-plan.ts');

test.each<[string, Columns | undefined, boolean]>([
  ['id,lat,lng\n1,21.0,105.8', { kind: 'positions', lat: 1, lng: 2 }, true],
  ['tên;kinh độ;vĩ độ\na;105,8;21,0', { kind: 'positions', lat: 2, lng: 1 }, true],
  ['a\t21.0288\t105.8525\nb\t10.7\t106.7', { kind: 'positions', lat: 1, lng: 2 }, false],
  ['tên,tọa độ\nHồ Gươm,"21.0288, 105.8525"', { kind: 'position', column: 1 }, true],
  ['stt,Mã\n1,HN-6GHP4', { kind: 'codes', column: 1 }, true],
  ['HN-6GHP4-83RFR\nHCM-GXC6M-QHR2P', { kind: 'codes', column: 0 }, false],
  ['sep=;\nlat;lng\n21,0;105,8', { kind: 'positions', lat: 0, lng: 1 }, true],
  ['name,location\na,12 Hàng Khay', undefined, true],
  ['name,street\na,b', undefined, true],
  ['', undefined, true],
])('%j', (text, columns, hasHeader) => {
  expect(planOf(text, true)).toMatchObject({ columns, hasHeader });
});

test('ten rows are shown, long fields cut, and a last row that is cut off left out', () => {
  const rows = Array.from({ length: 20 }, (_, i) => `${i},"a\n""b""",${'x'.repeat(90)}`);
  const { rows: shown, names } = planOf(`lat,"n, o",z\r\n${rows.join('\r\n')}`, false);
  expect(names).toEqual(['lat', 'n, o', 'z']);
  expect(shown).toHaveLength(10);
  expect(shown[9]).toEqual(['9', 'a\n"b"', `${'x'.repeat(39)}…`]);
  expect(planOf('lat,lng\n1,2\n3', false).rows).toEqual([['1', '2']]);
});

test('chosen columns get the names of the readers, and no other column has them', () => {
  const plan = planOf('x;y;"lat; old";vĩ độ;hexcodes\n1;2;3;4;5\n', true);
  expect(headerFor(plan, { kind: 'positions', lat: 1, lng: 0 })).toBe('lng;lat;"lat; old";column_4;column_5');
  expect(headerFor(plan, { kind: 'codes', column: 2 })).toBe('column_1;column_2;hexcodes;column_4;column_5');
});

test('a position in one field becomes two', () => {
  const plan = planOf('a;tọa độ\n', true);
  const read = positionReader(plan.sample, { kind: 'position', column: 1 });
  expect(withPosition('1;21.0288, 105.8525', plan, read)).toBe('1;21.0288, 105.8525;21.0288;105.8525');
  expect(withPosition(`1;"21°01'43.68""N 105°51'09""E"`, plan, read)).toMatch(/;21\.0288;105\.8524\d+$/);
  expect(withPosition('1;nowhere', plan, read)).toBe('1;nowhere;;');
});

test('degrees and minutes in two fields become two more, numbers stay where they are', () => {
  const pair = { kind: 'positions', lat: 1, lng: 2 } as const;
  const plain = planOf('a,lat,lng\n1,21.03,105.85', true);
  expect(positionReader(plain.sample, pair)).toBe(undefined);
  const plan = planOf(`a,lat,Kinh độ\n1,21°01'43.68"N,105°51'09"E`, true);
  expect(plan.columns).toEqual(pair);
  const read = positionReader(plan.sample, pair);
  expect(withPosition(`1,21°01'43.68"N,105°51'09"E`, plan, read)).toMatch(/,21\.0288,105\.8524\d+$/);
  expect(withPosition('1,21.5,105.5', plan, read)).toBe('1,21.5,105.5,21.5,105.5');
  expect(addedNames(plan)).toEqual(['lat_deg', 'lng_deg']);
  expect(headerFor(plan, pair)).toBe('a,lat,lng');
});

test('rows in chunks of any size, with line ends inside of quotes', () => {
  const text = 'a,"b\nc"\r\nd,e\n\n"f ""g\n"" h",i';
  for (const size of [1, 3, 100]) {
    const cutter = new RowCutter();
    const rows: string[] = [];
    for (let at = 0; at < text.length; at += size) rows.push(...cutter.push(text.slice(at, at + size)));
    expect([...rows, ...cutter.end()]).toEqual(['a,"b\nc"', 'd,e', '', '"f ""g\n"" h",i']);
  }
});
