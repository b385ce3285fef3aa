// The columns of a SQLite table by the text of its CREATE TABLE, read in one pass.

import { bytesOfHex } from '../../hexcodes/wire/rows/well-known-binary.js';
import { TableError } from '../table-error.js';

export type SqlValue = null | number | bigint | string | Uint8Array;

/** How values are converted before they are stored (https://sqlite.org/datatype3.html, 3.1). */
export type Affinity = 'integer' | 'real' | 'numeric' | 'text' | 'blob';

export interface SqlColumn {
  readonly name: string;
  /** The declared type in capitals; '' where there is none. */
  readonly type: string;
  readonly affinity: Affinity;
  /** Whether it is computed when it is read, and not in the records. */
  readonly isVirtual: boolean;
  /** The value of records that were written before the column was added; undefined where it is not a literal. */
  readonly initial: SqlValue | undefined;
}

export interface SqlTable {
  readonly columns: readonly SqlColumn[];
  /** Index of the column that is the number of the row; -1 where there is none. */
  readonly rowNumber: number;
  readonly isWithoutRowid: boolean;
}

interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'blob' | 'number' | 'mark';
  /** Without quotes; words as they are written. */
  readonly text: string;
}

const CLOSING: Readonly<Record<string, string>> = { '"': '"', '`': '`', '[': ']', "'": "'" };
const PLAIN =
  /(?:0x[0-9a-f]+|\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?)|[a-z_$\u0080-\uffff][\w$\u0080-\uffff]*/iy;

/** @throws TableError for a text with an open end */
function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  const upTo = (end: number): number => {
    if (end < 0) throw new TableError('the SQL of a table in it has an open quote or comment');
    return end;
  };
  for (let at = 0; at < sql.length; ) {
    const letter = sql[at]!;
    const close = CLOSING[letter];
    if (/\s/.test(letter)) at++;
    else if (sql.startsWith('--', at)) at = sql.indexOf('\n', at) < 0 ? sql.length : sql.indexOf('\n', at);
    else if (sql.startsWith('/*', at))
      at = sql.indexOf('*/', at + 2) < 0 ? sql.length : sql.indexOf('*/', at + 2) + 2;
    else if (close !== undefined) {
      const parts: string[] = [];
      let start = at + 1;
      let end = upTo(sql.indexOf(close, start));
      // A quote that is doubled stands for itself; a bracket has no such spelling.
      while (letter !== '[' && sql[end + 1] === close) {
        parts.push(sql.slice(start, end + 1));
        start = end + 2;
        end = upTo(sql.indexOf(close, start));
      }
      parts.push(sql.slice(start, end));
      const last = tokens.at(-1);
      const isBlob =
        letter === "'" && last?.kind === 'word' && /^x$/i.test(last.text) && /x/i.test(sql[at - 1]!);
      if (isBlob) tokens.pop();
      tokens.push({ kind: isBlob ? 'blob' : letter === "'" ? 'text' : 'name', text: parts.join('') });
      at = end + 1;
    } else {
      PLAIN.lastIndex = at;
      const [plain] = PLAIN.exec(sql) ?? [];
      if (plain === undefined) tokens.push({ kind: 'mark', text: letter });
      else tokens.push({ kind: /^[\d.]/.test(plain) ? 'number' : 'word', text: plain });
      at += plain?.length ?? 1;
    }
  }
  return tokens;
}

const isWord = (token: Token | undefined, word: RegExp): boolean =>
  token?.kind === 'word' && word.test(token.text);
const isMark = (token: Token | undefined, mark: string): boolean =>
  token?.kind === 'mark' && token.text === mark;

const TABLE_CONSTRAINT = /^(?:CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN)$/i;
const COLUMN_CONSTRAINT =
  /^(?:CONSTRAINT|PRIMARY|NOT|NULL|UNIQUE|CHECK|DEFAULT|COLLATE|REFERENCES|GENERATED|AS)$/i;

/** @param sql as the database holds it. @throws TableError for what is not a list of columns */
export function tableIn(sql: string): SqlTable {
  const definitions: Token[][] = [[]];
  const after: Token[] = [];
  let depth = 0;
  let isOver = false;
  for (const token of tokensOf(sql)) {
    if (isMark(token, ')')) depth--;
    if (isOver) after.push(token);
    else if (depth === 0 && isMark(token, ')')) isOver = true;
    else if (depth === 1 && isMark(token, ',')) definitions.push([]);
    else if (depth > 0) definitions.at(-1)!.push(token);
    if (isMark(token, '(')) depth++;
  }
  if (!isOver || depth !== 0) throw new TableError('the SQL of a table in it has no list of columns');
  const isConstraint = ([first]: Token[]): boolean => isWord(first, TABLE_CONSTRAINT);
  const listed = definitions.filter((each) => !isConstraint(each)).map(columnIn);
  const keys = definitions.filter(isConstraint).flatMap(keyIn);
  const columns = listed.map(({ column }) => column);
  const named = keys.length === 1 ? keys[0]!.toLowerCase() : undefined;
  const rowNumber = listed.findIndex(
    ({ column: { name, type }, isKey }) => type === 'INTEGER' && (isKey || name.toLowerCase() === named),
  );
  return { columns, rowNumber, isWithoutRowid: after.some((token) => isWord(token, /^WITHOUT$/i)) };
}

/** The one column of a primary key of the table. */
function keyIn(tokens: Token[]): string[] {
  const start = isWord(tokens[0], /^CONSTRAINT$/i) ? 2 : 0;
  if (!isWord(tokens[start], /^PRIMARY$/i)) return [];
  const inside = tokens.slice(start + 3);
  return inside.some((token) => isMark(token, ',')) ? ['', ''] : [inside[0]?.text ?? ''];
}

function columnIn(tokens: Token[]): { column: SqlColumn; isKey: boolean } {
  const [name, ...rest] = tokens;
  if (name === undefined || name.kind === 'mark')
    throw new TableError('the SQL of a table in it has no name of a column');
  const constraintAt = rest.findIndex((token) => isWord(token, COLUMN_CONSTRAINT));
  const ofType = constraintAt < 0 ? rest : rest.slice(0, constraintAt);
  const constraints = constraintAt < 0 ? [] : rest.slice(constraintAt);
  const bracket = ofType.findIndex((token) => isMark(token, '('));
  const words = (bracket < 0 ? ofType : ofType.slice(0, bracket)).map(({ text }) => text);
  const type = words.join(' ').toUpperCase();
  const affinity = affinityOf(type);
  let [isKey, isGenerated, isStored] = [false, false, false];
  let initial: SqlValue | undefined = null;
  let depth = 0;
  constraints.forEach((token, i) => {
    if (isMark(token, '(')) depth++;
    if (isMark(token, ')')) depth--;
    if (depth > 0) return;
    if (isWord(token, /^PRIMARY$/i)) isKey = !isWord(constraints[i + 2], /^DESC$/i);
    else if (isWord(token, /^AS$/i)) isGenerated = true;
    else if (isWord(token, /^STORED$/i)) isStored = true;
    else if (isWord(token, /^DEFAULT$/i)) initial = literalIn(constraints, i + 1, affinity);
  });
  const isVirtual = isGenerated && !isStored;
  return { column: { name: name.text, type, affinity, isVirtual, initial }, isKey };
}

function affinityOf(type: string): Affinity {
  if (type.includes('INT')) return 'integer';
  if (/CHAR|CLOB|TEXT/.test(type)) return 'text';
  if (type === '' || type.includes('BLOB')) return 'blob';
  return /REAL|FLOA|DOUB/.test(type) ? 'real' : 'numeric';
}

/** The value of a literal from an index on; undefined for any other expression. */
function literalIn(tokens: readonly Token[], start: number, affinity: Affinity): SqlValue | undefined {
  let [at, depth, sign] = [start, 0, 1];
  for (; ; at++) {
    if (isMark(tokens[at], '(')) depth++;
    else if (isMark(tokens[at], '-')) sign = -sign;
    else if (!isMark(tokens[at], '+')) break;
  }
  for (let closing = 0; closing < depth; closing++)
    if (!isMark(tokens[at + 1 + closing], ')')) return undefined;
  const token = tokens[at];
  if (token === undefined) return undefined;
  const { kind, text } = token;
  if (kind === 'number')
    return affinity === 'text' ? textOfNumber(text, sign) : withAffinity(numberOf(text, sign), affinity);
  if (kind === 'blob') return /^(?:[0-9a-f]{2})*$/i.test(text) ? bytesOfHex(text) : undefined;
  if (kind === 'text' || kind === 'name') return sign < 0 ? undefined : withAffinity(text, affinity);
  if (isWord(token, /^NULL$/i)) return null;
  if (isWord(token, /^(?:TRUE|FALSE)$/i)) return withAffinity(/^TRUE$/i.test(text) ? sign : 0, affinity);
  // A bare word is a text, but for the times, which are not the same for all records.
  return kind === 'mark' || depth > 0 || isWord(token, /^CURRENT_/i)
    ? undefined
    : withAffinity(text, affinity);
}

/** Digits of the longest literal that is read as an integer. */
const MAX_DIGITS = 40;
const WHOLE = /^[-+]?\d+$/;

function numberOf(text: string, sign: number): number | bigint {
  if (/^0x/i.test(text)) return plain(BigInt.asIntN(64, BigInt(text)) * BigInt(sign));
  const whole = text.length <= MAX_DIGITS && WHOLE.test(text) ? BigInt(text) * BigInt(sign) : undefined;
  return whole !== undefined && BigInt.asIntN(64, whole) === whole ? plain(whole) : sign * Number(text);
}

/** An integer that a double holds exactly. */
export function plain(value: number | bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const NUMBER = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*$/i;

/** A literal as a column of an affinity stores it. */
function withAffinity(value: number | bigint | string, affinity: Affinity): SqlValue {
  if (affinity === 'blob') return value;
  if (affinity === 'text') return String(value);
  if (typeof value === 'string' && !NUMBER.test(value)) return value;
  const trimmed = typeof value === 'string' ? value.trim() : value;
  const number =
    typeof trimmed === 'string'
      ? numberOf(trimmed.replace(/^[-+]/, ''), trimmed.startsWith('-') ? -1 : 1)
      : trimmed;
  if (affinity === 'real') return Number(number);
  return number;
}

/** The text that a column of texts stores for a number; undefined where SQLite has digits of its own for it. */
function textOfNumber(digits: string, sign: number): string | undefined {
  const number = numberOf(digits, sign);
  if (typeof number === 'bigint' || WHOLE.test(digits) || /^0x/i.test(digits)) return String(number);
  if (/e/.test(String(number)) || digits.length > MAX_DIGITS - 25) return undefined;
  return Number.isInteger(number) ? `${number}.0` : String(number);
}
