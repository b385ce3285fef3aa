// Tables as people have them: lines pasted from a sheet, files without a header row, lists of codes, columns with names
// of their own, and encodings of old programs. Each becomes a table that the readers of the service take.

import { parseAngle } from '../../hexcodes/wire/rows/angle-text.js';
import { pairColumns } from '../../hexcodes/wire/rows/column-names.js';

const NUMBER = /^-?\d{1,3}(?:[.,]\d+)?$/;
/** Latitudes of Viet Nam are below this, longitudes above. */
const BETWEEN_DEG = 60;
const DELIMITERS = ['\t', ';', '|', ','];
/** Headings of codes, without accents. */
const CODE_HEADINGS = ['ma', 'ma vi tri', 'ma o', 'hexcode', 'code', 'location code'];
const CODE = /^[a-zđ]{2,3}[-\u2013\s]?[0-9a-z]{2,5}(?:[-\u2013\s]?[0-9a-z]{1,5})?$/i;
const BOM = '\ufeff';

/**
 * The text as a file with a header row. Where the first line holds two numbers that can be a position of Viet Nam, or a
 * code alone, a header row is put before it; a column of codes under a heading of its own gets the name `hexcodes`.
 */
export function withHeader(text: string): string {
  const begun = text.startsWith(BOM) ? text.slice(1) : text;
  const [line = ''] = begun.trimStart().split(/\r?\n/, 1);
  if (line.startsWith('{') || line.startsWith('[')) return text;
  const delimiter = DELIMITERS.find((each) => line.includes(each)) ?? ',';
  const fields = line.split(delimiter).map((field) =>
    field
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replaceAll('""', '"'),
  );
  const { lat, lng } = pairColumns(fields);
  if (lat.length > 0 || lng.length > 0) return text;
  const rest = begun.trimStart();
  const headings = fields.map(plain);
  const codesAt = headings.findIndex((heading) => CODE_HEADINGS.includes(heading));
  if (codesAt >= 0 && !headings.includes('hexcodes')) {
    const names = line.split(delimiter);
    names[codesAt] = 'hexcodes';
    return names.join(delimiter) + rest.slice(line.length);
  }
  const degrees = fields.map((field) => (NUMBER.test(field) ? Number(field.replace(',', '.')) : Number.NaN));
  const latAt = degrees.findIndex((value) => value > 0 && value < BETWEEN_DEG && !Number.isInteger(value));
  const lngAt = degrees.findIndex((value) => value > BETWEEN_DEG && value <= 180 && !Number.isInteger(value));
  const listAt = fields.findIndex((field) => CODE.test(field) && /\d/.test(field));
  if (latAt >= 0 && lngAt >= 0)
    return `${named(fields, { [latAt]: 'lat', [lngAt]: 'lng' }).join(delimiter)}\n${rest}`;
  const angleAt = fields.findIndex(
    (field, i) => parseAngle(field, 'lat') !== null && parseAngle(fields[i + 1] ?? '', 'lng') !== null,
  );
  if (angleAt >= 0)
    return `${named(fields, { [angleAt]: 'lat', [angleAt + 1]: 'lng' }).join(delimiter)}\n${rest}`;
  if (listAt >= 0) return `${named(fields, { [listAt]: 'hexcodes' }).join(delimiter)}\n${rest}`;
  return text;
}

const named = (fields: readonly string[], names: Readonly<Record<number, string>>): string[] =>
  fields.map((_, column) => names[column] ?? `column_${column + 1}`);

const plain = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replace(/[Đđ]/g, 'd').toLowerCase().trim();

/** Lines of JSON, or a table. */
export const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text);

/**
 * The encoding of a table by its beginning, as TextDecoder names it: UTF-16 by its mark or by its zeros, Windows-1258
 * of older Vietnamese programs where the bytes are not UTF-8.
 */
export function encodingOf(beginning: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1258' {
  const [first, second] = beginning;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  const some = beginning.subarray(0, 512);
  some.forEach((byte, i) => {
    if (byte === 0) zeros[i % 2]!++;
  });
  if (zeros[1]! > some.length / 4) return 'utf-16le';
  if (zeros[0]! > some.length / 4) return 'utf-16be';
  try {
    // The end may lie inside a character.
    new TextDecoder('utf-8', { fatal: true }).decode(beginning, { stream: true });
    return 'utf-8';
  } catch {
    return 'windows-1258';
  }
}
