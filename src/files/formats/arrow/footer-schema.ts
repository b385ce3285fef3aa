// The schema in the footer of an Arrow file, as a message. Files of the writer for JavaScript (apache-arrow) have it
// there only: the stream before it begins without one.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { SCHEMA } from './message-kinds.js';
import { tableOf } from './messages.js';
import { checkMetadata } from './sound-metadata.js';

/** Behind the footer: i32 its size │ `ARROW1`. */
const END_BYTES = 10;
const MOST_FOOTER_BYTES = 64 * 1024 * 1024;
/** The flatbuffer table of the message, before a copy of the footer to whose schema it points. */
const TABLE_BYTES = 32;

/**
 * @returns null if the file has no footer with a schema
 * @throws Error for a schema that points beyond the footer
 */
export function schemaInFooter(path: string): Uint8Array | null {
  const footer = footerOf(path);
  if (footer === null) return null;
  try {
    const { view, fieldAt } = tableOf(footer);
    const versionAt = fieldAt(0);
    const schemaAt = fieldAt(1);
    if (schemaAt === 0) return null;
    const version = versionAt === 0 ? 0 : view.getInt16(versionAt, true);
    return schemaMessage(footer, schemaAt + view.getUint32(schemaAt, true), version);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function footerOf(path: string): Uint8Array | null {
  const descriptor = openSync(path, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const end = Buffer.alloc(END_BYTES);
    if (size < END_BYTES || readSync(descriptor, end, 0, END_BYTES, size - END_BYTES) < END_BYTES)
      return null;
    const sizeBytes = end.readInt32LE();
    const start = size - END_BYTES - sizeBytes;
    if (
      end.toString('latin1', 4) !== 'ARROW1' ||
      sizeBytes < 8 ||
      sizeBytes > MOST_FOOTER_BYTES ||
      start < 8
    ) {
      return null;
    }
    const footer = Buffer.alloc(sizeBytes);
    return readSync(descriptor, footer, 0, sizeBytes, start) === sizeBytes ? footer : null;
  } finally {
    closeSync(descriptor);
  }
}

/** @param schemaAt where the table of the schema begins in the footer */
function schemaMessage(footer: Uint8Array, schemaAt: number, version: number): Uint8Array {
  const padding = (8 - (footer.length % 8)) % 8;
  const bytes = Buffer.alloc(8 + TABLE_BYTES + footer.length + padding);
  bytes.writeInt32LE(-1, 0);
  bytes.writeInt32LE(bytes.length - 8, 4);
  const table = bytes.subarray(8);
  table.writeUInt32LE(16, 0);
  // The vtable: its size, that of the table, and where version, kind, schema and body size are (0: left out).
  for (const [i, value] of [12, 12, 4, 6, 8, 0].entries()) table.writeUInt16LE(value, 4 + 2 * i);
  table.writeInt32LE(12, 16);
  table.writeInt16LE(version, 20);
  table.writeUInt8(SCHEMA, 22);
  table.writeUInt32LE(TABLE_BYTES + schemaAt - 24, 24);
  table.set(footer, TABLE_BYTES);
  checkMetadata(table, 0);
  return bytes;
}
