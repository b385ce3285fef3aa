// Parquet: numbers that a file claims of itself, and the metadata of a written one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetMetadata } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { PageBytes, walkRuns } from '#dist/files/formats/parquet/sound-chunk.js';
import { outcomeOf } from '../../../../support/files/damaged.js';
import { ownFolder } from '../../../../support/own-folder.js';
import { sharedCommand } from '../../../../support/shared.js';

// Numbers that a Parquet file claims of itself and that are not true: refused before anything is made of them.
describe('claims', () => {
  const scratch = ownFolder('claims');

  interface Claimed {
    /** Rows of the group in place of 300. */
    readonly rows?: number;
    /** Groups around the second column in its schema. */
    readonly depth?: number;
  }

  async function outcomeWith({ rows = 300, depth = 0 }: Claimed) {
    const writer = new ByteWriter();
    const schema = [
      { name: 'root', num_children: 1 },
      { name: 'lat', type: 'DOUBLE' as const, repetition_type: 'OPTIONAL' as const },
    ];
    const parquet = new ParquetWriter({ writer, schema });
    parquet.write({
      columnData: [{ name: 'lat', data: Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? null : i)) }],
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
    expect(await outcomeWith({ rows })).toMatchObject({
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
