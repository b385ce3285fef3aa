// Columns within columns of Arrow, written by Apache Arrow: the check of their metadata calls itself for each level.
import { Field, Int32, Schema, Struct, Table, tableToIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { checkMetadata } from '#dist/files/formats/arrow/sound-metadata.js';

/** The metadata of a schema with one column, which has columns within one another. */
function nested(levels: number): Uint8Array {
  let field: Field = new Field('n', new Int32());
  for (let level = 0; level < levels; level++) field = new Field('s', new Struct([field]));
  const bytes = tableToIPC(new Table(new Schema([field])), 'stream');
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  return bytes.subarray(8, 8 + size);
}

test('64 levels are read, more are refused before anything is built of them', () => {
  for (const levels of [0, 1, 63, 64]) expect(checkMetadata(nested(levels), 0)).toBeNull();
  for (const levels of [65, 66, 200, 1000])
    expect(() => checkMetadata(nested(levels), 0)).toThrow('columns are nested more than 64 deep');
});
