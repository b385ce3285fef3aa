// Makes the list of names that the library finds and the page shows: provinces, former provinces, towns and landmarks.
import { readFileSync, writeFileSync } from 'node:fs';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { STEPS_PER_DEGREE } from './plane/grid.js';
import { readLand } from './sources.js';

export const TOWNS_FILE = 'data/sources/towns.json';
export const NAMES_FILE = 'src/hexcodes/library/place-list.ts';

/** The content of TOWNS_FILE: the populated places of Viet Nam as GeoNames has them. */
export interface TownSource {
  readonly from: string;
  readonly notice: string;
  /** Name, latitude, longitude, population (0: not known), feature code. */
  readonly towns: readonly (readonly [
    name: string,
    lat: number,
    lng: number,
    population: number,
    feature: string,
  ])[];
}

/** Names that the source has without diacritics, in English, or misspelt. '' leaves one out. */
const SPELLINGS: Readonly<Record<string, string>> = {
  Hanoi: 'Hà Nội',
  'Ho Chi Minh City': 'Thành phố Hồ Chí Minh',
  'Da Nang': 'Đà Nẵng',
  Haiphong: 'Hải Phòng',
  'Qui Nhon': 'Quy Nhơn',
  'Sa Dec': 'Sa Đéc',
  'Cho Dok': 'Châu Đốc',
  'Dien Bien Phu': 'Điện Biên Phủ',
  'Kwang Binh': 'Đồng Hới',
  'Don Luan': 'Đồng Xoài',
  'Cai Doi Vam': 'Cái Đôi Vàm',
  'Oui Dat': 'Quy Đạt',
  'Lien De': 'Liễu Đề',
  'Ngoc Hon Doc': 'Hòn Đất',
  'Pho Duc': 'Đức Phổ',
  'Tram de Dak Mil': 'Đắk Mil',
  'Anh Son': 'Anh Sơn',
  'Quang Nam': 'Vĩnh Điện',
  Giemdiem: 'Diêm Điền',
  'Phuoc Tho': 'Đất Đỏ',
  'Uyen Hung': 'Uyên Hưng',
  'Đưc Trọng': 'Đức Trọng',
  'Cẩm Phả Mines': 'Cẩm Phả',
  'Hai BàTrưng': 'Hai Bà Trưng',
  'K Bang': 'Kbang',
  'A Yun Pa': 'Ayun Pa',
  'Quận Một': 'Quận 1',
  'Quận Hai': 'Quận 2',
  'Quận Ba': 'Quận 3',
  'Quận Bốn': 'Quận 4',
  'Quận Năm': 'Quận 5',
  'Quận Sáu': 'Quận 6',
  'Quận Bảy': 'Quận 7',
  'Quận Chín': 'Quận 9',
  'Quận Mười': 'Quận 10',
  'Quận Mười Một': 'Quận 11',
  'Trai Ngau': '',
  'Doug An': '',
};
/** Towns that the source has far from their middle. */
const MOVED: Readonly<Record<string, readonly [lat: number, lng: number]>> = {
  'Ho Chi Minh City': [10.7769, 106.7009],
};
/** Populations that the source gives to villages. */
const NOT_LARGE = new Set(['Yên Vinh', 'Cung Kiệm']);

/** Sights, stations, airports and islands that people name, set by hand. */
const LANDMARKS: readonly (readonly [name: string, lat: number, lng: number])[] = [
  ['Hồ Hoàn Kiếm', 21.0288, 105.8525],
  ['Lăng Chủ tịch Hồ Chí Minh', 21.0368, 105.8346],
  ['Ba Đình', 21.036, 105.8335],
  ['Mỹ Đình', 21.0205, 105.7639],
  ['Ba Vì', 21.07, 105.36],
  ['Lũng Cú', 23.3644, 105.3191],
  ['Phong Nha', 17.5887, 106.2844],
  ['Mũi Né', 10.941, 108.2793],
  ['Văn Miếu - Quốc Tử Giám', 21.0287, 105.8356],
  ['Nhà hát Lớn Hà Nội', 21.0243, 105.8576],
  ['Ga Hà Nội', 21.0245, 105.8412],
  ['Hồ Tây', 21.0583, 105.8208],
  ['Cầu Long Biên', 21.0437, 105.859],
  ['Sân bay Nội Bài', 21.2187, 105.8042],
  ['Vịnh Hạ Long', 20.91, 107.184],
  ['Cát Bà', 20.727, 107.048],
  ['Tràng An', 20.2517, 105.9183],
  ['Fansipan', 22.3033, 103.775],
  ['Thác Bản Giốc', 22.8537, 106.7222],
  ['Đại Nội Huế', 16.4698, 107.5786],
  ['Cầu Rồng', 16.0611, 108.2278],
  ['Sân bay Đà Nẵng', 16.0439, 108.1994],
  ['Bà Nà', 15.9953, 107.9965],
  ['Phố cổ Hội An', 15.8774, 108.329],
  ['Thánh địa Mỹ Sơn', 15.7634, 108.1241],
  ['Lý Sơn', 15.38, 109.117],
  ['Tháp Bà Ponagar', 12.2654, 109.1954],
  ['Sân bay Cam Ranh', 11.9982, 109.2194],
  ['Hồ Xuân Hương', 11.9416, 108.444],
  ['Chợ Bến Thành', 10.7725, 106.698],
  ['Nhà thờ Đức Bà', 10.7798, 106.699],
  ['Dinh Độc Lập', 10.777, 106.6953],
  ['Phố đi bộ Nguyễn Huệ', 10.7741, 106.7037],
  ['Landmark 81', 10.795, 106.722],
  ['Ga Sài Gòn', 10.7824, 106.6773],
  ['Sân bay Tân Sơn Nhất', 10.8188, 106.652],
  ['Bến Ninh Kiều', 10.0333, 105.7884],
  ['Mũi Cà Mau', 8.603, 104.722],
  ['Đảo Phú Quốc', 10.227, 103.963],
  ['Côn Đảo', 8.6825, 106.607],
  ['Quần đảo Hoàng Sa', 16.535, 111.608],
  ['Quần đảo Trường Sa', 8.6436, 111.92],
];

/**
 * Seats of provinces, the present one first, by the name of today's or a former province; where a name is absent, the
 * seat is the town of the same name. Present seats: resolution 202/2025/QH15; earlier ones: of 2024. A city with the
 * name of its province (Bắc Ninh, Lào Cai, Tây Ninh) comes first although the seat of 2025 is another.
 */
const SEATS: Readonly<Record<string, readonly string[]>> = {
  'Phú Thọ': ['Việt Trì', 'Phú Thọ'],
  'Điện Biên': ['Điện Biên Phủ'],
  'Quảng Ninh': ['Hạ Long'],
  'Nghệ An': ['Vinh'],
  'Quảng Trị': ['Đồng Hới', 'Đông Hà'],
  'Gia Lai': ['Quy Nhơn', 'Pleiku'],
  'Đắk Lắk': ['Buôn Ma Thuột'],
  'Khánh Hòa': ['Nha Trang'],
  'Lâm Đồng': ['Đà Lạt'],
  'Đồng Nai': ['Biên Hòa'],
  'TP. Hồ Chí Minh': ['Thành phố Hồ Chí Minh'],
  'Đồng Tháp': ['Mỹ Tho', 'Cao Lãnh'],
  'An Giang': ['Rạch Giá', 'Long Xuyên'],
  'Vĩnh Phúc': ['Vĩnh Yên'],
  'Hà Nam': ['Phủ Lý'],
  'Quảng Bình': ['Đồng Hới'],
  'Quảng Nam': ['Tam Kỳ'],
  'Bình Định': ['Quy Nhơn'],
  'Phú Yên': ['Tuy Hòa'],
  'Ninh Thuận': ['Phan Rang-Tháp Chàm'],
  'Đắk Nông': ['Gia Nghĩa'],
  'Bình Thuận': ['Phan Thiết'],
  'Bình Phước': ['Đồng Xoài'],
  'Long An': ['Tân An'],
  'Bình Dương': ['Thủ Dầu Một'],
  'Bà Rịa - Vũng Tàu': ['Bà Rịa', 'Vũng Tàu'],
  'Tiền Giang': ['Mỹ Tho'],
  'Kiên Giang': ['Rạch Giá'],
  'Hậu Giang': ['Vị Thanh'],
};

/** Step of the lattice on which provinces are measured, degrees. */
const LATTICE_DEG = 0.05;
const COUNTRY = { west: 102, south: 8.3, east: 109.6, north: 23.5 };
const KM_PER_DEGREE = 111.195;

interface Row {
  /** P province, F former province, T town, L landmark. */
  readonly kind: 'P' | 'F' | 'T' | 'L';
  readonly name: string;
  readonly lat: number;
  readonly lng: number;
  /** About half the width of it, kilometres. */
  readonly km: number;
  /** Towns to which the name of a province leads, where they have another name. */
  readonly seats?: readonly string[];
}

/** The module of the list, as TypeScript. */
export async function namesModule(): Promise<string> {
  const source = JSON.parse(readFileSync(TOWNS_FILE, 'utf8')) as TownSource;
  const library = await Hexcodes.load();
  const rows = [...provinces(library), ...towns(source), ...landmarks()];
  refuseStraySeats(library, rows);
  const lines: string[] = [];
  for (const { kind, name, lat, lng, km, seats } of rows) {
    const fields = [kind + name, lat.toFixed(4), lng.toFixed(4), String(km)];
    const row = [...fields, ...(seats === undefined ? [] : [seats.join(',')])].join('|');
    const last = lines.at(-1) ?? '';
    if (lines.length > 0 && last.length + row.length < 118) lines[lines.length - 1] = `${last};${row}`;
    else lines.push(row);
  }
  return `// Written by \`npm run data -- --names\`; data/README.md says from what. Rows: kind and name, latitude, longitude, about
// half its width in kilometres, of provinces the seats that have another name. Towns: © GeoNames, CC BY 4.0.
export const PLACE_LIST = \`
${lines.join('\n')}
\`;
`;
}

export async function writeNames(): Promise<void> {
  const text = await namesModule();
  writeFileSync(NAMES_FILE, text);
  console.log(`${NAMES_FILE}: ${Buffer.byteLength(text)} bytes`);
}

function towns({ towns: all }: TownSource): Row[] {
  const rows = all.flatMap(([raw, lat, lng, population, feature]): (Row & { weight: number })[] => {
    const name = spelled(raw);
    if (name === '') return [];
    const people = NOT_LARGE.has(raw) ? 0 : population;
    const isSeat = feature === 'PPLA' || feature === 'PPLC';
    // A town of 100,000 is some 5 km across.
    const km = Math.max(isSeat ? 4 : 2, Math.round(5 * Math.sqrt(people / 100_000)));
    const [y, x] = MOVED[raw] ?? [lat, lng];
    return [{ kind: 'T', name, lat: y, lng: x, km, weight: people + (isSeat ? 1e5 : 0) }];
  });
  rows.sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
  return rows;
}

function spelled(raw: string): string {
  const name = SPELLINGS[raw] ?? raw;
  return name
    .normalize('NFC')
    .replaceAll('Ð', 'Đ')
    .replace(/^(?:Thị Trấn|Thị Xã|Thành Phố|Huyện|Quận(?! \d)) /u, '');
}

const landmarks = (): Row[] => LANDMARKS.map(([name, lat, lng]) => ({ kind: 'L', name, lat, lng, km: 1 }));

/** @throws Error where a seat, the largest town of its name, is absent or outside its province */
function refuseStraySeats(library: Hexcodes, rows: readonly Row[]): void {
  for (const { kind, name, seats = [name] } of rows) {
    if (kind !== 'P' && kind !== 'F') continue;
    for (const seat of seats) {
      const town = rows.find((row) => row.kind === 'T' && row.name === seat);
      if (town === undefined) throw new Error(`${seat}, seat of ${name}, is not a town of the list`);
      const { admin_code, former_province } = library.encode(town.lat, town.lng, { former: true });
      const unit = ADMIN_UNITS.find(({ code }) => code === admin_code);
      if (unit?.name !== name && former_province !== name) throw new Error(`${seat} is not in ${name}`);
    }
  }
}

/** Provinces and former ones with the middle of their land. */
function provinces(library: Hexcodes): Row[] {
  const isLand = landTest();
  const points = new Map<string, [lat: number, lng: number][]>();
  for (let lat = COUNTRY.south; lat < COUNTRY.north; lat += LATTICE_DEG) {
    for (let lng = COUNTRY.west; lng < COUNTRY.east; lng += LATTICE_DEG) {
      if (!isLand(lat, lng) || library.adminCodeOf(lat, lng) === null) continue;
      const { admin_code, former_province } = library.encode(lat, lng, { resolution: 5, former: true });
      for (const key of [`P${admin_code}`, `F${former_province}`])
        points.set(key, [...(points.get(key) ?? []), [lat, lng]]);
    }
  }
  const rowOf = (kind: 'P' | 'F', key: string, name: string): Row[] => {
    const all = points.get(kind + key);
    if (all === undefined) throw new Error(`${name} has no land on the lattice`);
    const middle = [0, 1].map((i) => all.reduce((sum, point) => sum + point[i]!, 0) / all.length);
    const far = ([lat, lng]: readonly [number, number]): number =>
      (lat - middle[0]!) ** 2 + (lng - middle[1]!) ** 2;
    const [lat, lng] = all.reduce((best, point) => (far(point) < far(best) ? point : best));
    const km = Math.round(LATTICE_DEG * KM_PER_DEGREE * Math.sqrt(all.length / Math.PI));
    const seats = SEATS[name];
    return [{ kind, name, lat, lng, km, ...(seats === undefined ? {} : { seats }) }];
  };
  const now = ADMIN_UNITS.flatMap(({ code, name }) => rowOf('P', code, name));
  const names = new Set(ADMIN_UNITS.map(({ name }) => name));
  const former = ADMIN_UNITS.flatMap(({ mergedUnits }) => mergedUnits)
    .filter((name) => !names.has(name) && name !== 'TP.HCM')
    .flatMap((name) => rowOf('F', name, name));
  return [...now, ...former];
}

function landTest(): (lat: number, lng: number) => boolean {
  const rings = readLand()
    .filter(({ country }) => country === 'VNM')
    .map(({ ring }) => ring);
  return (lat, lng) => {
    const [x, y] = [lng * STEPS_PER_DEGREE, lat * STEPS_PER_DEGREE];
    let isWithin = false;
    for (const ring of rings) {
      for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2) {
        const [x0, y0, x1, y1] = [ring[j]!, ring[j + 1]!, ring[i]!, ring[i + 1]!];
        if (y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) isWithin = !isWithin;
      }
    }
    return isWithin;
  };
}
