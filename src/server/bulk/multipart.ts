// Extracts the one file in a body of multipart/form-data (RFC 7578), as browsers and `curl -F` send it, while the
// body comes: only bytes that may begin a boundary are buffered.

import { AnsweredError } from '../transport/limits.js';

/**
 * Limit of the bytes before the first boundary and after the last, of a part's head, and of the rest of a boundary's
 * line.
 */
const MAX_SKIPPED_BYTES = 16 * 1024;
const MAX_HEAD_BYTES = 4096;
const MAX_LINE_BYTES = 256;

/** The body is not a form with one file. */
export class FormBodyError extends AnsweredError {
  override readonly name = 'FormBodyError';

  constructor(message: string, status: 400 | 406 | 415 = 400) {
    super(message, { status, close: true });
  }
}

/** The head of a part; '' for missing values. */
export interface PartHead {
  readonly name: string;
  readonly fileName: string;
  readonly contentType: string;
}

/** The boundary that a Content-Type of a form names; undefined where it names none, or one that RFC 2046 forbids. */
export function boundaryOf(contentType: string): string | undefined {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  return boundary !== undefined && /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)
    ? boundary
    : undefined;
}

const NO_BYTES = Buffer.alloc(0);
const LF = 10;

enum State {
  /** Before the first boundary. */
  Preamble,
  /** After a boundary: a line end, or two hyphens that end the form. */
  BoundaryLine,
  Head,
  Content,
  /** After the last boundary. */
  Epilogue,
}

export class FormReader {
  /** A line end, two hyphens and the boundary. */
  readonly #mark: Buffer;
  #state = State.Preamble;
  #parts = 0;
  /** Undecided bytes of the body; at first the line end that a body need not begin with. */
  #kept: Buffer = Buffer.from('\r\n');
  #skippedBytes = 0;

  /** @param onPart called with the head of the file, before its first byte; `push` rethrows its errors */
  constructor(
    private readonly boundary: string,
    private readonly onPart: (head: PartHead) => void,
  ) {
    this.#mark = Buffer.from(`\r\n--${boundary}`);
  }

  /** Bytes of memory that the reader holds. */
  get heldBytes(): number {
    return this.#kept.length;
  }

  /**
   * Accepts a chunk, whose memory may be reused when `take` has returned.
   * @param take called with bytes of the file, valid during the call
   * @throws FormBodyError
   */
  push(chunk: Uint8Array, take: (bytes: Uint8Array) => void): void {
    const chunkBytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let rest = this.#kept.length === 0 ? chunkBytes : Buffer.concat([this.#kept, chunkBytes]);
    for (;;) {
      const left = this.#step(rest, take);
      if (left === undefined) break;
      rest = left;
    }
    // A copy, because the chunk belongs to the caller.
    this.#kept = this.#undecided.length === 0 ? NO_BYTES : Buffer.from(this.#undecided);
    this.#undecided = NO_BYTES;
  }

  /** @throws FormBodyError where the body ended before its form did */
  end(): void {
    if (this.#state === State.Preamble) throw new FormBodyError(`the body has no line --${this.boundary}`);
    if (this.#state !== State.Epilogue) {
      throw new FormBodyError(
        `the body ends without the line --${this.boundary}--: it was cut off or damaged`,
      );
    }
    if (this.#parts === 0) throw new FormBodyError('the form has no file');
  }

  /** Bytes that a step cannot decide before more come. */
  #undecided: Buffer = NO_BYTES;

  /** Reads further in one state; returns the bytes after it, undefined where more are needed. */
  #step(bytes: Buffer, take: (bytes: Uint8Array) => void): Buffer | undefined {
    switch (this.#state) {
      case State.Preamble:
        return this.#toBoundary(bytes, (skipped) => this.#skip(skipped));
      case State.Content:
        return this.#toBoundary(bytes, take);
      case State.BoundaryLine:
        return this.#boundaryLine(bytes);
      case State.Head:
        return this.#head(bytes);
      case State.Epilogue:
        this.#skip(bytes);
        return undefined;
    }
  }

  #toBoundary(bytes: Buffer, take: (bytes: Uint8Array) => void): Buffer | undefined {
    const at = bytes.indexOf(this.#mark);
    const end = at < 0 ? bytes.length - beginningAtEnd(bytes, this.#mark) : at;
    if (end > 0) take(bytes.subarray(0, end));
    if (at < 0) return this.#wait(bytes.subarray(end));
    this.#state = State.BoundaryLine;
    return bytes.subarray(at + this.#mark.length);
  }

  #boundaryLine(bytes: Buffer): Buffer | undefined {
    if (bytes.length < 2) return this.#wait(bytes);
    if (bytes[0] === 45 && bytes[1] === 45) {
      this.#state = State.Epilogue;
      this.#skippedBytes = 0;
      return bytes.subarray(2);
    }
    const feed = bytes.subarray(0, MAX_LINE_BYTES).indexOf(LF);
    const line = bytes.toString('latin1', 0, feed < 0 ? Math.min(bytes.length, MAX_LINE_BYTES) : feed + 1);
    if (!/^[ \t]*\r?\n?$/.test(line) || line.length === MAX_LINE_BYTES) {
      throw new FormBodyError(
        `a line begins with the boundary --${this.boundary} and goes on: it is damaged`,
      );
    }
    if (feed < 0) return this.#wait(bytes);
    if (this.#parts > 0) throw new FormBodyError('the form has more than one part: send one file a request');
    this.#state = State.Head;
    return bytes.subarray(feed + 1);
  }

  #head(bytes: Buffer): Buffer | undefined {
    // Without a field the head is its empty line alone.
    const end = bytes.indexOf('\r\n') === 0 ? -2 : bytes.indexOf('\r\n\r\n');
    if (end > MAX_HEAD_BYTES || (end === -1 && bytes.length > MAX_HEAD_BYTES)) {
      throw new FormBodyError(`the head of the part is longer than ${MAX_HEAD_BYTES} bytes, or damaged`);
    }
    if (end === -1) return this.#wait(bytes);
    this.#parts++;
    this.onPart(headOf(bytes.toString('utf8', 0, Math.max(0, end))));
    this.#state = State.Content;
    return bytes.subarray(end + 4);
  }

  #skip(bytes: Uint8Array): void {
    this.#skippedBytes += bytes.length;
    if (this.#skippedBytes <= MAX_SKIPPED_BYTES) return;
    throw new FormBodyError(
      this.#state === State.Epilogue
        ? `more than ${MAX_SKIPPED_BYTES} bytes follow the end of the form`
        : `the body has no line --${this.boundary} in its first ${MAX_SKIPPED_BYTES} bytes`,
    );
  }

  #wait(bytes: Buffer): undefined {
    this.#undecided = bytes;
  }
}

/** How many bytes at the end of `bytes` are a beginning of `mark`. */
function beginningAtEnd(bytes: Buffer, mark: Buffer): number {
  for (let at = bytes.indexOf(mark[0]!, Math.max(0, bytes.length - mark.length + 1)); at >= 0; ) {
    const size = bytes.length - at;
    if (bytes.compare(mark, 0, size, at) === 0) return size;
    at = bytes.indexOf(mark[0]!, at + 1);
  }
  return 0;
}

/** @throws FormBodyError for a part with an encoding of its own */
function headOf(text: string): PartHead {
  let [name, fileName, contentType] = ['', '', ''];
  for (const line of text.split('\r\n')) {
    const [field = '', ...values] = line.split(':');
    const value = values.join(':').trim();
    switch (field.trim().toLowerCase()) {
      case 'content-disposition':
        name = parameterOf(value, 'name');
        fileName = parameterOf(value, 'filename');
        break;
      case 'content-type':
        contentType = value;
        break;
      case 'content-transfer-encoding':
        if (/^(?:7bit|8bit|binary)?$/i.test(value)) break;
        throw new FormBodyError('the file must be sent as it is, without Content-Transfer-Encoding', 415);
    }
  }
  return { name, fileName, contentType };
}

/** A parameter of Content-Disposition, as browsers write it: quoted, with %22 for a quote. */
function parameterOf(value: string, name: string): string {
  const match = new RegExp(`;\\s*${name}=(?:"((?:\\\\.|[^"\\\\])*)"|([^\\s;]+))`, 'i').exec(value);
  return match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2] ?? '';
}
