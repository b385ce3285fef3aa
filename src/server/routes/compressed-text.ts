// A text of the service that is sent whole, as its reader accepts it: as Brotli, gzip or plain. Asked for again each
// time, and answered 304 until a new version is installed.
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Exchange } from '../exchange.js';
import { entityTag, sendTagged } from '../freshness.js';
import { encodingFor } from '../media-types.js';

export interface CompressedText {
  readonly type: string;
  readonly tag: string;
  readonly lines: readonly string[];
  readonly plain: Uint8Array;
  /** Made when each is first asked for. */
  br?: Uint8Array;
  gzip?: Uint8Array;
}

/** A level that takes milliseconds. */
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 6 };

/** @param lines headers of its own, without line ends */
export function compressedText(type: string, text: string, lines: readonly string[]): CompressedText {
  const plain = Buffer.from(text);
  return { type, tag: entityTag(plain), lines, plain };
}

export function sendCompressed(x: Exchange, text: CompressedText): void {
  const { type, plain } = text;
  const encoding = encodingFor(x.head.header('accept-encoding'));
  const bodyOf = (): Uint8Array => {
    if (encoding === 'br') text.br ??= brotliCompressSync(plain, { params: BROTLI });
    if (encoding === 'gzip') text.gzip ??= gzipSync(plain);
    return text[encoding] ?? plain;
  };
  const tag = encoding === 'plain' ? text.tag : text.tag.replace(/"$/, `.${encoding}"`);
  const all = [`ETag: ${tag}`, 'Cache-Control: no-cache', 'Vary: Accept-Encoding', ...text.lines];
  if (encoding !== 'plain') all.push(`Content-Encoding: ${encoding}`);
  sendTagged(x, tag, type, bodyOf, all.map((line) => `\r\n${line}`).join(''));
}
