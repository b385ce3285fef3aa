// NDJSON: one JSON object a line. A row from NDJSON is written as in the input, with our fields before its closing
// brace, so that numbers keep their spelling; omitted or replaced members are cut out of it.

import type { MemberChoice } from '../../../hexcodes/wire/bulk/convert-lines.js';
import { linesIn } from '../../../hexcodes/wire/bulk/splitters.js';
import { BLOCK_BYTES } from '../../../hexcodes/wire/job.js';
import { eachMember } from '../../../hexcodes/wire/params/json-grammar.js';
import { type Input, isFlush } from '../../disk/input.js';
import { badInput } from '../../exit-codes.js';
import { hasMember } from '../geojson/feature-shapes.js';
import type { JsonDocument, RowFit, TableColumn, TableSource } from '../table.js';
import { oneLine } from '../values/column-text.js';
import {
  DocumentBatch,
  FieldInference,
  inferredValue,
  parseObject,
  rowBatches,
  valuesOf,
} from '../values/json-columns.js';

// Lines of UTF-8 text of NDJSON: blocks of whole lines for the kernel, and single lines of a block.

/** Longest line; a longer one is taken for a file without line ends. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Longest incomplete line: `documentIn` rejects a longer one by its beginning. */
const MAX_REST = MAX_LINE_BYTES + 2 ** 20;
const HELD_BYTES = 512 * 1024;
const LF = 10;
const RECORD_SEPARATOR = 0x1e;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * The lines of an input from an offset on, which is the start of one, in blocks of at most `blockBytes`; a longer
 * line is a block of its own, and the last block may lack its line end. An empty block is a flush point. A block is
 * valid until the next is requested.
 * @param skipped called with the number of lines before the offset, where they are read
 */
export async function* lineBlocks(
  { plain, chunks }: Input,
  blockBytes: number,
  from = 0,
  skipped: (lines: number) => void = () => undefined,
): AsyncGenerator<Buffer> {
  // Whole lines from the start of `held` on, and the beginning of the next one.
  let held = Buffer.allocUnsafeSlow(HELD_BYTES);
  let heldBytes = 0;
  let toSkip = plain === null ? from : 0;
  let lines = 0;
  for await (const whole of plain?.chunksFrom(from) ?? chunks()) {
    const skippedBytes = Math.min(toSkip, whole.length);
    toSkip -= skippedBytes;
    lines += linesIn(whole, 0, skippedBytes);
    if (skippedBytes > 0 && toSkip === 0) skipped(lines);
    const chunk = whole.subarray(skippedBytes);
    if (heldBytes + chunk.length > held.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (heldBytes + chunk.length));
      larger.set(held.subarray(0, heldBytes));
      held = larger;
    }
    held.set(chunk, heldBytes);
    let block = held.subarray(0, heldBytes + chunk.length);
    for (;;) {
      const within = block.lastIndexOf(LF, Math.min(block.length, blockBytes) - 1);
      const feed = within >= 0 || block.length <= blockBytes ? within : block.indexOf(LF);
      if (feed < 0 || (block.length <= blockBytes / 2 && !isFlush(whole))) break;
      yield block.subarray(0, feed + 1);
      block = block.subarray(feed + 1);
    }
    heldBytes = block.length;
    held.copyWithin(0, block.byteOffset - held.byteOffset, block.byteOffset - held.byteOffset + heldBytes);
    if (isFlush(whole)) yield held.subarray(0, 0);
    if (heldBytes > MAX_REST) yield held.subarray(0, heldBytes);
  }
  for (let rest = held.subarray(0, heldBytes); rest.length > 0; ) {
    const feed = rest.lastIndexOf(LF, blockBytes - 1);
    const end = rest.length <= blockBytes || feed < 0 ? rest.length : feed + 1;
    yield rest.subarray(0, end);
    rest = rest.subarray(end);
  }
}

/** The bounds of the lines of a block from a byte on, without their line ends. */
export function* boundsOfLines(block: Buffer, from = 0): Generator<readonly [start: number, end: number]> {
  for (let start = from; start < block.length; ) {
    const feed = block.indexOf(LF, start);
    const end = feed < 0 ? block.length : feed;
    yield [start, end];
    start = end + 1;
  }
}

/**
 * The object in a line without its line end, null where the line is blank.
 * @param line its number in the file
 * @throws CliFailure BAD_INPUT for a line that is too long, not UTF-8, not JSON, or holds a NUL byte
 */
export function documentIn(bytes: Uint8Array, file: string, line: number): JsonDocument | null {
  if (bytes.length > MAX_LINE_BYTES)
    throw badInput({ file, row: line }, `a line of more than ${MAX_LINE_BYTES / 2 ** 20} MiB`);
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw badInput({ file, row: line }, `a NUL byte at byte ${nul + 1} of the line`);
  let text: string;
  try {
    // A record separator may precede each text of a GeoJSON sequence (RFC 8142).
    text = decoder.decode(bytes[0] === RECORD_SEPARATOR ? bytes.subarray(1) : bytes).trim();
  } catch {
    throw badInput({ file, row: line }, 'not UTF-8');
  }
  return text === '' ? null : parseObject(text, file, line);
}

/** @param known the columns, if they were inferred from all rows; otherwise the first batch determines them */
export async function openNdjson(
  input: Input,
  fit: RowFit,
  known: readonly TableColumn[] | null,
): Promise<TableSource> {
  const batches = documentsOf(input);
  const first = (await batches.next()).value ?? [];
  const columns = known ?? columnsOf(first, fit);
  return {
    columns,
    async *batches() {
      for await (const [documents, row] of rowBatches(first, batches, columns.length)) {
        const rows = documents.map(({ value }) => value);
        const firstValues = (count: number) => valuesOf(columns, rows.slice(0, count), input.name, row, fit);
        let values: unknown[][] | undefined;
        yield {
          ...{ rowCount: documents.length, documents, firstValues },
          // Whole lines have no use for the values beyond the sample.
          get values() {
            values ??= firstValues(rows.length);
            return values;
          },
        };
      }
    },
  };
}

function columnsOf(documents: readonly JsonDocument[], fit: RowFit): TableColumn[] {
  const inference = new FieldInference();
  for (const document of documents) inference.add(fit === 'types' ? inferredValue(document) : document.value);
  return inference.columns(fit === 'types');
}

/** Batches of rows, which end at flush points. */
async function* documentsOf(input: Input): AsyncGenerator<JsonDocument[], undefined> {
  const batch = new DocumentBatch();
  let line = 0;
  for await (const block of lineBlocks(input, BLOCK_BYTES)) {
    for (const [start, end] of boundsOfLines(block)) {
      const document = documentIn(block.subarray(start, end), input.name, ++line);
      if (document !== null && batch.add(document)) yield batch.take();
    }
    if (block.length === 0 && batch.size > 0) yield batch.take();
  }
  const last = batch.take();
  if (last.length > 0) yield last;
}

/**
 * The text of a row up to the added members, in one line.
 * @param replaced members that are omitted
 * @param chosen members that are written, if some are chosen
 */
export function openObject(document: JsonDocument, replaced: MemberChoice, chosen?: MemberChoice): string {
  const text = document.featureText === undefined ? document.text : oneLine(document.text);
  if (chosen === undefined && !replaced.names.some((name) => hasMember(document, name)))
    return text.slice(0, text.lastIndexOf('}')).trimEnd();
  return `{${membersOf(text, chosen ?? replaced).join(',')}`;
}

/** The chosen members of a row, in their original text. */
function membersOf(text: string, { isKept, names }: MemberChoice): string[] {
  const listed = new Map(names.map((name) => [name, '']));
  const others: string[] = [];
  eachMember(text, (name, _value, _kind, member) => {
    if (listed.has(name)) listed.set(name, member);
    else others.push(member);
  });
  return isKept ? [...listed.values()].filter((member) => member !== '') : others;
}
