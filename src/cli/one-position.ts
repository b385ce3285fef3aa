// `hexcodes encode 21.0288,105.8525` as people first try it and scripts call it in loops: one position and no option.
// No command parser is loaded for it. Other calls are left to program.ts; a test checks that both give the same
// answer.
import { existsSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { watchStandardOutput } from '../files/exit-codes.js';
import { loadLibrary } from '../files/library.js';
import { parsePosition } from '../hexcodes/wire/rows/position-text.js';

/**
 * Writes the code of a position to standard output.
 * @returns false if nothing is written and the whole program must answer
 */
export async function answerOne(text: string): Promise<boolean> {
  const position = parsePosition(text);
  // The middle of a view or a cell gets a remark, from the whole program.
  if (position === null || position.middleOf !== undefined || existsSync(text)) return false;
  // The optimizing compiler would take 8 ms of CPU for functions of the kernel that only a start calls.
  setFlagsFromString('--liftoff-only');
  const code = await loadLibrary()
    .then((hexcodes) => hexcodes.encode(position.latDeg, position.lngDeg).hexcodes)
    .catch(() => undefined);
  setFlagsFromString('--no-liftoff-only');
  if (code === undefined) return false;
  watchStandardOutput();
  process.stdout.write(`${code}\n`);
  return true;
}
