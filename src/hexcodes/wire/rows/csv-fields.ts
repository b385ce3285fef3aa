// The fields of one CSV row as texts, for header rows and for the rows whose answers need them. Without quotes a row is
// split; a quote begins a quoted field only as the field's first character.

// Texts of numbers as found in tables: with surrounding blanks, or with a decimal comma. The rules are those of the
// kernel (assembly/text/scan/scan-csv.ts).
/** A text without surrounding spaces, tabs, no-break spaces and zero-width characters. */
export function withoutBlanks(text: string): string {
  return withoutAround(text, isBlank);
}

function isBlank(unit: string): boolean {
  if (unit === ' ' || unit === '\t' || unit === '\u00a0') return true;
  // Marks of direction and joiners, which copied numbers have around them.
  return unit > '\u200a' && (unit <= '\u200f' || unit === '\u2060' || unit === '\ufeff' || isEmbedding(unit));
}

const isEmbedding = (unit: string): boolean =>
  (unit >= '\u202a' && unit <= '\u202e') || (unit >= '\u2066' && unit <= '\u2069');

/**
 * A text without the UTF-16 units at its ends that `isDropped` accepts. An expression like /[ ]+$/ would try every
 * blank inside the text again: 250 KB of blanks took a minute.
 */
export function withoutAround(text: string, isDropped: (unit: string) => boolean): string {
  let start = 0;
  let end = text.length;
  while (start < end && isDropped(text[start]!)) start++;
  while (end > start && isDropped(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/**
 * The code in a value of a row, without surrounding spaces, as in fixed-width columns; they do not count for its
 * length in the kernel (assembly/text/scan/input.ts) either.
 */
export const codeIn = (text: string): string => withoutAround(text, (unit) => unit === ' ');

/** The text of a number without blanks, and with a point where it has one comma and no point. */
export function plainNumber(text: string): string {
  const bare = withoutBlanks(text);
  return /^[^,.]+,[^,.]*$/.test(bare) ? bare.replace(',', '.') : bare;
}

/** A field in quotes if it needs them. */
export function quotedField(text: string, delimiter: string): string {
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const QUOTE = 34;

/** Why csvFields has no fields. */
export const TORN_QUOTE = 'a quote that is not closed, or text after one that closes on another line';

/**
 * The fields of a row without its line end; undefined where a quoted field has no end, or one below its line and text
 * after it, unless `mayBeTorn`. Where text follows a closing quote, both quotes belong to the field.
 */
export function csvFields(text: string, delimiter: number, mayBeTorn = false): string[] | undefined {
  const separator = String.fromCharCode(delimiter);
  if (!text.includes('"')) return text.split(separator);
  const fields: string[] = [];
  for (let at = 0; at <= text.length; ) {
    const isQuoted = text.charCodeAt(at) === QUOTE;
    const close = isQuoted ? closingQuote(text, at + 1) : at - 1;
    if (close < at - 1) return undefined;
    const found = text.indexOf(separator, close + 1);
    const end = found < 0 ? text.length : found;
    const rest = text.slice(close + 1, end);
    const inside = isQuoted ? text.slice(at + 1, close) : '';
    if (!mayBeTorn && isBehind(withoutBlanks(rest)) && inside.includes('\n')) return undefined;
    fields.push(isQuoted ? unquoted(inside, rest) : rest);
    at = end + 1;
  }
  return fields;
}

/** The offset of the quote that ends a quoted field, whose text begins at `from`; -2 where there is none. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text.charCodeAt(at + 1) !== QUOTE) return at;
  }
  return -2;
}

/** @param rest text between the closing quote and the end of the field */
function unquoted(inside: string, rest: string): string {
  const text = inside.replaceAll('""', '"');
  return isBehind(rest) ? `"${text}"${rest}` : text + rest;
}

/** A NUL ends the quoted part as the end of the row does. */
const isBehind = (rest: string): boolean => rest !== '' && !rest.startsWith('\0');
