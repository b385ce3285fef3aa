// The file inside a form, cut into chunks anywhere.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundaryOf, FormReader, type PartHead } from '#dist/server/bulk/multipart.js';

/** Files that are full of what looks like a boundary. */
const file = fc
  .array(fc.constantFrom('\r\n', '\r', '\n', '-', '--', '\r\n-', '\r\n--', '\r\n--b', 'bou', 'a,b\n'), {
    maxLength: 40,
  })
  .map((pieces) => pieces.join(''));
const line = (text: string): string => `\r\n--boundary${text}`;

function read(body: Buffer, cuts: readonly number[]): { file: string; heads: PartHead[]; heldBytes: number } {
  const heads: PartHead[] = [];
  const reader = new FormReader('boundary', (head) => heads.push(head));
  const taken: Buffer[] = [];
  let heldBytes = 0;
  const bounds = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
  for (let i = 1; i < bounds.length; i++) {
    // The chunk's memory is used again, as that of the transport is.
    const chunk = Buffer.from(body.subarray(bounds[i - 1], bounds[i]));
    reader.push(chunk, (bytes) => taken.push(Buffer.from(bytes)));
    chunk.fill(0);
    if (heads.length > 0) heldBytes = Math.max(heldBytes, reader.heldBytes);
  }
  reader.end();
  return { file: Buffer.concat(taken).toString(), heads, heldBytes };
}

test('comes out as it went in, and no more than a boundary is kept of it', () => {
  const cuts = fc.array(fc.nat(), { maxLength: 20 });
  fc.assert(
    fc.property(file, cuts, fc.constantFrom('', 'preamble'), (text, at, preamble) => {
      const head = 'Content-Type: text/csv\r\nContent-Disposition: form-data; name=f; filename="a\\"b.csv"';
      const body = Buffer.from(`${preamble}${line(' \r\n')}${head}\r\n\r\n${text}${line('--\r\nepilogue')}`);
      const found = read(preamble === '' ? body.subarray(2) : body, at);
      expect(found.file).toBe(text);
      expect(found.heads).toEqual([{ name: 'f', fileName: 'a"b.csv', contentType: 'text/csv' }]);
      expect(found.heldBytes).toBeLessThanOrEqual(line('').length + 2);
    }),
  );
});

test('a form that is cut anywhere before its end is refused', () => {
  const body = Buffer.from(`--boundary\r\n\r\na,b\n${line('--')}`);
  expect(read(body, []).file).toBe('a,b\n');
  for (let size = 0; size < body.length; size++)
    expect(() => read(body.subarray(0, size), []), String(size)).toThrow(/--boundary/);
});

test.each([
  ['multipart/form-data; boundary=b', 'b'],
  ['multipart/form-data; charset=utf-8; Boundary="a b:c"', 'a b:c'],
  ['multipart/form-data;boundary=----WebKitFormBoundaryAb1', '----WebKitFormBoundaryAb1'],
  ['multipart/form-data', undefined],
  ['multipart/form-data; boundary=', undefined],
  ['multipart/form-data; boundary="b "', undefined],
  [`multipart/form-data; boundary=${'b'.repeat(71)}`, undefined],
  ['multipart/form-data; boundary="b\u00e4"', undefined],
])('the boundary of %s is %s', (type, boundary) => {
  expect(boundaryOf(type)).toBe(boundary);
});

test.each(['x\n', 'x\r\n', 'xy\n', ' x\r\n', '-\r\n'])('a boundary that goes on by %j is refused', (rest) => {
  const body = Buffer.from(`--boundary${rest}\r\na,b\n${line('--')}`);
  for (const cuts of [[], [11], [12]]) expect(() => read(body, cuts)).toThrow(/goes on: it is damaged/);
});
