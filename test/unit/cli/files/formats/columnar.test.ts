// Arrow: compressed, nested, with dictionaries, cut off, and with lengths that it does not have. Parquet: numbers
// that a file claims of itself, and the metadata of a written one.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Column } from '@uwdata/flechette';
import * as arrow from 'apache-arrow';
import { Field, Int32, Schema, Struct, Table, tableToIPC } from 'apache-arrow';
import { parquetMetadata } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { PageBytes, walkRuns } from '#dist/files/formats/parquet/sound-chunk.js';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../../../../support/cli.js';
import { encodeFile } from '../../../../support/files/convert.js';
import { BAD_INPUT, outcomeOf } from '../../../../support/files/damaged.js';
import { ownFolder, sharedCommand } from '../../../../support/shared.js';

const SCHEMA = 1;
const DICTIONARY = 2;
const RECORDS = 3;
const END = Buffer.from('ffffffff00000000', 'hex');

const library = await Hexcodes.load();

/** The lines of NDJSON that a file becomes, those of its columns that are named alone. */
async function linesOf(path: string, output: string, ...keep: string[]): Promise<string[]> {
  await encodeFile(library, path, output, keep.length > 0 ? { keep } : {});
  return readFileSync(output, 'utf8').trimEnd().split('\n');
}

const doubles = (length: number, value: number): arrow.Vector =>
  arrow.vectorFromArray(Array(length).fill(value), new arrow.Float64());

/** The messages of a stream, without its end. */
function messagesIn(bytes: Uint8Array): { kind: number; bytes: Buffer }[] {
  const stream = Buffer.from(bytes);
  const messages: { kind: number; bytes: Buffer }[] = [];
  for (let at = 0; at < stream.length && stream.readInt32LE(at + 4) > 0; ) {
    const size = 8 + stream.readInt32LE(at + 4);
    const { headerType, bodyLength } = arrow.Message.decode(stream.subarray(at + 8, at + size));
    messages.push({ kind: headerType, bytes: stream.subarray(at, at + size + bodyLength) });
    at += size + bodyLength;
  }
  return messages;
}

// Compressed Arrow, as pandas and pyarrow write it: LZ4 frames, whose blocks refer to those before them, and
// Zstandard. The files are of pyarrow 25.0.1: 20,000 rows in one batch, `write_feather(table, name,
// compression=...)`.
describe('compressed', () => {
  const ROWS = 20_000;
  const SMALL = { NODE_OPTIONS: '--max-old-space-size=256' };
  const DISTRICTS = ['Hoàn Kiếm', 'Ba Đình', null];

  const output = join(ownFolder('compressed'), 'out.ndjson');

  test.each(['lz4', 'zstd'])('%s: every value of every row', async (codec) => {
    const due = Array.from({ length: ROWS }, (_, i) => {
      const id = 9007199254740993n + BigInt(Math.floor(i / 50));
      const lat = 21.0306 + Math.floor(i / 500) * 1e-4;
      const district = JSON.stringify(DISTRICTS[Math.floor(i / 40) % 3]);
      const trips = i % 2 === 1 ? `[${Math.floor(i / 100)},null]` : '[]';
      return `{"id":${id},"lat":${lat},"lng":105.8489,"nothing":null,"district":${district},"trips":${trips},`;
    });
    const lines = await linesOf(`test/fixtures/arrow/${codec}.feather`, output);
    expect(lines.map((line) => line.slice(0, line.indexOf('"hexcodes":')))).toEqual(due);
  });

  test('a dictionary that claims more values than it has', async () => {
    const folder = new CliFolder();
    onTestFinished(() => folder.remove());

    const whole = readFileSync('test/fixtures/arrow/zstd.feather');
    // The count of its values, two: one byte of it made flechette collect values until the heap was full.
    for (const [at, byte, values] of [
      [651, 0x5f, '1593835522 rows'],
      [650, 0x84, '8650754 values'],
    ] as const) {
      const bytes = Buffer.from(whole);
      expect(bytes.readBigInt64LE(648)).toBe(2n);
      bytes[at] = byte;
      folder.write('damaged.feather', bytes);
      const ran = await folder.run(['encode', 'damaged.feather', '-o', 'out.csv'], { env: SMALL });
      expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining(values)]);
    }
  });

  test.each(['lz4', 'zstd'])('%s that is damaged is refused with a sentence', async (codec) => {
    const folder = new CliFolder();
    onTestFinished(() => folder.remove());

    const bytes = readFileSync(`test/fixtures/arrow/${codec}.feather`);
    // The magic number of the first frame.
    const magic = codec === 'lz4' ? '04224d18' : '28b52ffd';
    bytes[bytes.indexOf(Buffer.from(magic, 'hex'))]! ^= 1;
    folder.write('damaged.feather', bytes);
    await expect(linesOf(folder.file('damaged.feather'), output)).rejects.toThrow(
      /damaged\.feather, row 1: cannot be read as Arrow \(broken (?:LZ4|Zstandard) data\)/,
    );
  });
});

// Columns within columns of Arrow, written by Apache Arrow: the check of their metadata calls itself for each level.
describe('nested columns', () => {
  const scratch = ownFolder('nested');

  async function outcomeWith(levels: number) {
    let field: Field = new Field('n', new Int32());
    for (let level = 0; level < levels; level++) field = new Field('s', new Struct([field]));
    const path = join(scratch, 'nested.arrows');
    const axes = ['lat', 'lng'].map((name) => new Field(name, new arrow.Float64()));
    writeFileSync(path, tableToIPC(new Table(new Schema([...axes, field] as Field[])), 'stream'));
    return outcomeOf(path);
  }

  test('64 levels are read, more are refused before anything is built of them', async () => {
    for (const levels of [0, 1, 63, 64]) expect(await outcomeWith(levels)).toEqual({ rows: 0 });
    for (const levels of [65, 66, 200, 1000])
      expect(await outcomeWith(levels)).toMatchObject({
        fault: expect.stringContaining('columns are nested more than 64 deep'),
      });
  });
});

// Dictionaries of an Arrow stream that change between its batches: one that is replaced is forgotten, one that is
// added to stays.
describe('dictionaries', () => {
  const scratch = ownFolder('dictionaries');
  afterEach(() => {
    delete process.env.HEXCODES_READ_MEMORY;
  });

  const type = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32(), 7);

  /** Schema, dictionary and rows of a stream. */
  function messages(texts: readonly string[], keys: readonly number[]) {
    const data = arrow.makeData({
      type,
      length: keys.length,
      nullCount: 0,
      data: Int32Array.from(keys),
      dictionary: arrow.vectorFromArray(texts, new arrow.Utf8()),
    });
    const [lat, lng] = [doubles(keys.length, 21), doubles(keys.length, 105)];
    const table = new arrow.Table({ lat, lng, text: new arrow.Vector([data]) });
    const found = messagesIn(arrow.tableToIPC(table, 'stream'));
    const of = (kind: number) => found.find((message) => message.kind === kind)!.bytes;
    return { schema: of(SCHEMA), dictionary: of(DICTIONARY), records: of(RECORDS) };
  }

  async function textsOf(...parts: Buffer[]): Promise<unknown[]> {
    const path = join(scratch, 'x.arrows');
    writeFileSync(path, Buffer.concat([...parts, END]));
    const lines = await linesOf(path, join(scratch, 'x.ndjson'), 'text');
    return lines.map((line) => (JSON.parse(line) as { text: unknown }).text);
  }

  test('a dictionary that is replaced, many times: only the last counts against the ceiling', async () => {
    process.env.HEXCODES_READ_MEMORY = '16';
    const parts: Buffer[] = [];
    const due: string[] = [];
    for (let i = 0; i < 30; i++) {
      const text = String.fromCharCode(97 + (i % 26)).repeat(2 ** 20);
      const { schema, dictionary, records } = messages([text, `${i}`], [1, 0]);
      parts.push(...(i === 0 ? [schema] : []), dictionary, records);
      due.push(`${i}`, text);
    }
    expect(await textsOf(...parts)).toEqual(due);
  });

  test('a large dictionary is read once for as many bytes of rows, and a batch that is not sound names its row', async () => {
    const texts = Array.from({ length: 4000 }, (_, i) => `${i} `.padEnd(40, 'x'));
    const { schema, dictionary } = messages(texts, [0]);
    const batches = Array.from({ length: 1500 }, (_, i) => messages(['a'], [i, 3999 - i]).records);
    const made = vi.spyOn(Column.prototype, 'toArray');
    const found = await textsOf(schema, dictionary, ...batches);
    expect(found).toEqual(batches.flatMap((_, i) => [texts[i], texts[3999 - i]]));
    const bytes = Buffer.concat(batches).length;
    expect(made.mock.calls.length).toBeGreaterThan(0);
    expect(made.mock.calls.length).toBeLessThanOrEqual(1 + bytes / dictionary.length);
    made.mockRestore();
    const wrong = messages(['a'], [0, 4000]).records;
    const all = [...batches.slice(0, 300), wrong, ...batches.slice(300, 400)];
    await expect(textsOf(schema, dictionary, ...all)).rejects.toThrow(
      /row 601.*entry 4000 of a dictionary of 4000/,
    );
  });

  test('a key beyond its dictionary is refused', async () => {
    const { schema, dictionary, records } = messages(['a'], [0, 1]);
    await expect(textsOf(schema, dictionary, records)).rejects.toThrow(/entry 1 of a dictionary of 1/);
  });

  test('a dictionary that is added to, which is not read again at each addition', async () => {
    const builder = arrow.makeBuilder({ type, nullValues: [null] });
    const additions = Array.from({ length: 60 }, (_, part) =>
      Array.from({ length: 60 }, (_, i) => `${60 * part + i}`.padEnd(60, 'x')),
    );
    const due = [['a', 'b'], ['d', 'a', 'c'], ['e', 'b', 'd'], ...additions];
    const parts = due.map((texts) => {
      for (const text of texts) builder.append(text);
      return builder.flush();
    });
    const axes = ['lat', 'lng'].map((name) => new arrow.Field(name, new arrow.Float64(), true));
    const schema = new arrow.Schema([...axes, new arrow.Field('text', type, true)] as arrow.Field[]);
    const batches = parts.map((part) => {
      const struct = new arrow.Struct(schema.fields as never);
      const data = arrow.makeData({
        type: struct,
        length: part.length,
        nullCount: 0,
        children: [...[21, 105].map((value) => doubles(part.length, value).data[0]), part] as never,
      });
      return new arrow.RecordBatch(schema, data as never);
    });
    const bytes = Buffer.from(arrow.tableToIPC(new arrow.Table(schema, batches), 'stream'));
    expect(messagesIn(bytes).filter(({ kind }) => kind === DICTIONARY)).toHaveLength(due.length);
    const made = vi.spyOn(Column.prototype, 'toArray');
    expect(await textsOf(bytes.subarray(0, -END.length))).toEqual(due.flat());
    const calls = made.mock.calls.length;
    made.mockRestore();
    expect(calls).toBeLessThan(due.length / 2);
  });
});

// Where Arrow IPC ends: a whole file and stream are read, one that is cut off or whose tail a crash has zeroed is
// refused.
describe('ends', () => {
  const ROWS = 70_000;
  const folder = sharedCommand();

  /** A file of several record batches, and where each of its messages and its end begin. */
  async function written(name: string): Promise<{ bytes: Buffer; starts: number[]; batches: number }> {
    folder.write('in.csv', `lat,lng\n${'21.0288,105.8525\n'.repeat(ROWS)}`);
    await folder.run(['encode', 'in.csv', '-o', name, '-q']);
    const bytes = folder.bytes(name);
    // Before the stream a file has its magic number.
    const first = name.endsWith('.arrow') ? 8 : 0;
    const messages = messagesIn(bytes.subarray(first));
    const starts = [first];
    for (const message of messages) starts.push(starts.at(-1)! + message.bytes.length);
    return { bytes, starts, batches: messages.filter(({ kind }) => kind === RECORDS).length };
  }

  /** The number of rows, or the fault. */
  async function readAs(name: string, bytes: Uint8Array): Promise<number | string> {
    const outcome = await outcomeOf(folder.file(folder.write(name, bytes)));
    return 'rows' in outcome ? outcome.rows : outcome.fault;
  }
  const CUT = expect.stringContaining('Arrow data is cut off in message');

  const zeroedFrom = (bytes: Uint8Array, at: number): Uint8Array =>
    Buffer.concat([bytes.subarray(0, at), Buffer.alloc(bytes.length - at)]);

  test.each(['whole.arrow', 'whole.arrows'])(
    '%s is read whole, and refused when cut off or zeroed from any message on',
    async (name) => {
      const { bytes, starts, batches } = await written(name);
      expect(batches).toBeGreaterThan(1);
      expect(await readAs(name, bytes)).toBe(ROWS);
      // After the schema: record batches and the ending.
      const afterSchema = starts.slice(-batches - 1);
      for (const at of afterSchema) {
        expect(await readAs(name, bytes.subarray(0, at))).toEqual(CUT);
        if (at === afterSchema.at(-1) && name.endsWith('s')) continue;
        expect(await readAs(name, zeroedFrom(bytes, at))).toEqual(CUT);
      }
    },
  );

  test('a file without its footer, with half of it, or with fewer batches than it lists is refused', async () => {
    const { bytes, starts } = await written('whole.arrow');
    const ending = starts.at(-1)!;
    for (const damaged of [
      bytes.subarray(0, ending + END.length),
      bytes.subarray(0, bytes.length - 3),
      zeroedFrom(bytes, ending + END.length),
      Buffer.concat([bytes.subarray(0, starts.at(-2)), END, bytes.subarray(ending + END.length)]),
    ])
      expect(await readAs('damaged.arrow', damaged)).toEqual(CUT);
  });

  test('a stream may end in 4 bytes of zero, as old writers do, and in nothing after them', async () => {
    const { bytes, starts } = await written('whole.arrows');
    const whole = bytes.subarray(0, starts.at(-1)!);
    expect(await readAs('x.arrows', Buffer.concat([whole, Buffer.alloc(4)]))).toBe(ROWS);
    expect(await readAs('x.arrows', Buffer.concat([whole, Buffer.alloc(8)]))).toEqual(CUT);
    const several = 'it is several files, one after the other';
    expect(await readAs('x.arrows', Buffer.concat([bytes, bytes]))).toContain(several);
  });

  test('streams that are joined are named as such, in both framings, with end marks and without', async () => {
    const small = arrow.tableToIPC(
      arrow.tableFromArrays({ lat: Float64Array.of(21), lng: Float64Array.of(105) }),
      'stream',
    );
    const messages = messagesIn(small).map((message) => message.bytes);
    // Before Arrow 0.15 no word was before a message, whose size was padded otherwise.
    const old = messages.map((message) => {
      const [size, body] = [message.subarray(4, 8), 8 + message.readInt32LE(4)];
      const parts = [size, message.subarray(8, body), Buffer.alloc(4), message.subarray(body)];
      const whole = Buffer.concat(parts);
      whole.writeInt32LE(body - 4);
      return whole;
    });
    const streams = [[...messages, END], [...old, Buffer.alloc(4)], messages, old].map((parts) =>
      Buffer.concat(parts),
    );
    for (const [i, stream] of streams.entries()) {
      expect(await readAs('joined.arrows', stream)).toEqual(i < 2 ? 1 : CUT);
      expect(await readAs('joined.arrows', Buffer.concat([stream, Buffer.alloc(4, 0xff)]))).toEqual(CUT);
      for (const next of streams)
        expect(await readAs('joined.arrows', Buffer.concat([stream, next]))).toContain('several files');
    }
  });
});

// Lengths that an Arrow file claims and does not have: a sentence, before the values are collected.
describe('lengths', () => {
  const ROWS = 37;
  const scratch = ownFolder('arrow');

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
        lng: doubles(ROWS, 105),
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
          BAD_INPUT,
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
      expect(outcome.exitCode).toBe(BAD_INPUT);
    }
    expect(refused).toBeGreaterThanOrEqual(2);
  });
});

// Parquet: numbers that a file claims of itself, and the metadata of a written one.

// Numbers that a Parquet file claims of itself and that are not true: refused before anything is made of them.
describe('claims', () => {
  const scratch = ownFolder('claims');

  interface Claimed {
    /** Rows of the group in place of 300. */
    readonly rows?: number;
    /** Groups around the first column in its schema. */
    readonly depth?: number;
    /** Doubles are read as coordinates, other numbers as values. */
    readonly type?: 'DOUBLE' | 'INT32';
  }

  async function outcomeWith({ rows = 300, depth = 0, type = 'DOUBLE' }: Claimed) {
    const writer = new ByteWriter();
    const schema = [
      { name: 'root', num_children: 2 },
      ...['lat', 'lng'].map((name) => ({
        ...{ name, type, repetition_type: 'OPTIONAL' as const },
      })),
    ];
    const parquet = new ParquetWriter({ writer, schema });
    parquet.write({
      columnData: ['lat', 'lng'].map((name) => ({
        ...{ name, data: Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? null : i)) },
      })),
    });
    for (const group of parquet.row_groups) group.num_rows = BigInt(rows);
    for (let i = 0; i < depth; i++)
      schema.splice(1, 0, { name: `g${i}`, num_children: 1, repetition_type: 'OPTIONAL' } as never);
    const path = Array.from({ length: depth }, (_, i) => `g${depth - 1 - i}`);
    for (const group of parquet.row_groups) group.columns[0]!.meta_data!.path_in_schema = [...path, 'lat'];
    parquet.finish();
    const file = join(scratch, 'claims.parquet');
    writeFileSync(file, writer.getBytes());
    return outcomeOf(file);
  }

  test('the whole file', async () => {
    expect(await outcomeWith({})).toEqual({ rows: 300 });
  });

  test.each([0, 1, 200, 299])('pages with more values than the %d rows of the group', async (rows) => {
    const outcome = await outcomeWith({ rows });
    if (rows === 0) expect(outcome).toEqual({ rows: 0 });
    else
      expect(outcome).toMatchObject({
        exitCode: 3,
        fault: expect.stringMatching(/column lat: .*300 values of \d+ rows/),
      });
  });

  test.each([301, 600, 1e9, 2 ** 52])('a group of %d rows whose pages have fewer', async (rows) => {
    for (const type of ['DOUBLE', 'INT32'] as const)
      expect(await outcomeWith({ rows, type })).toMatchObject({
        exitCode: 3,
        fault: expect.stringMatching(/values where \d+ are due|of memory, and one file may take/),
      });
  });

  test('a schema that is nested too deeply', async () => {
    expect(await outcomeWith({ depth: 70 })).toMatchObject({
      exitCode: 3,
      fault: expect.stringMatching(/columns are nested more than 64 deep/),
    });
  });

  // A list of 2^31 integers, of 15 in four bytes, a text of 100 bytes, lists in lists, and no end.
  test.each([
    [[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0], 'claims 2147483647 entries'],
    [[0x19, 0xf5, 0x0f, 0, 0], 'claims 15 entries where 2 bytes are left'],
    [[0x18, 100, 65], 'claims 100 bytes where 1 are left'],
    [[0x19, ...Array.from({ length: 200 }, () => 0x19)], 'nested more than 32 deep'],
    [[0x15, 0x02], 'cut off'],
  ])('metadata %#', async (metadata, reason) => {
    const file = join(scratch, 'metadata.parquet');
    const end = Buffer.from('....PAR1');
    end.writeUInt32LE(metadata.length);
    writeFileSync(file, Buffer.concat([Buffer.from('PAR1'), Buffer.from(metadata), end]));
    expect(await outcomeOf(file)).toMatchObject({ exitCode: 3, fault: expect.stringContaining(reason) });
  });

  test('runs that claim more values than are left, and packed ones with their padding', () => {
    const walk = (most: number, width: number, ...bytes: number[]) => {
      const page = new PageBytes(Uint8Array.from(bytes));
      walkRuns(page, width, most);
      return page.left;
    };
    expect(walk(5, 1, 10, 1)).toBe(0);
    expect(() => walk(4, 1, 10, 1)).toThrow(/a run of 5 values where 4 are left/);
    expect(() => walk(4, 1, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1)).toThrow(/a run of 2147483647 values/);
    expect(() => walk(4, 1, 0, 1)).toThrow(/a run of 0 values/);
    expect(walk(5, 3, 3, 1, 2, 3)).toBe(0);
    expect(walk(13, 1, 5, 255, 255)).toBe(0);
    expect(() => walk(5, 3, 3, 1)).toThrow(/cut off/);
    expect(() => walk(4, 1, 0x81, 0x10, 1)).toThrow(/a run of 8192 values/);
    expect(() => walk(4, 40, 2, 1)).toThrow(/values of 40 bits/);
  });
});

// Metadata of a written Parquet file: by which column its rows are sorted, and where those without a value come; and
// that a row group ends at as many rows or as much text as it may have.
describe('what is written', () => {
  const folder = sharedCommand();

  async function groupsOf(rows: string) {
    folder.write('in.ndjson', rows);
    await folder.run('encode in.ndjson -q -o out.parquet');
    return parquetMetadata(new Uint8Array(folder.bytes('out.parquet')).buffer).row_groups;
  }

  test('a row group ends at 65,536 rows, and at 64 MiB of text; nothing is said of an order', async () => {
    const byRows = await groupsOf('{"lat":21.0288,"lng":105.8525}\n'.repeat(80_000));
    expect(byRows.map((group) => Number(group.num_rows))).toEqual([65_536, 14_464]);
    expect(byRows.map((group) => group.sorting_columns)).toEqual([undefined, undefined]);
    const byText = await groupsOf(`{"lat":21,"lng":105,"t":"${'x'.repeat(2 ** 20)}"}\n`.repeat(120));
    expect(byText.map((group) => Number(group.num_rows))).toEqual([64, 56]);
  });
});
