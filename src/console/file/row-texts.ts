// The rows of an answer as lines for people, read out of its Blob when somebody asks for them.
import { fieldsOf, RowCutter } from './table-plan.js';

const MAX_SHOWN_UNITS = 160;

/**
 * @param blocks the first row of each block of the answer, and the byte at which it begins: pairs
 * @param delimiter of a table; undefined of lines of JSON
 */
export async function rowTexts(
  answer: Blob,
  blocks: readonly number[],
  delimiter: string | undefined,
  rows: readonly number[],
): Promise<string[]> {
  const read = new Map<number, readonly string[]>();
  const texts: string[] = [];
  for (const row of rows) {
    let at = 0;
    while (at + 2 < blocks.length && blocks[at + 2]! <= row) at += 2;
    let lines = read.get(at);
    if (lines === undefined) {
      const text = await answer.slice(blocks[at + 1]!, blocks[at + 3] ?? answer.size).text();
      const cutter = new RowCutter();
      lines = delimiter === undefined ? text.split('\n') : [...cutter.push(text), ...cutter.end()];
      read.set(at, lines);
    }
    const line = lines[row - blocks[at]!] ?? '';
    const shown =
      delimiter === undefined
        ? line
        : fieldsOf(line, delimiter)
            .filter((field) => field !== '')
            .join(' · ');
    texts.push(shown.length > MAX_SHOWN_UNITS ? `${shown.slice(0, MAX_SHOWN_UNITS)}…` : shown);
  }
  return texts;
}
