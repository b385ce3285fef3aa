// Rows of CSV: where they end, in pieces, with a kernel and without, as a reader of one character after the other says.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openKernel } from '../../../support/open-world.js';
import { CsvSplitter } from '../../../support/wire.js';

const kernels = [openKernel(), openKernel('kernel.debug')];

/** The text given out after each chunk with a flush, and at the end. */
function givenOut(
  chunks: readonly Uint8Array[],
  delimiter: number,
  kernel?: (typeof kernels)[number],
): string[] {
  const splitter = new CsvSplitter(delimiter, undefined, kernel);
  let out = '';
  const more = (blocks: readonly Uint8Array[]): string => (out += Buffer.concat(blocks).toString());
  const after = chunks.map((chunk) => more([...splitter.push(chunk), ...splitter.flush()]));
  return [...after, more(splitter.end())];
}

/** The text up to the end of its last whole row. */
function wholeRows(text: string, delimiter: string): string {
  let [end, isQuoted, mayOpen] = [0, false, true];
  for (const [at, sign] of [...text].entries()) {
    if (sign === '"' && (isQuoted || mayOpen)) isQuoted = !isQuoted;
    else if (!isQuoted) mayOpen = sign === '\n' || sign === delimiter;
    if (sign === '\n' && !isQuoted) end = at + 1;
  }
  return text.slice(0, end);
}

const text = fc
  .array(fc.constantFrom('"', '""', ',', ';', '\n', '\r\n', 'a', 'bcdefghijklmnopq', '","', '"\n"'), {
    maxLength: 60,
  })
  .map((parts) => parts.join(''));
/** Rows that fill what the kernel reads at once, or nearly. */
const filling = fc.nat(80).map((spare) => `${'x,"y"\n'.repeat(1363)}${'z'.repeat(spare)}`);
const body = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: fc.tuple(filling, text).map((both) => both.join('')) },
);

test('whole rows are given out, however the body is cut', () => {
  fc.assert(
    fc.property(
      body,
      fc.array(fc.nat(9000), { maxLength: 3 }),
      fc.constantFrom(44, 59),
      (csv, cuts, delimiter) => {
        const places = cuts.map((cut) => cut % (csv.length + 1)).sort((a, b) => a - b);
        const ends = [...places, csv.length];
        const chunks = ends.map((end, i) => Buffer.from(csv.slice(ends[i - 1] ?? 0, end)));
        const sign = String.fromCharCode(delimiter);
        const due = [...ends.map((end) => wholeRows(csv.slice(0, end), sign)), csv];
        for (const kernel of [undefined, ...kernels])
          expect(givenOut(chunks, delimiter, kernel)).toEqual(due);
      },
    ),
    { numRuns: 750 },
  );
});
