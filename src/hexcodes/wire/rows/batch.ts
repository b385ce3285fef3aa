// Batches in JSON, from bytes to bytes: {"points": […]} or {"hexcodes": […]} come in, {"status", "summary",
// "results"} leave. The HTTP batch endpoints and the JSON frames of the stream use it.

import { EXTRA_NAMES, type ExtraName, extraFault, extrasWhere } from '../../extras.js';
import { EACH_ITS_OWN, type Kernel } from '../../kernel/kernel.js';
import { FROM_JSON, JSON_CLOSED, JSON_OPEN, WITH_RESOLUTION } from '../../kernel/text-memory.js';
import type { ByteSink } from '../bytes/byte-sink.js';
import { MAX_NDJSON_ROW_BYTES, type Operation, ROW_STATUSES } from '../job.js';
import { MAX_BATCH_ITEMS } from '../limits.js';
import { areEqualTexts } from '../params/json-grammar.js';
import { memberHint } from '../params/names.js';
import { DEFAULT_RESOLUTION, readJsonResolution } from '../params/number.js';
import type { ParameterFault } from '../params/parameters.js';
import { DIFFERS } from '../params/query.js';
import { BrokenArrayError, preparedMemoryOf, RowAnswers, type RowsTask } from './convert-rows.js';
import { JsonEnvelope, type JsonMember, NoObjectError, NotJsonError } from './envelope.js';
import type { RowAllowance, RowOrigin } from './row-report.js';

/** Bytes of the smallest item and its comma, which limit the number of items in a body. */
export const MIN_ITEM_BYTES = 2;

/** The batch is invalid as a whole: no item was converted. The message names all faults. */
export class BrokenBatchError extends Error {
  override readonly name = 'BrokenBatchError';
  constructor(readonly faults: readonly ParameterFault[]) {
    super(faults.map(({ parameter, message }) => `${parameter} ${message}`).join('; '));
  }
}

/** The batch has more than MAX_BATCH_ITEMS items. */
export class TooManyItemsError extends Error {
  override readonly name = 'TooManyItemsError';
  constructor(readonly count: number) {
    super(`a batch has at most ${MAX_BATCH_ITEMS} items, not ${count}`);
  }
}

/** A batch with a valid envelope, whose items have been counted but not read. */
export interface Batch {
  readonly operation: Operation;
  readonly resolution: number;
  /** Bits of EXTRAS: members that the results have. */
  readonly extras: number;
  /** Whether results of failed items have `code` and `index`. */
  readonly hasReasons: boolean;
  readonly bytes: Uint8Array;
  readonly items: JsonMember;
  readonly origin: RowOrigin;
  /** The hint about unknown members; empty if there are none. */
  readonly hint: string;
}

export interface ConvertedBatch {
  readonly total: number;
  readonly failed: number;
  /** Items by status, in the order of ROW_STATUSES. */
  readonly byStatus: Uint32Array;
  /** A view of the sink: HEAD_BYTES of space, then the JSON array of the items' answers and the end of the answer. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The answer to a whole batch or frame, with counts of its items. */
export interface CountedAnswer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Items that were converted, and how many of them are not OK. */
  readonly total: number;
  readonly failed: number;
  /** Items that were not converted, because they exceed the limit. */
  readonly refused: number;
  /** The hint about unknown members. */
  readonly hint?: string;
}

/** An answer without items. */
export function uncounted(bytes: Uint8Array<ArrayBuffer>, refused = 0): CountedAnswer {
  return { bytes, total: 0, failed: 0, refused };
}

const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSING = Uint8Array.of(93, 125);
/**
 * Items of a step: their rows, points and answers then stay in a second-level cache of 512 KiB. Steps of 4,096 cost a
 * quarter more an item (npm run bench -- text).
 */
const STEP_ITEMS = 1024;
/** More than the text before the results of any answer. */
const HEAD_BYTES = 192;

/**
 * Reads the envelope of a request body.
 * @param kernel makes it faster
 * @throws BrokenBatchError, TooManyItemsError
 */
export function openBatch(operation: Operation, bytes: Uint8Array, kernel?: Kernel): Batch {
  const batch = batchOf(operation, envelopeOf(operation, bytes, kernel), 'batch', true);
  if (batch.items.count > MAX_BATCH_ITEMS) throw new TooManyItemsError(batch.items.count);
  return batch;
}

function envelopeOf(operation: Operation, bytes: Uint8Array, kernel: Kernel | undefined): JsonEnvelope {
  try {
    return new JsonEnvelope(bytes, kernel);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    throw broken(
      'body',
      error instanceof NoObjectError ? `${error.message}, such as ${EXAMPLES[operation]}` : error.message,
    );
  }
}

/**
 * Reads the batch in an envelope that may have other members too.
 * @throws BrokenBatchError
 */
export function batchOf(
  operation: Operation,
  envelope: JsonEnvelope,
  origin: RowOrigin = 'batch',
  hasReasons = false,
): Batch {
  const faults: ParameterFault[] = [];
  const name = nameOf(operation);
  const [items, ...others] = envelope.members(name);
  const hint = hintOf(operation, envelope, origin);
  if (items === undefined)
    faults.push({ parameter: name, message: `is required${missing(operation, hint, origin)}` });
  else if (others.length > 0) faults.push({ parameter: name, message: 'is given more than once' });
  else if (!items.isArray) faults.push({ parameter: name, message: 'must be an array' });
  let resolution = DEFAULT_RESOLUTION;
  if (operation === 'encode') {
    const [text = '', ...more] = envelope.members('resolution').map((member) => envelope.text(member));
    if (more.some((each) => !areEqualTexts(text, each))) {
      faults.push({ parameter: 'resolution', message: DIFFERS });
    } else if (text !== '') {
      resolution = readJsonResolution(text);
      const quotes = resolution < 0 && readJsonResolution(withoutQuotes(text)) >= 0 ? ', without quotes' : '';
      if (resolution < 0)
        faults.push({ parameter: 'resolution', message: `must be an integer from 0 to 15${quotes}` });
    }
  }
  const isAsked = (parameter: ExtraName): boolean => {
    if (operation !== 'encode') return false;
    const texts = envelope.members(parameter).map((member) => envelope.text(member));
    const isRead = texts.every((text) => (text === 'true' || text === 'false') && text === texts[0]);
    const quotes = /^"(?:true|false)"$/.test(texts[0] ?? '') ? ', without quotes' : '';
    if (!isRead) faults.push({ parameter, message: `must be true or false${quotes}` });
    return texts[0] === 'true';
  };
  const extras = extrasWhere(isAsked);
  if (items === undefined || faults.length > 0) throw new BrokenBatchError(faults);
  return { operation, resolution, extras, hasReasons, bytes: envelope.bytes, items, origin, hint };
}

const MEMBERS: Readonly<Record<Operation, readonly [items: string, ...options: string[]]>> = {
  encode: ['points', 'resolution', ...EXTRA_NAMES],
  decode: ['hexcodes'],
};
const EXAMPLES: Readonly<Record<Operation, string>> = {
  encode: '{"points":[[21.0288,105.8525]]}',
  decode: '{"hexcodes":["HN-6GHP4-83RFR"]}',
};

/**
 * The hint about unknown members of a batch. If the items are missing, an array with another name is probably meant.
 */
function hintOf(operation: Operation, envelope: JsonEnvelope, origin: RowOrigin): string {
  const members = MEMBERS[operation];
  const known = [...members, 'id', ...(origin === 'stream' ? ['seq', 'op'] : [])];
  const absent = members.filter((name) => envelope.members(name).length === 0);
  const [items] = members;
  const other = MEMBERS[operation === 'encode' ? 'decode' : 'encode'][0];
  if (absent[0] !== items) return memberHint(envelope.names, known, absent);
  if (envelope.members(other).length > 0)
    return `${other} is the member of a batch to ${operation === 'encode' ? 'decode' : 'encode'}`;
  const isArray = (name: string): boolean => envelope.members(name).some((member) => member.isArray);
  const arrays = [...envelope.names].filter((name) => !known.includes(name) && isArray(name));
  const said = memberHint(arrays.length > 0 ? arrays : envelope.names, known, absent);
  return arrays.length > 0 && said !== '' && !said.includes('; perhaps') ? `${said}; perhaps ${items}` : said;
}

/** The example and the hint after the fault of missing items. */
function missing(operation: Operation, hint: string, origin: RowOrigin): string {
  const example = origin === 'stream' || hint.includes('; perhaps') ? '' : `, as in ${EXAMPLES[operation]}`;
  return example + (hint === '' ? '' : `; ${hint}`);
}

const withoutQuotes = (text: string): string => text.replace(/^"(.*)"$/s, '$1');

function broken(parameter: string, message: string): BrokenBatchError {
  return new BrokenBatchError([{ parameter, message }]);
}

/**
 * Converts all items, in order.
 * @param sink holds the results; emptied first
 * @throws BrokenBatchError if the array turns out to be invalid JSON
 */
export function convertBatch(kernel: Kernel, batch: Batch, sink: ByteSink): ConvertedBatch {
  return convertAllowed(kernel, batch, sink, undefined)!;
}

/** Converts a batch within an allowance of points; undefined where it does not cover all items. */
export function convertAllowed(
  kernel: Kernel,
  batch: Batch,
  sink: ByteSink,
  allowance: RowAllowance | undefined,
): ConvertedBatch | undefined {
  if (allowance !== undefined && batch.items.count > allowance.rows) return undefined;
  const conversion = new BatchConversion(kernel, batch, sink);
  while (!conversion.isDone) if (!conversion.step(allowance)) return undefined;
  return conversion.converted;
}

/** A batch that is converted in steps, between which the kernel may do other work. */
export class BatchConversion {
  readonly #task: RowsTask;
  readonly #byStatus = new Uint32Array(ROW_STATUSES.length);
  #total = 0;
  /** Start of the items not yet converted. */
  #at: number;
  /** Upper bound of the bytes of a step, or all that the kernel accepts. */
  #windowBytes: number;
  #isDone = false;

  /**
   * @param sink holds the results until all steps are done; emptied first
   * @throws BrokenBatchError if the batch asks for extras that this kernel does not have
   */
  constructor(
    private readonly kernel: Kernel,
    private readonly batch: Batch,
    private readonly sink: ByteSink,
  ) {
    const fault = extraFault(batch.extras, kernel);
    if (fault !== undefined) throw new BrokenBatchError([fault]);
    this.#task = taskOf(batch);
    const { start, end, count } = batch.items;
    this.#at = start + 1;
    this.#windowBytes = Math.ceil(((end - start) / count) * STEP_ITEMS * 1.25) + 1024;
    sink.start();
    sink.reserve(HEAD_BYTES)[HEAD_BYTES - 1] = OPEN_BRACKET;
    sink.commit(HEAD_BYTES);
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Items converted so far, and how many of them are not OK. */
  get counts(): { readonly total: number; readonly failed: number } {
    return { total: this.#total, failed: this.#total - this.#byStatus[0]! };
  }

  /**
   * Converts the next items.
   * @returns false if the allowance does not cover them, which ends the conversion
   * @throws BrokenBatchError if the array turns out to be invalid JSON
   */
  step(allowance?: RowAllowance): boolean {
    const { bytes, operation, resolution, items, hasReasons } = this.batch;
    const { block, blockAt, blockBytes, exports, statusCounts } = preparedMemoryOf(this.kernel);
    const isFirst = this.#at === items.start + 1;
    const windowBytes = Math.min(this.#windowBytes, blockBytes);
    const window = bytes.subarray(this.#at, Math.min(this.#at + windowBytes, items.end));
    block.set(window);
    const end = blockAt + window.length;
    const count = exports.scanArray(blockAt, end, STEP_ITEMS, operation === 'decode', resolution, isFirst);
    const state = exports.jsonState.value;
    const taken = exports.jsonEnd.value - blockAt;
    if (count > 0) {
      statusCounts.fill(0);
      const { sizeBytes } = this.sink;
      const before = this.#total;
      if (answerElements(this.kernel, this.#task, count, this.sink, allowance) < count) return false;
      if (hasReasons && statusCounts[0]! < count)
        addReasons(this.sink, sizeBytes, before, count - statusCounts[0]!);
      for (let status = 0; status < statusCounts.length; status++)
        this.#byStatus[status]! += statusCounts[status]!;
      this.#total += count;
    } else if (state === JSON_OPEN && taken === 0) {
      if (windowBytes < blockBytes) {
        this.#windowBytes = blockBytes;
        return true;
      }
      throw broken(nameOf(operation), tooLarge(window, blockBytes));
    }
    this.#at += taken;
    if (state === JSON_OPEN) return true;
    if (state !== JSON_CLOSED || this.#at !== items.end) throw broken(nameOf(operation), 'is not valid JSON');
    this.#isDone = true;
    return true;
  }

  /** The answer to all items, once all are converted. */
  get converted(): ConvertedBatch {
    const { total, failed } = this.counts;
    const sink = this.sink;
    if (total > 0) sink.drop(1);
    sink.add(CLOSING);
    return { total, failed, byStatus: this.#byStatus, body: sink.added };
  }
}

const STATUS = Buffer.from('"status":"');
const OK_LETTER = 79;
/** The code of a failed item, by its status. */
const CODES: Readonly<Record<string, string>> = {
  NOT_FOUND: 'outside_coverage',
  INVALID_HEXCODES: 'hexcode_invalid',
};
const DETAILS = '"details":[{"parameter":"';
const FAULT = '","message":"';
const REQUIRED = 'is required';

/** The code of an item with a faulty parameter, by the first of its `details`, which follow `at`. */
function codeOfFault(bytes: Buffer, at: number): string {
  const faultAt = bytes.indexOf(FAULT, bytes.indexOf(DETAILS, at) + DETAILS.length) + FAULT.length;
  const said = bytes.toString('latin1', faultAt, faultAt + REQUIRED.length);
  return said === REQUIRED ? 'parameter_missing' : 'parameter_invalid';
}

/** More than `,"code":"…","index":…` has. */
const REASON_BYTES = 64;

/**
 * Adds `code` and `index` after the status of each failed item, in place. The answers begin at `from`; the first is
 * that of item `first`. Inside a JSON string every quote has a backslash, so each `"status":"` is a member, and each
 * item has one.
 */
function addReasons(sink: ByteSink, from: number, first: number, failed: number): void {
  const end = sink.sizeBytes;
  sink.reserve(failed * REASON_BYTES);
  const { buffer, byteOffset } = sink.added;
  const bytes = Buffer.from(buffer, byteOffset, end);
  const insertions: [at: number, text: string][] = [];
  let index = first;
  for (let at = bytes.indexOf(STATUS, from); at >= 0 && insertions.length < failed; index++) {
    const wordAt = at + STATUS.length;
    at = bytes.indexOf(STATUS, wordAt);
    // Items of a batch never have the status OVER_QUERY_LIMIT.
    if (bytes[wordAt] === OK_LETTER) continue;
    const wordEnd = bytes.indexOf(34, wordAt);
    const word = bytes.toString('latin1', wordAt, wordEnd);
    const code = CODES[word] ?? codeOfFault(bytes, wordEnd);
    insertions.push([wordEnd + 1, `,"code":"${code}","index":${index}`]);
  }
  const added = insertions.reduce((sum, [, text]) => sum + text.length, 0);
  const whole = Buffer.from(buffer, byteOffset, end + added);
  let [sourceEnd, targetEnd] = [end, end + added];
  for (const [at, text] of insertions.reverse()) {
    whole.copyWithin(targetEnd - (sourceEnd - at), at, sourceEnd);
    targetEnd -= sourceEnd - at + text.length;
    whole.write(text, targetEnd, 'latin1');
    sourceEnd = at;
  }
  sink.commit(added);
}

function answerElements(
  kernel: Kernel,
  task: RowsTask,
  count: number,
  sink: ByteSink,
  allowance: RowAllowance | undefined,
): number {
  try {
    return new RowAnswers(kernel, task, sink, allowance).add(count, EACH_ITS_OWN);
  } catch (error) {
    if (error instanceof BrokenArrayError) throw broken(nameOf(task.operation), 'is not valid JSON');
    throw error;
  }
}

/** A window without a whole item holds either an item larger than itself, or the end of a text that is not an array. */
function tooLarge(window: Uint8Array, windowBytes: number): string {
  return window.length < windowBytes ? 'is not valid JSON' : `has an item longer than ${windowBytes} bytes`;
}

function nameOf(operation: Operation): string {
  return operation === 'encode' ? 'points' : 'hexcodes';
}

function taskOf({ operation, resolution, extras, origin }: Batch): RowsTask {
  return {
    operation,
    source: FROM_JSON,
    output: 'json',
    resolution,
    delimiter: COMMA,
    columns: WITH_RESOLUTION | extras,
    lineEnd: '\n',
    separator: COMMA,
    refusal: 0,
    maxItemBytes: MAX_NDJSON_ROW_BYTES,
    isArray: true,
    csv: undefined,
    report: undefined,
    origin,
  };
}

const encoder = new TextEncoder();

/**
 * The body of the answer, a view of the sink: `{"status":"OK","summary":{…},"results":[…]}`.
 * @param head text before its first member, in ASCII, at most 64 characters
 */
export function batchBody({ total, failed, body }: ConvertedBatch, head = ''): Uint8Array<ArrayBuffer> {
  const summary = `{"total":${total},"ok":${total - failed},"failed":${failed}}`;
  const start = `{${head}"status":"${ROW_STATUSES[0]}","summary":${summary},"results":`;
  const whole = body.subarray(HEAD_BYTES - 1 - start.length);
  encoder.encodeInto(start, whole);
  return whole;
}
