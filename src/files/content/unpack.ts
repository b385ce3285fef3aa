// Unpacks gzip and Zstandard as it is read. Zstandard is there from Node 22.15 and 24 on.

import zlib from 'node:zlib';
import { CliFailure } from '../exit-codes.js';
import { badInput, reasonOf } from '../file-faults.js';

const CHUNK_BYTES = 256 * 1024;

/** Node 20 has no Zstandard, and its types know none. */
const { createZstdDecompress } = zlib as unknown as {
  createZstdDecompress?: (options: { chunkSize: number }) => zlib.Gunzip;
};

/** @throws CliFailure BAD_INPUT for data that is broken or cut off, and where this Node has no Zstandard */
export function unpacked(
  source: AsyncIterable<Uint8Array>,
  packing: 'gzip' | 'zstd',
  name: string,
): AsyncGenerator<Uint8Array> {
  if (packing === 'gzip')
    return unpackedBy(zlib.createGunzip({ chunkSize: CHUNK_BYTES }), source, 'gzip', name);
  if (createZstdDecompress === undefined) {
    throw badInput(
      { file: name },
      `packed with Zstandard, which Node ${process.versions.node} does not read`,
      'Unpack it first: zstd -dc FILE | hexcodes …, or use Node 22.15 or later.',
    );
  }
  return unpackedBy(createZstdDecompress({ chunkSize: CHUNK_BYTES }), source, 'Zstandard', name);
}

async function* unpackedBy(
  stream: zlib.Gunzip,
  source: AsyncIterable<Uint8Array>,
  what: string,
  name: string,
): AsyncGenerator<Uint8Array> {
  let failure: unknown;
  const feeding = (async () => {
    try {
      for await (const chunk of source) {
        if (!stream.write(chunk)) await new Promise<void>((resolve) => stream.once('drain', resolve));
      }
      stream.end();
    } catch (error) {
      failure = error;
      stream.destroy();
    }
  })();
  feeding.catch(() => undefined);
  let contentBytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      contentBytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (failure instanceof CliFailure) throw failure;
    const code = (error as NodeJS.ErrnoException).code;
    const fault =
      code === 'Z_BUF_ERROR' ? `the ${what} data is cut off` : `broken ${what} data (${reasonOf(error)})`;
    throw badInput({ file: name }, `${fault} after ${contentBytes} bytes of content`);
  }
  if (failure !== undefined) throw failure;
}
