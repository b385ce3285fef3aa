// The reader's work on XML that is made to be slow is bounded by its bytes: four times the bytes take some four times
// the CPU, and never the sixteen of work that grows with their square.
import { expect, test } from 'vitest';
import { TableError } from '#dist/tables/table-error.js';
import { sheetsOf } from '#dist/tables/xlsx/workbook.js';
import { workbookXml } from '../../support/files/workbook-xml.js';

const ROW = '<row><c><v>1</v></c></row>';
const filled = (piece: string, letters: number): string => piece.repeat(Math.ceil(letters / piece.length));
type Hostile = (letters: number) => Parameters<typeof workbookXml>[0];
const inRows =
  (xml: (letters: number) => string): Hostile =>
  (letters) => ({ sheets: { s: `${ROW}${xml(letters)}${ROW}` } });

const HOSTILE: readonly (readonly [string, Hostile])[] = [
  ['one comment of starts of cells', inRows((letters) => `<!--${filled('<c ', letters)}-->`)],
  ['one comment of almost ends', inRows((letters) => `<!--${filled('- -', letters)}-->`)],
  ['one tag of quotes', inRows((letters) => `<row a="${filled("'<c r=", letters)}"/>`)],
  ['one tag of names', inRows((letters) => `<row ${filled('a ', letters)}/>`)],
  ['attributes without ends', inRows((letters) => `<row ${filled(`a='"' `, letters)}/>`)],
  [
    'sections of brackets',
    inRows((letters) => `<row><c t="str"><v><![CDATA[${filled(']]', letters)}]]></v></c></row>`),
  ],
  ['references', inRows((letters) => `<row><c t="str"><v>${filled('&#1', letters)}</v></c></row>`)],
  ['escapes', inRows((letters) => `<row><c t="str"><v>${filled('_x00', letters)}</v></c></row>`)],
  ['digits', inRows((letters) => `<row><c><v>${filled('1', letters)}</v></c></row>`)],
  ['digits and no number', inRows((letters) => `<row><c><v>${filled('1', letters)}x</v></c></row>`)],
  ['blanks', inRows((letters) => `<row><c><v>${filled(' ', letters)}1</v></c></row>`)],
  ['places of many letters', inRows((letters) => `<row><c r="${filled('A', letters)}1"/></row>`)],
  ['nesting and closing', inRows((letters) => filled('<a><a><a></a></a></a>', letters))],
  ['a format of brackets', (letters) => ({ formats: [filled('[', letters)], sheets: { s: ROW } })],
  ['a format of quotes', (letters) => ({ formats: [filled('""m', letters / 8)], sheets: { s: ROW } })],
  ['a format of sections', (letters) => ({ formats: [filled('y;', letters)], sheets: { s: ROW } })],
  [
    'texts of runs',
    (letters) => ({ texts: `<si>${filled('<r><t>a</t></r>', letters)}</si>`, sheets: { s: ROW } }),
  ],
  ['texts that are empty', (letters) => ({ texts: filled('<si/>', letters), sheets: { s: ROW } })],
];

function cpuOf(bytes: Uint8Array): number {
  const start = process.cpuUsage();
  try {
    for (const sheet of sheetsOf(bytes, () => {})) for (const _ of sheet.rows());
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
  }
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

const LETTERS = 2 ** 20;
/** CPU of a run whatever its size, with a margin. */
const FIXED_MICROS = 20_000;

test.each(HOSTILE)('%s', (_, make) => {
  const [small, large] = [workbookXml(make(LETTERS)), workbookXml(make(4 * LETTERS))];
  const least = (bytes: Uint8Array): number => Math.min(...Array.from({ length: 3 }, () => cpuOf(bytes)));
  expect(least(large)).toBeLessThan(8 * (least(small) + FIXED_MICROS));
});
