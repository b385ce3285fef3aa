// Suggests another command where a position, a code or a file is given to one that does not take it.

import { existsSync } from 'node:fs';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { formatOfName } from '../../files/format.js';
import { loadLibrary } from '../../files/library.js';
import { shellWord } from '../../files/terminal/say.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { parsePosition } from '../../hexcodes/wire/rows/position-text.js';

/** The remedy for angles like `19°52'46S`. */
export const UNCLEAR_S = `Its S may be seconds or south: write seconds as 46", and north or south behind them.`;

/** `Perhaps: hexcodes encode …` for a position, `… decode …` for a code; undefined for other texts. */
export function otherCommand(hexcodes: Hexcodes, text: string): string | undefined {
  const command = parsePosition(text) !== null ? 'encode' : hexcodes.isValid(text) ? 'decode' : null;
  return command === null ? undefined : `Perhaps: hexcodes ${command} ${shellWord(text)}`;
}

/** The failure for a first word that is a position, a code or a file; null for others, which commander answers. */
export async function noCommand(word: string): Promise<CliFailure | null> {
  const isFile = existsSync(word) && formatOfName(word).format !== null;
  const hint = isFile
    ? `Perhaps: hexcodes encode ${shellWord(word)}, or decode`
    : otherCommand(await loadLibrary(), word);
  return hint === undefined ? null : new CliFailure(EXIT.USAGE, `unknown command '${word}'`, hint);
}
