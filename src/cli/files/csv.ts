// CSV and TSV as tables, by csv-parse: for the conversions that the text converter does not do (other formats on one
// side, columns kept or dropped). Every value is text.

import { CsvError, type Info, type Parser, parse } from 'csv-parse';
import { badInput } from '../exit-codes.js';
import type { Input } from './input.js';
import type { SinkColumns } from './ndjson.js';
import type { Output } from './output.js';
import { BATCH_ROWS, type TableRows, type TableSink, type TableSource, textOf } from './table.js';

/** As the text converter: a longer row is no row but an unclosed quote. */
const MAX_ROW_BYTES = 256 * 1024;

export async function openCsv(input: Input, delimiter: ',' | '\t'): Promise<TableSource> {
  const rows = records(input, delimiter);
  const header = (await rows.next()).value?.[0];
  if (header === undefined) throw badInput({ file: input.name }, 'the file is empty: a header row is needed');
  const names = new Set<string>();
  for (const name of header) {
    if (names.has(name)) throw badInput({ file: input.name, column: name }, 'the header names it twice');
    names.add(name);
  }
  return {
    columns: header.map((name) => ({ name, kind: 'text' })),
    rowCount: null,
    async *batches() {
      for (;;) {
        const { value: batch } = await rows.next();
        if (batch === undefined) return;
        const values = header.map((_, c) => batch.map((record) => record[c] as string));
        yield { rowCount: batch.length, values };
      }
    },
  };
}

/** The records in batches, the header alone in the first. */
async function* records(input: Input, delimiter: string): AsyncGenerator<string[][], undefined> {
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
    relax_quotes: false,
  });
  const feeding = feed(input, parser);
  feeding.catch((error) => parser.destroy(error));
  let row = 0;
  let batch: string[][] = [];
  try {
    for await (const { record } of parser as AsyncIterable<{ record: string[]; info: Info }>) {
      batch.push(record);
      if (row++ > 0 && batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  } catch (error) {
    if (error instanceof CsvError) throw csvFailure(error, input.name);
    throw error;
  }
}

/** Feeds the parser with checked text: csv-parse itself takes any bytes. */
async function feed(input: Input, parser: Parser): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  for await (const chunk of input.chunks()) {
    const nul = chunk.indexOf(0);
    const upToNul = nul < 0 ? chunk : chunk.subarray(0, nul);
    if (nul >= 0) {
      throw badInput({ file: input.name }, `a NUL byte in line ${line + newlines(upToNul)}`);
    }
    try {
      decoder.decode(chunk, { stream: true });
    } catch {
      throw badInput({ file: input.name }, `not UTF-8, in line ${line + firstBadLine(chunk)} or just before`);
    }
    line += newlines(chunk);
    if (!parser.write(chunk)) await new Promise<void>((resolve) => parser.once('drain', resolve));
  }
  parser.end();
}

function newlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}

function firstBadLine(chunk: Uint8Array): number {
  let line = 0;
  for (let start = 0; start < chunk.length; line++) {
    const end = chunk.indexOf(10, start);
    const text = Buffer.from(chunk.subarray(start, end < 0 ? chunk.length : end)).toString();
    if (text.includes('\ufffd')) return line;
    if (end < 0) break;
    start = end + 1;
  }
  return line;
}

function csvFailure(error: CsvError, file: string): Error {
  const info = error as CsvError & { records?: number; lines?: number; column?: number | string };
  const place = { file, row: info.records === undefined ? undefined : Math.max(1, info.records) };
  if (error.code === 'CSV_MAX_RECORD_SIZE') {
    return badInput(place, `a row of more than ${MAX_ROW_BYTES / 1024} KiB (an unclosed quote?)`);
  }
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return badInput(place, 'a quote is opened and never closed');
  if (error.code.startsWith('CSV_RECORD_INCONSISTENT')) {
    return badInput(place, `another number of fields than the header has (line ${info.lines})`);
  }
  return badInput(place, error.message);
}

const NEEDS_QUOTES = /[",\t\r\n]/;

/** A field as CSV or TSV writes it. */
export function csvQuoted(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param isContinued whether the header was written by an earlier run */
export function csvSink(
  output: Output,
  columns: SinkColumns,
  delimiter: ',' | '\t',
  isContinued: boolean,
): TableSink {
  const all = [...columns.kept, ...columns.added];
  let header: string | null = isContinued
    ? null
    : `${all.map(({ name }) => csvQuoted(name)).join(delimiter)}\n`;
  const flushHeader = (): string => {
    const text = header ?? '';
    header = null;
    return text;
  };
  return {
    async write({ rowCount, values }: TableRows) {
      const lines = [flushHeader()];
      for (let row = 0; row < rowCount; row++) {
        lines.push(all.map((column, c) => csvQuoted(textOf(column, values[c]?.[row]))).join(delimiter), '\n');
      }
      await output.write(Buffer.from(lines.join('')));
    },
    async close() {
      const text = flushHeader();
      if (text !== '') await output.write(Buffer.from(text));
    },
  };
}
