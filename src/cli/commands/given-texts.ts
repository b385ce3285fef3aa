// Positions and codes on the command line of encode and decode, in place of files: finds and answers them. One that
// cannot be answered is named, and the others are answered.

import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { formatOfName } from '../../files/format.js';
import { HexcodesError } from '../../hexcodes/errors.js';
import { otherText } from '../../hexcodes/geometry/other-text.js';
import type { Encoded, EncodeOptions, Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { looksSwapped, type Operation } from '../../hexcodes/wire/job.js';
import { type Position, parsePosition } from '../../hexcodes/wire/rows/position-text.js';
import { METRES, notesOn } from './other-command.js';

/** A text of the command line, and its content. */
export type GivenText =
  | { readonly text: string; readonly position: Position; readonly isSwapped: boolean }
  | { readonly text: string; readonly code: string }
  | { readonly text: string; readonly nothing: true };

/**
 * Texts with a folder, or with the extension of a format or of a packed file, are paths, whether or not the file
 * exists.
 */
export function isPath(text: string): boolean {
  // A page's own link without its scheme, and a code copied with a trailing slash.
  if (/\/#/.test(text) || /^[^:./\\]*\/+$/.test(text)) return false;
  return /^[^:]*[/\\]|\.(?:gz|zst)$/i.test(text) || formatOfName(text).format !== null;
}

/** Arguments that look like a mistyped position or code. */
const LOOKS_MEANT: Readonly<Record<Operation, RegExp>> = {
  encode: /\d\D+\d/,
  decode: /^\p{L}{2,3}.*\d|^\d.*\p{L}/u,
};

/**
 * The positions or codes in the arguments: one written with blanks or inside a sentence, or one in each.
 * @returns null where they may be names of files, or are not positions
 */
export async function givenTexts(
  hexcodes: Hexcodes,
  operation: Operation,
  what: readonly string[],
): Promise<readonly GivenText[] | null> {
  const isRead = (text: string): boolean =>
    operation === 'encode' ? parsePosition(text) !== null : hexcodes.isValid(text);
  const joined = what.join(' ');
  const read = isRead(joined) ? [] : what.filter(isRead);
  const others = what.filter((each) => !read.includes(each));
  if (!isRead(joined) && others.some(isPath)) return null;
  // With other words the arguments are a sentence.
  const isList =
    read.length > 0 &&
    read.length + others.length > 1 &&
    (others.length === 0 || others.some((each) => LOOKS_MEANT[operation].test(each)));
  const found = (
    await Promise.all((isList ? what : [joined]).map((text) => foundIn(hexcodes, operation, text)))
  ).flat();
  if (found.some((each) => !('nothing' in each))) return found;
  return operation === 'encode' ? null : what.map((text) => ({ text, nothing: true }));
}

/** The codes or positions that a text names, if any. */
async function foundIn(hexcodes: Hexcodes, operation: Operation, text: string): Promise<GivenText[]> {
  const position = operation === 'encode' ? parsePosition(text) : null;
  if (position !== null) return [{ text, position, isSwapped: false }];
  if (operation === 'decode' && hexcodes.isValid(text)) return [{ text, code: text }];
  // Loaded only for other texts: it includes all of H3.
  const { findCode } = await import('../../hexcodes/geometry/find-code.js');
  const found = findCode(hexcodes, text);
  const all = found === null ? [] : found.kind === 'several' ? found.found : [found];
  const given = all.flatMap((each): GivenText[] => {
    if (each.kind === 'code') return operation === 'decode' ? [{ text, code: each.hexcodes }] : [];
    if (operation === 'decode') return [];
    const { lat: latDeg, lng: lngDeg, middleOf, isSwapped } = each;
    const middle = middleOf === undefined ? {} : { middleOf };
    return [{ text, position: { latDeg, lngDeg, ...middle }, isSwapped }];
  });
  return given.length > 0 ? given : [{ text, nothing: true }];
}

export interface GivenAnswers {
  /** Lines of the answered ones. */
  readonly lines: readonly string[];
  /** Remarks about positions that are not exactly the requested ones. */
  readonly notes: readonly string[];
  /** The failure of the others. */
  readonly failure: CliFailure | null;
}

/** The answers to such texts, in order. */
export async function answersTo(
  hexcodes: Hexcodes,
  texts: readonly GivenText[],
  options: EncodeOptions,
  isJson: boolean,
): Promise<GivenAnswers> {
  const lines: string[] = [];
  const notes: string[] = [];
  const failures: CliFailure[] = [];
  for (const given of texts) {
    try {
      if ('code' in given) lines.push(decodedOne(hexcodes, given.code, isJson));
      else if ('position' in given) {
        lines.push(encodedOne(hexcodes, given.position, options, isJson));
        notes.push(...notesOn(given.position, given.isSwapped));
      } else failures.push(await notAnswered(hexcodes, given.text, texts));
    } catch (error) {
      if (!(error instanceof CliFailure)) throw error;
      failures.push(error);
    }
  }
  return { lines, notes, failure: oneOf(failures) };
}

async function notAnswered(
  hexcodes: Hexcodes,
  text: string,
  texts: readonly GivenText[],
): Promise<CliFailure> {
  if (texts.some((each) => 'position' in each))
    return new CliFailure(EXIT.FAILED, `${JSON.stringify(text)} is not a position`);
  return (await import('./inspect.js')).notAHexcode(hexcodes, text);
}

/** The first of several failures, with the others. */
function oneOf([first, ...others]: readonly CliFailure[]): CliFailure | null {
  return first === undefined ? null : new CliFailure(EXIT.FAILED, first.message, first.hint, others);
}

/** @throws CliFailure FAILED for a position without a code */
function encodedOne(
  hexcodes: Hexcodes,
  { latDeg, lngDeg }: Position,
  options: EncodeOptions,
  isJson: boolean,
): string {
  try {
    const encoded = hexcodes.encode(latDeg, lngDeg, options);
    if (isJson) return JSON.stringify(encoded);
    const { hexcodes: code, former_province: before } = encoded;
    const province = before === undefined ? '' : `  ${before}`;
    return code + province + (options.certainty === true ? certaintyIn(encoded) : '');
  } catch (error) {
    if (!(error instanceof HexcodesError)) throw error;
    const hint = looksSwapped(hexcodes.kernel, latDeg, lngDeg)
      ? `Perhaps: hexcodes encode ${lngDeg},${latDeg}`
      : otherText(`${latDeg} ${lngDeg}`) === 'metres'
        ? METRES
        : undefined;
    throw new CliFailure(EXIT.FAILED, error.message, hint);
  }
}

/** How sure the province is, for people. */
function certaintyIn({ border_m, certainty }: Encoded): string {
  const border = border_m === null ? 'no border within 5 km' : `border at ${border_m} m`;
  return certainty === null ? `  ${border}` : `  ${border}, certainty ${certainty}`;
}

function decodedOne(hexcodes: Hexcodes, text: string, isJson: boolean): string {
  const read = hexcodes.read(text);
  if (read === null) throw new TypeError(`${text} is not a code`);
  const { hexcodes: code, lat, lng, resolution, admin_code } = read;
  return isJson ? JSON.stringify({ hexcodes: code, lat, lng, resolution, admin_code }) : `${lat},${lng}`;
}
