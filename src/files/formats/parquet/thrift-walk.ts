// Walks a structure of Thrift's compact protocol before hyparquet reads it: it makes lists as long as they claim to be,
// one within the other, so that a hundred bytes took gigabytes.

const MOST_DEPTH = 32;
/** Memory that a structure, a list, an entry and a member take when they are read, about. */
const STRUCT_BYTES = 200;
const ENTRY_BYTES = 24;

const [STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12,
];

/** Extent of a structure. */
export interface ThriftSize {
  /** Behind its last byte. */
  readonly end: number;
  /** Memory that it takes when it has been read, about. */
  readonly bytes: number;
}

/** @throws Error for a structure that is cut off, nested too deeply, or claims entries that are not there */
export function walkThrift(view: DataView, start: number): ThriftSize {
  let at = start;
  let bytes = 0;
  const byte = (): number => {
    if (at >= view.byteLength) throw new Error('metadata that is cut off');
    return view.getUint8(at++);
  };
  const varint = (): number => {
    let value = 0;
    for (let i = 0, scale = 1; i < 10; i++, scale *= 128) {
      const part = byte();
      value += (part & 127) * scale;
      if (part < 128) return value;
    }
    throw new Error('metadata with a number of more than 64 bits');
  };
  const skip = (count: number): void => {
    if (at + count > view.byteLength)
      throw new Error(`metadata that claims ${count} bytes where ${view.byteLength - at} are left`);
    at += count;
  };
  const value = (type: number, depth: number): void => {
    if (depth > MOST_DEPTH) throw new Error(`metadata that is nested more than ${MOST_DEPTH} deep`);
    bytes += ENTRY_BYTES;
    switch (type) {
      case TRUE:
      case FALSE:
        return;
      case BYTE:
        skip(1);
        return;
      case I16:
      case I32:
      case I64:
        varint();
        return;
      case DOUBLE:
        skip(8);
        return;
      case BINARY: {
        const length = varint();
        bytes += STRUCT_BYTES + length;
        skip(length);
        return;
      }
      case LIST:
        list(depth);
        return;
      case STRUCT:
        struct(depth);
        return;
      default:
        throw new Error(`metadata with a value of type ${type}`);
    }
  };
  const list = (depth: number): void => {
    const head = byte();
    const count = head >> 4 === 15 ? varint() : head >> 4;
    const type = head & 15;
    if (count > view.byteLength - at)
      throw new Error(`metadata that claims ${count} entries where ${view.byteLength - at} bytes are left`);
    bytes += STRUCT_BYTES;
    // An entry that is true or false has a byte in a list.
    for (let i = 0; i < count; i++) value(type === TRUE || type === FALSE ? BYTE : type, depth + 1);
  };
  const struct = (depth: number): void => {
    bytes += STRUCT_BYTES;
    for (;;) {
      const head = byte();
      if ((head & 15) === STOP) return;
      if (head >> 4 === 0) varint();
      value(head & 15, depth + 1);
    }
  };
  struct(0);
  return { end: at, bytes };
}
