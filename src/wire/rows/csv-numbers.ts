// Texts of numbers as tables hold them: with blanks around them, or with a decimal comma. The same rules as the kernel's
// (assembly/text/scan/csv-numbers.ts).

/** Without the spaces, tabs and no-break spaces around a text. */
export function withoutBlanks(text: string): string {
  return text.replace(/^[ \t\u00a0]+/, '').replace(/[ \t\u00a0]+$/, '');
}

/** The text of a number without blanks, and with a point where it has one comma and no point. */
export function plainNumber(text: string): string {
  const bare = withoutBlanks(text);
  return /^[^,.]+,[^,.]*$/.test(bare) ? bare.replace(',', '.') : bare;
}
