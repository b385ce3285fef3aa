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
