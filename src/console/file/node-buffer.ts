// The parts of Node's Buffer that src/wire uses, for browsers. bundle-console.mjs substitutes them for Node's, so
// that the page converts files with the code of the command and the service.

/** Bytes with the methods of Buffer, over memory owned by the caller. */
export class Buffer {
  private constructor(private readonly bytes: Uint8Array) {}

  static from(source: ArrayBufferLike | string, offset = 0, sizeBytes?: number): Buffer {
    const bytes =
      typeof source === 'string'
        ? new TextEncoder().encode(source)
        : new Uint8Array(source, offset, sizeBytes ?? source.byteLength - offset);
    return new Buffer(bytes);
  }

  static byteLength(text: string): number {
    return new TextEncoder().encode(text).length;
  }

  indexOf(byte: number, from = 0): number {
    return this.bytes.indexOf(byte, from);
  }

  includes(byte: number): boolean {
    return this.bytes.includes(byte);
  }

  /** Copies a source that is as long as the target. */
  fill(source: Uint8Array, _from: number, _to: number): this {
    this.bytes.set(source);
    return this;
  }

  /** A character for each byte. */
  toString(_encoding: 'latin1'): string {
    return Array.from(this.bytes, (byte) => String.fromCharCode(byte)).join('');
  }
}

const strict = new TextDecoder('utf-8', { fatal: true });

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
