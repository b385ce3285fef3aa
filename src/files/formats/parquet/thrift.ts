// Structures of Thrift's compact protocol, member by member, so that a few members of a file's metadata can be
// changed and all others, known or not, are written unchanged.

import { GrowingBytes } from '../../rows/text-rows.js';

/** Types of the protocol. A boolean member has its value in its type. */
export const [TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 12,
] as const;

/** Integers are numbers, those of 64 bits bigints; the eight bytes of a double are bytes. */
export type ThriftValue = number | bigint | boolean | Uint8Array | ThriftList | ThriftStruct;

export interface ThriftList {
  readonly type: number;
  readonly values: readonly ThriftValue[];
}

interface Member {
  readonly type: number;
  readonly value: ThriftValue;
}

/** Members by id. */
export type ThriftStruct = Map<number, Member>;

/** Reads a structure that `walkThrift` has accepted. */
export function readThrift(view: DataView, start: number): ThriftStruct {
  let at = start;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const part = view.getUint8(at++);
      value |= BigInt(part & 127) << shift;
      if (part < 128) return BigInt.asUintN(64, value);
    }
  };
  const integer = (): bigint => {
    const value = varint();
    return (value >> 1n) ^ -(value & 1n);
  };
  const bytes = (count: number): Uint8Array => {
    at += count;
    return new Uint8Array(view.buffer, view.byteOffset + at - count, count);
  };
  const read = (type: number): ThriftValue => {
    switch (type) {
      case TRUE:
      case FALSE:
        return type === TRUE;
      case BYTE:
        return view.getUint8(at++);
      case I16:
      case I32:
        return Number(integer());
      case I64:
        return integer();
      case DOUBLE:
        return bytes(8);
      case BINARY:
        return bytes(Number(varint()));
      case LIST: {
        const head = view.getUint8(at++);
        const count = head >> 4 === 15 ? Number(varint()) : head >> 4;
        const of = head & 15;
        // An entry that is true or false has a byte in a list.
        const each = of === TRUE || of === FALSE ? BYTE : of;
        return { type: of, values: Array.from({ length: count }, () => read(each)) };
      }
      default:
        return struct();
    }
  };
  const struct = (): ThriftStruct => {
    const members: ThriftStruct = new Map();
    for (let id = 0; ; ) {
      const head = view.getUint8(at++);
      if ((head & 15) === 0) return members;
      id = head >> 4 === 0 ? Number(integer()) : id + (head >> 4);
      members.set(id, { type: head & 15, value: read(head & 15) });
    }
  };
  return struct();
}

/** Writes a structure; its members in the order of their ids. */
export function writtenThrift(root: ThriftStruct): Uint8Array {
  const into = new GrowingBytes(1024);
  const byte = (value: number): void => {
    into.reserve(1);
    into.bytes[into.at++] = value;
  };
  const varint = (value: bigint): void => {
    let left = value;
    for (; left > 127n; left >>= 7n) byte(Number(left & 127n) | 128);
    byte(Number(left));
  };
  const integer = (value: bigint): void => varint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  const write = (type: number, value: ThriftValue): void => {
    switch (type) {
      case TRUE:
      case FALSE:
        return;
      case BYTE:
        byte(value as number);
        return;
      case I16:
      case I32:
      case I64:
        integer(BigInt(value as number | bigint));
        return;
      case DOUBLE:
        into.add(value as Uint8Array);
        return;
      case BINARY:
        varint(BigInt((value as Uint8Array).length));
        into.add(value as Uint8Array);
        return;
      case LIST: {
        const { type: of, values } = value as ThriftList;
        byte((Math.min(15, values.length) << 4) | of);
        if (values.length >= 15) varint(BigInt(values.length));
        for (const each of values) write(of === TRUE || of === FALSE ? BYTE : of, each);
        return;
      }
      default:
        struct(value as ThriftStruct);
    }
  };
  const struct = (members: ThriftStruct): void => {
    let last = 0;
    for (const [id, { type, value }] of [...members].sort(([a], [b]) => a - b)) {
      const step = id - last;
      byte((step > 0 && step < 16 ? step << 4 : 0) | type);
      if (!(step > 0 && step < 16)) integer(BigInt(id));
      write(type, value);
      last = id;
    }
    byte(0);
  };
  struct(root);
  return into.bytes.subarray(0, into.at);
}

/** A structure of members `[id, type, value]`; those without a value are left out. */
export function thrift(
  ...members: readonly (readonly [id: number, type: number, value: ThriftValue | undefined])[]
): ThriftStruct {
  const struct: ThriftStruct = new Map();
  for (const [id, type, value] of members) if (value !== undefined) struct.set(id, { type, value });
  return struct;
}

const UTF8 = new TextEncoder();
/** A text as a value. */
export const binary = (text: string): Uint8Array => UTF8.encode(text);
