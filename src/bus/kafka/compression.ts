// Decompression of the batches of producers. The client, which is the last one for Node 20, reads Snappy as one block,
// whereas the producers of Java write a stream of blocks (github.com/platformatic/kafka/issues/282), and bounds
// nothing.
import * as zlib from 'node:zlib';
import { EngineFault } from '../engine.js';

type Decompress = (packed: Buffer) => Buffer;

/** A batch takes 1 MiB in a broker unless told otherwise. */
const MAX_BATCH_BYTES = 128 * 1024 * 1024;
/** Begins a stream of Snappy blocks, with two numbers of 4 bytes for its versions after it. */
const SNAPPY_STREAM = Buffer.from('\x82SNAPPY\0', 'latin1');
const SNAPPY_HEAD_BYTES = 16;

/** Node 20 has no Zstandard, and its types know none. */
const unzstd = (zlib as unknown as { zstdDecompressSync?: typeof zlib.gunzipSync }).zstdDecompressSync;
const bounds = { maxOutputLength: MAX_BATCH_BYTES };

let isSet = false;

/** Sets decompressors of its own in the client. They throw an EngineFault, as no later try reads such a batch. */
export function setDecompression({
  compressionsAlgorithms: { gzip, snappy, lz4, zstd },
}: typeof import('@platformatic/kafka')): void {
  if (isSet) return;
  isSet = true;
  const own = (algorithm: { decompressSync: unknown }, name: string, decompress: Decompress): void => {
    algorithm.decompressSync = (packed: Buffer) => {
      try {
        return decompress(packed);
      } catch (cause) {
        if (cause instanceof EngineFault) throw cause;
        const { code, message } = cause as NodeJS.ErrnoException;
        throw code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : unreadable(`${name}: ${message}`);
      }
    };
  };
  const block = snappy.decompressSync as Decompress;
  own(gzip, 'gzip', (packed) => zlib.gunzipSync(packed, bounds));
  own(snappy, 'Snappy', (packed) => unsnappy(packed, block));
  own(lz4, 'LZ4', lz4.decompressSync as Decompress);
  own(zstd, 'Zstandard', (packed) => {
    if (unzstd === undefined)
      throw new EngineFault('a batch of messages is in Zstandard', 'Use Node 22.15 or later');
    return unzstd(packed, bounds);
  });
}

/** One block, or a stream of blocks, each after its length. */
function unsnappy(packed: Buffer, decompress: Decompress): Buffer {
  if (!packed.subarray(0, SNAPPY_STREAM.length).equals(SNAPPY_STREAM)) {
    if (sizeOfBlock(packed) > MAX_BATCH_BYTES) throw tooLarge();
    return decompress(packed);
  }
  const blocks: Buffer[] = [];
  let sizeBytes = 0;
  for (let at = SNAPPY_HEAD_BYTES; at < packed.length; ) {
    const end = at + 4 + packed.readUInt32BE(at);
    if (end > packed.length) throw unreadable('Snappy: a block ends after the batch');
    const block = packed.subarray(at + 4, end);
    sizeBytes += sizeOfBlock(block);
    if (sizeBytes > MAX_BATCH_BYTES) throw tooLarge();
    blocks.push(decompress(block));
    at = end;
  }
  return Buffer.concat(blocks);
}

/** The length of its content, with which a block of Snappy begins, 7 bits a byte. */
function sizeOfBlock(block: Buffer): number {
  let size = 0;
  for (let i = 0; i < 5; i++) {
    const byte = block[i] ?? 0;
    size += (byte & 127) * 2 ** (7 * i);
    if (byte < 128) break;
  }
  return size;
}

const unreadable = (what: string): EngineFault =>
  new EngineFault(
    `a batch of messages cannot be unpacked (${what})`,
    'Move the group past it by kafka-consumer-groups.sh --reset-offsets',
  );

const tooLarge = (): EngineFault => unreadable(`it holds more than ${MAX_BATCH_BYTES >> 20} MiB`);
