// Texts of numbers as tables hold them: with blanks around them, or with a decimal comma. The same rules as the
// kernel's (assembly/text/scan/csv-numbers.ts).

/** Without the spaces, tabs and no-break spaces around a text. */
export function withoutBlanks(text: string): string {
  return withoutAround(text, isBlank);
}

function isBlank(unit: string): boolean {
  return unit === ' ' || unit === '\t' || unit === '\u00a0';
}

/**
 * Without the UTF-16 units around a text that `isDropped` names. An expression like /[ ]+$/ would try every blank
 * inside the text again: 250 KB of blanks took a minute.
 */
export function withoutAround(text: string, isDropped: (unit: string) => boolean): string {
  let start = 0;
  let end = text.length;
  while (start < end && isDropped(text[start]!)) start++;
  while (end > start && isDropped(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** The text of a number without blanks, and with a point where it has one comma and no point. */
export function plainNumber(text: string): string {
  const bare = withoutBlanks(text);
  return /^[^,.]+,[^,.]*$/.test(bare) ? bare.replace(',', '.') : bare;
}
