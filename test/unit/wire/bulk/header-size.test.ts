// The limit of a CSV header row, whichever way the row comes.
import { expect, test } from 'vitest';
import { MAX_HEADER_BYTES } from '#dist/hexcodes/wire/bulk/csv-header.js';
import { BulkReader } from '#dist/hexcodes/wire/bulk/reader.js';
import type { Delimiter } from '#dist/hexcodes/wire/job.js';

/** A header row of a number of bytes, line end included, and a row. */
const bodyOf = (headerBytes: number): Buffer =>
  Buffer.from(`lat,lng,${'n'.repeat(headerBytes - 9)}\n21,105,x\n`);

function read(body: Buffer, chunkBytes: number, delimiter?: Delimiter): number {
  const reader = new BulkReader({
    ...{ operation: 'encode', input: 'csv', output: 'csv', resolution: 13, prefix: '' },
    ...(delimiter === undefined ? {} : { delimiter }),
  });
  let blocks = 0;
  for (let at = 0; at < body.length; at += chunkBytes)
    blocks += reader.push(body.subarray(at, at + chunkBytes)).length;
  return blocks + reader.end().length;
}

for (const delimiter of [undefined, ','] as const)
  for (const chunkBytes of [1000, 65_536, 1e6])
    test(`delimiter ${delimiter ?? 'found'}, chunks of ${chunkBytes}`, () => {
      expect(read(bodyOf(MAX_HEADER_BYTES), chunkBytes, delimiter)).toBe(1);
      expect(() => read(bodyOf(MAX_HEADER_BYTES + 1), chunkBytes, delimiter)).toThrow(
        'The header row is longer than 65536 bytes',
      );
    });
