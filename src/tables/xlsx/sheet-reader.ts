// The cells of a sheet as its XML comes. Cells and rows may say where they are or follow one another.

import { TableError } from '../table-error.js';
import { type XmlAttributes, XmlReader } from '../xml/xml-reader.js';
import { type Part, piecesOf } from './archive.js';
import { isoText, momentText, NUMBER_FORMAT, type NumberFormat, numberText, textOf } from './cell-text.js';

// The shared texts of a workbook in blocks of UTF-8: a text of its own takes several times its letters, and one block
// that grows is copied.

/** Room for a letter in UTF-8, at most. */
const LETTER_BYTES = 3;
const BLOCK_BYTES = 256 * 1024;
/** Texts whose ends are in one list. */
const LIST_TEXTS = 65_536;
/** Texts that are kept once they were requested again; most lists are short. */
const MAX_KEPT = 4096;

export class TextList {
  /** No text lies in two blocks. */
  readonly #blocks: Uint8Array[] = [];
  /** The end of each text, counted through all blocks: it begins at the end before, or at the start of its block. */
  readonly #ends: Uint32Array[] = [];
  /** Texts that are longer than a block. */
  readonly #long = new Map<number, string>();
  #size = 0;
  /**
   * The index whose text was requested last, of those with one remainder by MAX_KEPT; and the text from the second time
   * on: strings of a list whose texts all differ would outlive the young generation of V8.
   */
  readonly #asked = new Int32Array(MAX_KEPT).fill(-1);
  readonly #kept: (string | undefined)[] = new Array<string | undefined>(MAX_KEPT).fill(undefined);
  readonly #encoder = new TextEncoder();
  // A text may begin with what elsewhere is a byte order mark.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  count = 0;

  /** @param hold is told of bytes that are held, and throws where they are too many */
  constructor(private readonly hold: (bytes: number) => void) {}

  add(text: string): void {
    if (this.count % LIST_TEXTS === 0) {
      this.hold(LIST_TEXTS * Uint32Array.BYTES_PER_ELEMENT);
      this.#ends.push(new Uint32Array(LIST_TEXTS));
    }
    const most = LETTER_BYTES * text.length;
    if (most > BLOCK_BYTES) {
      this.hold(2 * text.length);
      this.#long.set(this.count, text);
    } else {
      if (this.#size + most > this.#blocks.length * BLOCK_BYTES) {
        this.hold(BLOCK_BYTES);
        this.#size = this.#blocks.push(new Uint8Array(BLOCK_BYTES)) * BLOCK_BYTES - BLOCK_BYTES;
      }
      const into = this.#blocks.at(-1)?.subarray(this.#size % BLOCK_BYTES);
      if (most > 0) this.#size += this.#encoder.encodeInto(text, into!).written;
    }
    this.#ends.at(-1)![this.count++ % LIST_TEXTS] = this.#size;
  }

  /** @returns undefined for a number that has no text */
  at(index: number): string | undefined {
    if (!(Number.isInteger(index) && index >= 0 && index < this.count)) return undefined;
    const key = index % MAX_KEPT;
    const isAgain = this.#asked[key] === index;
    const kept = isAgain ? this.#kept[key] : undefined;
    if (kept !== undefined) return kept;
    const text =
      this.#long.get(index) ?? this.#text(index === 0 ? 0 : this.#endOf(index - 1), this.#endOf(index));
    this.#asked[key] = index;
    this.#kept[key] = isAgain ? text : undefined;
    return text;
  }

  #endOf(index: number): number {
    return this.#ends[Math.floor(index / LIST_TEXTS)]![index % LIST_TEXTS]!;
  }

  #text(endBefore: number, end: number): string {
    if (end === endBefore) return '';
    const block = Math.floor((end - 1) / BLOCK_BYTES);
    const start = Math.max(0, endBefore - block * BLOCK_BYTES);
    return this.#decoder.decode(this.#blocks[block]!.subarray(start, end - block * BLOCK_BYTES));
  }
}

/** Cells of all sheets refer to these. */
export interface Book {
  readonly is1904: boolean;
  /** One for each style of a cell. */
  readonly formats: readonly NumberFormat[];
  readonly texts: TextList;
}

export interface Row {
  /** From 1. */
  readonly number: number;
  /** Texts up to the last column with a value; undefined for cells that have none. */
  readonly cells: (string | undefined)[];
}

const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;

/**
 * Rows with a value.
 * @param claim is told of the last column that the sheet says it has, before the first row comes; not all say it
 * @param passed is told which share of the sheet has come
 * @throws TableError for a sheet that is broken, or holds what is not read
 */
export function* rowsIn(
  part: Part,
  book: Book,
  where: string,
  claim: (columns: number) => void = () => {},
  passed: (share: number) => void = () => {},
): Generator<Row> {
  const reader = new SheetReader(book, where, true, claim);
  let bytes = 0;
  for (const piece of piecesOf(part)) {
    reader.push(piece);
    yield* reader.take();
    bytes += piece.length;
    passed(bytes / part.sizeBytes);
  }
  reader.end();
  yield* reader.take();
}

/** The last column with a value, by a reading of the sheet that makes no texts. @throws TableError */
export function columnsIn(part: Part, book: Book, where: string): number {
  const reader = new SheetReader(book, where, false, () => {});
  for (const piece of piecesOf(part)) reader.push(piece);
  reader.end();
  return reader.columns;
}

/** Elements around those that are meant: `worksheet`, `sheetData`, `row`, `c`, `v` or `is`, `t` or `r`. */
const [SHEET_DATA, ROW, CELL, VALUE, TEXT] = [1, 2, 3, 4, 5] as const;

class SheetReader {
  columns = 0;
  #rows: Row[] = [];
  readonly #xml: XmlReader;
  #depth = 0;
  #isInData = false;
  #isInRow = false;
  #isInCell = false;
  /** Depth of an element that is left out, with all that is in it. */
  #skippedFrom = Number.POSITIVE_INFINITY;
  #number = 0;
  /** Whether the row has said its number. */
  #isNumbered = false;
  #column = 0;
  #cells: (string | undefined)[] = [];
  #type = '';
  #style = '0';
  #value = '';
  #inline = '';

  constructor(
    private readonly book: Book,
    private readonly where: string,
    private readonly makesTexts: boolean,
    private readonly claim: (columns: number) => void,
  ) {
    this.#xml = new XmlReader({
      open: (name, attributes) => this.#open(name, attributes),
      close: (name, text) => this.#close(name, text),
    });
  }

  push(piece: Uint8Array): void {
    this.#xml.push(piece);
  }

  end(): void {
    this.#xml.end();
  }

  take(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  #open(name: string, attributes: XmlAttributes): void {
    const depth = this.#depth++;
    if (depth === SHEET_DATA) {
      this.#isInData = name === 'sheetData';
      if (name === 'dimension') this.claim(lastColumnOf(attributes.get('ref') ?? ''));
    }
    if (!this.#isInData || depth > this.#skippedFrom) return;
    if (depth === ROW) {
      this.#isInRow = name === 'row';
      if (this.#isInRow) this.#openRow(attributes.get('r'));
    } else if (depth === CELL) {
      this.#isInCell = this.#isInRow && name === 'c';
      if (this.#isInCell) this.#openCell(attributes);
    }
    // How a text is spoken is beside it.
    else if (this.#isInCell && name === 'rPh') this.#skippedFrom = depth;
  }

  #close(name: string, text: string): void {
    const depth = --this.#depth;
    if (!this.#isInCell) {
      if (depth === ROW && this.#isInRow) this.#closeRow();
      else if (depth === SHEET_DATA) this.#isInData = false;
    } else if (depth >= this.#skippedFrom) {
      if (depth === this.#skippedFrom) this.#skippedFrom = Number.POSITIVE_INFINITY;
    } else if (depth === VALUE) {
      if (name !== 'v') return;
      if (this.#value !== '') throw this.#broken(`${this.#cellName()} has two values`);
      this.#value = text;
    } else if (depth >= TEXT) {
      if (name === 't') this.#inline += text;
    } else if (depth === CELL) {
      this.#isInCell = false;
      this.#closeCell();
    }
  }

  #openRow(said: string | undefined): void {
    this.#isNumbered = said !== undefined;
    this.#startRow(said === undefined ? this.#number + 1 : Number(said));
    this.#column = 0;
  }

  #startRow(number: number): void {
    if (!Number.isInteger(number) || number < 1 || number > MAX_ROWS)
      throw this.#broken(`row ${number} is none that a sheet has`);
    if (number <= this.#number) throw this.#broken(`row ${number} comes after row ${this.#number}`);
    this.#number = number;
  }

  #openCell(of: XmlAttributes): void {
    this.#type = of.get('t') ?? 'n';
    this.#style = of.get('s') ?? '0';
    this.#value = '';
    this.#inline = '';
    this.#column++;
    const said = of.get('r');
    if (said !== undefined) this.#locate(said);
    if (this.#column > MAX_COLUMNS) throw this.#broken(`${this.#cellName()} is beyond the last column`);
  }

  /** Reads `AB12`. */
  #locate(said: string): void {
    let column = 0;
    let at = 0;
    for (; at < said.length && column <= MAX_COLUMNS; at++) {
      const letter = said.charCodeAt(at) - 64;
      if (letter < 1 || letter > 26) break;
      column = 26 * column + letter;
    }
    let row = 0;
    const digits = at;
    for (; at < said.length && row <= MAX_ROWS; at++) {
      const digit = said.charCodeAt(at) - 48;
      if (digit < 0 || digit > 9) break;
      row = 10 * row + digit;
    }
    if (column === 0 || digits === 0 || at === digits || at < said.length)
      throw this.#broken(`${JSON.stringify(said.slice(0, 40))} is not a place of a cell`);
    this.#column = column;
    if (row !== this.#number) {
      if (this.#isNumbered) throw this.#broken(`cell ${said} stands in row ${this.#number}`);
      // The row did not say its number, so its first cell may.
      this.#number--;
      this.#startRow(row);
    }
    this.#isNumbered = true;
  }

  #closeCell(): void {
    const text = this.#text();
    if (text === '') return;
    if (this.makesTexts) {
      if (this.#cells[this.#column - 1] !== undefined)
        throw this.#broken(`${this.#cellName()} stands there twice`);
      this.#cells[this.#column - 1] = text;
    }
    if (this.#column > this.columns) this.columns = this.#column;
  }

  #closeRow(): void {
    this.#isInRow = false;
    if (this.#cells.length === 0) return;
    this.#rows.push({ number: this.#number, cells: this.#cells });
    this.#cells = [];
  }

  /** The text of a cell; empty for one without a value. */
  #text(): string {
    const value = this.#value;
    switch (this.#type) {
      case 'n':
        return this.makesTexts ? this.#ofNumber(value.trim()) : value.trim();
      case 's':
        return this.#shared(value.trim());
      case 'inlineStr':
        return textOf(this.#inline);
      case 'str':
      case 'e':
        return textOf(value);
      case 'b':
        return this.#ofBoolean(value.trim());
      case 'd':
        return isoText(value);
      default:
        throw this.#broken(`${this.#cellName()} is of type ${JSON.stringify(this.#type)}, which is not read`);
    }
  }

  #ofNumber(value: string): string {
    if (value === '') return '';
    const format = this.book.formats[Number(this.#style)];
    // A workbook without styles has no formats.
    if (format === undefined && this.book.formats.length > 0)
      throw this.#broken(`${this.#cellName()} has style ${this.#style}, and there are fewer`);
    if (format !== undefined && format !== NUMBER_FORMAT) {
      const number = Number(value);
      const shown = format.shownOf(number);
      const moment = shown === 'number' ? null : momentText(number, shown, this.book.is1904);
      if (moment !== null) return moment;
    }
    const text = numberText(value);
    if (text === null)
      throw this.#broken(`${this.#cellName()} is a number by its type, and its text is ${quoted(value)}`);
    return text;
  }

  #shared(value: string): string {
    if (value === '') return '';
    const text = this.book.texts.at(Number(value));
    if (text === undefined)
      throw this.#broken(
        `${this.#cellName()} has text ${quoted(value)} of ${this.book.texts.count}, counted from 0`,
      );
    return text;
  }

  #ofBoolean(value: string): string {
    if (value === '1' || value === 'true') return 'true';
    if (value === '0' || value === 'false') return 'false';
    if (value === '') return '';
    throw this.#broken(`${this.#cellName()} is neither true nor false: ${quoted(value)}`);
  }

  #cellName(): string {
    return `the cell in column ${this.#column} of row ${this.#number}`;
  }

  #broken(fault: string): TableError {
    return new TableError(`${this.where}: ${fault}`);
  }
}

/** The last column of `A1:AB12`; 0 for what is no such range. */
function lastColumnOf(range: string): number {
  const [, letters = ''] = /(?:^|:)([A-Z]{1,3})\d+$/.exec(range) ?? [];
  let column = 0;
  for (const letter of letters) column = 26 * column + letter.charCodeAt(0) - 64;
  return column;
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 40));
