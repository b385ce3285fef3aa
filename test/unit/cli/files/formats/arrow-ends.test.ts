// Where Arrow IPC ends: a whole file and stream are read, one that is cut off or whose tail a crash has zeroed is
// refused.
import { expect, test } from 'vitest';
import type { Input } from '#dist/files/disk/input.js';
import { arrowSink } from '#dist/files/formats/arrow/arrow-sink.js';
import { openArrow } from '#dist/files/formats/arrow/arrow-source.js';

const BATCHES = 3;
const ROWS = 65_536;
const END_MARK = Buffer.from('ffffffff00000000', 'hex');

/** One column of integers in three record batches, and where each of its messages begins. */
async function written(hasFooter: boolean): Promise<{ bytes: Buffer; starts: number[] }> {
  const parts: Uint8Array[] = [];
  const starts: number[] = [];
  let sizeBytes = 0;
  const output = {
    name: 'memory',
    holdsBytes: false,
    write: async (bytes: Uint8Array) => {
      starts.push(sizeBytes);
      parts.push(bytes.slice());
      sizeBytes += bytes.length;
    },
    finish: async () => undefined,
    abandon: () => undefined,
  };
  const columns = { kept: [{ name: 'n', kind: 'int' as const }], added: [], isWhole: true };
  const sink = arrowSink(output, columns, hasFooter);
  const values = [Int32Array.from({ length: ROWS }, (_, row) => row)];
  for (let batch = 0; batch < BATCHES; batch++) await sink.write({ rowCount: ROWS, values });
  await sink.close();
  return { bytes: Buffer.concat(parts), starts };
}

async function rowsIn(bytes: Uint8Array): Promise<number> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
  }
  const input: Input = {
    name: 'in.arrow',
    path: null,
    sizeBytes: null,
    isPacked: false,
    head: bytes.subarray(0, 4096),
    readBytes: () => 0,
    chunks,
    plain: null,
    onClose: () => undefined,
    close: () => undefined,
  };
  let rows = 0;
  for await (const batch of (await openArrow(input)).batches()) rows += batch.rowCount;
  return rows;
}

const zeroedFrom = (bytes: Uint8Array, at: number): Uint8Array =>
  Buffer.concat([bytes.subarray(0, at), Buffer.alloc(bytes.length - at)]);

test.each([
  ['file', true],
  ['stream', false],
])('a %s is read whole, and refused when cut off or zeroed from any message on', async (_, hasFooter) => {
  const { bytes, starts } = await written(hasFooter);
  expect(await rowsIn(bytes)).toBe(BATCHES * ROWS);
  // Behind the schema: three record batches and the ending.
  const afterSchema = starts.slice(-BATCHES - 1);
  for (const at of afterSchema) {
    await expect(rowsIn(bytes.subarray(0, at))).rejects.toThrow(/Arrow data is cut off in message/);
    if (at === afterSchema.at(-1) && !hasFooter) continue;
    await expect(rowsIn(zeroedFrom(bytes, at))).rejects.toThrow(/Arrow data is cut off in message/);
  }
});

test('a file without its footer, with half of it, or with fewer batches than it lists is refused', async () => {
  const { bytes, starts } = await written(true);
  const ending = starts.at(-1)!;
  const second = starts.at(-3)!;
  for (const damaged of [
    bytes.subarray(0, ending + END_MARK.length),
    bytes.subarray(0, bytes.length - 3),
    zeroedFrom(bytes, ending + END_MARK.length),
    Buffer.concat([bytes.subarray(0, second), END_MARK, bytes.subarray(ending + END_MARK.length)]),
  ]) {
    await expect(rowsIn(damaged)).rejects.toThrow(/Arrow data is cut off in message/);
  }
});

test('a stream may end in 4 bytes of zero, as old writers do, and in nothing behind them', async () => {
  const { bytes, starts } = await written(false);
  const whole = bytes.subarray(0, starts.at(-1)!);
  expect(await rowsIn(Buffer.concat([whole, Buffer.alloc(4)]))).toBe(BATCHES * ROWS);
  await expect(rowsIn(Buffer.concat([whole, Buffer.alloc(8)]))).rejects.toThrow(/cut off/);
});
