// Names of places in Viet Nam: some 700 provinces of today and before, towns and landmarks, found by what people
// type, and the nearest of them to a position. It is a list of names, not a geocoder: it has no streets and houses.
import { ADMIN_UNITS } from '../admin-units.js';
import { HexcodesError } from '../errors.js';
import { latLngOf, type Position } from '../geometry/codebook.js';
import { isOneSlip, requireKnown } from '../wire/params/names.js';
import { PLACE_LIST } from './place-list.js';

/** The line to show where many names of towns are shown. */
export const TOWNS_NOTICE = 'Towns: © GeoNames, CC BY 4.0';

export type PlaceKind = 'province' | 'former_province' | 'town' | 'landmark';

/** A name of the list. */
export interface NamedPlace {
  /** As it is written in Vietnamese. */
  name: string;
  kind: PlaceKind;
  /** Its middle, degrees. */
  lat: number;
  lng: number;
  /** About half its width, metres. */
  radius_m: number;
  /** Province of the middle: a code of ADMIN_UNITS. */
  admin_code: string;
  /** From `near` to the middle, metres; absent without `near`. */
  distance_m?: number;
}

export interface FindPlacesOptions {
  /** A position in degrees: near and large places come first. */
  near?: Position | undefined;
  /** Names at most, 1 to 100; default 10. */
  limit?: number | undefined;
}

/** One of eight points of the compass. */
export type CompassPoint = 'N' | 'NE' | 'E' | 'SE' | 'S' | 'SW' | 'W' | 'NW';

/** Where a position is, seen from the nearest town. */
export interface PlaceNear {
  /** Name of the town. */
  name: string;
  /** From the middle of the town to the position, metres. */
  distance_m: number;
  /** The direction in which the position lies from there. */
  direction: CompassPoint;
}

/** The part of a loaded library that is needed here. */
interface Provinces {
  adminCodeOf(lat: number, lng: number): string | null;
}

interface Entry {
  readonly name: string;
  readonly kind: PlaceKind;
  readonly lat: number;
  readonly lng: number;
  readonly radius_m: number;
  /** The name without accents, blanks and words like "tỉnh"; others that people use. */
  readonly keys: readonly string[];
  /** Keys that are found as a whole only. */
  readonly wholeKeys: readonly string[];
  /** Names of the towns that the name of a province leads to, the first one first; empty for other kinds. */
  readonly seats: readonly string[];
  /** The name with its accents, which is compared first. */
  readonly exact: string;
}

const KINDS: Readonly<Record<string, PlaceKind>> = {
  P: 'province',
  F: 'former_province',
  T: 'town',
  L: 'landmark',
};
/** Other current names and spellings, by the name in the list, as keys. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  'TP. Hồ Chí Minh': ['saigon', 'hcmc', 'tphcm', 'tphochiminh'],
  'Thành phố Hồ Chí Minh': ['saigon', 'hcmc', 'tphcm', 'tphochiminh'],
  Huế: ['thuathienhue', 'thuathien'],
  'Đắk Lắk': ['daclac', 'dakclak', 'darlac'],
  'Đắk Nông': ['dacnong'],
  'Buôn Ma Thuột': ['buonmethuot', 'banmathuot', 'banmethuot'],
  Pleiku: ['playku', 'plaiku', 'playcu', 'pleicu'],
  'Kon Tum': ['congtum', 'contum'],
  'Đà Nẵng': ['tourane'],
  'Hội An': ['faifo'],
  'Đảo Phú Quốc': ['phuquoc'],
  'Hồ Hoàn Kiếm': ['hoguom', 'hoankiemlake'],
  'Lăng Chủ tịch Hồ Chí Minh': ['langbac', 'langbacho', 'langhochiminh'],
  'Đại Nội Huế': ['dainoi', 'hoangthanhhue'],
  'Phố cổ Hội An': ['phocohoian'],
  'Quần đảo Hoàng Sa': ['hoangsa', 'paracel', 'paracelislands'],
  'Quần đảo Trường Sa': ['truongsa', 'spratly', 'spratlyislands'],
};
/** Short forms of towns, and provinces that were merged or divided before 2025: found as a whole only. */
const WHOLE_ALIASES: Readonly<Record<string, readonly string[]>> = {
  'Thành phố Hồ Chí Minh': ['sg', 'giadinh'],
  Huế: ['tth', 'binhtrithien'],
  'Đà Nẵng': ['dn', 'quangnamdanang'],
  'Buôn Ma Thuột': ['bmt'],
  'Bà Rịa - Vũng Tàu': ['brvt'],
  'Hà Đông': ['hatay', 'hasonbinh'],
  'Nam Định': ['hanamninh', 'namha'],
  'Hải Dương': ['haihung'],
  'Việt Trì': ['vinhphu'],
  'Bắc Giang': ['habac'],
  'Thái Nguyên': ['bacthai'],
  'Tuyên Quang': ['hatuyen'],
  'Yên Bái': ['hoanglienson'],
  'Cao Bằng': ['caolang'],
  Vinh: ['nghetinh'],
  'Quy Nhơn': ['nghiabinh'],
  'Nha Trang': ['phukhanh'],
  'Phan Thiết': ['thuanhai'],
  Pleiku: ['gialaikontum'],
  'Thủ Dầu Một': ['songbe'],
  'Vĩnh Long': ['cuulong'],
  'Cà Mau': ['minhhai'],
};
/** Keys of the country, which is not a place of the list. */
const COUNTRY = new Set([
  'vietnam',
  'nuocvietnam',
  'vn',
  'vnm',
  'chxhcnvietnam',
  'conghoaxahoichunghiavietnam',
  'socialistrepublicofvietnam',
]);
/** Titles in front of a name. */
const TITLES =
  /^(?:(?:thành phố|thanh pho|t\.?p|tỉnh|tinh|thị xã|thi xa|t\.?x|thị trấn|thi tran|t\.?t|huyện|huyen|quận|quan|q(?=\.)|phường|phuong|p(?=\.)|xã|xa|city of|province of)(?=[.\s])\.?\s*)+/iu;
/** English titles after a name. */
const ENGLISH_TITLES = /(?<=\S)\s+(?:city|province|town)$/iu;
const MAX_UNITS = 100;
const EARTH_M = 6_371_008.8;
const RAD = Math.PI / 180;
const COMPASS: readonly CompassPoint[] = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'];

/**
 * Places by name, in any case, with or without diacritics, with or without "tp.", "tỉnh", "phường" in front, and while
 * the name is still being typed.
 *
 * Order: whole names before beginnings, these before words inside names, these before names with one wrong letter; with
 * the diacritics of the text before others; provinces whose whole name it is before other places; then with `near` by
 * distance in relation to size, without it by size. The middle of a province is a point in its fields or mountains: its
 * seat comes before it, whatever the limit. The country itself is not a place of the list, and finds nothing.
 *
 * @param hexcodes a loaded library
 * @param text of 100 UTF-16 units at most; longer ones find nothing
 * @throws HexcodesError BAD_ARGUMENT for options that are not an object, an option of another name, or a limit that is
 * not a whole number from 1 to 100; NOT_A_COORDINATE for a `near` that is not a position
 */
export function findPlaces(hexcodes: Provinces, text: string, options: FindPlacesOptions = {}): NamedPlace[] {
  requireKnown(options, ['near', 'limit'], 'findPlaces');
  const near = options.near === undefined ? undefined : latLngOf(options.near);
  const { limit = 10 } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new HexcodesError('BAD_ARGUMENT', `limit ${String(limit)}: must be a whole number from 1 to 100`);
  if (typeof text !== 'string' || text.length > MAX_UNITS) return [];
  const exact = exactOf(text);
  const key = keyOf(text);
  if (key === '' || COUNTRY.has(key)) return [];
  const found = entries().flatMap((entry) => {
    const rank = rankOf(entry, key);
    if (rank === undefined) return [];
    const distance = near === undefined ? undefined : metresBetween(near[0], near[1], entry.lat, entry.lng);
    const isExact = entry.exact.startsWith(exact);
    // A caller who names a place may be at any distance that is known.
    const reach = distance === undefined ? -entry.radius_m : Math.log((distance + 500) / entry.radius_m);
    const isProvince = rank === 0 && entry.seats.length > 0;
    return [{ entry, rank, isExact, isProvince, reach }];
  });
  const best = Math.min(...found.map(({ rank }) => rank));
  const sorted = found
    .filter(({ rank }) => rank < SLIP_RANK || best === SLIP_RANK)
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(b.isExact) - Number(a.isExact) ||
        Number(b.isProvince) - Number(a.isProvince) ||
        a.reach - b.reach,
    )
    .flatMap(({ entry }) => [...seatsOf(entry), entry]);
  return [...new Set(sorted)].slice(0, limit).flatMap(({ name, kind, lat, lng, radius_m }) => {
    const admin_code = hexcodes.adminCodeOf(lat, lng);
    if (admin_code === null) return [];
    const found: NamedPlace = { name, kind, lat, lng, radius_m, admin_code };
    if (near !== undefined) found.distance_m = metresBetween(near[0], near[1], lat, lng);
    return [found];
  });
}

/** Whether a text names the country as a whole: "Việt Nam", "vn", "Nước Việt Nam". */
export const isCountry = (text: string): boolean => text.length <= MAX_UNITS && COUNTRY.has(keyOf(text));

/** The towns that the name of a province leads to; none for other kinds. */
function seatsOf({ seats }: Entry): readonly Entry[] {
  return seats.flatMap((seat) => entries().find(({ kind, name }) => kind === 'town' && name === seat) ?? []);
}

/**
 * The town that people would name for a position: the nearest, though a larger one may be farther away.
 * @param lat degrees
 * @param lng degrees
 * @returns null where no town is within 100 km
 */
export function placeNear(lat: number, lng: number): PlaceNear | null {
  if (typeof lat !== 'number' || typeof lng !== 'number') return null;
  let best: Entry | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const entry of entries()) {
    if (entry.kind !== 'town') continue;
    const distance = metresBetween(entry.lat, entry.lng, lat, lng);
    if (!(distance <= MAX_NEAR_M)) continue;
    const weighed = distance / Math.min(2, 1 + entry.radius_m / 20_000);
    if (weighed >= least) continue;
    least = weighed;
    best = entry;
  }
  if (best === undefined) return null;
  const north = lat - best.lat;
  const east = (lng - best.lng) * Math.cos(lat * RAD);
  const turn = (Math.atan2(east, north) / RAD + 360) % 360;
  return {
    name: best.name,
    distance_m: metresBetween(best.lat, best.lng, lat, lng),
    direction: COMPASS[Math.round(turn / 45) % 8]!,
  };
}

/** All names of the list, the largest first within each kind; for maps. */
export function placeNames(): readonly Pick<NamedPlace, 'name' | 'kind' | 'lat' | 'lng' | 'radius_m'>[] {
  return entries();
}

const MAX_NEAR_M = 100_000;
/** Ranks: 0 the whole name, 1 its beginning, 2 the beginning of a word of it, 3 one letter wrong. */
const SLIP_RANK = 3;
const MIN_SLIP_LETTERS = 5;

function rankOf({ keys, wholeKeys }: Entry, key: string): number | undefined {
  if (keys.includes(key) || wholeKeys.includes(key)) return 0;
  if (key.length < 2) return undefined;
  if (keys.some((each) => each.startsWith(key))) return 1;
  if (key.length >= 3 && keys.some((each) => each.includes(key))) return 2;
  if (key.length >= MIN_SLIP_LETTERS && keys.some((each) => isOneSlip(each, key))) return SLIP_RANK;
  return undefined;
}

let all: readonly Entry[] | undefined;

function entries(): readonly Entry[] {
  all ??= PLACE_LIST.trim()
    .split(/[;\n]/)
    .map((row) => {
      const [named = '', lat, lng, km, seats] = row.split('|');
      const name = named.slice(1);
      const kind = KINDS[named[0]!]!;
      const isProvince = kind === 'province' || kind === 'former_province';
      return {
        name,
        kind,
        lat: Number(lat),
        lng: Number(lng),
        radius_m: Number(km) * 1000,
        keys: [keyOf(name), ...(ALIASES[name] ?? [])],
        wholeKeys:
          kind === 'province'
            ? ADMIN_UNITS.filter((unit) => unit.name === name).map(({ code }) => code.toLowerCase())
            : (WHOLE_ALIASES[name] ?? []),
        seats: isProvince ? (seats?.split(',') ?? [name]) : [],
        exact: exactOf(name),
      };
    });
  return all;
}

/** Lower case with accents, without titles, blanks and signs. */
function exactOf(text: string): string {
  const typed = text.normalize('NFC').toLowerCase().trim();
  const words = typed.replace(TITLES, '').replace(ENGLISH_TITLES, '').trim();
  // A numbered district means nothing without its title.
  const numbered = /^(?:quận|quan|q)?[.\s]*(\d{1,2})$/u.exec(typed);
  const kept = numbered === null ? words : `quận${numbered[1]}`;
  return kept.replace(/[^\p{L}\p{N}]/gu, '');
}

/** A name in the form that is compared, without accents. */
function keyOf(text: string): string {
  return exactOf(text).normalize('NFD').replace(/\p{M}/gu, '').replaceAll('đ', 'd');
}

function metresBetween(latA: number, lngA: number, latB: number, lngB: number): number {
  const north = Math.sin(((latB - latA) * RAD) / 2);
  const east = Math.sin(((lngB - lngA) * RAD) / 2);
  const part = north ** 2 + Math.cos(latA * RAD) * Math.cos(latB * RAD) * east ** 2;
  return 2 * EARTH_M * Math.asin(Math.sqrt(Math.min(1, part)));
}
