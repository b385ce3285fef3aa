// The column of zones in the answer to a file, after the last field of each row as `hexcodes contains --all` puts it.
import { quotedField } from '../../hexcodes/wire/rows/csv-fields.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Finds the zones of positions: zones/zone-finder.ts. */
export interface ZonesOfRows {
  readonly names: readonly string[];
  /** Indexes of `names` by position, and 255 of those in none. @param latLngDeg NaN where a row has no position */
  find(latLngDeg: Float64Array): Uint8Array;
}

const NAME = 'zone';
const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const BRACE = 125;

/** The name of the column, which no column of the file has. */
export function zoneColumn(names: readonly string[], prefix: string): string {
  const taken = new Set(names.map((name) => name.trim().toLowerCase()));
  let name = NAME;
  while (taken.has(name)) name = prefix + name;
  return name;
}

/** Text in an answer to rows whose quotes are not reliable: failed rows are copied unchanged. */
export interface FailedText {
  readonly answerStart: number;
  readonly answerEnd: number;
}

export class ZoneColumn {
  readonly #encoder = new TextEncoder();
  readonly #fields: readonly Bytes[];
  readonly #none: Bytes;

  /** @param delimiter of a table; undefined for lines of JSON */
  constructor(
    names: readonly string[],
    private readonly delimiter: string | undefined,
  ) {
    const field = (name: string | null): string =>
      delimiter === undefined
        ? `,"${NAME}":${JSON.stringify(name)}`
        : delimiter + quotedField(name ?? '', delimiter);
    this.#fields = names.map((name) => this.#encoder.encode(field(name)));
    this.#none = this.#encoder.encode(field(null));
  }

  /** A header row with the name of the column. */
  withName(head: Bytes, name: string): Bytes {
    if (head.length === 0 || this.delimiter === undefined) return head;
    const field = this.#encoder.encode(this.delimiter + quotedField(name, this.delimiter));
    return spliced(head, [endOfRow(head, head.length)], () => field);
  }

  /**
   * Answers with an added field for each row.
   * @param zones by row
   * @throws Error for another number of rows
   */
  added(answer: Bytes, zones: Uint8Array, failed: readonly FailedText[]): Bytes {
    const ends =
      this.delimiter === undefined ? endsOfLines(answer) : endsOfRows(answer, this.delimiter, failed);
    if (ends.length !== zones.length) throw new Error(`${ends.length} rows have ${zones.length} zones`);
    return spliced(answer, ends, (row) => this.#fields[zones[row]!] ?? this.#none);
  }
}

/** End of the fields of the row whose line end is before `after`. */
function endOfRow(bytes: Bytes, after: number): number {
  let end = after;
  if (bytes[end - 1] === NEWLINE) end--;
  if (bytes[end - 1] === RETURN) end--;
  return end;
}

/** Index of the last brace of each line. */
function endsOfLines(bytes: Bytes): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    const end = bytes.lastIndexOf(BRACE, at);
    ends.push(end);
  }
  return ends;
}

/** Ends of the fields of each row of a table; a quoted field may contain line ends. */
function endsOfRows(bytes: Bytes, delimiter: string, failed: readonly FailedText[]): number[] {
  const separator = delimiter.charCodeAt(0);
  const ends: number[] = [];
  let next = 0;
  let isStart = true;
  for (let at = 0; at < bytes.length; at++) {
    const skipped = failed[next];
    if (isStart && skipped !== undefined && at === skipped.answerStart) {
      ends.push(endOfRow(bytes, skipped.answerEnd));
      at = skipped.answerEnd - 1;
      next++;
      continue;
    }
    const byte = bytes[at]!;
    if (isStart && byte === QUOTE) {
      for (at++; at < bytes.length; at++) {
        if (bytes[at] !== QUOTE) continue;
        if (bytes[at + 1] !== QUOTE) break;
        at++;
      }
      isStart = false;
    } else if (byte === NEWLINE) {
      ends.push(endOfRow(bytes, at + 1));
      isStart = true;
    } else isStart = byte === separator;
  }
  return ends;
}

/** The bytes with a field inserted at each index. */
function spliced(bytes: Bytes, places: readonly number[], fieldAt: (index: number) => Bytes): Bytes {
  let size = bytes.length;
  for (let i = 0; i < places.length; i++) size += fieldAt(i).length;
  const made = new Uint8Array(size);
  let [from, to] = [0, 0];
  places.forEach((place, i) => {
    // Rows are short: copying them one by one costs less than a call for each.
    while (from < place) made[to++] = bytes[from++]!;
    const field = fieldAt(i);
    made.set(field, to);
    to += field.length;
  });
  made.set(bytes.subarray(from), to);
  return made;
}
