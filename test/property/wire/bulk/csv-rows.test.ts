// Rows of CSV: where they end, by the kernel, in pieces, as by the reader of header rows, which knows no kernel.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openKernel } from '../../../support/open-world.js';
import { CsvSplitter } from '../../../support/wire.js';

const kernels = [openKernel(), openKernel('kernel.debug')];

/** The blocks of a body, flushed after each chunk. */
function blocksOf(
  chunks: readonly Uint8Array[],
  delimiter: number,
  kernel?: (typeof kernels)[number],
): string[] {
  const splitter = new CsvSplitter(delimiter, undefined, kernel);
  const blocks = chunks.flatMap((chunk) => [...splitter.push(chunk), ...splitter.flush()]);
  return [...blocks, ...splitter.end()].map((block) => Buffer.from(block).toString());
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

test('row ends equal those of the reader without a kernel, however the body is cut', () => {
  fc.assert(
    fc.property(
      body,
      fc.array(fc.nat(9000), { maxLength: 3 }),
      fc.constantFrom(44, 59),
      (csv, cuts, delimiter) => {
        const bytes = Buffer.from(csv);
        const places = [
          0,
          ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b),
          bytes.length,
        ];
        const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
        const due = blocksOf(chunks, delimiter);
        for (const kernel of kernels) expect(blocksOf(chunks, delimiter, kernel)).toEqual(due);
      },
    ),
    { numRuns: 750 },
  );
});
