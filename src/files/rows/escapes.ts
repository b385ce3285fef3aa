// Texts of JSON without their escapes.

const [BACKSLASH, LETTER_U] = [92, 117] as const;

/** Letters after a backslash, and what they stand for; `u` apart. */
const ESCAPES = new Uint8Array(256);
for (const [letter, means] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'])
  ESCAPES[letter!.charCodeAt(0)] = means!.charCodeAt(0);

/** The unit of UTF-16 that four digits say; -1 for others. */
function unitAt(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let p = at; p < at + 4; p++) {
    const byte = bytes[p]!;
    const digit =
      byte >= 48 && byte <= 57 ? byte - 48 : (byte | 32) >= 97 && (byte | 32) <= 102 ? (byte | 32) - 87 : -1;
    if (digit < 0) return -1;
    unit = 16 * unit + digit;
  }
  return unit;
}

/**
 * Writes a text that has escapes without them.
 * @param into has room for as many bytes at `to`
 * @returns after its last byte; -1 for half of a pair of UTF-16
 */
export function unescaped(
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Uint8Array,
  to: number,
): number {
  let at = to;
  for (let p = start; p < end; p++) {
    const byte = bytes[p]!;
    if (byte !== BACKSLASH) {
      into[at++] = byte;
      continue;
    }
    const letter = bytes[++p]!;
    if (letter !== LETTER_U) {
      into[at++] = ESCAPES[letter]!;
      continue;
    }
    let point = unitAt(bytes, p + 1);
    p += 4;
    if (point >= 0xd800 && point < 0xe000) {
      const isPair = point < 0xdc00 && bytes[p + 1] === BACKSLASH && bytes[p + 2] === LETTER_U;
      const low = isPair ? unitAt(bytes, p + 3) : -1;
      if (low < 0xdc00 || low > 0xdfff) return -1;
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
      p += 6;
    }
    if (point < 0x80) into[at++] = point;
    else {
      if (point < 0x800) into[at++] = 0xc0 | (point >> 6);
      else {
        if (point < 0x10000) into[at++] = 0xe0 | (point >> 12);
        else {
          into[at++] = 0xf0 | (point >> 18);
          into[at++] = 0x80 | ((point >> 12) & 63);
        }
        into[at++] = 0x80 | ((point >> 6) & 63);
      }
      into[at++] = 0x80 | (point & 63);
    }
  }
  return at;
}
