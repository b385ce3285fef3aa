// Dictionaries of an Arrow stream that change between its batches: one that is replaced is forgotten, one that is added
// to stays.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as arrow from 'apache-arrow';
import { afterAll, afterEach, expect, test } from 'vitest';
import { openInput } from '#dist/files/disk/input.js';
import { openArrow } from '#dist/files/formats/arrow/arrow-source.js';
import { ByteQueue, type Message, messagesOf, once } from '#dist/files/formats/arrow/messages.js';

const scratch = mkdtempSync(join(tmpdir(), 'hexcodes-dictionaries-'));
afterAll(() => rmSync(scratch, { recursive: true }));
afterEach(() => {
  delete process.env.HEXCODES_READ_MEMORY;
});

const type = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32(), 7);
const END = Buffer.from('ffffffff00000000', 'hex');
const DICTIONARY = 2;
const RECORDS = 3;

/** Schema, dictionary and rows of a stream. */
async function messages(texts: readonly string[], keys: readonly number[]) {
  const data = arrow.makeData({
    type,
    length: keys.length,
    nullCount: 0,
    data: Int32Array.from(keys),
    dictionary: arrow.vectorFromArray(texts, new arrow.Utf8()),
  });
  const table = new arrow.Table({ text: new arrow.Vector([data]) });
  const found: Message[] = [];
  const bytes = arrow.tableToIPC(table, 'stream');
  for await (const message of messagesOf(new ByteQueue(once(bytes)), 'x', false)) found.push(message);
  const of = (kind: number) => Buffer.from(found.find((message) => message.kind === kind)!.bytes);
  return { schema: of(1), dictionary: of(DICTIONARY), records: of(RECORDS) };
}

async function textsOf(...parts: Buffer[]): Promise<unknown[]> {
  const path = join(scratch, 'x.arrows');
  writeFileSync(path, Buffer.concat([...parts, END]));
  const input = await openInput(path);
  try {
    const texts: unknown[] = [];
    for await (const { values } of (await openArrow(input)).batches()) texts.push(...Array.from(values[0]!));
    return texts;
  } finally {
    input.close();
  }
}

test('a dictionary that is replaced, many times: only the last counts against the ceiling', async () => {
  process.env.HEXCODES_READ_MEMORY = '16';
  const parts: Buffer[] = [];
  const due: string[] = [];
  for (let i = 0; i < 30; i++) {
    const text = String.fromCharCode(97 + (i % 26)).repeat(2 ** 20);
    const { schema, dictionary, records } = await messages([text, `${i}`], [1, 0]);
    parts.push(...(i === 0 ? [schema] : []), dictionary, records);
    due.push(`${i}`, text);
  }
  expect(await textsOf(...parts)).toEqual(due);
});

test('a key beyond its dictionary is refused', async () => {
  const { schema, dictionary, records } = await messages(['a'], [0, 1]);
  await expect(textsOf(schema, dictionary, records)).rejects.toThrow(/entry 1 of a dictionary of 1/);
});

test('a dictionary that is added to', async () => {
  const builder = arrow.makeBuilder({ type, nullValues: [null] });
  const parts = [
    ['a', 'b'],
    ['d', 'a', 'c'],
    ['e', 'b', 'd'],
  ].map((texts) => {
    for (const text of texts) builder.append(text);
    return builder.flush();
  });
  const schema = new arrow.Schema([new arrow.Field('text', type, true)]);
  const batches = parts.map((part) => {
    const struct = new arrow.Struct(schema.fields as never);
    const data = arrow.makeData({
      type: struct,
      length: part.length,
      nullCount: 0,
      children: [part] as never,
    });
    return new arrow.RecordBatch(schema, data as never);
  });
  const bytes = Buffer.from(arrow.tableToIPC(new arrow.Table(schema, batches), 'stream'));
  const kinds: unknown[] = [];
  for await (const { claims } of messagesOf(new ByteQueue(once(bytes)), 'x', false))
    if (claims?.dictionary === 7n) kinds.push(claims.isDelta);
  expect(kinds).toEqual([false, true, true]);
  expect(await textsOf(bytes.subarray(0, -END.length))).toEqual(['a', 'b', 'd', 'a', 'c', 'e', 'b', 'd']);
});
