// Reading and writing of single CSV rows, compared with csv-parse.
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvQuoted, eachRow, fieldsOf } from '#dist/files/formats/csv/dialect.js';

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
