// A code or a position in any text that people paste: a link, a line of a chat, an H3 index, numbers with words.
import { cellToLatLng, isValidCell } from 'h3-js';
import { parsePosition } from '../wire/rows/position-text.js';
import type { Codebook } from './codebook.js';

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
    };

const MOST_UNITS = 4096;
/** Fewest letters and digits of a code inside other words: shorter ones are words by chance. */
const LEAST_SYMBOLS = 7;
/** Pieces that blanks or signs cut a code into, at most. */
const MOST_PIECES = 4;
const NUMBER = String.raw`[-+]?\d{1,3}(?:[.,]\d+)?`;
const LATITUDE = String.raw`(?:vĩ\s*độ|vi\s*do|vĩ\s*tuyến|latitude|lat|vd|vđ)`;
const LONGITUDE = String.raw`(?:kinh\s*độ|kinh\s*do|kinh\s*tuyến|longitude|long|lng|lon|kd|kđ)`;
const named = (name: string): RegExp =>
  new RegExp(String.raw`(?<![\p{L}])${name}\s*(?:[:=]|là|la|is)?\s*(${NUMBER})(?![\d])`, 'iu');
const NAMED_LAT = named(LATITUDE);
const NAMED_LNG = named(LONGITUDE);
/** Two numbers with decimals, near each other in other words. */
const DECIMALS = /(?<![\d.,])(-?\d{1,3}[.,]\d{3,})[^\d\n-]{1,12}(-?\d{1,3}[.,]\d{3,})(?![\d])/u;
const SIXTIETHS =
  /^(\d{1,3})\s+(\d{1,2})(?:\s+(\d{1,2}(?:[.,]\d+)?))?\s*[,;]?\s+(\d{1,3})\s+(\d{1,2})(?:\s+(\d{1,2}(?:[.,]\d+)?))?$/;

/**
 * The code or the position that a text names. A text that is a code, a position or a link is that; in others the first
 * code is taken, else the first position.
 *
 * @param hexcodes a loaded library, which says what is a code, and which of two numbers is the latitude
 * @param text of 4,096 UTF-16 units at most; longer ones name nothing
 * @returns null if nothing is found. A position may lie outside Viet Nam
 */
export function findCode(hexcodes: Codebook, text: string): FoundText | null {
  if (text.length > MOST_UNITS) return null;
  const trimmed = text.normalize('NFC').trim();
  const whole = hexcodes.read(trimmed);
  if (whole !== null) return codeFound(whole.hexcodes);
  const position = parsePosition(trimmed);
  if (position !== null) return inOrder(hexcodes, position.latDeg, position.lngDeg);
  return (
    sixtieths(hexcodes, trimmed) ??
    degreesIn(hexcodes, trimmed) ??
    cellOf(hexcodes, trimmed) ??
    inLinks(hexcodes, trimmed) ??
    amongWords(hexcodes, trimmed) ??
    namedNumbers(hexcodes, trimmed) ??
    decimals(hexcodes, trimmed)
  );
}

const codeFound = (hexcodes: string): FoundText => ({ kind: 'code', hexcodes, isH3: false });

/** Latitude first, unless Viet Nam has the position in the other order alone. */
function inOrder(hexcodes: Codebook, lat: number, lng: number): FoundText | null {
  const isFirst = Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
  const isSecond = Math.abs(lng) <= 90 && Math.abs(lat) <= 180;
  if (isFirst && hexcodes.adminCodeOf(lat, lng) !== null)
    return { kind: 'position', lat, lng, isSwapped: false };
  if (isSecond && hexcodes.adminCodeOf(lng, lat) !== null)
    return { kind: 'position', lat: lng, lng: lat, isSwapped: true };
  return isFirst ? { kind: 'position', lat, lng, isSwapped: false } : null;
}

/** `21 01 43.7 105 51 09`: degrees, minutes and seconds in blanks. */
function sixtieths(hexcodes: Codebook, text: string): FoundText | null {
  const match = SIXTIETHS.exec(text);
  if (match === null || (match[3] === undefined) !== (match[6] === undefined)) return null;
  const [, ...parts] = match.map((part) => Number((part ?? '0').replace(',', '.')));
  if ([1, 2, 4, 5].some((i) => parts[i]! >= 60)) return null;
  const angle = (from: number): number => parts[from]! + parts[from + 1]! / 60 + parts[from + 2]! / 3600;
  const found = inOrder(hexcodes, angle(0), angle(3));
  // Six small numbers may be anything: only a position in Viet Nam is believed.
  return found?.kind === 'position' && hexcodes.adminCodeOf(found.lat, found.lng) !== null ? found : null;
}

/** Degrees with their signs behind or before other words. */
function degreesIn(hexcodes: Codebook, text: string): FoundText | null {
  const match =
    /(?:[NSEWBĐ]\s*)?\d{1,3}(?:[.,]\d+)?\s*[°º˚][^\p{L}]*[NSEWBĐ]?[^\p{L}]+[NSEWBĐ]?[^\p{L}]*(?:[NSEWBĐ](?!\p{L}))?/iu.exec(
      text,
    );
  const position = match === null ? null : parsePosition(match[0]);
  return position === null ? null : inOrder(hexcodes, position.latDeg, position.lngDeg);
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
  for (const [raw] of text.matchAll(/(?:https?:\/\/|geo:|#)[^\s<>"]+/giu)) {
    const link = decoded(raw.replace(/[.,;!)\]]+$/, ''));
    const { fragment, parameters } = partsOf(link);
    // Others add their parameters behind ours.
    for (const part of [fragment, ...parameters.values()]) {
      const code = part === '' ? null : hexcodes.read(part.trim());
      if (code !== null) return codeFound(code.hexcodes);
    }
    const value = (...names: string[]): string | undefined =>
      names.map((name) => parameters.get(name)).find((each) => each !== undefined);
    const [lat, lng] = [
      value('lat', 'latitude', 'mlat', 'y'),
      value('lng', 'lon', 'long', 'longitude', 'mlon', 'x'),
    ];
    const isPair = lat !== undefined && lng !== undefined && lat !== '' && lng !== '';
    if (isPair && Number.isFinite(Number(lat)) && Number.isFinite(Number(lng)))
      return inOrder(hexcodes, Number(lat), Number(lng));
    const position = parsePosition(link) ?? parsePosition(fragment);
    if (position !== null) return inOrder(hexcodes, position.latDeg, position.lngDeg);
  }
  return null;
}

/** The text behind `#` up to the first `&` or `?`, and all `name=value`. */
function partsOf(link: string): { fragment: string; parameters: Map<string, string> } {
  const at = link.indexOf('#');
  const fragment = at < 0 ? '' : link.slice(at + 1).split(/[&?]/, 1)[0]!;
  const parameters = new Map<string, string>();
  for (const [, name, value] of link.matchAll(/[?&#]([\w-]+)=([^&#]*)/gu))
    if (!parameters.has(name!.toLowerCase())) parameters.set(name!.toLowerCase(), value!);
  return { fragment, parameters };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The longest code among the words of a text, the first of several. */
function amongWords(hexcodes: Codebook, text: string): FoundText | null {
  const words = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
  for (let from = 0; from < words.length; from++) {
    if (!/^[A-Za-zĐđ]{2,3}/u.test(words[from]![0])) continue;
    for (let count = Math.min(MOST_PIECES, words.length - from); count > 0; count--) {
      const last = words[from + count - 1]!;
      const piece = text.slice(words[from]!.index, last.index + last[0].length);
      const symbols = piece.replace(/[^\p{L}\p{N}]/gu, '');
      if (symbols.length < LEAST_SYMBOLS || !/\d/.test(symbols)) continue;
      const code = hexcodes.read(piece) ?? hexcodes.read(symbols);
      if (code !== null) return codeFound(code.hexcodes);
    }
  }
  return null;
}

/** `vĩ độ 21.0288, kinh độ 105.8525`, in either order. */
function namedNumbers(hexcodes: Codebook, text: string): FoundText | null {
  const [lat, lng] = [NAMED_LAT.exec(text)?.[1], NAMED_LNG.exec(text)?.[1]];
  if (lat === undefined || lng === undefined) return null;
  return inOrder(hexcodes, Number(lat.replace(',', '.')), Number(lng.replace(',', '.')));
}

function decimals(hexcodes: Codebook, text: string): FoundText | null {
  const match = DECIMALS.exec(text);
  if (match === null) return null;
  const found = inOrder(hexcodes, Number(match[1]!.replace(',', '.')), Number(match[2]!.replace(',', '.')));
  return found?.kind === 'position' && hexcodes.adminCodeOf(found.lat, found.lng) !== null ? found : null;
}
