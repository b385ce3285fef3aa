// Decompressors of Parquet pages, which never unpack more than the size in the page header, and a cache of pages that
// were unpacked to be checked, because hyparquet asks for each page again.

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Compressors } from 'hyparquet';
import { compressors as shared } from 'hyparquet-compressors';
import { ceilingBytes } from '../../held/ceiling.js';
import { unpackZstd } from '../values/zstd.js';

type Codec = keyof Compressors;

const bounded: Compressors = {
  ...shared,
  // Some writers omit the gzip header of a page.
  GZIP: (bytes, sizeBytes) =>
    bytes[0] === 31 && bytes[1] === 139
      ? gunzipSync(bytes, { maxOutputLength: Math.max(1, sizeBytes) })
      : shared.GZIP!(bytes, sizeBytes),
  BROTLI: (bytes, sizeBytes) => brotliDecompressSync(bytes, { maxOutputLength: Math.max(1, sizeBytes) }),
  ZSTD: (bytes, sizeBytes) => unpackZstd(bytes, sizeBytes, ceilingBytes()),
};

const NOTHING = new Uint8Array(0);

export class UnpackedPages {
  readonly compressors: Compressors;
  /** Pages by their packed size. */
  readonly #pages = new Map<number, { packed: Uint8Array; plain: Uint8Array }[]>();

  constructor() {
    const codecs = Object.keys(bounded) as Codec[];
    this.compressors = Object.fromEntries(
      codecs.map((codec) => [
        codec,
        (bytes: Uint8Array, sizeBytes: number) => this.#again(codec, bytes, sizeBytes),
      ]),
    );
  }

  /** Unpacks a page for the first time. @throws Error for broken data, and for another size */
  unpack(codec: string, packed: Uint8Array, sizeBytes: number): Uint8Array {
    if (codec === 'UNCOMPRESSED') return packed;
    // The page of a column without values is one byte of LZ4, which the decompressor does not take.
    if (sizeBytes === 0) return NOTHING;
    const decompress = bounded[codec as Codec];
    if (decompress === undefined) throw new Error(`pages in ${codec} are not read`);
    const plain = decompress(packed, sizeBytes);
    if (plain.length !== sizeBytes)
      throw new Error(`a page of ${plain.length} bytes that claims ${sizeBytes}`);
    const alike = this.#pages.get(packed.length) ?? [];
    alike.push({ packed, plain });
    this.#pages.set(packed.length, alike);
    return plain;
  }

  /** A page that `unpack` has unpacked before. */
  again(codec: string, packed: Uint8Array, sizeBytes: number): Uint8Array {
    return codec === 'UNCOMPRESSED' ? packed : this.#again(codec as Codec, packed, sizeBytes);
  }

  clear(): void {
    this.#pages.clear();
  }

  #again(codec: Codec, packed: Uint8Array, sizeBytes: number): Uint8Array {
    if (sizeBytes === 0) return NOTHING;
    const found = this.#pages
      .get(packed.length)
      ?.find(
        (each) =>
          each.plain.length === sizeBytes &&
          (each.packed === packed || Buffer.compare(each.packed, packed) === 0),
      );
    return found?.plain ?? bounded[codec]!(packed, sizeBytes);
  }
}
