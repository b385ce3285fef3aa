// A code or a position in any text that people paste: a link, a line of a chat, an H3 index, numbers with words.

import { cellToLatLng, isValidCell } from 'h3-js';
import { ADMIN_UNITS } from '../admin-units.js';
import { findPlaces } from '../library/places.js';
import { foldSigns, parseAnglePair } from '../wire/rows/angle-text.js';
import { isLink, type Position, parsePosition, searchedTexts } from '../wire/rows/position-text.js';
import { byNumber } from '../wire/rows/well-known-binary.js';
import { positionsAmongWords } from '../wire/rows/words-with-position.js';
import { isShortPlusCode, nearestPlusCode, type PlusCodeCell } from '../wire/rows/written-position.js';
import type { Codebook } from './codebook.js';

/**
 * The parts of an address that may be names of towns and provinces: between its commas, from the first on, without
 * those that begin with a number.
 */
export function addressParts(text: string): string[] {
  return text
    .split(/[,;\n–]|\s-\s/u)
    .map((part) => part.trim())
    .filter((part) => part !== '' && !/^\d/.test(part));
}

/** A code that a text names. */
export interface FoundCode {
  kind: 'code';
  /** Canonical text of a valid hexcode. */
  hexcodes: string;
  /** Whether the text named the cell by its H3 index. */
  isH3: boolean;
}

/** A position that a text names. */
export interface FoundPosition {
  kind: 'position';
  /** Degrees. */
  lat: number;
  lng: number;
  /** Whether the text had the longitude first, as far as the numbers tell. */
  isSwapped: boolean;
  /**
   * The object whose centre the position is, if the text names no point: the view of a map, the cell of a Plus Code.
   */
  middleOf?: 'view' | 'plus_code';
  /** Metres between the middle of the cell of a Plus Code and its northern edge; absent for others. */
  error_m?: number;
}

/** A code, a position, or `several` of them, where the intended one is not known. */
export type FoundText =
  | FoundCode
  | FoundPosition
  | {
      kind: 'several';
      /** Two or more, without duplicates: codes in the order of the text; else positions, those of links first. */
      found: (FoundCode | FoundPosition)[];
    };

const MAX_UNITS = 4096;
/** Fewest letters and digits of a code inside other words: shorter ones are words by chance. */
const MIN_SYMBOLS = 7;
/** Fewest letters of a code without a digit inside other words: eight consonants in a row are not a word. */
const MIN_LETTERS = 10;
/** Most pieces that blanks or signs cut a code into. */
const MAX_PIECES = 4;
const METRES_PER_DEGREE = 111_195;
/** Names of systems of coordinates; numbers of another system are not read as degrees of WGS 84. */
const SYSTEMS =
  /(?<![\p{L}\p{N}])(?:SRID ?[:=]? ?(?<srid>\d+)|EPSG ?[:=]? ?(?<epsg>\d+)|VN[- ]?2000|HN[- ]?72|Indian[- ]?19\d\d)/giu;
/** Links, which are read separately: numbers in a rejected link are not a position among words. */
const LINKS = /https?:\/\/[^\s<>]+/giu;
const GOES_ON = /^\s{1,2}(?:[\d°'"+-]|(?:d|deg|degrees?|độ|do|[nsewbđ]|bắc|nam|đông|tây)(?!\p{L}))/iu;
const GEO_URI = /(?<!\p{L})geo: ?[-+\d]/iu;

/**
 * The code or the position that a text names. A text that is itself a code, a position or a link names that. In any
 * other text codes count, alone or in links, else positions; the middle of a map's view only if there is nothing
 * else. Duplicates count once. A link's pin counts as a second position beside a code if it lies farther from the
 * cell's centre than the errors of both, and than 20 m.
 * @param hexcodes a loaded library, which says what is a code, and which of two numbers is the latitude
 * @param text of 4,096 UTF-16 units at most; longer ones name nothing
 * @returns null if nothing is found. A position may lie outside Viet Nam
 */
export function findCode(hexcodes: Codebook, text: string): FoundText | null {
  if (typeof text !== 'string' || text.length > MAX_UNITS) return null;
  const trimmed = text.normalize('NFC').trim();
  const whole = hexcodes.read(trimmed);
  if (whole !== null) return codeFound(whole.hexcodes);
  const position = parsePosition(trimmed);
  const found = position === null ? null : inOrder(hexcodes, position);
  // A link may be followed by a blank and words, including a code.
  const isWhole = !(/\s/.test(trimmed) && isLink(trimmed));
  if (found !== null && isWhole && !isView(found)) return found;
  const angles = sixtieths(hexcodes, trimmed);
  if (angles !== null) return angles;
  const links = linksIn(hexcodes, trimmed).map((link) =>
    isWhole || link.at > 0 ? link : { ...link, found: found ?? link.found },
  );
  const pins = links.flatMap(({ found }) => (found?.kind === 'position' && !isView(found) ? [found] : []));
  // The other parts of a recognised link are not words.
  const words = withoutLinks(trimmed, links);
  const codes = codesIn(hexcodes, words, links);
  if (codes.length > 0) return oneOf(hexcodes, [...codes, ...pins]);
  const written = inWords(hexcodes, words);
  if (written === null) return null;
  const positions = [...pins, ...plusCodes(hexcodes, trimmed), ...written];
  const views = links.flatMap(({ found }) => (found?.kind === 'position' && isView(found) ? [found] : []));
  return oneOf(hexcodes, positions.length > 0 ? positions : views);
}

const isView = ({ middleOf }: FoundPosition): boolean => middleOf === 'view';

/** Metres within which two positions count as two spellings of one: half a second of an angle. */
const SAME_M = 20;
/** Metres of an edge of a cell of resolution 0; each finer resolution is shorter by the root of 7. */
const EDGE_M = 1_281_256;

/** The only result, or all of them. */
function oneOf(hexcodes: Codebook, all: readonly (FoundCode | FoundPosition)[]): FoundText | null {
  const found: (FoundCode | FoundPosition)[] = [];
  for (const each of all) if (!found.some((known) => isSame(hexcodes, known, each))) found.push(each);
  if (found.length > 1) return { kind: 'several', found };
  return found[0] ?? null;
}

function isSame(hexcodes: Codebook, a: FoundCode | FoundPosition, b: FoundCode | FoundPosition): boolean {
  if (a.kind === 'code' && b.kind === 'code') return a.hexcodes === b.hexcodes;
  const [one, two] = [a, b].map((each) => {
    if (each.kind === 'position') return { lat: each.lat, lng: each.lng, error_m: each.error_m ?? 0 };
    const { lat, lng, resolution } = hexcodes.read(each.hexcodes)!;
    return { lat, lng, error_m: (1.2 * EDGE_M) / 7 ** (resolution / 2) };
  });
  const north = (one!.lat - two!.lat) * METRES_PER_DEGREE;
  const east = (one!.lng - two!.lng) * METRES_PER_DEGREE * Math.cos((one!.lat * Math.PI) / 180);
  return Math.hypot(north, east) <= Math.max(SAME_M, one!.error_m + two!.error_m);
}

const codeFound = (hexcodes: string): FoundCode => ({ kind: 'code', hexcodes, isH3: false });

/** Latitude first, unless the position lies in Viet Nam in the other order only. */
function inOrder(hexcodes: Codebook, { latDeg, lngDeg, middleOf, errorDeg }: Position): FoundPosition | null {
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

/** As inOrder(), for texts that may be anything: only positions in Viet Nam are accepted. */
function inVietNam(hexcodes: Codebook, position: Position | null): FoundPosition | null {
  const found = position === null ? null : inOrder(hexcodes, position);
  return found !== null && hexcodes.adminCodeOf(found.lat, found.lng) !== null ? found : null;
}

/** `21 01 43.7 105 51 09`: degrees, minutes and seconds, separated by blanks. */
function sixtieths(hexcodes: Codebook, text: string): FoundPosition | null {
  const angles = parseAnglePair(foldSigns(text), true);
  return angles === null ? null : inVietNam(hexcodes, { latDeg: angles[0], lngDeg: angles[1] });
}

/** A code, and where it is in the text. */
interface CodeAt {
  readonly found: FoundCode;
  readonly at: number;
}

/** The text with blanks in place of links that name something. */
function withoutLinks(text: string, links: readonly LinkAt[]): string {
  let words = text;
  for (const { found, at, length } of links)
    if (found !== null) words = words.slice(0, at) + ' '.repeat(length) + words.slice(at + length);
  return words;
}

/** The codes of a text from left to right: H3 indexes and codes among words, codes in links. */
function codesIn(hexcodes: Codebook, words: string, links: readonly LinkAt[]): FoundCode[] {
  const inLinks = links.flatMap(({ found, at }) => (found?.kind === 'code' ? [{ found, at }] : []));
  return [...cellsIn(hexcodes, words), ...inLinks, ...amongWords(hexcodes, words)]
    .sort((a, b) => a.at - b.at)
    .map(({ found }) => found);
}

/** H3 indexes of 64 bits as hexadecimal digits. */
function cellsIn(hexcodes: Codebook, text: string): CodeAt[] {
  const matches = [...text.matchAll(/(?<![\p{L}\p{N}])(?:0x|0)?8[0-9a-f]{14}(?![\p{L}\p{N}])/giu)];
  return matches.flatMap(({ 0: index, index: at }): CodeAt[] => {
    const cell = index.toLowerCase().slice(-15);
    if (!isValidCell(cell)) return [];
    const [lat, lng] = cellToLatLng(cell);
    const province = hexcodes.adminCodeOf(lat, lng);
    const code = province === null ? null : hexcodes.pack(BigInt(`0x${cell}`), province);
    return code === null ? [] : [{ found: { kind: 'code', hexcodes: code, isH3: true }, at }];
  });
}

interface LinkAt {
  /** Null for a link that names nothing or is not recognised. */
  readonly found: FoundCode | FoundPosition | null;
  readonly at: number;
  readonly length: number;
}

function linksIn(hexcodes: Codebook, text: string): LinkAt[] {
  const matches = [...text.matchAll(/(?:https?:\/\/|geo:|(?<![\p{L}\p{N}&])#)[^\s<>]+/giu)];
  return matches.map(({ 0: raw, index: at }) => {
    const link = raw.replace(/["'.,;!)\]]{1,8}$/, '');
    return { found: inLink(hexcodes, link, text.slice(at + raw.length)), at, length: link.length };
  });
}

/** @param after the text after the link */
function inLink(hexcodes: Codebook, link: string, after: string): LinkAt['found'] {
  // Other programs append parameters to our links.
  for (const part of partsOf(decoded(link))) {
    const code = part === '' ? null : hexcodes.read(part.trim().replace(/^[/?]+|\/$/g, ''));
    if (code !== null) return codeFound(code.hexcodes);
  }
  // `geo:16,1 N`, `#23°37.65' 106°`: the position continues after a blank.
  const isCut =
    /^geo:[-+]?\d+,[-+]?\d+$/i.test(link) ||
    (/^geo:[-+\d.,]+$/i.test(link) && GOES_ON.test(after)) ||
    (link.startsWith('#') && /^\s{1,2}[-+]?\d/.test(after));
  const position = isCut ? null : parsePosition(link.startsWith('#') ? decoded(link.slice(1)) : link);
  if (position !== null && position.middleOf !== 'view') return inOrder(hexcodes, position);
  for (const searched of searchedTexts(link)) {
    const found = plusCodes(hexcodes, searched)[0] ?? plusCodes(hexcodes, plusAsBlank(searched))[0];
    if (found !== undefined) return found;
  }
  return position === null ? null : inOrder(hexcodes, position);
}

/**
 * Texts of a link that may be codes: the fragment up to the first `&` or `?`, all values, and the end of the path.
 */
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

/** The blanks of a link as plus signs, except that of a Plus Code: `2VH3+GX+Hoàn+Kiếm`. */
const plusAsBlank = (text: string): string =>
  text.replace(/\+/g, (sign, at: number) => (at === 4 || at === 6 ? sign : ' '));

/** The codes among the words of a text. */
function amongWords(hexcodes: Codebook, text: string): CodeAt[] {
  const matches = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
  const words = matches.map(([word]) => word);
  const found: CodeAt[] = [];
  for (let from = 0; from < words.length; from++) {
    const at = matches[from]!.index;
    const before = words.slice(Math.max(0, from - MAX_NAME_WORDS), from);
    // A code that is spelt letter by letter takes the rest of the text.
    const rest = from > MAX_NAME_WORDS ? null : spokenCode(hexcodes, before, text.slice(at));
    if (rest !== null) return [...found, { found: rest, at }];
    const readings: { code: FoundCode; count: number; isWhole: boolean }[] = [];
    for (let count = Math.min(MAX_PIECES, words.length - from); count > 0; count--) {
      const last = matches[from + count - 1]!;
      const end = last.index + last[0].length;
      const piece = text.slice(at, end);
      const code =
        (/^[A-Za-zĐđ]{2,3}/u.test(piece) ? codeIn(hexcodes, piece) : null) ??
        spokenCode(hexcodes, before, piece);
      if (code !== null)
        readings.push({ code, count, isWhole: !/^[-._]?[\p{L}\p{N}]/u.test(text.slice(end)) });
    }
    // `HN-6GHP4-83RFR 22` may be a code and a number, or a longer code. A part of joined words is the code only where
    // the whole is not a code.
    const whole = readings.filter(({ isWhole }) => isWhole);
    const chosen = whole.length > 0 ? whole : readings.slice(0, 1);
    found.push(...chosen.map(({ code }) => ({ found: code, at })));
    if (chosen.length > 0) from += chosen[0]!.count - 1;
  }
  return found;
}

function codeIn(hexcodes: Codebook, piece: string): FoundCode | null {
  const symbols = piece.replace(/[^\p{L}\p{N}]/gu, '');
  if (symbols.length < MIN_SYMBOLS) return null;
  const code = hexcodes.read(piece) ?? hexcodes.read(symbols);
  return code === null || !(/\d/.test(symbols) || symbols.length >= MIN_LETTERS)
    ? null
    : codeFound(code.hexcodes);
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

/** `ha noi 6ghp4 83rfr`: a code as read aloud, with the name of its province. The check symbol confirms it. */
function spokenCode(hexcodes: Codebook, before: readonly string[], rest: string): FoundCode | null {
  if (rest.length > MAX_SPOKEN || !/\d/.test(rest)) return null;
  for (let count = 1; count <= Math.min(MAX_NAME_WORDS, before.length); count++) {
    const province = PROVINCE_NAMES.get(plain(before.slice(-count).join('')));
    const found = province === undefined ? null : codeIn(hexcodes, `${province} ${rest}`);
    if (found !== null) return found;
  }
  return null;
}

const SHORT_CODE =
  /(?<![\p{L}\p{N}+])([2-9CFGHJMPQRVWX]{4}(?:[2-9CFGHJMPQRVWX]{2})?\+[2-9CFGHJMPQRVWX]{2,7})(?![\p{L}\p{N}+])/giu;
/** Degrees by which two programs may place a town differently; a province has no agreed middle. */
const TOWN_ERROR_DEG = 0.1;
const PROVINCE_ERROR_DEG = 0.25;

const FULL_CODE = /(?<![\p{L}\p{N}+])[2-9CFGHJMPQRVWX]{8}\+(?:[2-9CFGHJMPQRVWX]{2,7})?(?![\p{L}\p{N}+])/giu;

/** Full Plus Codes, or a short one with its town: `2VH3+GX Hoàn Kiếm, Hà Nội`. */
function plusCodes(hexcodes: Codebook, text: string): FoundPosition[] {
  const full = [...text.matchAll(FULL_CODE)].flatMap(([code]) => {
    const position = parsePosition(code);
    const found = position === null ? null : inOrder(hexcodes, position);
    return found === null ? [] : [found];
  });
  const short = [...text.matchAll(SHORT_CODE)].filter(([, code]) => isShortPlusCode(code!));
  // With several codes it is unclear which town belongs to which.
  if (full.length > 0 || short.length !== 1) return full;
  const [{ 1: code, index: at }] = short as [RegExpExecArray];
  const parts = addressParts(`${text.slice(0, at)},${text.slice(at + code!.length)}`);
  for (const part of parts) {
    const cell = cellNear(hexcodes, code!, part);
    if (cell === null) continue;
    const { latDeg, lngDeg, heightDeg } = cell;
    const found = inVietNam(hexcodes, { latDeg, lngDeg, middleOf: 'plus_code', errorDeg: heightDeg / 2 });
    return found === null ? [] : [found];
  }
  return [];
}

/**
 * The cell of a short code, which recurs every degree; null where the name of the town does not decide between them.
 */
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

/** Letters and digits of a name, without accents and without prefixes like `Q.`. */
function lettersOf(name: string): string {
  return plain(name)
    .trim()
    .replace(/^(?:(?:thanh pho|tp|tinh|thi xa|tx|thi tran|tt|huyen|quan|q|phuong|p|xa)[. ] ?)+(?=[a-z])/, '')
    .replace(/[^a-z0-9]/g, '');
}

/** Positions that are written out; null where numbers may be a further position that cannot be read. */
function inWords(hexcodes: Codebook, text: string): FoundPosition[] | null {
  if (GEO_URI.test(text) || namesOtherSystem(text)) return [];
  // A line end ends an angle, and so a position.
  const bare = text.replace(LINKS, ' ').replace(/(?<![,;\s])\s*[\r\n]\s*/g, '; ');
  const all = positionsAmongWords(foldSigns(bare));
  return (
    all?.flatMap((each) => {
      const found = each.isSure ? inOrder(hexcodes, each) : inVietNam(hexcodes, each);
      return found === null ? [] : [found];
    }) ?? null
  );
}

const namesOtherSystem = (text: string): boolean =>
  [...text.matchAll(SYSTEMS)].some(({ groups }) => {
    const number = groups?.srid ?? groups?.epsg;
    return number === undefined || byNumber(Number(number)) !== null;
  });
