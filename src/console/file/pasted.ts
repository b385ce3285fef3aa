// Lines that were pasted from a sheet, which often come without their header row.
import { pairColumns } from '../../hexcodes/wire/rows/column-names.js';

const NUMBER = /^-?\d{1,3}(?:[.,]\d+)?$/;
/** Latitudes of Viet Nam are below this, longitudes above. */
const BETWEEN_DEG = 60;

/**
 * The text as a file with a header row: where the first line has none and holds two numbers that can be a position of
 * Viet Nam, one is put before it.
 */
export function withHeader(text: string): string {
  const [line = ''] = text.trimStart().split(/\r?\n/, 1);
  if (line.startsWith('{') || line.startsWith('[')) return text;
  const delimiter = ['\t', ';', '|', ','].find((each) => line.includes(each)) ?? ',';
  const fields = line.split(delimiter).map((field) => field.trim().replace(/^"(.*)"$/, '$1'));
  const { lat, lng } = pairColumns(fields);
  if (lat.length > 0 || lng.length > 0) return text;
  const degrees = fields.map((field) => (NUMBER.test(field) ? Number(field.replace(',', '.')) : Number.NaN));
  const latAt = degrees.findIndex((value) => value > 0 && value < BETWEEN_DEG && !Number.isInteger(value));
  const lngAt = degrees.findIndex((value) => value > BETWEEN_DEG && value <= 180 && !Number.isInteger(value));
  if (latAt < 0 || lngAt < 0) return text;
  const names = fields.map((_, place) =>
    place === latAt ? 'lat' : place === lngAt ? 'lng' : `column_${place + 1}`,
  );
  return `${names.join(delimiter)}\n${text.trimStart()}`;
}

/** Lines of JSON, or a table. */
export const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text);
