// Answers one request of a service on the bus: a binary frame, or a JSON batch with the body of POST
// /v1/hexcodes/encode/batch and its answer.
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import { answerCounts, answerFrame } from '../../hexcodes/wire/frames/answer-frame.js';
import type { Operation } from '../../hexcodes/wire/job.js';
import { FRAME_DECODE, FRAME_OK, FRAME_VERSION } from '../../hexcodes/wire/limits.js';
import {
  BrokenBatchError,
  batchBody,
  convertBatch,
  openBatch,
  TooManyItemsError,
} from '../../hexcodes/wire/rows/batch.js';

export interface RequestAnswer {
  readonly bytes: Uint8Array;
  readonly points: number;
  readonly failed: number;
}

/** The request cannot be answered; its status is that of the same request over HTTP. */
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
