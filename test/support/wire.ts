// The conversions of text and frames by one kernel, as endpoints and messages call them, without sockets: of this
// build, or of another checkout that is built.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Conversion, convertBlock, convertInto } from '#dist/hexcodes/wire/bulk/convert-block.js';
import { BulkReader } from '#dist/hexcodes/wire/bulk/reader.js';
import { BlockBuffers, CsvSplitter } from '#dist/hexcodes/wire/bulk/splitters.js';
import { ByteSink, KernelSink } from '#dist/hexcodes/wire/bytes/byte-sink.js';
import { answerFrame, framesAnswerBytes } from '#dist/hexcodes/wire/frames/answer-frame.js';
import { batchBody, convertAllowed, convertBatch, openBatch } from '#dist/hexcodes/wire/rows/batch.js';
import { answerJsonFrame } from '#dist/hexcodes/wire/rows/json-frame.js';
import { failedRowsOf, slowWork } from '#dist/hexcodes/wire/rows/row-report.js';
import type { Kernel } from '#hexcodes';
import { libraryModule, slowRowsModule } from '../../bench/beside.js';
import { DEFAULT_RULES, MessageConverter } from './engine/frames.js';

export type BulkRequest = ConstructorParameters<typeof BulkReader>[0];
export type BulkJob = Parameters<typeof convertBlock>[1];
export type ConvertedBlock = ReturnType<typeof convertBlock>;
export type BulkFormat = BulkJob['input'];
export type Operation = BulkJob['operation'];
export { BlockBuffers, batchBody, CsvSplitter, failedRowsOf, framesAnswerBytes, openBatch, slowWork };

/** The statuses of rows by their numbers in the kernel, as docs/http.md names them. */
export const ROW_STATUSES = [
  ...['OK', 'NOT_FOUND', 'INVALID_REQUEST', 'INVALID_HEXCODES', 'OVER_QUERY_LIMIT', 'UNAVAILABLE'],
] as const;

/** A request of /bulk: the format of its body, and options that are not the default. */
export type Asked = Partial<BulkRequest> & Pick<BulkRequest, 'input'>;

/** A body that is cut into blocks of whole rows. */
export interface CutBody {
  /** The beginning of the answer. */
  readonly head: Uint8Array;
  readonly job: BulkJob;
  readonly blocks: Uint8Array<ArrayBuffer>[];
}

const PARTS = {
  ...{ BulkReader, ByteSink, KernelSink, convertBlock, convertInto, answerFrame },
  ...{
    batchBody,
    convertAllowed,
    convertBatch,
    openBatch,
    answerJsonFrame,
    slowWork,
    MessageConverter,
    DEFAULT_RULES,
  },
};
type Parts = typeof PARTS;
type Allowance = NonNullable<Conversion['allowance']>;

/** Holds the answer to a block until it is copied. */
const BUFFER = new Uint8Array(4 * 2 ** 20);

export class Wire {
  readonly #parts: Parts;
  readonly #sink: ByteSink;
  readonly #messages: MessageConverter;

  constructor(
    readonly kernel: Kernel,
    parts: Parts = PARTS,
  ) {
    this.#parts = parts;
    this.#sink = new parts.ByteSink();
    this.#messages = new parts.MessageConverter(kernel, parts.DEFAULT_RULES);
  }

  /**
   * @param folder of a checkout that is built, whose modules are used, and the boundaries that it ships
   * @throws Error where a module is not there
   */
  static async ofCheckout(folder: string): Promise<Wire> {
    const modules = await Promise.all(
      [
        ...['wire/bulk/convert-block.js', 'wire/bulk/reader.js', 'wire/bytes/byte-sink.js'],
        ...['wire/frames/answer-frame.js', 'wire/rows/batch.js'],
        'wire/rows/json-frame.js',
        ...['../bus/messages/message-converter.js', '../bus/messages/message-shape.js'],
      ].map((name) => libraryModule<Partial<Parts>>(folder, name)),
    );
    modules.push(await slowRowsModule<Partial<Parts>>(folder));
    // An older checkout has its KernelSink elsewhere.
    const parts = Object.assign({ KernelSink }, ...modules) as Parts;
    const { Kernel: OfCheckout } = await libraryModule<{ Kernel: typeof Kernel }>(folder, 'kernel/kernel.js');
    const read = (name: string): Buffer => readFileSync(resolve(folder, name));
    const kernel = OfCheckout.create(
      read('dist/kernel.wasm'),
      read('data/index.bin'),
      read('data/reach.bin'),
    );
    return new Wire(kernel, parts);
  }

  /** Rows that the host has read or written so far. */
  slowRows(): number {
    return this.#parts.slowWork.rows;
  }

  /** Cuts a body into blocks of whole rows, chunk by chunk. */
  reader(asked: Asked, buffers?: BlockBuffers): BulkReader {
    return new this.#parts.BulkReader(requestOf(asked), buffers, this.kernel);
  }

  /**
   * @param chunks in which the body comes
   * @param flushes after which of them the reader gives out what it has
   * @throws BulkInputError
   */
  cut(
    asked: Asked,
    chunks: readonly (Uint8Array | string)[],
    flushes: readonly boolean[] = [],
    buffers?: BlockBuffers,
  ): CutBody {
    const reader = this.reader(asked, buffers);
    const blocks = chunks.flatMap((chunk, i) => [
      ...reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk),
      ...(flushes[i] ? reader.flush() : []),
    ]);
    blocks.push(...reader.end());
    return { head: reader.head, job: reader.job!, blocks };
  }

  /** The answer to a block, in memory of its own. */
  block(job: BulkJob, block: Uint8Array): ConvertedBlock {
    return this.#parts.convertBlock(this.kernel, job, block);
  }

  /** The answer to the first rows of a block, as many as the allowance covers. */
  part(job: BulkJob, block: Uint8Array, allowance: Allowance) {
    this.#sink.start();
    const { restAt } = this.#parts.convertInto(this.kernel, job, block, this.#sink, { allowance });
    return { bytes: Buffer.from(this.#sink.take()), restAt };
  }

  /** The pieces in which the service passes on the answers to all blocks. */
  pieces(job: BulkJob, blocks: readonly Uint8Array[]): Buffer[] {
    const sink = new this.#parts.KernelSink(this.kernel);
    const pieces: Buffer[] = [];
    sink.start((bytes) => pieces.push(Buffer.from(bytes)));
    for (const block of blocks) this.#parts.convertInto(this.kernel, job, block, sink);
    sink.end();
    return pieces;
  }

  /**
   * The answer of /bulk to a body that comes in one piece.
   * @param more of the job, as a refusal of all its rows
   * @throws BulkInputError
   */
  bulk(asked: Asked, body: Uint8Array | string, more: Partial<BulkJob> = {}): Buffer {
    const { head, job, blocks } = this.cut(asked, [body]);
    const whole = { ...job, ...more };
    const { convertBlock } = this.#parts;
    const answers = blocks.map((block) => convertBlock(this.kernel, whole, block, BUFFER).bytes.slice());
    return Buffer.concat([head, ...answers]);
  }

  /**
   * The answer of /encode/batch or /decode/batch.
   * @throws BrokenBatchError where the body is not a batch
   */
  batch(operation: Operation, body: Uint8Array): Uint8Array {
    const { batchBody, convertBatch, openBatch } = this.#parts;
    return batchBody(convertBatch(this.kernel, openBatch(operation, body, this.kernel), this.#sink));
  }

  /** The answer to a batch, undefined where the allowance does not cover all items. */
  batchWithin(operation: Operation, body: Uint8Array, allowance: Allowance) {
    const { batchBody, convertAllowed, openBatch } = this.#parts;
    const batch = openBatch(operation, body, this.kernel);
    const converted = convertAllowed(this.kernel, batch, this.#sink, allowance);
    return converted && Buffer.from(batchBody(converted));
  }

  /** The answer to a JSON frame of the stream. */
  jsonFrame(frame: Uint8Array): Uint8Array {
    return this.#parts.answerJsonFrame(this.kernel, frame, this.#sink).bytes;
  }

  /** The answer to a binary frame of the stream, in memory of its own or in this. */
  frame(frame: Uint8Array, target?: Uint8Array<ArrayBuffer>): Uint8Array {
    return this.#parts.answerFrame(this.kernel, frame, target);
  }

  /** The answer to a message of a bus that is one JSON object. @throws UnreadableMessage */
  async object(message: Uint8Array): Promise<Uint8Array> {
    const shape = { format: 'json', operation: 'encode', resolution: 13 } as const;
    return (await this.#messages.convert(message, shape)).bytes;
  }
}

function requestOf({ input, ...asked }: Asked): BulkRequest {
  return { operation: 'encode', input, output: input, resolution: 13, prefix: '', ...asked };
}
