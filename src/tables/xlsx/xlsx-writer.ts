// Writes rows as a workbook of Excel (.xlsx, ECMA-376) with one sheet, in pieces as they come. Truth values, numbers,
// dates, times and durations that Excel holds without loss are cells of their kind, everything else is text: a number
// with a zero before it, or with more digits than Excel keeps, and a time with a zone stay as they are. The text that
// the reader makes of such a cell becomes the same cell again.

import { strToU8, Zip, ZipDeflate } from 'fflate';
import { TableError } from '../table-error.js';
import { momentText, type Shown } from './cell-text.js';

/** A cell; text that reads as a truth value, number, date, time or duration that Excel holds whole becomes one. */
export type Cell = string | number | bigint | boolean | null | undefined;

/** Bounds of Excel. */
export const MAX_SHEET_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
const MAX_CELL_UNITS = 32_767;
/** Digits that Excel keeps of a number. */
const MAX_DIGITS = 15;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/;
const MOMENT =
  /^(?:(?<date>\d{4}-\d\d-\d\d)(?:T|$))?(?:(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d(?:\.\d{3})?))?$/;
const DURATION = /^(-?)PT(\d{1,7})H(\d\d?)M(\d\d?(?:\.\d{3})?)S$/;
/** Letters of the longest of these. */
const MAX_MOMENT = 32;
const DAY_MS = 86_400_000;
/** Day 0 of Excel, which has a 29 February 1900 that never was: other programs count the days before it otherwise. */
const EPOCH_MS = Date.UTC(1899, 11, 30);
const FIRST_SURE_DAY = 61;
/** Numbers of the formats of cells in STYLES. */
const HEADER_STYLE = 2;
const MOMENT_STYLES: Readonly<Record<Exclude<Shown, 'number'>, number>> = {
  date: 1,
  moment: 3,
  time: 4,
  elapsed: 5,
};
const LEVEL = 4;
/** One time for all parts: the same rows are the same bytes. */
const TIME = new Date(1980, 0, 1);

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const STYLES = `<styleSheet xmlns="${MAIN}"><numFmts count="4"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/><numFmt numFmtId="166" formatCode="hh:mm:ss"/><numFmt numFmtId="167" formatCode="[h]:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="6"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="166" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="167" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

/** Parts beside the sheet, by their names. */
const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="hexcodes" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': STYLES,
};

export class XlsxWriter {
  #pieces: Uint8Array[] = [];
  #rows = 0;
  readonly #zip: Zip;
  readonly #sheet: ZipDeflate;
  readonly #letters: readonly string[];

  /** @throws TableError for more columns than a sheet has */
  constructor(private readonly names: readonly string[]) {
    if (names.length > MAX_COLUMNS)
      throw new TableError(
        `${names.length} columns, and a sheet of Excel has at most ${MAX_COLUMNS}`,
        'Leave columns out with --drop, or write CSV.',
      );
    this.#zip = new Zip((error, piece) => {
      if (error !== null) throw error;
      this.#pieces.push(piece);
    });
    for (const [name, text] of Object.entries(PARTS)) this.#open(name).push(strToU8(XML + text), true);
    this.#sheet = this.#open('xl/worksheets/sheet1.xml');
    this.#sheet.push(
      strToU8(
        `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>`,
      ),
    );
    this.#letters = names.map((_, column) => lettersOf(column));
    const header = names.map((name, c) => textCell(`${this.#letters[c]}1`, name, HEADER_STYLE));
    this.#write(`<row r="1">${header.join('')}</row>`);
    this.#rows = 1;
  }

  /**
   * @param cellAt the cell of a row and a column
   * @throws TableError where the sheet is full, or a text is longer than a cell may be
   */
  add(rowCount: number, cellAt: (row: number, column: number) => Cell): void {
    if (this.#rows + rowCount > MAX_SHEET_ROWS)
      throw new TableError(
        `more rows than the ${MAX_SHEET_ROWS} that a sheet of Excel has`,
        'Write CSV or Parquet, or split the file.',
      );
    const lines: string[] = [];
    for (let row = 0; row < rowCount; row++) {
      this.#rows++;
      lines.push(`<row r="${this.#rows}">`);
      for (let column = 0; column < this.names.length; column++)
        lines.push(this.#cell(cellAt(row, column), column));
      lines.push('</row>');
    }
    this.#write(lines.join(''));
  }

  /** Removes and returns the bytes so far. */
  take(): Uint8Array[] {
    return this.#pieces.splice(0);
  }

  /** Writes the end; `take` has the rest of the file. */
  end(): void {
    this.#sheet.push(strToU8('</sheetData></worksheet>'), true);
    this.#zip.end();
  }

  #cell(value: Cell, column: number): string {
    if (value === null || value === undefined || value === '') return '';
    const at = `${this.#letters[column]}${this.#rows}`;
    if (typeof value === 'number' && Number.isFinite(value)) return `<c r="${at}"><v>${value}</v></c>`;
    const text = String(value);
    if (text === 'true' || text === 'false')
      return `<c r="${at}" t="b"><v>${text === 'true' ? 1 : 0}</v></c>`;
    if (text.length > MAX_CELL_UNITS)
      throw new TableError(
        `row ${this.#rows - 1}, column ${this.names[column]}: ${text.length} letters, and a cell of Excel holds ${MAX_CELL_UNITS}`,
        'Leave the column out with --drop, or write CSV.',
      );
    if (isNumber(text)) return `<c r="${at}"><v>${text}</v></c>`;
    const moment = momentOf(text);
    return moment === null
      ? textCell(at, text)
      : `<c r="${at}" s="${MOMENT_STYLES[moment.shown]}"><v>${moment.value}</v></c>`;
  }

  #open(name: string): ZipDeflate {
    const part = new ZipDeflate(name, { level: LEVEL });
    part.mtime = TIME;
    this.#zip.add(part);
    return part;
  }

  #write(text: string): void {
    this.#sheet.push(strToU8(text));
  }
}

/** Whether a text is a number that Excel gives back letter by letter. */
function isNumber(text: string): boolean {
  return (
    text.length <= MAX_DIGITS + 2 &&
    NUMBER.test(text) &&
    text.replace(/[-.]/g, '').replace(/^0+/, '').length <= MAX_DIGITS &&
    String(Number(text)) === text
  );
}

/** The number of a date, a time or a duration; null for a text that the reader would not give back letter by letter. */
function momentOf(text: string): { shown: Exclude<Shown, 'number'>; value: number } | null {
  if (text.length > MAX_MOMENT) return null;
  const duration = DURATION.exec(text);
  if (duration !== null) {
    const [, minus = '', hours, minutes, seconds] = duration;
    const ms = timeMs(Number(hours), Number(minutes), Number(seconds));
    return same(text, 'elapsed', ((minus === '-' ? -1 : 1) * ms) / DAY_MS);
  }
  const { date, hour, minute, second } = MOMENT.exec(text)?.groups ?? {};
  const hasTime = hour !== undefined;
  const ms = timeMs(Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0));
  if (date === undefined) return hasTime ? same(text, 'time', ms / DAY_MS) : null;
  const day = (Date.parse(date) - EPOCH_MS) / DAY_MS;
  if (!(day >= FIRST_SURE_DAY)) return null;
  return same(text, hasTime ? 'moment' : 'date', day + ms / DAY_MS);
}

const timeMs = (hours: number, minutes: number, seconds: number): number =>
  3_600_000 * hours + 60_000 * minutes + Math.round(1000 * seconds);

const same = <Kind extends Shown>(text: string, shown: Kind, value: number) =>
  momentText(value, shown, false) === text ? { shown, value } : null;

/** `A` of the first column, `XFD` of the last. */
function lettersOf(column: number): string {
  const letter = String.fromCharCode(65 + (column % 26));
  return column < 26 ? letter : lettersOf(Math.floor(column / 26) - 1) + letter;
}

function textCell(at: string, text: string, style?: number): string {
  const styled = style === undefined ? '' : ` s="${style}"`;
  return `<c r="${at}" t="inlineStr"${styled}><is><t xml:space="preserve">${escaped(text)}</t></is></c>`;
}

const SPECIAL = /[&<>]/g;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** Units that XML has no form for; Excel writes them as `_x0001_`, and so what looks like that. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const UNWRITABLE = /[\0-\x08\x0b\x0c\x0d\x0e-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)/g;

function escaped(text: string): string {
  return text
    .replace(UNWRITABLE, (unit) => `_x${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replace(SPECIAL, (sign) => ENTITIES[sign]!);
}
