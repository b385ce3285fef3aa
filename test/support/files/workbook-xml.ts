// Workbooks of given XML, for tests of readers.
import { strToU8, zipSync } from 'fflate';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';

export interface WorkbookXml {
  /** XML within `sheetData`, by the name of its sheet. */
  readonly sheets?: Readonly<Record<string, string>>;
  /** `<si>` elements. */
  readonly texts?: string;
  /** Formats of numbers by the style of a cell: a number, or a code. */
  readonly formats?: readonly (number | string)[];
  /** Attributes of `workbookPr`. */
  readonly properties?: string;
  /** XML in a sheet before `sheetData`. */
  readonly before?: string;
  /** Parts that stand beside or in place of these. */
  readonly parts?: Readonly<Record<string, string>>;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

export function workbookXml({
  sheets = {},
  texts,
  formats = [],
  properties = '',
  before = '',
  parts = {},
}: WorkbookXml): Uint8Array {
  const names = Object.keys(sheets);
  const codes = formats.map((format, i) =>
    typeof format === 'number' ? '' : `<numFmt numFmtId="${200 + i}" formatCode="${escaped(format)}"/>`,
  );
  const styles = formats.map(
    (format, i) => `<xf numFmtId="${typeof format === 'number' ? format : 200 + i}"/>`,
  );
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const all: Record<string, string> = {
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/>${
      texts === undefined
        ? ''
        : `<Override PartName="/xl/sharedStrings.xml" ContentType="${type}.sharedStrings+xml"/>`
    }${names.map((_, i) => `<Override PartName="/xl/worksheets/sheet${i + 1}.xml" ContentType="${type}.worksheet+xml"/>`).join('')}</Types>`,
    '_rels/.rels': `<Relationships xmlns="${PACKAGE}"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><workbookPr ${properties}/><sheets>${names
      .map((name, i) => `<sheet name="${escaped(name)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE}">${names
      .map(
        (_, i) =>
          `<Relationship Id="rId${i + 1}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`,
      )
      .join('')}<Relationship Id="s" Type="${RELATIONS}/styles" Target="styles.xml"/>${
      texts === undefined
        ? ''
        : `<Relationship Id="t" Type="${RELATIONS}/sharedStrings" Target="sharedStrings.xml"/>`
    }</Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><numFmts>${codes.join('')}</numFmts><fonts><font/></fonts><fills><fill><patternFill/></fill></fills><borders><border/></borders><cellStyleXfs><xf/></cellStyleXfs><cellXfs>${styles.join(
      '',
    )}</cellXfs></styleSheet>`,
    ...(texts === undefined ? {} : { 'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${texts}</sst>` }),
    ...Object.fromEntries(
      Object.values(sheets).map((rows, i) => [
        `xl/worksheets/sheet${i + 1}.xml`,
        `<worksheet xmlns="${MAIN}">${before}<sheetData>${rows}</sheetData></worksheet>`,
      ]),
    ),
    ...parts,
  };
  return zipSync(Object.fromEntries(Object.entries(all).map(([name, xml]) => [name, strToU8(xml)])));
}
