// `npm run proof -- roads [--size 10000000] [--for 30m] [--seed S]`: rows of hostile text and numbers in files of CSV,
// NDJSON, Parquet and Arrow, converted by rows of bytes and value by value: the same bytes, or rows, types and bounds,
// the same counts. Its small twins are test/property/cli/files/by-rows.test.ts and typed-rows.test.ts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { loadLibrary } from '#dist/files/library.js';
import {
  arrowOf,
  converted,
  expectAlike,
  isRows,
  jsonLine,
  oddLine,
  row,
  TYPES,
  typedRow,
} from '../support/files/roads.js';
import { below, pick } from '../support/mutate.js';
import { randomFrom } from '../support/open-world.js';
import { RunLength, report } from './run-length.js';

const POOL = 4000;
const MAX_ROWS = 60_000;
const WAYS = [
  ['csv', 'ndjson'],
  ['csv', 'geojson'],
  ['csv', 'tsv'],
  ['csv', 'parquet'],
  ['csv', 'arrow'],
  ['ndjson', 'csv'],
  ['ndjson', 'parquet'],
  ['ndjson', 'arrow'],
  ['ndjson', 'sorted'],
  ['parquet', 'csv'],
  ['parquet', 'ndjson'],
  ['parquet', 'geojson'],
  ['parquet', 'arrow'],
  ['parquet', 'sorted'],
  ['arrow', 'csv'],
  ['arrow', 'ndjson'],
  ['arrow', 'geojson'],
  ['arrow', 'parquet'],
  ['arrow', 'arrow'],
  ['arrow', 'sorted'],
] as const;

export default async function proveRoads(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      size: { type: 'string', default: '10000000' },
      for: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  });
  const seed = Number(values.seed);
  const length = new RunLength(Number(values.size), values.for);
  const hexcodes = await loadLibrary();
  const random = randomFrom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-roads-'));
  const pools = {
    csv: fc.sample(row, { numRuns: POOL, seed: seed }),
    ndjson: fc.sample(fc.oneof({ weight: 200, arbitrary: jsonLine }, { weight: 1, arbitrary: oddLine }), {
      numRuns: POOL,
      seed: seed,
    }),
    parquet: fc.sample(typedRow, { numRuns: POOL, seed: seed }),
  };
  const taken = <Value>(pool: readonly Value[], count: number): Value[] =>
    Array.from({ length: count }, () => pick(pool, random));
  const write = {
    csv: (path: string, count: number): void =>
      writeFileSync(path, ['id,lat,lng,name,speed', ...taken(pools.csv, count)].join('\n')),
    ndjson: (path: string, count: number): void => {
      const whole = '{"id":1,"lat":21.03,"lng":105.8,"name":"a","is on":true}';
      writeFileSync(path, [whole, ...taken(pools.ndjson, count)].join('\n'));
    },
    parquet(path: string, count: number): void {
      const rows = taken(pools.parquet, count);
      const columnData = Object.entries(TYPES).map(([name, type]) => ({
        ...{ name, type, nullable: true },
        data: rows.map((each) => each[name as keyof typeof TYPES]),
      }));
      const rowGroupSize = 1 + below(20_000, random);
      const file = parquetWriteBuffer({ columnData, rowGroupSize } as Parameters<
        typeof parquetWriteBuffer
      >[0]);
      writeFileSync(path, new Uint8Array(file));
    },
    arrow: (path: string, count: number): void =>
      writeFileSync(
        path,
        arrowOf(taken(pools.parquet, count), 1 + below(20_000, random), below(2, random) === 0),
      ),
  };
  const done = new Map<string, number>();
  const faults: string[] = [];
  let total = 0;
  let byRows = 0;
  try {
    for (let turn = 0; length.goesOn(total); turn++) {
      const [from, to] = WAYS[turn % WAYS.length]!;
      const count = 1 + below(MAX_ROWS, random);
      const path = join(folder, `in.${from}`);
      write[from](path, count);
      const format = to === 'sorted' ? 'parquet' : to;
      const sort = to === 'sorted' ? { memoryBytes: pick([1e6, 1e9], random) } : null;
      const columns = { prefix: 'x_' };
      const [fast, slow] = ['fast', 'slow'].map((name) => join(folder, `${name}.${format}`));
      const quick = await converted(hexcodes, [path], fast!, { sort, columns });
      const careful = await converted(hexcodes, [path], slow!, { sort, columns, road: 'columns' });
      const way = `${from} to ${to}`;
      try {
        await expectAlike(quick, careful, format);
      } catch (error) {
        faults.push(`${way}, file ${turn}: ${(error as Error).message.slice(0, 300)}`);
      }
      if (isRows(quick)) byRows++;
      total += count;
      done.set(way, (done.get(way) ?? 0) + count);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const ways = [...done].map(([way, rows]) => `${way} ${rows}`).join(', ');
  report('roads', `${total} rows (${ways}), ${byRows} files by rows of bytes`, seed, faults);
}
