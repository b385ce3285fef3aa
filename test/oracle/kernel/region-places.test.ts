// Known places and tracks across land borders against the shipped map; each fixture says where its figures are from.
import { expect, test } from 'vitest';
import { readIndexMeta } from '#dist/hexcodes/kernel/index-file.js';
import { ADMIN_UNITS } from '#hexcodes';
import { rowsOf } from '../../support/region/fixtures.js';
import { shippedIndex } from '../../support/region/shipped-index.js';

const { file, kernel } = shippedIndex();
const { units } = readIndexMeta(file);

const codeAt = (lat: number, lng: number): string => ADMIN_UNITS[kernel.regionOf(lat, lng)]?.code ?? '-';

test('capitals, islands, airports, ports and border towns lie in their provinces, and nothing abroad in any', () => {
  const places = rowsOf('places');
  const wrong = places.filter(({ lat, lng, admin_code, former_province }) => {
    const former = units[kernel.unitOf(Number(lat), Number(lng))]?.name ?? '-';
    return codeAt(Number(lat), Number(lng)) !== admin_code || former !== former_province;
  });
  expect(wrong).toEqual([]);
  expect(places.filter(({ admin_code }) => admin_code !== '-').length).toBeGreaterThanOrEqual(120);
});

test('every former province has its capital among the places', () => {
  const capitals = rowsOf('places').filter(({ kind }) => kind === 'capital');
  expect(capitals.map((row) => row.former_province).sort()).toEqual(
    ADMIN_UNITS.flatMap(({ mergedUnits }) => mergedUnits).sort(),
  );
});

test.each(rowsOf('crossings'))('a track through $name leaves its province once, and for good', (row) => {
  const { from_lat, from_lng, to_lat, to_lng, admin_code } = row;
  const [lat, lng, toLat, toLng] = [from_lat, from_lng, to_lat, to_lng].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  // 111,320 m a degree, less for longitude: steps of at most 50 m.
  const steps = Math.ceil(Math.hypot((toLat - lat) * 111_320, (toLng - lng) * 111_320) / 50);
  const visits: { code: string; steps: number }[] = [];
  for (let i = 0; i <= steps; ++i) {
    const code = codeAt(lat + ((toLat - lat) * i) / steps, lng + ((toLng - lng) * i) / steps);
    if (visits.at(-1)?.code === code) visits.at(-1)!.steps += 1;
    else visits.push({ code, steps: 1 });
  }
  expect(visits.map(({ code }) => code)).toEqual([admin_code, '-']);
  // At least a kilometre of it lies abroad.
  expect(visits[1]!.steps).toBeGreaterThan(20);
});
