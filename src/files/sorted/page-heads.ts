// Heads and levels of Parquet's pages, whatever their values are.

import { I32, STRUCT, thrift, writtenThrift } from '../formats/parquet/thrift.js';

const PLAIN = 0;
const [DICTIONARY_PAGE, DATA_PAGE_V2] = [2, 3] as const;

/** Which rows have a value, in runs: of one, or of bits. */
export function levelsOf(defined: Uint8Array, rows: number, nulls: number): Uint8Array {
  if (nulls === 0 || nulls === rows)
    return Buffer.concat([varintOf(2 * rows), Uint8Array.of(nulls === 0 ? 1 : 0)]);
  const groups = Math.ceil(rows / 8);
  const lead = varintOf(2 * groups + 1);
  const bytes = new Uint8Array(lead.length + groups);
  bytes.set(lead);
  for (let row = 0; row < rows; row++) bytes[lead.length + (row >> 3)]! |= defined[row]! << (row & 7);
  return bytes;
}

export function varintOf(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left & 127) | 128);
  bytes.push(left);
  return Uint8Array.from(bytes);
}

export function dictionaryHead(values: number, plainBytes: number, packedBytes: number): Uint8Array {
  return writtenThrift(
    thrift(
      [1, I32, DICTIONARY_PAGE],
      [2, I32, plainBytes],
      [3, I32, packedBytes],
      [7, STRUCT, thrift([1, I32, values], [2, I32, PLAIN])],
    ),
  );
}

export function dataHead(
  rows: number,
  nulls: number,
  encoding: number,
  levelBytes: number,
  plainBytes: number,
  packedBytes: number,
  isPacked: boolean,
): Uint8Array {
  const page = thrift(
    [1, I32, rows],
    [2, I32, nulls],
    [3, I32, rows],
    [4, I32, encoding],
    [5, I32, levelBytes],
    [6, I32, 0],
    [7, isPacked ? 1 : 2, isPacked],
  );
  return writtenThrift(
    thrift(
      [1, I32, DATA_PAGE_V2],
      [2, I32, levelBytes + plainBytes],
      [3, I32, levelBytes + packedBytes],
      [8, STRUCT, page],
    ),
  );
}
