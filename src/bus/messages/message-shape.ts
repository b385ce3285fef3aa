// How to read a message: by its headers, else by the rule for its subject, else as a frame.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import { answerCounts, answerFrame } from '../../hexcodes/wire/frames/answer-frame.js';
import type { Delimiter, Operation } from '../../hexcodes/wire/job.js';
import { FRAME_DECODE, FRAME_OK, FRAME_VERSION } from '../../hexcodes/wire/limits.js';
import { DEFAULT_RESOLUTION, readResolution } from '../../hexcodes/wire/params/number.js';
import {
  BrokenBatchError,
  batchBody,
  convertBatch,
  openBatch,
  TooManyItemsError,
} from '../../hexcodes/wire/rows/batch.js';
import { isUnder, requirePattern, SubjectFault } from '../subjects.js';

const MESSAGE_FORMATS = ['frames', 'ndjson', 'csv', 'json', 'avro'] as const;

/** `json`: one object that holds one position; its other members stay. `avro`: a record, read like `json`. */
type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** Headers that say how to read a message. */
export const FORMAT_HEADER = 'Hexcodes-Format';
const OPERATION_HEADER = 'Hexcodes-Operation';
const RESOLUTION_HEADER = 'Hexcodes-Resolution';

/** Headers that answers do not repeat. */
export const READING_HEADERS: readonly string[] = [FORMAT_HEADER, OPERATION_HEADER, RESOLUTION_HEADER];

/** Frames have operation and resolution in their own header. */
export interface MessageShape {
  readonly format: MessageFormat;
  readonly operation: Operation;
  readonly resolution: number;
}

/**
 * Path of a position in a message: nested members, separated by dots, and numbers from 0 for items of an array. A key
 * that contains dots is found, too.
 */
export interface PositionPaths {
  /** Latitude; without `lng` the whole position, as a text, as an array of latitude and longitude, or as GeoJSON. */
  readonly lat: string;
  readonly lng: string | undefined;
}

/** How to read messages without these headers. */
export interface ReadingRules {
  /** Patterns of subjects with the format of their messages; the first match applies. */
  readonly formats: readonly { readonly pattern: readonly string[]; readonly format: MessageFormat }[];
  readonly operation: Operation;
  readonly resolution: number;
  /** The header row for CSV messages, which have none. */
  readonly columns: string;
  readonly delimiter: Delimiter;
  /** Prefix of the members that are added to JSON objects. */
  readonly prefix: string;
  /** Paths of the positions in JSON objects; undefined: the usual names. */
  readonly paths?: PositionPaths | undefined;
}

export const DEFAULT_RULES: ReadingRules = {
  formats: [],
  operation: 'encode',
  resolution: DEFAULT_RESOLUTION,
  columns: 'lat,lng',
  delimiter: ',',
  prefix: '',
};

/**
 * The message cannot be converted at any attempt. The message of the error is the reason, as the end of a sentence.
 */
export class UnreadableMessage extends Error {
  override readonly name = 'UnreadableMessage';
}

/** The message cannot be converted now, but perhaps at a later delivery. The message of the error is the reason. */
export class MessageLater extends Error {
  override readonly name = 'MessageLater';
}

/**
 * One rule `PATTERN=FORMAT`.
 * @throws SubjectFault
 */
export function readFormatRule(text: string): ReadingRules['formats'][number] {
  const [pattern = '', name] = text.split('=');
  const format = MESSAGE_FORMATS.find((each) => each === name);
  if (format === undefined)
    throw new SubjectFault(
      `${JSON.stringify(text)}: PATTERN=FORMAT, of the formats ${MESSAGE_FORMATS.join(', ')}`,
    );
  return { pattern: requirePattern(pattern), format };
}

/** @throws UnreadableMessage for a header with a value that is not allowed */
export function shapeOf(
  subject: string,
  headers: ReadonlyMap<string, string>,
  rules: ReadingRules,
): MessageShape {
  const ruled = rules.formats.find(({ pattern }) => isUnder(pattern, subject))?.format ?? 'frames';
  const format = wordIn(headers, FORMAT_HEADER, MESSAGE_FORMATS) ?? ruled;
  const operation = wordIn(headers, OPERATION_HEADER, ['encode', 'decode'] as const) ?? rules.operation;
  const text = headers.get(RESOLUTION_HEADER);
  const resolution = text === undefined ? rules.resolution : readResolution(text);
  if (resolution < 0)
    throw new UnreadableMessage(`${RESOLUTION_HEADER} must be an integer from 0 to 15, not ${quoted(text!)}`);
  if ((format === 'json' || format === 'avro') && operation === 'decode')
    throw new UnreadableMessage('an object of one position can only be encoded');
  return { format, operation, resolution };
}

function wordIn<W extends string>(
  headers: ReadonlyMap<string, string>,
  name: string,
  words: readonly W[],
): W | undefined {
  const text = headers.get(name);
  if (text === undefined) return undefined;
  const word = words.find((each) => each === text.trim().toLowerCase());
  if (word === undefined)
    throw new UnreadableMessage(`${name} must be one of ${words.join(', ')}, not ${quoted(text)}`);
  return word;
}

const MAX_QUOTED = 40;

/** A text from outside, quoted for a sentence. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}

// Answers one request of a service on the bus: a binary frame, or a JSON batch with the body of POST
// /v1/hexcodes/encode/batch and its answer.

interface RequestAnswer {
  readonly bytes: Uint8Array;
  readonly points: number;
  readonly failed: number;
}

/** The request cannot be answered; `status` is that of the same request over HTTP. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  constructor(
    readonly status: 400 | 413,
    message: string,
  ) {
    super(message);
  }
}

export class RequestAnswerer {
  readonly #sink = new ByteSink();

  constructor(private readonly kernel: Kernel) {}

  /** @throws BadRequest */
  answer(operation: Operation, request: Uint8Array): RequestAnswer {
    if (request[0] === FRAME_VERSION) return this.#frame(operation, request);
    try {
      const converted = convertBatch(this.kernel, openBatch(operation, request, this.kernel), this.#sink);
      return { bytes: batchBody(converted).slice(), points: converted.total, failed: converted.failed };
    } catch (error) {
      if (error instanceof BrokenBatchError) throw new BadRequest(400, error.message);
      if (error instanceof TooManyItemsError) throw new BadRequest(413, error.message);
      throw error;
    }
  }

  #frame(operation: Operation, frame: Uint8Array): RequestAnswer {
    if ((frame[1] === FRAME_DECODE) !== (operation === 'decode'))
      throw new BadRequest(400, `the frame is not one to ${operation}`);
    const bytes = answerFrame(this.kernel, frame);
    if (bytes[2] !== FRAME_OK) throw new BadRequest(400, 'the request is not a whole frame');
    const { total, failed } = answerCounts(bytes);
    return { bytes, points: total, failed };
  }
}
