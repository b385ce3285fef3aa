// The fields of CSV rows against csv-parse, with quotes, delimiters and NUL at every place.
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvFields } from '#dist/hexcodes/wire/rows/csv-fields.js';

const SEED = 20_261_122;

function fieldsByPeer(text: string, delimiter: string): string[] | undefined {
  try {
    const rows = parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n'],
      relax_quotes: true,
      relax_column_count: true,
    });
    return rows.length === 0 ? [''] : rows[0];
  } catch {
    return undefined;
  }
}

test('the fields of a row are those of csv-parse', () => {
  const seen = { unclosed: 0, quoted: 0, plain: 0 };
  const row = fc
    .array(fc.constantFrom('"', '"', '""', ',', '\t', 'a', 'ế', ' ', '\0', '\r', '\ufeff', '"a"'), {
      maxLength: 14,
    })
    .map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(row, fc.constantFrom(',', '\t'), (text, delimiter) => {
      const fields = csvFields(text, delimiter.charCodeAt(0));
      expect(fields).toEqual(fieldsByPeer(text, delimiter));
      seen[fields === undefined ? 'unclosed' : text.includes('"') ? 'quoted' : 'plain']++;
    }),
    { seed: SEED, numRuns: 15_000 },
  );
  for (const [kind, count] of Object.entries(seen)) expect([kind, count > 500]).toEqual([kind, true]);
});

// A line end in a quoted field belongs to it; outside there is none, as the row ends with it.
test('line ends in quotes are text', () => {
  expect(csvFields('"a\nb",c', 44)).toEqual(['a\nb', 'c']);
  expect(csvFields('"a\r\nb"x,"', 44)).toBeUndefined();
});
