// A workbook of Excel (.xlsx: ECMA-376 in both its forms) for command and page: the list of its sheets, and their rows
// as they are read and unpacked. Only its shared texts are held.

import { TableError } from '../table-error.js';
import { type XmlEvents, XmlReader } from '../xml/xml-reader.js';
import { type Bytes, type Part, partsOf, piecesOf } from './archive.js';
import { builtInFormat, type NumberFormat, numberFormat, textOf } from './cell-text.js';
import { type Book, columnsIn, type Row, rowsIn, TextList } from './sheet-reader.js';

export interface Sheet {
  readonly name: string;
  /** The first rows with a value, each up to its last one. */
  firstRows(count: number): readonly (readonly string[])[];
  /**
   * Rows with a value as texts, all as wide as the widest of them; wider is only one that contradicts what the sheet
   * says of its width. Numbers have the digits that the workbook has;
   * dates, times of day, both and durations are ISO 8601 without a zone.
   * @param first the first row that is read, from 0 @param passed is told which share of the sheet has come
   * @throws TableError, also as the rows come
   */
  rows(first?: number, passed?: (share: number) => void): Iterable<readonly string[]>;
}

/** Rows times columns of a sheet: a lone value in its last corner would make one of 17 thousand million. */
const MAX_CELLS = 2 ** 30;
/** Rows that are held until the width of the sheet is known. */
const HEAD_ROWS = 1000;

/**
 * @param hold is told of bytes that are held beside those of the file, and throws where they are too many
 * @throws TableError for what is not a workbook
 */
export function sheetsOf(bytes: Bytes, hold: (bytes: number) => void): readonly Sheet[] {
  const parts = new Map(partsOf(bytes).map((part) => [pathOf(part.name), part]));
  const main = [...relationsOf(parts, '').values()].find(({ type }) => type.endsWith('/officeDocument'));
  const path = main?.path ?? 'xl/workbook.xml';
  const part = parts.get(pathOf(path));
  if (part === undefined) throw new TableError(`the workbook has no ${path}`);
  const relations = relationsOf(parts, path);
  const { sheets, is1904 } = listIn(part);
  const related = (kind: string): Part | undefined =>
    parts.get(pathOf([...relations.values()].find(({ type }) => type.endsWith(`/${kind}`))?.path ?? ''));
  const book: Book = {
    is1904,
    formats: formatsIn(related('styles')),
    texts: textsIn(related('sharedStrings'), hold),
  };
  return sheets.flatMap(({ name, id }) => {
    const relation = relations.get(id);
    // A sheet may also be a chart or a macro.
    if (relation !== undefined && !relation.type.endsWith('/worksheet')) return [];
    const content = parts.get(pathOf(relation?.path ?? ''));
    if (content === undefined) throw new TableError(`sheet ${JSON.stringify(name)} is not in the workbook`);
    return [sheetOf(name, content, book)];
  });
}

function sheetOf(name: string, part: Part, book: Book): Sheet {
  const where = `sheet ${JSON.stringify(name)}`;
  return {
    name,
    firstRows(count) {
      const rows: string[][] = [];
      for (const { cells } of rowsIn(part, book, where)) {
        rows.push(Array.from(cells, (cell) => cell ?? ''));
        if (rows.length === count) break;
      }
      return rows;
    },
    *rows(first = 0, passed = undefined) {
      let claimed = 0;
      const claim = (columns: number): void => {
        claimed = columns;
      };
      const rows = rowsIn(part, book, where, claim, passed);
      const head: Row[] = [];
      let columns = 0;
      for (let next = rows.next(); next.done !== true; next = rows.next()) {
        head.push(next.value);
        columns = Math.max(columns, next.value.cells.length);
        if (head.length < HEAD_ROWS) continue;
        // The width that a sheet claims is believed where a row bears it out.
        if (columns !== claimed) columns = columnsIn(part, book, where);
        break;
      }
      for (const row of head) if (row.number > first) yield evenRow(row, columns, where);
      for (const row of rows) if (row.number > first) yield evenRow(row, columns, where);
    },
  };
}

function evenRow({ number, cells }: Row, columns: number, where: string): readonly string[] {
  if (columns * number > MAX_CELLS)
    throw new TableError(
      `${where} has ${columns} columns and ${number} rows: a value stands far from all others`,
      'Clear it, or save the sheet as CSV.',
    );
  const width = Math.max(columns, cells.length);
  for (let column = 0; column < width; column++) cells[column] ??= '';
  return cells as string[];
}

/** Some programs write other slashes, some other letters than their directory. */
const pathOf = (name: string): string => name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase();

function read(part: Part | undefined, events: XmlEvents): void {
  if (part === undefined) return;
  const reader = new XmlReader(events);
  for (const piece of piecesOf(part)) reader.push(piece);
  reader.end();
}

interface Relation {
  readonly type: string;
  readonly path: string;
}

/** The names that a part has for others. @param of its path; empty for the archive */
function relationsOf(parts: ReadonlyMap<string, Part>, of: string): Map<string, Relation> {
  const relations = new Map<string, Relation>();
  const folder = of.slice(0, of.lastIndexOf('/') + 1);
  read(parts.get(pathOf(`${folder}_rels/${of.slice(folder.length)}.rels`)), {
    open(name, attributes) {
      if (name !== 'Relationship') return;
      const target = attributes.get('Target') ?? '';
      const path = resolved(folder, target.replaceAll('\\', '/'));
      relations.set(attributes.get('Id') ?? '', { type: attributes.get('Type') ?? '', path });
    },
    close() {},
  });
  return relations;
}

function resolved(folder: string, target: string): string {
  const steps: string[] = [];
  for (const step of (target.startsWith('/') ? target : folder + target).split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}

interface SheetList {
  readonly sheets: readonly { name: string; id: string }[];
  readonly is1904: boolean;
}

function listIn(part: Part): SheetList {
  const sheets: { name: string; id: string }[] = [];
  let is1904 = false;
  read(part, {
    open(name, attributes) {
      if (name === 'sheet') {
        // The prefix of its namespace may be any.
        const [, id = ''] = attributes.entries().find(([key]) => /:id$/.test(key)) ?? [];
        sheets.push({ name: attributes.get('name') ?? '', id });
      } else if (name === 'workbookPr') is1904 = isTrue(attributes.get('date1904') ?? 'false', 'date1904');
    },
    close() {},
  });
  return { sheets, is1904 };
}

/** An xsd:boolean. */
function isTrue(text: string, what: string): boolean {
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw new TableError(`the workbook's ${what} is ${JSON.stringify(text)}, and neither true nor false`);
}

/** The formats of numbers by the style of a cell. */
function formatsIn(part: Part | undefined): readonly NumberFormat[] {
  const codes = new Map<number, NumberFormat>();
  const styles: number[] = [];
  let isOfCells = false;
  read(part, {
    open(name, attributes) {
      if (name === 'numFmt') {
        codes.set(Number(attributes.get('numFmtId') ?? ''), numberFormat(attributes.get('formatCode') ?? ''));
      } else if (name === 'cellXfs') isOfCells = true;
      else if (name === 'xf' && isOfCells) styles.push(Number(attributes.get('numFmtId') ?? 0));
    },
    close(name) {
      if (name === 'cellXfs') isOfCells = false;
    },
  });
  return styles.map((id) => codes.get(id) ?? builtInFormat(id));
}

function textsIn(part: Part | undefined, hold: (bytes: number) => void): TextList {
  const texts = new TextList(hold);
  let text = '';
  let phonetic = 0;
  read(part, {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 'rPh') phonetic++;
    },
    close(name, whole) {
      if (name === 't' && phonetic === 0) text += whole;
      else if (name === 'rPh') phonetic--;
      else if (name === 'si') texts.add(textOf(text));
    },
  });
  return texts;
}
