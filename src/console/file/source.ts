// The bytes of a file as the readers of the service accept them: unpacked, a workbook as CSV, in UTF-8, with a header
// row that names the columns in use.

import { lineEndOf, sepLineOf } from '../../hexcodes/wire/bulk/csv-header.js';
import { BulkInputError, type BulkRequest, type Delimiter } from '../../hexcodes/wire/job.js';
import { eachMember, repeatedMember } from '../../hexcodes/wire/params/json-grammar.js';
import { isSide } from '../../hexcodes/wire/params/names.js';
import { codeColumns, pairColumns } from '../../hexcodes/wire/rows/column-names.js';
import { type ForeignFile, foreignFile, hintFor } from '../../tables/foreign-files.js';
import { type FileFormat, FORMATS, formatOfBytes } from '../../tables/formats.js';
import {
  degreesInText,
  type FirstRows,
  likelySheet,
  positionInText,
  shapesIn,
  wholePosition,
} from '../../tables/positions.js';
import { csvOf, isJsonTable, jsonAsCsv } from '../../tables/rows-as-csv.js';
import { POINT_HINT } from '../../tables/shapes/shapes.js';
import { TableError } from '../../tables/table-error.js';
import type { FileTask, FoundTable, FileFormat as RowFormat } from './messages.js';
import {
  addedNames,
  concat,
  encodingOf,
  isWhole,
  looksLikeJson,
  planOf,
  positionReader,
  RowCutter,
  requestOf,
  type TablePlan,
  withPosition,
} from './table-plan.js';

// Rewrites lines of JSON for the readers of the service: where positions have other names, or are texts, objects, or
// degrees and minutes. The code of the command finds the positions.

type Row = Readonly<Record<string, unknown>>;
type Position = readonly [latDeg: number, lngDeg: number, isView?: boolean];

/** Sample lines that decide how the rest is rewritten. */
const SAMPLE_LINES = 100;
/** Members that the readers accept besides the position; they reject members that give a hemisphere. */
const KEPT = ['id', 'resolution'];

/**
 * Decides how each line is rewritten; undefined if lines are passed on unchanged.
 * @param beginning whose last line may be cut off
 */
export function lineRewriter(beginning: string, isAll: boolean): ((line: string) => string) | undefined {
  const lines = beginning.split('\n');
  if (!isAll) lines.pop();
  const rows = lines
    .slice(0, SAMPLE_LINES)
    .map(rowOf)
    .filter((row) => row !== undefined);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const positionOf = reader(rows, names);
  if (positionOf === undefined) return undefined;
  return (line) => {
    const row = rowOf(line);
    // The readers reject a member that a line repeats with different values.
    if (row === undefined || repeatedMember(line) !== undefined) return line;
    const [lat, lng] = positionOf(row);
    const kept: string[] = [];
    eachMember(line, (name, _value, _kind, member) => {
      if (KEPT.includes(name) || isSide(name)) kept.push(`${member},`);
    });
    // NaN becomes null, which the readers report as a fault.
    return `{${kept.join('')}${JSON.stringify({ lat, lng }).slice(1)}`;
  };
}

function reader(rows: readonly Row[], names: readonly string[]): ((row: Row) => Position) | undefined {
  const pair = pairColumns(names);
  if (pair.lat.length === 1 && pair.lng.length === 1) {
    const [lat = '', lng = ''] = [names[pair.lat[0]!], names[pair.lng[0]!]];
    // The readers accept these names, even if a later line has another of them.
    const isRead = /^lat(?:itude)?$/.test(lat) && /^(?:lng|lon|longitude)$/.test(lng);
    return isRead && !rows.some((row) => isText(row[lat]) || isText(row[lng]))
      ? undefined
      : (row) => [degrees(row[lat], 'lat'), degrees(row[lng], 'lng')];
  }
  if (pair.lat.length > 0 || pair.lng.length > 0 || codeColumns(names).length > 0) return undefined;
  const sample: FirstRows = { names, rows: rows.map((row) => names.map((name) => textOf(row[name]))) };
  const where = wholePosition(sample, true);
  return where === null ? undefined : (row) => positionInText(textOf(row[names[where.column]!]), where);
}

function rowOf(line: string): Row | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : undefined;
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): boolean => typeof value === 'string';

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

function degrees(value: unknown, axis: 'lat' | 'lng'): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? degreesInText(value, axis) : Number.NaN;
}

type Bytes = Uint8Array<ArrayBuffer>;

export interface Source {
  readonly format: RowFormat;
  readonly bytes: ReadableStream<Uint8Array>;
  /** Absent for lines of JSON. */
  readonly table?: FoundTable;
  /** The parts of the request that are known. */
  readonly request?: Partial<BulkRequest>;
  /** Whether the answer begins with a byte order mark, by which spreadsheets recognise UTF-8. */
  readonly hasMark: boolean;
}

/** A file that only the command reads. */
export class CommandOnlyError extends Error {}

const MARK = '\ufeff';
/** Bytes of the beginning from which a plan is made. */
const PLAN_BYTES = 65_536;
/** Bytes that suffice to tell kinds of files apart. */
const SEEN_BYTES = 16_384;
/** A workbook is held in memory as a whole. */
const MAX_WORKBOOK_BYTES = 64 * 2 ** 20;
/** Memory limit of KML, a GeoPackage or the texts of a workbook, with everything made of them. */
const MAX_HELD_BYTES = 512 * 2 ** 20;

/** Formats whose rows the page reads; the command reads all. */
const OWN: readonly FileFormat[] = ['csv', 'tsv', 'ndjson', 'geojson', 'xlsx', 'gpx', 'kml', 'gpkg'];
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
    const isKnown = found === 'xlsx' || found === 'gpx' || found === 'kml' || found === 'gpkg';
    const foreign = isKnown ? undefined : foreignFile(text);
    const isTable = found === 'geojson' || (isJsonTable(text) && (foreign?.isTable ?? foreign === undefined));
    if (isTable) {
      try {
        return await wholeSource(task, 'geojson', joined(beginning, reader));
      } catch (error) {
        // Concatenated objects are not JSON: a hint explains more.
        const areObjects = text.trimStart().startsWith('{') && foreign !== undefined;
        if (!(error instanceof TableError && areObjects)) throw error;
      }
    }
    if (foreign !== undefined) throw new BulkInputError(foreignSentence(foreign, task.file));
  }
  if (task.format === undefined && found === 'gpx') return gpxSource(task, joined(beginning, reader));
  if (task.format === undefined && (found === 'kml' || found === 'gpkg'))
    return wholeSource(task, found, joined(beginning, reader));
  if (text.startsWith(ZIP)) {
    void reader.cancel();
    return workbookSource(task);
  }
  const encoding = encodingOf(beginning);
  if (task.format === 'ndjson' || (task.format === undefined && (found === 'ndjson' || looksLikeJson(text))))
    return { format: 'ndjson', bytes: jsonLines(beginning, reader), hasMark: false };
  if (encoding === 'utf-8') return tableSource(task, beginning, reader);
  const decoded = decodedBytes(joined(beginning, reader), encoding).getReader();
  return tableSource(task, await beginningOf(decoded), decoded, { hasMark: true });
}

function foreignSentence(kind: ForeignFile, file: Blob): string {
  const { name = 'FILE' } = file as Partial<File>;
  const hint = hintFor(kind, name).replace(/ \| hexcodes …$/, '');
  return `It is ${kind.what}; ${hint.charAt(0).toLowerCase()}${hint.slice(1).replace(/\.$/, '')}`;
}

/** Converts bytes of another encoding to UTF-8. Letters of Windows-1258 are followed by their tones. */
const decodedBytes = (bytes: ReadableStream<Uint8Array>, encoding: string): ReadableStream<Uint8Array> =>
  rewrittenText(bytes, (text = '') => text.normalize('NFC'), encoding);

/** Points of GPX as the file is read, with the reader of the command. */
async function gpxSource(task: FileTask, bytes: ReadableStream<Uint8Array>): Promise<Source> {
  const { gpxAsCsv } = await import('../../tables/xml/gpx.js');
  return csvSource(task, gpxAsCsv(chunksOf(bytes)));
}

/** Counts held bytes, and throws at the limit. */
function holder(): (bytes: number) => void {
  let held = 0;
  return (more) => {
    held += more;
    if (held > MAX_HELD_BYTES) throw new BulkInputError('The file is too large for a page');
  };
}

/** Placemarks of KML or KMZ, the layer of a GeoPackage, or JSON that is not in lines: files that are read whole. */
async function wholeSource(
  task: FileTask,
  format: 'kml' | 'gpkg' | 'geojson',
  bytes: ReadableStream<Uint8Array>,
): Promise<Source> {
  const hold = holder();
  const parts: Bytes[] = [];
  for await (const part of chunksOf(bytes)) {
    hold(2 * part.length);
    parts.push(part as Bytes);
  }
  const content = new Uint8Array(await new Blob(parts).arrayBuffer());
  const read = async (): Promise<Iterable<Uint8Array>> => {
    if (format === 'geojson') {
      return jsonAsCsv(new TextDecoder().decode(content));
    }
    if (format === 'kml') return (await import('../../tables/xml/kml.js')).kmlAsCsv(content, null, hold);
    const { geoPackageAsCsv } = await import('../../tables/geopackage/geopackage.js');
    return geoPackageAsCsv(content, null, null, hold);
  };
  try {
    return await csvSource(task, await read());
  } catch (error) {
    // The point of lines and areas, and one of several layers, are chosen by options of the command.
    if (error instanceof TableError && error.hint === POINT_HINT)
      throw new CommandOnlyError(`${FORMATS[format].title} (LineString, Polygon)`);
    if (error instanceof TableError && format === 'gpkg') throw new CommandOnlyError(FORMATS.gpkg.title);
    throw error;
  }
}

async function csvSource(
  task: FileTask,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ofWorkbook: { readonly sheets?: readonly string[]; readonly sheet?: number } = {},
): Promise<Source> {
  const pieces = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  const reader = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done = false, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array);
    },
  }).getReader();
  return tableSource(task, await beginningOf(reader), reader, { hasMark: true, given: ',', ...ofWorkbook });
}

/** Not every browser can iterate over streams. */
async function* chunksOf(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = bytes.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** The chosen sheet of a workbook as CSV, else the first with known columns, else the first with rows. */
async function workbookSource(task: FileTask): Promise<Source> {
  if (task.file.size > MAX_WORKBOOK_BYTES)
    throw new BulkInputError('The workbook is larger than 64 MiB; save the sheet as CSV');
  const { sheetsOf } = await import('../../tables/xlsx/workbook.js');
  try {
    const sheets = sheetsOf(new Uint8Array(await task.file.arrayBuffer()), holder()).filter(
      (each) => each.firstRows(1).length > 0,
    );
    const likely = likelySheet(sheets);
    const first = likely === undefined ? 0 : sheets.indexOf(likely);
    const sheet = Math.min(task.sheet ?? first, sheets.length - 1);
    const chosen = sheets[sheet];
    if (chosen === undefined) throw new BulkInputError('The file is empty');
    return await csvSource(task, csvOf(chosen.rows()), { sheets: sheets.map(({ name }) => name), sheet });
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    throw new BulkInputError(`The workbook is broken: ${error.message}`);
  }
}

async function tableSource(
  task: FileTask,
  start: Bytes,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  {
    hasMark: isMarked = false,
    sheets = [] as readonly string[],
    sheet = 0,
    given = undefined as Delimiter | undefined,
  } = {},
): Promise<Source> {
  if (start.length === 0) throw new BulkInputError('The file is empty');
  const isAll = start.length < PLAN_BYTES;
  const sep = sepLineOf(start);
  const table = start.subarray(sep?.sizeBytes ?? 0);
  const text = new TextDecoder().decode(table, { stream: true });
  const { sample, isKnown: _, ...plan } = planOf(text, isAll, sep?.delimiter ?? given, isTabs(task));
  const columns = task.columns ?? plan.columns;
  if (columns === undefined) refuseShapes(sample);
  const positionOf = columns === undefined ? undefined : positionReader(sample, columns);
  const isBeside = positionOf !== undefined;
  const { titleRows } = plan;
  const hasMark = isMarked || (titleRows > 0 && hasMarkAt(start));
  const known = { delimiter: plan.delimiter, ...(columns && requestOf(plan, columns, isBeside)) };
  const found = {
    format: 'csv',
    table: { plan, columns, sheets, sheet, titleRows },
    hasMark,
    request: known,
  } as const;
  let untitled: Uint8Array = table;
  for (let left = titleRows; left > 0; left--) [, untitled] = firstRow(untitled, plan.delimiter);
  if (plan.hasHeader && !isBeside) return { ...found, bytes: joined(untitled, reader) };
  const [line, rest] = firstRow(untitled, plan.delimiter);
  const mark = line.startsWith(MARK) ? MARK : '';
  const first = line.slice(mark.length);
  const lineEnd = lineEndOf(encoded(line));
  const head = plan.hasHeader ? [first.replace(/^(?:[^\S\n]*\n)+|\r?\n$/g, '')] : plan.names;
  const names = [...head, ...(isBeside ? addedNames(plan) : [])].join(plan.delimiter);
  const rows = joined(plan.hasHeader ? rest : concat(encoded(first), rest), reader);
  const body = isBeside ? withPositions(rows, plan, positionOf, lineEnd) : rows;
  return { ...found, bytes: joined(encoded(`${mark}${names}${lineEnd}`), body.getReader()) };
}

const isTabs = ({ file }: FileTask): boolean =>
  /\.(?:tsv|tab)(?:\.gz)?$/i.test((file as Partial<File>).name ?? '');

/** The rows with two added fields for their positions. */
function withPositions(
  bytes: ReadableStream<Uint8Array>,
  plan: TablePlan,
  positionOf: NonNullable<ReturnType<typeof positionReader>>,
  lineEnd: string,
): ReadableStream<Uint8Array> {
  const cutter = new RowCutter(plan.delimiter);
  const rewritten = (rows: readonly string[]): string =>
    rows.map((row) => `${row.trim() === '' ? row : withPosition(row, plan, positionOf)}${lineEnd}`).join('');
  return rewrittenText(bytes, (text) => rewritten(text === undefined ? cutter.end() : cutter.push(text)));
}

/** Lines of JSON rewritten for the readers. */
function jsonLines(
  beginning: Bytes,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  const text = new TextDecoder().decode(beginning, { stream: true });
  const rewrite = lineRewriter(text, beginning.length < PLAN_BYTES);
  const bytes = joined(beginning, reader);
  if (rewrite === undefined) return bytes;
  let rest = '';
  return rewrittenText(bytes, (more) => {
    const lines = (rest + (more ?? '')).split('\n');
    rest = more === undefined ? '' : lines.pop()!;
    return lines.map((line) => (line.trim() === '' ? line : `${rewrite(line)}\n`)).join('');
  });
}

/** @param rewritten converts a piece of the text; called once more without a piece, for the rest */
function rewrittenText(
  bytes: ReadableStream<Uint8Array>,
  rewritten: (text: string | undefined) => string,
  encoding = 'utf-8',
): ReadableStream<Uint8Array> {
  const rewriter = new TransformStream<string, string>({
    transform: (text, controller) => controller.enqueue(rewritten(text)),
    flush: (controller) => controller.enqueue(rewritten(undefined)),
  });
  return (bytes as ReadableStream<BufferSource>)
    .pipeThrough(new TextDecoderStream(encoding))
    .pipeThrough(rewriter)
    .pipeThrough(new TextEncoderStream());
}

const hasMarkAt = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** @throws CommandOnlyError for lines and areas: their point is chosen by an option of the command */
function refuseShapes(sample: FirstRows): void {
  const types = sample.names.flatMap((_, column) => shapesIn(sample, column));
  if (types.length > 0) throw new CommandOnlyError(`${FORMATS.csv.title} (${types.join(', ')})`);
}

/** The bytes of the beginning that a plan needs, or all bytes if there are fewer. */
async function beginningOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Bytes> {
  let bytes: Bytes = new Uint8Array();
  while (bytes.length < PLAN_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes = concat(bytes, value);
  }
  return bytes;
}

/** A beginning followed by the rest. */
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

/** The first row with text and the blank lines before it, with its line end; and the bytes after it. */
function firstRow(bytes: Uint8Array, delimiter: Delimiter): [row: string, rest: Uint8Array] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (let end = 0; ; ) {
    const feed = bytes.indexOf(10, end);
    end = feed < 0 ? bytes.length : feed + 1;
    const row = decoder.decode(bytes.subarray(0, end));
    const text = row.replace(MARK, '').replace(/^(?:[^\S\n]*\n)+/, '');
    if (end === bytes.length || (text.trim() !== '' && isWhole(text, delimiter)))
      return [row, bytes.subarray(end)];
  }
}

const encoded = (text: string): Bytes => new TextEncoder().encode(text);
