// Formats that a workbook names by number alone, as ECMA-376 lists them (18.8.30): openpyxl and calamine do not know
// those of East Asian and Thai workbooks.
import { expect, test } from 'vitest';
import { builtInFormat, type Shown } from '#dist/tables/xlsx/number-format.js';

const KINDS: readonly (readonly [shown: Shown, ...ids: readonly (number | readonly [number, number])[]])[] = [
  ['date', [14, 17], [27, 31], 36, [50, 54], [57, 58], [71, 74], 81],
  ['time', [18, 21], 45, 47, 75, 76, 78, 80],
  // The language decides which of 32 to 35, 55 and 56 are dates and which are times.
  ['moment', 22, [32, 35], [55, 56], 77],
  ['elapsed', 46, 79],
];

test('every number from 0 to 200', () => {
  const wanted = Array<Shown>(201).fill('number');
  for (const [shown, ...ids] of KINDS)
    for (const id of ids) {
      const [first, last] = typeof id === 'number' ? [id, id] : id;
      wanted.fill(shown, first, last + 1);
    }
  expect(wanted.map((_, id) => builtInFormat(id).shownOf(46_024))).toEqual(wanted);
});
