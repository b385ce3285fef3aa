// The text of one record as a string of its own: a slice of a longer text would keep that text in memory.
import { RECORD_TEXT_BYTES } from './output-layout.js';

/**
 * A function that takes as many numbers as the text has characters is the fastest, and codes have few lengths: two or
 * three letters of the province, and one length for two or three resolutions.
 */
export function recordText(records: Uint8Array, at: number): string {
  let length = RECORD_TEXT_BYTES;
  while (length > 0 && records[at + length - 1] === 0) length--;
  const text = String.fromCharCode;
  // biome-ignore format: six in a line
  const
    a = records[at + 0]!, b = records[at + 1]!, c = records[at + 2]!, d = records[at + 3]!, e = records[at + 4]!, f = records[at + 5]!,
    g = records[at + 6]!, h = records[at + 7]!, i = records[at + 8]!, j = records[at + 9]!, k = records[at + 10]!, l = records[at + 11]!,
    m = records[at + 12]!, n = records[at + 13]!, o = records[at + 14]!, p = records[at + 15]!, q = records[at + 16]!, r = records[at + 17]!;
  // biome-ignore format: a line for each length
  switch (length) {
    case 5: return text(a, b, c, d, e);
    case 6: return text(a, b, c, d, e, f);
    case 7: return text(a, b, c, d, e, f, g);
    case 8: return text(a, b, c, d, e, f, g, h);
    case 10: return text(a, b, c, d, e, f, g, h, i, j);
    case 11: return text(a, b, c, d, e, f, g, h, i, j, k);
    case 12: return text(a, b, c, d, e, f, g, h, i, j, k, l);
    case 13: return text(a, b, c, d, e, f, g, h, i, j, k, l, m);
    case 14: return text(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
    case 15: return text(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
    case 17: return text(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
    case 18: return text(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
    default: return text(...records.subarray(at, at + length));
  }
}
