// Gives flechette the decompressors of Arrow's record batches: LZ4 frames, the default of pandas and pyarrow for
// Feather, and Zstandard, natively where Node has it (22.15 and later).

import decompressLz4 from '@foxglove/wasm-lz4';
import { CompressionType, setCompressionCodec } from '@uwdata/flechette';
import { unpackZstd } from '../values/zstd.js';

/** Bytes that the message which is read may still unpack to. */
let left = 0;

/** Sets the bytes to which the next message, with its dictionaries, may unpack. */
export function allowUnpacked(bytes: number): void {
  left = bytes;
}

/** Must be awaited before the first record batch is read. */
export async function loadCodecs(): Promise<void> {
  await decompressLz4.isLoaded;
  setCompressionCodec(CompressionType.LZ4_FRAME, reader('LZ4', decompressLz4));
  setCompressionCodec(CompressionType.ZSTD, reader('Zstandard', unpackZstd));
}

/** A message that unpacks to more than is allowed. */
export class TooMuchUnpacked extends Error {
  constructor(readonly beyondBytes: number) {
    super(`a message that unpacks to at least ${beyondBytes} bytes too many`);
  }
}

function reader(name: string, decompress: (bytes: Uint8Array, sizeBytes: number) => Uint8Array) {
  return {
    decode(bytes: Uint8Array, sizeBytes: number): Uint8Array {
      if (!(sizeBytes >= 0)) throw new Error(`${name} data that claims ${sizeBytes} bytes`);
      left -= sizeBytes;
      if (left < 0) throw new TooMuchUnpacked(sizeBytes - left);
      let plain: Uint8Array;
      try {
        plain = decompress(bytes, sizeBytes);
      } catch (error) {
        throw new Error(`broken ${name} data`, { cause: error });
      }
      if (plain.length !== sizeBytes)
        throw new Error(`broken ${name} data: ${plain.length} bytes for ${sizeBytes}`);
      // Values of 8 bytes are read in place, so the copy begins at a multiple of 8.
      return plain.byteOffset % 8 === 0 ? plain : plain.slice();
    },
    encode(): Uint8Array {
      throw new Error('record batches are written without compression');
    },
  };
}
