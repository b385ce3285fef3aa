// Rows of CSV: where they end, by the kernel, in pieces, as by the reader of header rows, which knows no kernel;
// single rows read and written, compared with csv-parse.

import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvQuoted, eachRow, fieldsOf } from '#dist/files/formats/csv/dialect.js';
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

test('ends of rows are those of the reader without a kernel, however the body is cut', () => {
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

// Reading and writing of single CSV rows, compared with csv-parse.

const SEED = 20_260_602;
console.log(`csv-rows: seed ${SEED}`);

const field = fc
  .oneof(
    fc.string({ maxLength: 8 }),
    fc.stringMatching(/^[a",\t ốộ]{0,8}$/),
    fc.constantFrom('', '"', '""', 'a"b', '"a', ' a ', 'x,y', 'line'),
  )
  .filter((text) => !/[\r\n\0]/.test(text));

test('fields that are written are read again the same, here and by csv-parse', () => {
  fc.assert(
    fc.property(
      fc
        .integer({ min: 2, max: 6 })
        .chain((count) =>
          fc.array(fc.array(field, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 8 }),
        ),
      fc.constantFrom(',', '\t', ';', '|'),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      (rows, delimiter, lineEnd, hasLastEnd) => {
        const text =
          rows.map((row) => row.map((text) => csvQuoted(text, delimiter)).join(delimiter)).join(lineEnd) +
          (hasLastEnd ? lineEnd : '');
        const bytes = Buffer.from(text);
        const read: string[][] = [];
        eachRow(bytes, delimiter.charCodeAt(0), (start, end) => {
          read.push(fieldsOf(bytes, start, end, delimiter.charCodeAt(0)));
        });
        const wanted = parse(text, {
          delimiter,
          skip_empty_lines: true,
          relax_column_count: true,
        }) as string[][];
        expect(read).toEqual(wanted);
        expect(read).toEqual(rows);
      },
    ),
    { seed: SEED, numRuns: 750 },
  );
});
