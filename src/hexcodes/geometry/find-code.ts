// A code or a position in any text that people paste: a link, a line of a chat, an H3 index, numbers with words.
import { cellToLatLng, isValidCell } from 'h3-js';
import { ADMIN_UNITS } from '../admin-units.js';
import { findPlaces } from '../library/places.js';
import { foldSigns, parseAnglePair } from '../wire/rows/angle-text.js';
import { searchedTexts } from '../wire/rows/map-link.js';
import { isShortPlusCode, nearestPlusCode, type PlusCodeCell } from '../wire/rows/plus-code.js';
import { type Position, parsePosition } from '../wire/rows/position-text.js';
import { byNumber } from '../wire/rows/system-code.js';
import { positionAmongWords } from '../wire/rows/words-with-position.js';
import type { Codebook } from './codebook.js';
import { addressParts } from './other-text.js';

/** A code or a position that a text names. */
export type FoundText =
  | {
      kind: 'code';
      /** Canonical text of a valid hexcode. */
      hexcodes: string;
      /** Whether the text named the cell by its H3 index. */
      isH3: boolean;
    }
  | {
      kind: 'position';
      /** Degrees. */
      lat: number;
      lng: number;
      /** Whether the text had the longitude first, as only the order tells. */
      isSwapped: boolean;
      /**
       * The thing whose middle the position is, where the text names no point: the view of a map, the cell of a Plus
       * Code. Absent where it names one.
       */
      middleOf?: 'view' | 'plus_code';
      /** Metres between the middle of the cell of a Plus Code and its northern edge; absent for others. */
      error_m?: number;
    };

const MAX_UNITS = 4096;
/** Fewest letters and digits of a code inside other words: shorter ones are words by chance. */
const MIN_SYMBOLS = 7;
/** Pieces that blanks or signs cut a code into, at most. */
const MAX_PIECES = 4;
const METRES_PER_DEGREE = 111_195;
/** Names of systems of coordinates; numbers of another one are not taken for degrees of WGS 84. */
const SYSTEMS =
  /(?<![\p{L}\p{N}])(?:SRID ?[:=]? ?(?<srid>\d+)|EPSG ?[:=]? ?(?<epsg>\d+)|VN[- ]?2000|HN[- ]?72|Indian[- ]?19\d\d)/giu;
/** Links that were read as such before: the numbers of one that is refused are no position among words. */
const LINKS = /https?:\/\/[^\s<>]+/giu;
const GOES_ON = /^\s{1,2}(?:[\d°'"+-]|(?:d|deg|degrees?|độ|do|[nsewbđ]|bắc|nam|đông|tây)(?!\p{L}))/iu;
const GEO_URI = /(?<!\p{L})geo: ?[-+\d]/iu;

/**
 * The code or the position that a text names. A text that is a code, a position or a link is that; in others the first
 * code is taken, else the first position.
 *
 * @param hexcodes a loaded library, which says what is a code, and which of two numbers is the latitude
 * @param text of 4,096 UTF-16 units at most; longer ones name nothing
 * @returns null if nothing is found. A position may lie outside Viet Nam
 */
export function findCode(hexcodes: Codebook, text: string): FoundText | null {
  if (text.length > MAX_UNITS) return null;
  const trimmed = text.normalize('NFC').trim();
  const whole = hexcodes.read(trimmed);
  if (whole !== null) return codeFound(whole.hexcodes);
  const position = parsePosition(trimmed);
  if (position !== null && position.middleOf !== 'view') return inOrder(hexcodes, position);
  return (
    sixtieths(hexcodes, trimmed) ??
    cellOf(hexcodes, trimmed) ??
    inLinks(hexcodes, trimmed) ??
    amongWords(hexcodes, trimmed) ??
    plusCode(hexcodes, trimmed) ??
    inWords(hexcodes, trimmed)
  );
}

const codeFound = (hexcodes: string): FoundText => ({ kind: 'code', hexcodes, isH3: false });

/** Latitude first, unless Viet Nam has the position in the other order alone. */
function inOrder(hexcodes: Codebook, { latDeg, lngDeg, middleOf, errorDeg }: Position): FoundText | null {
  const isFirst = Math.abs(latDeg) <= 90 && Math.abs(lngDeg) <= 180;
  const isSecond = Math.abs(lngDeg) <= 90 && Math.abs(latDeg) <= 180;
  const more = {
    ...(middleOf === undefined ? {} : { middleOf }),
    ...(errorDeg === undefined ? {} : { error_m: errorDeg * METRES_PER_DEGREE }),
  };
  const first = { kind: 'position', lat: latDeg, lng: lngDeg, isSwapped: false, ...more } as const;
  if (isFirst && hexcodes.adminCodeOf(latDeg, lngDeg) !== null) return first;
  if (isSecond && hexcodes.adminCodeOf(lngDeg, latDeg) !== null)
    return { kind: 'position', lat: lngDeg, lng: latDeg, isSwapped: true, ...more };
  return isFirst ? first : null;
}

/** The same of texts that may be anything: only a position in Viet Nam is believed. */
function inVietNam(hexcodes: Codebook, position: Position | null): FoundText | null {
  const found = position === null ? null : inOrder(hexcodes, position);
  return found?.kind === 'position' && hexcodes.adminCodeOf(found.lat, found.lng) !== null ? found : null;
}

/** `21 01 43.7 105 51 09`: degrees, minutes and seconds in blanks. */
function sixtieths(hexcodes: Codebook, text: string): FoundText | null {
  const angles = parseAnglePair(foldSigns(text), true);
  return angles === null ? null : inVietNam(hexcodes, { latDeg: angles[0], lngDeg: angles[1] });
}

/** An H3 index of 64 bits as hexadecimal digits. */
function cellOf(hexcodes: Codebook, text: string): FoundText | null {
  for (const [index] of text.matchAll(/(?<![\p{L}\p{N}])(?:0x|0)?8[0-9a-f]{14}(?![\p{L}\p{N}])/giu)) {
    const cell = index.toLowerCase().slice(-15);
    if (!isValidCell(cell)) continue;
    const [lat, lng] = cellToLatLng(cell);
    const province = hexcodes.adminCodeOf(lat, lng);
    const code = province === null ? null : hexcodes.pack(BigInt(`0x${cell}`), province);
    if (code !== null) return { kind: 'code', hexcodes: code, isH3: true };
  }
  return null;
}

function inLinks(hexcodes: Codebook, text: string): FoundText | null {
  for (const { 0: raw, index } of text.matchAll(/(?:https?:\/\/|geo:|(?<![\p{L}\p{N}&])#)[^\s<>]+/giu)) {
    const link = raw.replace(/["'.,;!)\]]{1,8}$/, '');
    // Others add their parameters behind ours.
    for (const part of partsOf(decoded(link))) {
      const code = part === '' ? null : hexcodes.read(part.trim().replace(/^[/?]+|\/$/g, ''));
      if (code !== null) return codeFound(code.hexcodes);
    }
    // `geo:16,1 N`, `#23°37.65' 106°`: the position goes on behind a blank.
    const behind = text.slice(index + raw.length);
    const isCut =
      /^geo:[-+]?\d+,[-+]?\d+$/i.test(link) ||
      (/^geo:[-+\d.,]+$/i.test(link) && GOES_ON.test(behind)) ||
      (link.startsWith('#') && /^\s{1,2}[-+]?\d/.test(behind));
    const position = isCut ? null : parsePosition(link.startsWith('#') ? decoded(link.slice(1)) : link);
    if (position !== null && position.middleOf !== 'view') return inOrder(hexcodes, position);
    for (const searched of searchedTexts(link)) {
      const found = plusCode(hexcodes, searched) ?? plusCode(hexcodes, plusAsBlank(searched));
      if (found !== null) return found;
    }
    if (position !== null) return inOrder(hexcodes, position);
  }
  return null;
}

/** Texts of a link that may be codes: behind `#` up to the first `&` or `?`, all values, and the end of the path. */
function partsOf(link: string): string[] {
  const at = link.indexOf('#');
  const fragment = at < 0 ? '' : link.slice(at + 1).split(/[&?]/, 1)[0]!;
  const values = [...link.matchAll(/[?&#][\w-]+=([^&#]*)/gu)].map(([, value]) => value!);
  const path = link
    .split(/[?#]/, 1)[0]!
    .split('/')
    .filter((each) => each !== '');
  return [fragment, ...values, ...(path.length > 2 ? [path.at(-1)!] : [])];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The blanks of a link as plus signs, but for that of a Plus Code: `2VH3+GX+Hoàn+Kiếm`. */
const plusAsBlank = (text: string): string =>
  text.replace(/\+/g, (sign, at: number) => (at === 4 || at === 6 ? sign : ' '));

/** The longest code among the words of a text, the first of several. */
function amongWords(hexcodes: Codebook, text: string): FoundText | null {
  const matches = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
  const words = matches.map(([word]) => word);
  for (let from = 0; from < words.length; from++) {
    const before = words.slice(Math.max(0, from - MAX_NAME_WORDS), from);
    // Read letter by letter, a code is the rest of the text.
    const rest =
      from > MAX_NAME_WORDS ? null : spokenCode(hexcodes, before, text.slice(matches[from]!.index));
    if (rest !== null) return rest;
    for (let count = Math.min(MAX_PIECES, words.length - from); count > 0; count--) {
      const last = matches[from + count - 1]!;
      const piece = text.slice(matches[from]!.index, last.index + last[0].length);
      const code = /^[A-Za-zĐđ]{2,3}/u.test(piece) ? codeIn(hexcodes, piece) : null;
      const found = code ?? spokenCode(hexcodes, before, piece);
      if (found !== null) return found;
    }
  }
  return null;
}

function codeIn(hexcodes: Codebook, piece: string): FoundText | null {
  const symbols = piece.replace(/[^\p{L}\p{N}]/gu, '');
  if (symbols.length < MIN_SYMBOLS || !/\d/.test(symbols)) return null;
  const code = hexcodes.read(piece) ?? hexcodes.read(symbols);
  return code === null ? null : codeFound(code.hexcodes);
}

/** Names of provinces without accents and blanks, with their codes. */
const PROVINCE_NAMES = new Map([
  ...ADMIN_UNITS.map(({ code, name }) => [lettersOf(name), code] as const),
  ['saigon', 'HCM'],
]);
/** UTF-16 units of a code that is read letter by letter. */
const MAX_SPOKEN = 40;
/** Words of the longest name of a province. */
const MAX_NAME_WORDS = 4;

/** `ha noi 6ghp4 83rfr`: a code as it is read aloud, by the name of its province. The check symbol proves it. */
function spokenCode(hexcodes: Codebook, before: readonly string[], rest: string): FoundText | null {
  if (rest.length > MAX_SPOKEN || !/\d/.test(rest)) return null;
  for (let count = 1; count <= Math.min(MAX_NAME_WORDS, before.length); count++) {
    const province = PROVINCE_NAMES.get(plain(before.slice(-count).join('')));
    const found = province === undefined ? null : codeIn(hexcodes, `${province} ${rest}`);
    if (found !== null) return found;
  }
  return null;
}

const SHORT_CODE =
  /(?<![\p{L}\p{N}+])([2-9CFGHJMPQRVWX]{4}(?:[2-9CFGHJMPQRVWX]{2})?\+[2-9CFGHJMPQRVWX]{2,7})(?![\p{L}\p{N}+])/iu;
/** Degrees by which towns of two programs may lie apart; a province has no middle that all agree on. */
const TOWN_ERROR_DEG = 0.1;
const PROVINCE_ERROR_DEG = 0.25;

const FULL_CODE = /(?<![\p{L}\p{N}+])[2-9CFGHJMPQRVWX]{8}\+(?:[2-9CFGHJMPQRVWX]{2,7})?(?![\p{L}\p{N}+])/iu;

/** A full Plus Code, or a short one with its town: `2VH3+GX Hoàn Kiếm, Hà Nội`. */
function plusCode(hexcodes: Codebook, text: string): FoundText | null {
  const full = FULL_CODE.exec(text)?.[0];
  const position = full === undefined ? null : parsePosition(full);
  if (position !== null) return inOrder(hexcodes, position);
  const match = SHORT_CODE.exec(text);
  const code = match?.[1];
  if (match === null || code === undefined || !isShortPlusCode(code)) return null;
  const parts = addressParts(`${text.slice(0, match.index)},${text.slice(match.index + code.length)}`);
  for (const part of parts) {
    const cell = cellNear(hexcodes, code, part);
    if (cell === null) continue;
    const { latDeg, lngDeg, heightDeg } = cell;
    return inVietNam(hexcodes, { latDeg, lngDeg, middleOf: 'plus_code', errorDeg: heightDeg / 2 });
  }
  return null;
}

/** The cell of a short code that repeats each degree; null where the name of a town leaves open which one is meant. */
function cellNear(hexcodes: Codebook, code: string, town: string): PlusCodeCell | null {
  const named = findPlaces(hexcodes, town, { limit: 100 }).filter(
    ({ kind, name }) => kind !== 'landmark' && lettersOf(name) === lettersOf(town),
  );
  const cells = named.map(({ kind, lat, lng }) => {
    const cell = nearestPlusCode(code, lat, lng);
    const away = Math.max(Math.abs(cell.latDeg - lat), Math.abs(cell.lngDeg - lng));
    return away <= 0.5 - (kind === 'town' ? TOWN_ERROR_DEG : PROVINCE_ERROR_DEG) ? cell : null;
  });
  const [first] = cells;
  const isOne = cells.every(
    (cell) => cell !== null && Math.hypot(cell.latDeg - first!.latDeg, cell.lngDeg - first!.lngDeg) < 1e-9,
  );
  return first !== undefined && isOne ? first : null;
}

function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').replace(/[Đđ]/g, 'd').toLowerCase();
}

/** Letters and digits of a name, without accents and words like `Q.` in front. */
function lettersOf(name: string): string {
  return plain(name)
    .trim()
    .replace(/^(?:(?:thanh pho|tp|tinh|thi xa|tx|thi tran|tt|huyen|quan|q|phuong|p|xa)[. ] ?)+(?=[a-z])/, '')
    .replace(/[^a-z0-9]/g, '');
}

function inWords(hexcodes: Codebook, text: string): FoundText | null {
  // A line ends an angle, and so a position.
  const bare = text.replace(LINKS, ' ').replace(/(?<![,;\s])\s*[\r\n]\s*/g, '; ');
  const found = GEO_URI.test(text) ? null : positionAmongWords(foldSigns(bare));
  if (found === null || namesOtherSystem(text)) return null;
  return found.isSure ? inOrder(hexcodes, found) : inVietNam(hexcodes, found);
}

const namesOtherSystem = (text: string): boolean =>
  [...text.matchAll(SYSTEMS)].some(({ groups }) => {
    const number = groups?.srid ?? groups?.epsg;
    return number === undefined || byNumber(Number(number)) !== null;
  });
