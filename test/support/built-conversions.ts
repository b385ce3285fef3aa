// The conversions of a checkout that is built, this one or another, as endpoints and messages call them, without
// sockets: for the differential engine and for measurements of two builds in one process.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { MessageConverter } from '#dist/bus/messages/message-converter.js';
import type { convertBlock } from '#dist/hexcodes/wire/bulk/convert-block.js';
import type { BulkReader } from '#dist/hexcodes/wire/bulk/reader.js';
import type { ByteSink } from '#dist/hexcodes/wire/bytes/byte-sink.js';
import type { BulkRequest, Operation } from '#dist/hexcodes/wire/job.js';
import type * as Batches from '#dist/hexcodes/wire/rows/batch.js';
import type { answerJsonFrame } from '#dist/hexcodes/wire/rows/json-frame.js';
import type { slowWork } from '#dist/hexcodes/wire/rows/row-allowance.js';
import type { Kernel } from '#hexcodes';
import { libraryModule } from '../../bench/beside.js';
import { OPEN_INDEX, OPEN_REACH } from './open-world.js';

export interface BuiltConversions {
  /** Rows that the host has read or written so far. */
  slowRows(): number;
  /** The answer of /bulk to a body that comes in one piece. */
  bulk(request: BulkRequest, body: Uint8Array): Uint8Array;
  /** The answer of /encode/batch or /decode/batch. */
  batch(operation: Operation, body: Uint8Array): Uint8Array;
  /** The answer to a JSON frame of the stream. */
  frame(frame: Uint8Array): Uint8Array;
  /** The answer to a message of a bus that is one JSON object. @throws UnreadableMessage */
  object(message: Uint8Array): Promise<Uint8Array>;
}

/**
 * @param folder of the checkout
 * @param isOpenWorld whether its kernel has the open world of tests in place of its own boundaries
 */
export async function builtConversions(folder: string, isOpenWorld = false): Promise<BuiltConversions> {
  const load = <Module>(name: string): Promise<Module> => libraryModule<Module>(folder, name);
  const [kernels, blocks, readers, batches, frames, sinks, allowance, messages, shapes] = await Promise.all([
    load<{ Kernel: typeof Kernel }>('kernel/kernel.js'),
    load<{ convertBlock: typeof convertBlock }>('wire/bulk/convert-block.js'),
    load<{ BulkReader: typeof BulkReader }>('wire/bulk/reader.js'),
    load<typeof Batches>('wire/rows/batch.js'),
    load<{ answerJsonFrame: typeof answerJsonFrame }>('wire/rows/json-frame.js'),
    load<{ ByteSink: typeof ByteSink }>('wire/bytes/byte-sink.js'),
    load<{ slowWork: typeof slowWork }>('wire/rows/row-allowance.js'),
    load<{ MessageConverter: typeof MessageConverter }>('../bus/messages/message-converter.js'),
    load<typeof import('#dist/bus/messages/message-shape.js')>('../bus/messages/message-shape.js'),
  ]);
  const read = (name: string): Buffer => readFileSync(resolve(folder, name));
  const kernel = kernels.Kernel.create(
    read('dist/kernel.wasm'),
    isOpenWorld ? OPEN_INDEX : read('data/index.bin'),
    isOpenWorld ? OPEN_REACH : read('data/reach.bin'),
  );
  const sink = new sinks.ByteSink();
  const buffer = new Uint8Array(4 * 2 ** 20);
  const converter = new messages.MessageConverter(kernel, shapes.DEFAULT_RULES);
  return {
    slowRows: () => allowance.slowWork.rows,
    bulk: (request, body) => {
      const reader = new readers.BulkReader(request, undefined, kernel);
      const pieces = [...reader.push(body), ...reader.end()].map((block) =>
        blocks.convertBlock(kernel, reader.job!, block, buffer).bytes.slice(),
      );
      return Buffer.concat([reader.head, ...pieces]);
    },
    batch: (operation, body) =>
      batches.batchBody(batches.convertBatch(kernel, batches.openBatch(operation, body, kernel), sink)),
    frame: (frame) => frames.answerJsonFrame(kernel, frame, sink).bytes,
    object: async (message) => {
      const shape = { format: 'json', operation: 'encode', resolution: 13 } as const;
      return (await converter.convert(message, shape)).bytes;
    },
  };
}
