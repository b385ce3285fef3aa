// Lengths that an Arrow file claims and does not have: a sentence, before the values are collected.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as arrow from 'apache-arrow';
import { afterAll, expect, test } from 'vitest';
import { EXIT } from '#dist/files/exit-codes.js';
import { outcomeOf } from '../../../../support/files/damaged.js';

const ROWS = 37;
const scratch = mkdtempSync(join(tmpdir(), 'hexcodes-arrow-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const list = (of: arrow.DataType) => new arrow.List(new arrow.Field('item', of, true));
const struct = new arrow.Struct([new arrow.Field('n', new arrow.Int32(), true)]);
const each = <T>(value: (i: number) => T): T[] => Array.from({ length: ROWS }, (_, i) => value(i));

/** Some value columns, lists, structs, lists of structs, and lists of a fixed size. */
const WHOLE = Buffer.from(
  arrow.tableToIPC(
    new arrow.Table({
      lat: arrow.vectorFromArray(
        each((i) => 21 + i / 100),
        new arrow.Float64(),
      ),
      name: arrow.vectorFromArray(
        each((i) => `tên ${i}`),
        new arrow.Utf8(),
      ),
      tags: arrow.vectorFromArray(
        each((i) => [i, i + 1]),
        list(new arrow.Int32()),
      ),
      at: arrow.vectorFromArray(
        each((i) => ({ n: i })),
        struct,
      ),
      many: arrow.vectorFromArray(
        each((i) => [{ n: i }]),
        list(struct),
      ),
      pair: arrow.vectorFromArray(
        each((i) => [i, i]),
        new arrow.FixedSizeList(2, new arrow.Field('item', new arrow.Int32(), true)),
      ),
    }),
    'stream',
  ),
);

async function outcomeWith(bytes: Buffer) {
  const path = join(scratch, 'lengths.arrow');
  writeFileSync(path, bytes);
  return outcomeOf(path);
}

/** Places of a number in the file, as a little-endian integer of 4 or 8 bytes, at multiples of its size. */
function placesOf(value: bigint, sizeBytes: 4 | 8): number[] {
  const places: number[] = [];
  for (let at = 0; at + sizeBytes <= WHOLE.length; at += sizeBytes)
    if (value === (sizeBytes === 8 ? WHOLE.readBigInt64LE(at) : BigInt(WHOLE.readInt32LE(at))))
      places.push(at);
  return places;
}

test('the whole file', async () => {
  expect(await outcomeWith(WHOLE)).toEqual({ rows: ROWS });
});

test.each([-1n, 36n, 38n, 3_925_868_844n, 2n ** 40n])(
  'a length of %d instead of 37, wherever one stands',
  async (length) => {
    const places = placesOf(BigInt(ROWS), 8);
    // the batch and its columns, and what is in lists and structs
    expect(places.length).toBeGreaterThanOrEqual(8);
    let refused = 0;
    for (const at of places) {
      const bytes = Buffer.from(WHOLE);
      bytes.writeBigInt64LE(length, at);
      const outcome = await outcomeWith(bytes);
      if ('rows' in outcome) continue;
      refused++;
      expect([outcome.exitCode, outcome.fault]).toEqual([
        EXIT.BAD_INPUT,
        expect.stringContaining('lengths.arrow'),
      ]);
    }
    expect(refused).toBeGreaterThan(0);
  },
);

test.each([-5, 2_000_000_000])('an offset of %d at the end of each list', async (offset) => {
  // The last list of `tags` ends at 74, that of `many` at 37.
  const places = [...placesOf(74n, 4), ...placesOf(37n, 4)];
  let refused = 0;
  for (const at of places) {
    const bytes = Buffer.from(WHOLE);
    bytes.writeInt32LE(offset, at);
    const outcome = await outcomeWith(bytes);
    if ('rows' in outcome) continue;
    refused++;
    expect(outcome.exitCode).toBe(EXIT.BAD_INPUT);
  }
  expect(refused).toBeGreaterThanOrEqual(2);
});
