// Positions and codes on the command line of encode and decode, in place of files: which arguments are meant so, and
// their answers.

import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { HexcodesError } from '../../hexcodes/errors.js';
import type { Encoded, EncodeOptions, Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { Operation } from '../../hexcodes/wire/job.js';
import { parsePosition } from '../../hexcodes/wire/rows/position-text.js';
import { looksSwapped } from '../../hexcodes/wire/swapped.js';
import { otherCommand } from './other-command.js';

/** Texts with these are paths, whether there is such a file or not. */
const PATH =
  /^[^:]*[/\\]|\.(?:csv|tsv|tab|ndjson|jsonl|geojson|json|parquet|pq|arrow|arrows|feather|xlsx|gz|zst|txt)$/i;

export function isPath(text: string): boolean {
  return PATH.test(text);
}

/** The positions that arguments are: one that is written with blanks, or one each; null if one of them is none. */
export function positionsIn(what: readonly string[]): readonly string[] | null {
  const joined = what.join(' ');
  if (parsePosition(joined) !== null) return [joined];
  return what.every((each) => parsePosition(each) !== null) ? what : null;
}

/** The codes that arguments are, in the same way; a single argument that is no path is meant as a code. */
export function codesIn(hexcodes: Hexcodes, what: readonly string[]): readonly string[] | null {
  const isValid = (text: string): boolean => hexcodes.isValid(text);
  const joined = what.join(' ');
  if (isValid(joined)) return [joined];
  if (what.length === 1) return isPath(joined) ? null : what;
  return what.every(isValid) ? what : null;
}

export function noFileNor(hexcodes: Hexcodes, operation: Operation, what: readonly string[]): CliFailure {
  const text = JSON.stringify(what.join(' '));
  if (operation === 'decode') {
    return new CliFailure(EXIT.BAD_INPUT, `${text} is no file, and not a hexcode or several`);
  }
  const isShortLink = /^https?:/i.test(what[0]!);
  return new CliFailure(
    EXIT.BAD_INPUT,
    `${text} is no file, and not a position`,
    isShortLink
      ? 'The link holds no position. Open it, and copy the long address of the browser.'
      : (otherCommand(hexcodes, what.join(' ')) ?? 'A position is written like 21.0288,105.8525.'),
  );
}

/** @throws CliFailure FAILED for a position without a code */
export function encodedOne(
  hexcodes: Hexcodes,
  text: string,
  options: EncodeOptions,
  isJson: boolean,
): string {
  const position = parsePosition(text);
  if (position === null) throw new TypeError(`${text} is no position`);
  const { latDeg, lngDeg } = position;
  try {
    const encoded = hexcodes.encode(latDeg, lngDeg, options);
    if (isJson) return JSON.stringify(encoded);
    const former = options.former === true ? `  ${encoded.former_province}` : '';
    return encoded.hexcodes + former + (options.certainty === true ? certaintyIn(encoded) : '');
  } catch (error) {
    if (!(error instanceof HexcodesError)) throw error;
    const hint = looksSwapped(hexcodes.kernel, latDeg, lngDeg)
      ? `Perhaps: hexcodes encode ${lngDeg},${latDeg}`
      : undefined;
    throw new CliFailure(EXIT.FAILED, error.message, hint);
  }
}

/** How sure the province is, for people. */
function certaintyIn({ border_m, certainty }: Encoded): string {
  const border = border_m === null ? 'no border within 5 km' : `border at ${border_m} m`;
  return certainty === null ? `  ${border}` : `  ${border}, certainty ${certainty}`;
}

/** @throws CliFailure FAILED for a text that is no code */
export async function decodedOne(hexcodes: Hexcodes, text: string, isJson: boolean): Promise<string> {
  const read = hexcodes.read(text);
  if (read === null) throw (await import('./inspect.js')).notAHexcode(hexcodes, text);
  const { hexcodes: code, lat, lng, resolution, admin_code } = read;
  return isJson ? JSON.stringify({ hexcodes: code, lat, lng, resolution, admin_code }) : `${lat},${lng}`;
}
