// Cuts bytes into lines of UTF-8 text, for NDJSON and for GeoJSON with one feature a line.

import { isRest } from '../disk/rests.js';
import { badInput } from '../exit-codes.js';

/** A longer line is a file without line ends rather than a row. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const RECORD_SEPARATOR = 0x1e;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** A line as text, without blanks around it. @throws CliFailure BAD_INPUT for a NUL byte and for what is not UTF-8 */
export function textOfLine(bytes: Uint8Array, file: string, line: number): string {
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw badInput({ file, row: line }, `a NUL byte at byte ${nul + 1} of the line`);
  try {
    // A record separator may precede each text of a GeoJSON sequence (RFC 8142).
    return decoder.decode(bytes[0] === RECORD_SEPARATOR ? bytes.subarray(1) : bytes).trim();
  } catch {
    throw badInput({ file, row: line }, 'not UTF-8');
  }
}

/** The failure for a line that is too long. */
export function tooLongLine(file: string, line: number): Error {
  return badInput({ file, row: line }, `a line of more than ${MAX_LINE_BYTES / 2 ** 20} MiB`);
}

/**
 * The lines that are not blank, without line ends, with their numbers from 1; none where the input rests.
 * @param earlierLines of the file, before the chunks
 * @throws CliFailure BAD_INPUT for a NUL byte, bytes that are not UTF-8, a line that is too long
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  earlierLines = 0,
): AsyncGenerator<{ text: string; line: number }[]> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let line = earlierLines;
  for await (const chunk of chunks) {
    const lines: { text: string; line: number }[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(10, start);
      if (end < 0) break;
      let bytes: Uint8Array = chunk.subarray(start, end);
      if (pendingBytes + bytes.length > MAX_LINE_BYTES) throw tooLongLine(file, line + 1);
      if (pendingBytes > 0) {
        bytes = Buffer.concat([...pending, bytes]);
        pending = [];
        pendingBytes = 0;
      }
      line++;
      const text = textOfLine(bytes, file, line);
      if (text !== '') lines.push({ text, line });
      start = end + 1;
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes > MAX_LINE_BYTES) throw tooLongLine(file, line + 1);
    }
    if (lines.length > 0 || isRest(chunk)) yield lines;
  }
  if (pendingBytes > 0) {
    line++;
    const text = textOfLine(Buffer.concat(pending), file, line);
    if (text !== '') yield [{ text, line }];
  }
}
