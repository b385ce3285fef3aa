// The members of one large JSON object, by their offsets. Arrays are skipped and their elements counted, so that no
// object is made for an element; every other value is checked by the grammar of JSON.
import type { Kernel } from '../../kernel/kernel.js';
import { textMemoryOf } from '../../kernel/text-memory.js';
import { isJson, jsonStringOf } from '../params/json-grammar.js';
import { slowWork } from './row-report.js';

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** 1 for the bytes that begin or end a string, an array, an object or a member. */
const IS_MARK = new Uint8Array(256);
for (const byte of [QUOTE, COMMA, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE]) IS_MARK[byte] = 1;

/** The text is not one JSON object, or has too many members. */
export class NotJsonError extends Error {
  override readonly name = 'NotJsonError';
}

/** The text does not begin as an object. */
export class NoObjectError extends NotJsonError {}

/** Most members of an envelope. Three have a meaning; the limit bounds the work for others. */
export const MAX_MEMBERS = 64;

export interface JsonMember {
  /** Bounds of the value. */
  readonly start: number;
  readonly end: number;
  /** Elements of an array; 0 for other values. */
  readonly count: number;
  /** Whether the value is an array, whose elements are not validated yet. */
  readonly isArray: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export class JsonEnvelope {
  readonly bytes: Uint8Array;
  readonly #kernel: Kernel | undefined;
  readonly #members = new Map<string, JsonMember[]>();
  #memberCount = 0;

  /**
   * @param kernel skips arrays, eight times as fast; overwrites its block text
   * @throws NotJsonError if the bytes are not one JSON object, as far as known without reading its arrays, or have
   * more than MAX_MEMBERS members
   */
  constructor(bytes: Uint8Array, kernel?: Kernel) {
    this.bytes = bytes;
    this.#kernel = kernel;
    let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    at = this.#afterSpace(at);
    if (bytes[at] !== OPEN_BRACE) throw new NoObjectError('is not one JSON object');
    at = this.#afterSpace(at + 1);
    if (bytes[at] === CLOSE_BRACE) at++;
    else {
      for (;;) {
        at = this.#member(at);
        const byte = bytes[at++];
        if (byte === CLOSE_BRACE) break;
        if (byte !== COMMA) throw new NotJsonError('is not valid JSON');
        at = this.#afterSpace(at);
      }
    }
    if (this.#afterSpace(at) !== bytes.length) throw new NotJsonError('goes on after its JSON object');
  }

  /** All members of this name, in order: JSON allows duplicates. */
  members(name: string): readonly JsonMember[] {
    return this.#members.get(name) ?? [];
  }

  get names(): Iterable<string> {
    return this.#members.keys();
  }

  text(member: JsonMember): string {
    return utf8.decode(this.bytes.subarray(member.start, member.end));
  }

  #member(from: number): number {
    const { bytes } = this;
    slowWork.members++;
    if (++this.#memberCount > MAX_MEMBERS) throw new NotJsonError(`has more than ${MAX_MEMBERS} members`);
    if (bytes[from] !== QUOTE) throw new NotJsonError('is not valid JSON');
    const nameEnd = stringEnd(bytes, from);
    const name = jsonStringOf(checked(bytes.subarray(from, nameEnd)));
    let at = this.#afterSpace(nameEnd);
    if (bytes[at] !== COLON) throw new NotJsonError('is not valid JSON');
    const start = this.#afterSpace(at + 1);
    const isArray = bytes[start] === OPEN_BRACKET;
    const { end, commas } =
      isArray && this.#kernel !== undefined ? arrayEnd(this.#kernel, bytes, start) : valueEnd(bytes, start);
    const isEmpty = this.#afterSpace(start + 1) === end - 1;
    const count = isArray && !isEmpty ? commas + 1 : 0;
    if (!isArray) checked(bytes.subarray(start, end));
    const member = { start, end, count, isArray };
    const sameName = this.#members.get(name);
    if (sameName === undefined) this.#members.set(name, [member]);
    else sameName.push(member);
    at = this.#afterSpace(end);
    return at;
  }

  #afterSpace(from: number): number {
    const { bytes } = this;
    let at = from;
    while (at < bytes.length && isSpace(bytes[at]!)) at++;
    return at;
  }
}

/** The offset after the string that begins at `from`. */
function stringEnd(bytes: Uint8Array, from: number): number {
  const size = bytes.length;
  for (let at = from + 1; at < size; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  throw new NotJsonError('ends inside a string');
}

/** `valueEnd` of an array, by the kernel. */
function arrayEnd(kernel: Kernel, bytes: Uint8Array, from: number): { end: number; commas: number } {
  const { exports, block, blockAt, blockBytes } = textMemoryOf(kernel);
  for (let at = from; at < bytes.length; at += blockBytes) {
    const window = bytes.subarray(at, at + blockBytes);
    block.set(window);
    const stop = exports.skipArray(blockAt, blockAt + window.length, at === from);
    if (exports.skipDepth.value === 0) return { end: at + stop - blockAt, commas: exports.skipCommas.value };
  }
  throw new NotJsonError(exports.skipInString.value ? 'ends inside a string' : 'ends inside a value');
}

/** The offset after the value that begins at `from`, and the commas between its own members or elements. */
function valueEnd(bytes: Uint8Array, from: number): { end: number; commas: number } {
  const size = bytes.length;
  let depth = 0;
  let commas = 0;
  let at = from;
  for (; at < size; at++) {
    const byte = bytes[at]!;
    // Most bytes of points are digits, which one look-up skips.
    if (IS_MARK[byte] === 0) continue;
    if (byte === QUOTE) {
      at = stringEnd(bytes, at) - 1;
    } else if (byte === COMMA) {
      if (depth === 0) break;
      if (depth === 1) commas++;
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      depth++;
    } else {
      if (depth === 0) break;
      depth--;
      if (depth === 0) return { end: at + 1, commas };
    }
  }
  if (depth > 0) throw new NotJsonError('ends inside a value');
  while (at > from && isSpace(bytes[at - 1]!)) at--;
  return { end: at, commas };
}

function isSpace(byte: number): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}

/** The text of one JSON value, validated. */
function checked(bytes: Uint8Array): string {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new NotJsonError('is not valid JSON');
  }
  if (!isJson(text)) throw new NotJsonError('is not valid JSON');
  return text;
}
