// The byte sequences of the cases 6.5 to 6.23: those of Markus Kuhn's UTF-8 decoder stress test, in its order. Whether
// one is UTF-8 is asked of TextDecoder.

export interface Sequence {
  readonly id: string;
  readonly bytes: Buffer;
  readonly isValid: boolean;
}

/**
 * Groups 6.7 to 6.22 in hexadecimal; 6.5 and 6.6 need the Greek word, and 6.12.8, 6.13 and 6.22 are counted out below.
 */
const GROUPS: Readonly<Record<number, string>> = {
  7: '00 c280 e0a080 f0908080',
  8: 'f888808080 fc8480808080',
  9: '7f dfbf efbfbf f48fbfbf',
  10: 'f7bfbfbf fbbfbfbfbf fdbfbfbfbfbf',
  11: 'ed9fbf ee8080 efbfbd f48fbfbf f4908080',
  12: '80 bf 80bf 80bf80 80bf80bf 80bf80bf80 80bf80bf80bf',
  14: 'c0 e080 f08080 f8808080 fc80808080 df efbf f7bfbf fbbfbfbf fdbfbfbfbf',
  15: 'c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf',
  16: 'fe ff fefeffff',
  17: 'c0af e080af f08080af f8808080af fc80808080af',
  18: 'c1bf e09fbf f08fbfbf f887bfbfbf fc83bfbfbfbf',
  19: 'c080 e08080 f0808080 f880808080 fc8080808080',
  20: 'eda080 edadbf edae80 edafbf edb080 edbe80 edbfbf',
  21: 'eda080edb080 eda080edbfbf edadbfedb080 edadbfedbfbf edae80edb080 edae80edbfbf edafbfedb080 edafbfedbfbf',
  22: 'efbfbe efbfbf',
  23: 'efbfb9 efbfba efbfbb efbfbc efbfbd efbfbe efbfbf',
};

export function sequencesOf6(greek: Buffer): readonly Sequence[] {
  const groups = new Map<number, Buffer[]>();
  groups.set(5, [
    ...['hello$world', 'hello¢world', 'hello€world', 'hello𤭢world'].map((t) => Buffer.from(t)),
    greek,
  ]);
  groups.set(
    6,
    Array.from({ length: greek.length }, (_, i) => greek.subarray(0, i + 1)),
  );
  for (const [group, hex] of Object.entries(GROUPS)) {
    groups.set(
      Number(group),
      hex.split(' ').map((text) => Buffer.from(text, 'hex')),
    );
  }
  groups.get(12)!.push(Buffer.from(Array.from({ length: 0xbf - 0x80 }, (_, i) => 0x80 + i)));
  // Every start byte of two, three, four, five and six bytes, each followed by a space.
  groups.set(
    13,
    [
      [0xc0, 0xdf],
      [0xe0, 0xef],
      [0xf0, 0xf7],
      [0xf8, 0xfb],
      [0xfc, 0xfd],
    ].map(([from, to]) =>
      Buffer.from(Array.from({ length: to! - from! }, (_, i) => [from! + i, 0x20]).flat()),
    ),
  );
  // The last two code points of each plane but the first are no characters, and still UTF-8.
  for (let plane = 1; plane <= 16; plane++) {
    for (const last of [0xfffe, 0xffff])
      groups.get(22)!.push(Buffer.from(String.fromCodePoint(plane * 65_536 + last)));
  }
  return [...groups]
    .sort(([a], [b]) => a - b)
    .flatMap(([group, sequences]) =>
      sequences.map((bytes, i) => ({ id: `6.${group}.${i + 1}`, bytes, isValid: isUtf8(bytes) })),
    );
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
