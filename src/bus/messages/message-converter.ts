// Converts whole messages, in this thread or in the threads of a pool. The answer is a function of the message and
// the rules.
import { type Kernel, OK, OUTSIDE_COVERAGE } from '../../hexcodes/kernel/kernel.js';
import { convertBlock } from '../../hexcodes/wire/bulk/convert-block.js';
import { BulkReader } from '../../hexcodes/wire/bulk/reader.js';
import { BlockBuffers } from '../../hexcodes/wire/bulk/splitters.js';
import { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import {
  answerCounts,
  answerFrame,
  answerFrameBytes,
  requestFrameBytes,
} from '../../hexcodes/wire/frames/answer-frame.js';
import { BulkInputError, type BulkRequest } from '../../hexcodes/wire/job.js';
import { FRAME_HEADER_BYTES, FRAME_OK } from '../../hexcodes/wire/limits.js';
import type { Pool } from '../../pool/pool.js';
import type { AvroReader } from './avro.js';
import { type MessageShape, type ReadingRules, UnreadableMessage } from './message-shape.js';
import { type PositionObject, readPositionObjects } from './position-object.js';

const MIN_BYTES = 4096;
const MAX_BYTES = 2 * 1024 * 1024;
/** Most bytes of idle buffers that are kept. */
const KEPT_BYTES = 16 * 1024 * 1024;

/**
 * Memory of answers, which is reused: new memory costs page faults, and the garbage collector runs whenever 64 MB
 * have been allocated.
 */
export class AnswerBuffers {
  readonly #free = new Map<number, Uint8Array<ArrayBuffer>[]>();
  #freeBytes = 0;

  /** A buffer of at least `minBytes`, rounded up to a power of two; it may hold remains of an earlier answer. */
  take(minBytes: number): Uint8Array<ArrayBuffer> {
    if (minBytes > MAX_BYTES) return new Uint8Array(minBytes);
    const sizeBytes = Math.max(MIN_BYTES, 2 ** Math.ceil(Math.log2(minBytes)));
    const buffer = this.#free.get(sizeBytes)?.pop();
    if (buffer === undefined) return new Uint8Array(sizeBytes);
    this.#freeBytes -= sizeBytes;
    return buffer;
  }

  /** Takes back a whole buffer, or any part of it, that is no longer read. */
  giveBack({ buffer }: Uint8Array): void {
    const { byteLength } = buffer;
    if (!(buffer instanceof ArrayBuffer)) return;
    if (byteLength > MAX_BYTES || this.#freeBytes + byteLength > KEPT_BYTES) return;
    const sameSize = this.#free.get(byteLength);
    if (sameSize === undefined) this.#free.set(byteLength, [new Uint8Array(buffer)]);
    else sameSize.push(new Uint8Array(buffer));
    this.#freeBytes += byteLength;
  }
}

export interface ConvertedMessage {
  readonly bytes: Uint8Array;
  readonly points: number;
  /** Points without an answer: outside, not a position, or not a hexcode. */
  readonly failed: number;
  /** May be called once the bytes are no longer read: a later answer reuses their memory. */
  readonly release?: () => void;
}

const encoder = new TextEncoder();

export class MessageConverter {
  readonly #pool: Pool | undefined;
  readonly #avro: AvroReader | undefined;
  readonly #sink = new ByteSink();
  readonly #buffers = new BlockBuffers();
  readonly #answers = new AnswerBuffers();
  readonly #header: Uint8Array;

  /**
   * @param pool converts all messages except objects; without a pool this thread does
   * @param avro reads messages in Avro; without it they are rejected
   */
  constructor(
    private readonly kernel: Kernel,
    private readonly rules: ReadingRules,
    pool?: Pool,
    avro?: AvroReader,
  ) {
    this.#pool = pool;
    this.#avro = avro;
    this.#header = encoder.encode(`${rules.columns}\n`);
  }

  /** @throws UnreadableMessage; MessageLater, PoolFullError or PoolLostError where another attempt may succeed */
  async convert(bytes: Uint8Array, shape: MessageShape): Promise<ConvertedMessage> {
    if (shape.format === 'frames') return this.#frame(bytes);
    if (shape.format === 'json') return this.#objects(bytes, shape.resolution);
    if (shape.format === 'avro') {
      if (this.#avro === undefined) throw new UnreadableMessage('Avro is read with --schema-registry');
      return this.#objects(await this.#avro.jsonOf(bytes), shape.resolution);
    }
    try {
      return await this.#text(bytes, shape);
    } catch (error) {
      if (error instanceof BulkInputError) throw new UnreadableMessage(error.message, { cause: error });
      throw error;
    }
  }

  async #frame(bytes: Uint8Array): Promise<ConvertedMessage> {
    const pool = this.#pool;
    const answer =
      pool === undefined
        ? answerFrame(this.kernel, bytes, this.#answers.take(answerFrameBytes(bytes)))
        : await pool.answerFrame(bytes);
    if (answer[2] !== FRAME_OK) throw new UnreadableMessage(frameFault(bytes));
    const { total, failed } = answerCounts(answer);
    return { bytes: answer, points: total, failed, release: () => (pool ?? this.#answers).giveBack(answer) };
  }

  async #text(bytes: Uint8Array, { format, operation, resolution }: MessageShape): Promise<ConvertedMessage> {
    const input = format === 'csv' ? 'csv' : 'ndjson';
    const { prefix, delimiter } = this.rules;
    const request: BulkRequest = { operation, input, output: input, resolution, prefix, delimiter };
    const reader = new BulkReader(request, this.#buffers, this.kernel);
    const before = format === 'csv' ? reader.pushHeader(this.#header) : [];
    const blocks = [...before, ...reader.push(bytes), ...reader.end()];
    let points = 0;
    let failed = 0;
    const answers: Uint8Array[] = [];
    for (const block of blocks) {
      const pool = this.#pool;
      const answer =
        pool === undefined
          ? convertBlock(this.kernel, reader.job!, block, undefined, this.#sink)
          : await pool.convert(reader.job!, block);
      points += answer.rows;
      failed += answer.failed;
      answers.push(answer.bytes);
      this.#buffers.giveBack(block);
    }
    return { bytes: answers.length === 1 ? answers[0]! : Buffer.concat(answers), points, failed };
  }

  /** One object, or an array of them, whose answer is an array. */
  #objects(bytes: Uint8Array, resolution: number): ConvertedMessage {
    const objects = readPositionObjects(bytes, this.rules.paths);
    const answers = [objects].flat().map((object) => this.#object(object, resolution));
    const texts = answers.map(({ text }) => text).join(',');
    const failed = answers.filter(({ isOk }) => !isOk).length;
    const text = Array.isArray(objects) ? `[${texts}]` : texts;
    return { bytes: encoder.encode(text), points: answers.length, failed };
  }

  /** Adds the members that rows of NDJSON get; all other text of the object stays unchanged. */
  #object(object: PositionObject, resolution: number): { text: string; isOk: boolean } {
    const { prefix } = this.rules;
    const { latDeg, lngDeg, text, names } = object;
    const isNumber = Number.isFinite(latDeg) && Number.isFinite(lngDeg);
    const status = isNumber ? this.kernel.exports.encodeOne(latDeg, lngDeg, resolution) : -1;
    const code = status === OK ? this.kernel.textAt(0) : null;
    const added: [string, unknown][] = [
      [`${prefix}hexcodes`, code],
      [`${prefix}resolution`, resolution],
      [`${prefix}admin_code`, code?.slice(0, code.indexOf('-')) ?? null],
      [
        `${prefix}status`,
        status === OK ? 'OK' : status === OUTSIDE_COVERAGE ? 'NOT_FOUND' : 'INVALID_REQUEST',
      ],
    ];
    const clash = added.find(([name]) => names.includes(name))?.[0];
    if (clash !== undefined)
      throw new UnreadableMessage(`it has a member "${clash}" already; a prefix renames those of the answer`);
    const members = added.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    return { text: `${text.slice(0, -1).trimEnd()},${members.join(',')}}`, isOk: status === OK };
  }
}

/** Why a frame is not valid. */
function frameFault(bytes: Uint8Array): string {
  if (bytes.length < FRAME_HEADER_BYTES)
    return `a frame has a header of ${FRAME_HEADER_BYTES} bytes, and the message has ${bytes.length}`;
  const sizeBytes = requestFrameBytes(bytes);
  if (sizeBytes === undefined)
    return 'the header is not that of a request frame; header Hexcodes-Format, or --as, names another format';
  if (sizeBytes !== bytes.length)
    return `by its header the frame has ${sizeBytes} bytes, and the message has ${bytes.length}`;
  return 'the header of the frame has a value that there is not';
}
