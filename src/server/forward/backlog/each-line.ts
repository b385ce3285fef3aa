// Goes through many lines in several turns of the event loop, between which requests are answered.
import { setImmediate as nextTurn } from 'node:timers/promises';

const LINE_END = 10;
/** Bytes of lines that are parsed before requests have their turn: some 100 µs. */
const TURN_BYTES = 32 * 1024;

/**
 * @param lines whole lines
 * @param each gets a line without its end
 */
export async function eachLine(lines: Buffer, each: (line: Buffer) => void): Promise<void> {
  let turnEnd = TURN_BYTES;
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf(LINE_END, at);
    each(lines.subarray(at, end));
    at = end + 1;
    if (at >= turnEnd) {
      turnEnd = at + TURN_BYTES;
      await nextTurn();
    }
  }
}
