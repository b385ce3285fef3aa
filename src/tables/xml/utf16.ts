// UTF-16 of XML, known by its first bytes.

/** Byte order, known by a mark, or by `<` and a letter (XML 1.0, F.1); undefined for any other encoding. */
export function utf16Of([a, b, c, d]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0 && c !== 0 && d === 0)) return 'utf-16le';
  return (a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c && c === 0 && d !== 0) ? 'utf-16be' : undefined;
}
