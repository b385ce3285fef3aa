// Cacheable answers: their entity tags, their lifetime, and 304 for a client that has the answer (docs/http.md,
// Answers that may be kept).

import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { ProvinceBorders } from '../../hexcodes/geometry/province-borders.js';
import { type IndexMeta, readIndexMeta } from '../../hexcodes/kernel/index-file.js';
import type { HexcodesData } from '../../hexcodes/library/hexcodes.js';
import { VERSION } from '../../hexcodes/version.js';
import { mayHoldKey } from '../../hexcodes/wire/params/query.js';
import type { Exchange } from './exchange.js';
import { encodingFor } from './negotiation.js';

/** Lifetime in seconds of a cached answer. */
const KEPT_SECONDS = 3600;

/** The `Cache-Control` of an answer to a request whose key came in a header. */
export const KEPT = `private, max-age=${KEPT_SECONDS}`;
/** The `Cache-Control` of an answer that must be revalidated each time. */
export const ASKED_AGAIN = 'private, no-cache';

/** The headers that decide whether a request gets an answer that may be kept. */
export const VARY = 'Authorization, Hexcodes-Data, X-API-Key';

const DIGITS = 16;

/** A strong entity tag of all these texts and bytes together, quotes included. */
export function entityTag(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return `"${hash.digest('hex').slice(0, DIGITS)}"`;
}

/** Sends the body of an answer, in the handler or later. */
type SendBody = (body: string | Uint8Array) => void;

/**
 * Answers 304 where the client has the answer with this tag. To be called in the handler, because it reads a header.
 * @param headerLines "\r\nName: value" of every further header, `ETag` and `Cache-Control` included; a 304 has them,
 * too
 * @returns a function that sends the answer; undefined after a 304
 */
function unlessKnown(x: Exchange, tag: string, type: string, headerLines: string): SendBody | undefined {
  const isKnown = tagsOf(x.head.headerValues('if-none-match')).some(
    (given) => given === tag || given === '*',
  );
  if (!isKnown) return (body) => x.send(200, type, body, headerLines);
  x.send(304, '', '', headerLines);
  return undefined;
}

/**
 * As `unlessKnown` for a request that needs a key: nothing may be kept where a key is in the URL.
 * @returns sends the answer; undefined: it is sent, with 304
 */
export function keptAnswer(
  x: Exchange,
  tag: string,
  type: string,
  cacheControl: string,
  vary = VARY,
): SendBody | undefined {
  const lines = `\r\nETag: ${tag}\r\nCache-Control: ${cacheControl}\r\nVary: ${vary}${x.notes.hint}`;
  if (mayHoldKey(x.head.path, x.head.rawQuery)) return (body) => x.send(200, type, body, x.notes.hint);
  return unlessKnown(x, tag, type, lines);
}

/** The entity tags of If-None-Match headers; a weak one stands for the strong one (RFC 9110, 13.1.2). */
function tagsOf(headers: readonly string[]): string[] {
  return headers.flatMap((header) => header.split(',').map((tag) => tag.trim().replace(/^W\//, '')));
}

// A text of the service that is sent whole, as its reader accepts it: as Brotli, gzip or plain.

export interface CompressedText {
  readonly type: string;
  readonly tag: string;
  readonly lines: readonly string[];
  /** Default: asked for again each time, and answered 304 until a new version is installed. */
  readonly cacheControl?: string;
  readonly plain: Uint8Array;
  /** Made when each is first asked for, unless it is there. */
  br?: Uint8Array;
  gzip?: Uint8Array;
}

/** At levels that take milliseconds: the page itself at the highest, which saves a tenth of it. */
const brotliOf = (bytes: Uint8Array): Uint8Array =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: bytes.length < 16_384 ? 11 : 6 } });

/** @param lines headers of its own, without line ends */
export function compressedText(type: string, text: string, lines: readonly string[]): CompressedText {
  const plain = Buffer.from(text);
  return { type, tag: entityTag(plain), lines, plain };
}

export function sendCompressed(x: Exchange, text: CompressedText): void {
  const { type, cacheControl = 'no-cache' } = text;
  const encoding = encodingFor(x.head.header('accept-encoding'), ['br', 'gzip']);
  const bodyOf = (): Uint8Array => {
    if (encoding === 'br') text.br ??= brotliOf(text.plain);
    if (encoding === 'gzip') text.gzip ??= gzipSync(text.plain);
    return text[encoding] ?? text.plain;
  };
  const tag = encoding === 'plain' ? text.tag : text.tag.replace(/"$/, `.${encoding}"`);
  const all = [`ETag: ${tag}`, `Cache-Control: ${cacheControl}`, 'Vary: Accept-Encoding', ...text.lines];
  if (encoding !== 'plain') all.push(`Content-Encoding: ${encoding}`);
  unlessKnown(x, tag, type, all.map((line) => `\r\n${line}`).join(''))?.(bodyOf());
}

// The boundary data in use, as /v1/meta and /v1/admin-units show them.

/** The boundary data in use. */
export interface BoundaryData {
  readonly meta: IndexMeta;
  readonly sha256: string;
  /** The entity tag of every answer that depends only on this version and its data. */
  readonly tag: string;
  /** The provinces before July 2025 by unit of the index; null where it lacks them. */
  readonly formerProvinces: readonly string[] | null;
  /** The area of a province, by its admin number, as a GeoJSON geometry. */
  geometryOf(adminNumber: number): unknown;
}

export function boundaryData(
  { index, reach }: HexcodesData,
  formerProvinces: readonly string[] | null,
): BoundaryData {
  let borders: ProvinceBorders | undefined;
  return {
    meta: readIndexMeta(index),
    formerProvinces,
    sha256: createHash('sha256').update(index).digest('hex'),
    tag: entityTag(VERSION, index, reach),
    geometryOf: (admin) => {
      borders ??= new ProvinceBorders(index);
      return borders.ofAdmin(admin);
    },
  };
}
