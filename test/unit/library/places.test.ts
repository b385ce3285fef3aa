// Names of provinces, towns and landmarks by what people type, and the nearest town of a position.
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { findPlaces, placeNear } from '#hexcodes/geometry';
import { rowsOf } from '../../support/vectors.js';

const library = await Hexcodes.load();

const SIGNS = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
/** Every name that is found by a beginning of two signs. */
const NAMES = [
  ...new Map(
    SIGNS.flatMap((first) =>
      SIGNS.flatMap((second) => findPlaces(library, first + second, { limit: 100 })),
    ).map((place) => [JSON.stringify(place), place]),
  ).values(),
];

test('no name lacks a blank, has two, or letters in several pieces', () => {
  const faulty = NAMES.filter(
    ({ name }) => /\p{Ll}\p{Lu}|^ | $| {2}/u.test(name) || name !== name.normalize(),
  );
  expect(faulty).toEqual([]);
});
const first = (text: string): string | undefined => findPlaces(library, text)[0]?.name;

test.each([
  ['Hà Nội', 'Hà Nội'],
  ['ha noi', 'Hà Nội'],
  ['HANOI', 'Hà Nội'],
  ['Ha\u0300 No\u0323\u0302i', 'Hà Nội'],
  ['tp. Đà Nẵng', 'Đà Nẵng'],
  ['danang', 'Đà Nẵng'],
  ['TP Hồ Chí Minh', 'Thành phố Hồ Chí Minh'],
  ['TP.HCM', 'Thành phố Hồ Chí Minh'],
  ['sài gòn', 'Thành phố Hồ Chí Minh'],
  ['tphcm', 'Thành phố Hồ Chí Minh'],
  ['HN', 'Hà Nội'],
  ['Hanoi city', 'Hà Nội'],
  ['Ban Mê Thuột', 'Buôn Ma Thuột'],
  ['Buôn Mê Thuột', 'Buôn Ma Thuột'],
  ['Đắc Lắc', 'Buôn Ma Thuột'],
  ['Dak Lak', 'Buôn Ma Thuột'],
  ['Đắc Nông', 'Gia Nghĩa'],
  ['Plây Ku', 'Pleiku'],
  ['Công Tum', 'Kon Tum'],
  ['Thừa Thiên Huế', 'Huế'],
  ['tỉnh Thừa Thiên - Huế', 'Huế'],
  ['Qui Nhơn', 'Quy Nhơn'],
  ['Bắc Cạn', 'Bắc Kạn'],
  ['Hà Tây', 'Hà Đông'],
  ['Sông Bé', 'Thủ Dầu Một'],
  ['Nghệ Tĩnh', 'Vinh'],
  ['Bà Rịa Vũng Tàu', 'Bà Rịa'],
  ['Vũng Tàu', 'Vũng Tàu'],
  ['Lăng Bác', 'Lăng Chủ tịch Hồ Chí Minh'],
  ['Mũi Né', 'Mũi Né'],
  ['Phường Hoàn Kiếm', 'Hoàn Kiếm'],
  ['p. hoan kiem', 'Hoàn Kiếm'],
  ['tỉnh Bắc Giang', 'Bắc Giang'],
  ['thị xã Sa Pa', 'Sa Pa'],
  ['q1', 'Quận 1'],
  ['Quận 3', 'Quận 3'],
  ['ha long', 'Hạ Long'],
  ['cho ben thanh', 'Chợ Bến Thành'],
  ['hồ gươm', 'Hồ Hoàn Kiếm'],
  ['nha trnag', 'Nha Trang'],
  ['đông hà', 'Đông Hà'],
])('%s', (text, wanted) => {
  expect(first(text)).toBe(wanted);
});

test('nothing is found in a text that is not a name', () => {
  for (const text of ['', ' ', '!', 'x', 'qwertyuiop', 'Hà Nội'.repeat(30)])
    expect(findPlaces(library, text)).toEqual([]);
});

/** Towns of which the law of 2025 made the seat of a province, where that is another than the city of its name. */
const SEATS_OF_2025: Readonly<Record<string, string>> = {
  ...{ QT: 'Quảng Bình', GL: 'Bình Định', DT: 'Tiền Giang', AG: 'Kiên Giang' },
};
/** Capitals as Wikipedia and GeoNames have them; no source of the list of names. */
const capitals = rowsOf('places')
  .filter(({ kind }) => kind === 'capital')
  .map(({ former_province, lat, lng }) => ({ of: former_province!, lat: Number(lat), lng: Number(lng) }));
const kmBetween = (a: { lat: number; lng: number }, b: { lat: number; lng: number }): number =>
  111.2 * Math.hypot(a.lat - b.lat, (a.lng - b.lng) * Math.cos((a.lat * Math.PI) / 180));
/** Whether the position lies in a city that is the seat of that province. */
const isSeat = (position: { lat: number; lng: number }, ...units: string[]): boolean =>
  capitals.some((each) => units.includes(each.of) && kmBetween(each, position) < 8);

/** Spellings in which people type a name. */
function spellings(name: string): string[] {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('đ', 'd').replaceAll('Đ', 'D');
  const bare = name.replace(/^TP\. ?/, '');
  const words = [bare, name, plain, name.normalize('NFD'), name.toUpperCase(), plain.toLowerCase()];
  const titles = ['tỉnh', 'tp.', 'TP', 'thành phố', 'Tinh'].map((title) => `${title} ${bare}`);
  const english = ['city', 'province'].map((title) => `${plain.replace(/^TP\. ?/, '')} ${title}`);
  return [...words, plain.replace(/[ .-]/g, ''), ` ${name} `, ...titles, ...english];
}

test('there are capitals of all 63 former provinces', () => {
  expect(new Set(capitals.map((each) => each.of)).size).toBe(63);
});

test('the name of a province, of today or before 2025, in any spelling leads to its city', () => {
  const centres = [undefined, [21.03, 105.85], [16, 108], [10.1, 104.9]] as const;
  /** Positions beside the towns that have the name, some of them in other provinces. */
  const beside = (name: string) =>
    NAMES.flatMap((each) => (each.name === name ? [[each.lat, each.lng] as const] : []));
  const wrong: string[] = [];
  let asked = 0;
  for (const { code, name, mergedUnits } of ADMIN_UNITS) {
    const own = name === 'TP. Hồ Chí Minh' ? 'TP.HCM' : name;
    const targets: [string, string[]][] = [
      ...spellings(name).map((text): [string, string[]] => [text, [own, SEATS_OF_2025[code] ?? own]]),
      [code, [own, SEATS_OF_2025[code] ?? own]],
      ...mergedUnits
        .filter((unit) => unit !== own)
        .flatMap((unit) => spellings(unit).map((text): [string, string[]] => [text, [unit]])),
    ];
    for (const [text, units] of targets)
      for (const near of [...centres, ...beside(text)]) {
        asked++;
        const [first] = findPlaces(library, text, near === undefined ? { limit: 1 } : { near, limit: 1 });
        if (first === undefined || !isSeat(first, ...units) || first.admin_code !== code)
          wrong.push(`${text} (${near ?? ''}): ${JSON.stringify(first)}`);
      }
  }
  expect(asked).toBeGreaterThan(3000);
  expect(wrong.slice(0, 5)).toEqual([]);
});

test('a province ranks after its seat, and is found', () => {
  for (const { name } of ADMIN_UNITS) {
    const found = findPlaces(library, name);
    const at = found.findIndex((each) => each.kind === 'province' && each.name === name);
    expect(at, name).toBeGreaterThan(0);
    expect(found[at - 1]!.kind, name).toBe('town');
    expect(new Set(found.map(({ name, kind, lat }) => `${name}${kind}${lat}`)).size).toBe(found.length);
  }
});

test('the country is not a town', () => {
  for (const text of ['Việt Nam', 'VIET NAM', 'vietnam', 'Vi\u1EC7t\u00A0Nam', 'nước Việt Nam', 'VN']) {
    expect(findPlaces(library, text), text).toEqual([]);
  }
});

test('each of the 716 names is found: one abroad would not be', () => {
  expect(NAMES).toHaveLength(716);
});

test('near and large ones come first', () => {
  const near = [10.78, 106.7] as const;
  const found = findPlaces(library, 'Tân', { near, limit: 5 });
  expect(found[0]).toMatchObject({ name: 'Tân Phú', admin_code: 'HCM' });
  expect(found[0]!.distance_m).toBeLessThan(8000);
});

test('the limit and the options are checked', () => {
  expect(findPlaces(library, 'an', { limit: 3 })).toHaveLength(3);
  const refused = expect.objectContaining({ code: 'BAD_ARGUMENT' });
  for (const limit of [0, 101, 1.5]) expect(() => findPlaces(library, 'an', { limit })).toThrow(refused);
  expect(() => findPlaces(library, 'an', null as never)).toThrow(refused);
});

describe('the nearest town', () => {
  test.each([
    [10.8486, 106.79, 'Thủ Đức', 'E'],
    [21.0288, 105.8525, 'Hoàn Kiếm', 'E'],
    [16.0678, 108.2208, 'Đà Nẵng', 'N'],
    [21.06, 105.85064, 'Hà Nội', 'N'],
  ])('%d, %d', (lat, lng, name, direction) => {
    expect(placeNear(lat, lng)).toMatchObject({ name, direction });
  });

  test('none where no town is within 100 km', () => {
    expect(placeNear(8.6436, 111.92)).toBeNull();
  });
});
