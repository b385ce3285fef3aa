// The bytes of a file as the readers of the service take them: unpacked, a workbook as CSV, in UTF-8, with a header row
// that names the columns which are taken.
import { BulkInputError } from '../../hexcodes/wire/job.js';
import { type ForeignFile, foreignFile, hintFor } from '../../tables/foreign-files.js';
import { type FileFormat, FORMATS, formatOfBytes } from '../../tables/formats.js';
import { POINT_HINT } from '../../tables/shapes/shape-rows.js';
import { TableError } from '../../tables/table-error.js';
import type { FileTask, FoundTable, FileFormat as RowFormat } from './messages.js';
import { encodingOf, looksLikeJson, withHeader } from './pasted.js';
import { headerFor, isWhole, planOf, quoted, RowCutter, type TablePlan, withPosition } from './table-plan.js';

type Bytes = Uint8Array<ArrayBuffer>;

export interface Source {
  readonly format: RowFormat;
  readonly bytes: ReadableStream<Uint8Array>;
  /** Absent of lines of JSON. */
  readonly table?: FoundTable;
  /** Header row for the readers, and the one that stands in the answer in its place. */
  readonly header?: { readonly read: string; readonly shown: string };
  /** Whether the answer begins with a byte order mark, by which spreadsheets know UTF-8. */
  readonly hasMark: boolean;
}

/** A file that the command reads and the page does not. */
export class CommandOnlyError extends Error {}

const MARK = '\ufeff';
const SEP_LINE = /^sep=.\r?\n/i;
/** Bytes of the beginning that a plan is made of. */
const PLAN_BYTES = 65_536;
/** Bytes that tell kinds of files apart. */
const SEEN_BYTES = 16_384;
/** A workbook is held in memory as a whole. */
const MOST_WORKBOOK_BYTES = 64 * 2 ** 20;
/** Content of KML that is held, and all that is made of it. */
const MOST_KML_BYTES = 512 * 2 ** 20;

/** Formats of which the page reads rows; the command reads all. */
const OWN: readonly FileFormat[] = ['csv', 'tsv', 'ndjson', 'xlsx', 'gpx', 'kml'];
const ZIP = 'PK\x03\x04';

/** @throws BulkInputError why it cannot be read. @throws CommandOnlyError */
export async function openSource(task: FileTask): Promise<Source> {
  const head = new Uint8Array(await task.file.slice(0, 4).arrayBuffer());
  const isGzip = task.isGzip || (head[0] === 0x1f && head[1] === 0x8b);
  const packed = task.file.stream();
  const stream = isGzip ? packed.pipeThrough(new DecompressionStream('gzip')) : packed;
  const reader = stream.getReader();
  const beginning = await beginningOf(reader);
  const text = String.fromCharCode(...beginning.subarray(0, SEEN_BYTES));
  const found = formatOfBytes(beginning);
  if (task.format === undefined) {
    if (!OWN.includes(found)) throw new CommandOnlyError(FORMATS[found].title);
    const isKnown = found === 'xlsx' || found === 'gpx' || found === 'kml';
    const foreign = isKnown ? undefined : foreignFile(text);
    if (foreign !== undefined) throw new BulkInputError(foreignSentence(foreign, task.file));
  }
  if (task.format === undefined && found === 'gpx') return gpxSource(task, joined(beginning, reader));
  if (task.format === undefined && found === 'kml') return kmlSource(task, joined(beginning, reader));
  if (text.startsWith(ZIP)) {
    void reader.cancel();
    return workbookSource(task);
  }
  const encoding = encodingOf(beginning);
  if (task.format === 'ndjson' || (task.format === undefined && (found === 'ndjson' || looksLikeJson(text))))
    return { format: 'ndjson', bytes: joined(beginning, reader), hasMark: false };
  if (encoding === 'utf-8') return tableSource(task, beginning, reader);
  const decoded = decodedBytes(joined(beginning, reader), encoding).getReader();
  return tableSource(task, await beginningOf(decoded), decoded, { hasMark: true });
}

function foreignSentence(kind: ForeignFile, file: Blob): string {
  const { name = 'FILE' } = file as Partial<File>;
  const hint = hintFor(kind, name).replace(/ \| hexcodes …$/, '');
  return `It is ${kind.what}; ${hint.charAt(0).toLowerCase()}${hint.slice(1).replace(/\.$/, '')}`;
}

/** Bytes of another encoding as UTF-8. */
function decodedBytes(bytes: ReadableStream<Uint8Array>, encoding: string): ReadableStream<Uint8Array> {
  const cutter = new TransformStream<string, string>({
    // Letters of Windows-1258 have their tones behind them.
    transform: (text, controller) => controller.enqueue(text.normalize('NFC')),
  });
  return (bytes as ReadableStream<BufferSource>)
    .pipeThrough(new TextDecoderStream(encoding))
    .pipeThrough(cutter)
    .pipeThrough(new TextEncoderStream());
}

/** Points of GPX as the file is read, by the reader of the command. */
async function gpxSource(task: FileTask, bytes: ReadableStream<Uint8Array>): Promise<Source> {
  const { gpxAsCsv } = await import('../../tables/xml/gpx.js');
  return csvSource(task, gpxAsCsv(chunksOf(bytes)));
}

/** Placemarks of KML or KMZ by the reader of the command, which needs the file whole. */
async function kmlSource(task: FileTask, bytes: ReadableStream<Uint8Array>): Promise<Source> {
  let held = 0;
  const hold = (more: number): void => {
    held += more;
    if (held > MOST_KML_BYTES) throw new BulkInputError('The file is too large for a page');
  };
  const parts: Bytes[] = [];
  for await (const part of chunksOf(bytes)) {
    hold(2 * part.length);
    parts.push(part as Bytes);
  }
  const content = new Uint8Array(await new Blob(parts).arrayBuffer());
  const { kmlAsCsv } = await import('../../tables/xml/kml.js');
  const rows = kmlAsCsv(content, null, hold);
  return csvSource(task, rows).catch((error: unknown) => {
    // Which point of lines and areas is meant is an option of the command.
    if (error instanceof TableError && error.hint === POINT_HINT)
      throw new CommandOnlyError(`${FORMATS.kml.title} (LineString, Polygon)`);
    throw error;
  });
}

async function csvSource(
  task: FileTask,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<Source> {
  const pieces = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  const reader = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done = false, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array);
    },
  }).getReader();
  return tableSource(task, await beginningOf(reader), reader, { hasMark: true });
}

/** Not each browser iterates over streams. */
async function* chunksOf(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = bytes.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** The first workbook sheet with rows, or the one that was chosen, as CSV. */
async function workbookSource(task: FileTask): Promise<Source> {
  if (task.file.size > MOST_WORKBOOK_BYTES)
    throw new BulkInputError('The workbook is larger than 64 MiB; save the sheet as CSV');
  const { sheetsOf } = await import('../../tables/xlsx/xlsx-sheets.js');
  let sheets: Awaited<ReturnType<typeof sheetsOf>>;
  try {
    sheets = (await sheetsOf(new Uint8Array(await task.file.arrayBuffer()))).filter(
      ({ rows }) => rows.length > 0,
    );
  } catch (error) {
    if (error instanceof TableError) throw error;
    throw new BulkInputError('The workbook is broken, or has a password');
  }
  const sheet = Math.min(task.sheet ?? 0, sheets.length - 1);
  const chosen = sheets[sheet];
  if (chosen === undefined) throw new BulkInputError('The file is empty');
  const csv = new Blob(chosen.rows.map((row) => `${row.map((field) => quoted(field, ',')).join(',')}\n`));
  const reader = csv.stream().getReader();
  const names = sheets.map(({ name }) => name);
  return tableSource(task, await beginningOf(reader), reader, { hasMark: true, sheets: names, sheet });
}

async function tableSource(
  task: FileTask,
  start: Bytes,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { hasMark = false, sheets = [] as readonly string[], sheet = 0 } = {},
): Promise<Source> {
  if (start.length === 0) throw new BulkInputError('The file is empty');
  const beginning = task.columns === undefined ? start : withoutSepLine(start);
  const text = new TextDecoder().decode(beginning, { stream: true });
  const plan = planOf(text, beginning.length < PLAN_BYTES);
  const columns = task.columns ?? plan.columns;
  const table = { plan, columns, sheets, sheet };
  const found = { format: 'csv', table, hasMark } as const;
  if (columns?.kind === 'position')
    return { ...found, bytes: withPositions(joined(beginning, reader), plan, columns.column) };
  const [line, rest] = firstRow(beginning);
  if (task.columns === undefined || columns === undefined)
    return { ...found, bytes: joined(concat(encoded(withHeader(line)), rest), reader) };
  const read = headerFor(plan, columns);
  const shown = line
    .replace(MARK, '')
    .trimStart()
    .replace(/\r?\n$/, '');
  const head = encoded(plan.hasHeader ? line.replace(shown, () => read) : `${read}\n${line}`);
  const bytes = joined(concat(head, rest), reader);
  return plan.hasHeader ? { ...found, bytes, header: { read, shown } } : { ...found, bytes };
}

/** Without the line by which Excel names a delimiter. */
function withoutSepLine(bytes: Bytes): Bytes {
  const start = new TextDecoder().decode(bytes.subarray(0, 16));
  return SEP_LINE.test(start) ? bytes.slice(bytes.indexOf(10) + 1) : bytes;
}

/** The rows with two more fields, `lat` and `lng`. */
function withPositions(
  bytes: ReadableStream<Uint8Array>,
  plan: TablePlan,
  column: number,
): ReadableStream<Uint8Array> {
  const cutter = new RowCutter();
  let isFirst = true;
  const rewritten = (rows: readonly string[]): string =>
    rows
      .map((row) => {
        if (row.trim() === '') return `${row}\n`;
        const isHeader = isFirst && plan.hasHeader;
        const names = isFirst && !plan.hasHeader ? `${plan.names.join(plan.delimiter)}${added(plan)}\n` : '';
        isFirst = false;
        return isHeader ? `${row}${added(plan)}\n` : `${names}${withPosition(row, plan, column)}\n`;
      })
      .join('');
  const rewriter = new TransformStream<string, string>({
    transform: (text, controller) => controller.enqueue(rewritten(cutter.push(text))),
    flush: (controller) => controller.enqueue(rewritten(cutter.end())),
  });
  return (bytes as ReadableStream<BufferSource>)
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(rewriter)
    .pipeThrough(new TextEncoderStream());
}

const added = ({ delimiter }: TablePlan): string => `${delimiter}lat${delimiter}lng`;

/** Some bytes of the beginning: those of a plan, or all that there are. */
async function beginningOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Bytes> {
  let bytes: Bytes = new Uint8Array();
  while (bytes.length < PLAN_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes = concat(bytes, value);
  }
  return bytes;
}

/** A beginning and what follows. */
function joined(
  beginning: Uint8Array,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      if (beginning.length > 0) controller.enqueue(beginning);
    },
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The first row with text and the blank lines before it, with its line end; and the bytes behind. */
function firstRow(bytes: Uint8Array): [row: string, rest: Uint8Array] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (let end = 0; ; ) {
    const feed = bytes.indexOf(10, end);
    end = feed < 0 ? bytes.length : feed + 1;
    const row = decoder.decode(bytes.subarray(0, end));
    if (end === bytes.length || (row.replace(MARK, '').trim() !== '' && isWhole(row)))
      return [row, bytes.subarray(end)];
  }
}

const encoded = (text: string): Bytes => new TextEncoder().encode(text);

function concat(a: Uint8Array, b: Uint8Array): Bytes {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
