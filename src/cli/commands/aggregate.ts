// `hexcodes aggregate FILES`: points of any number to one row a cell, a province or both, and a time.

import type { Command } from 'commander';
import { Aggregation, resultsOf } from '../../files/aggregate/aggregation.js';
import { badUsage, CliFailure, EXIT } from '../../files/exit-codes.js';
import { loadLibrary, workerKernel } from '../../files/library.js';
import { conditionOf } from '../../files/points/row-filter.js';
import { areasOf, type RowsOutput } from '../../files/points/rows-output.js';
import { runPoints } from '../../files/points/run-points.js';
import { bucketMsOf, timeHint, ZoneClock } from '../../files/points/zone-clock.js';
import { memoryBytesOf, requireResolution } from '../../files/request.js';
import { duration } from '../../files/terminal/progress.js';
import { counted } from '../../files/terminal/say.js';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { ProvinceBorders } from '../../hexcodes/geometry/province-borders.js';
import { gathered, listed } from '../conversion-options.js';
import { addPointOptions, countLines, formatTo, type PointOptions, pointFilesOf } from '../point-options.js';

interface Options extends PointOptions {
  readonly by: string;
  readonly resolution: string;
  readonly time?: string;
  readonly bucket?: string;
  readonly zone: string;
  readonly where: readonly string[];
  readonly count?: boolean;
  readonly sum: readonly string[];
  readonly avg: readonly string[];
  readonly memory: string;
}

export default function declare(program: Command): void {
  addPointOptions(
    program
      .command('aggregate')
      .description('Count and add up points by cell, province and time.')
      .argument('[files...]', 'files of points in any format that encode reads; stdin without')
      .option('--by <keys>', 'cell, province, or both with a comma between', 'cell,province')
      .option('-r, --resolution <0-15>', 'of the cells; 8 has edges of 530 m', '8')
      .option('--time <column>', 'group by time, too: the column of times')
      .option('--bucket <length>', 'of --time: 15m, 1h, 1d, 1w, …; default 1h')
      .option('--zone <name>', 'whose clock cuts the buckets', 'Asia/Ho_Chi_Minh')
      .option('--where <condition>', "COLUMN OP VALUE, as 'speed > 5'; several must all be true", gathered)
      .option('--count', 'how many points; the default without --sum and --avg')
      .option('--sum <columns>', 'add up these columns, comma-separated', listed)
      .option('--avg <columns>', 'average of these columns, comma-separated', listed)
      .option('--memory <MiB>', 'for groups; more of them are sorted on the disk', '256'),
  )
    .addHelpText(
      'after',
      `
A cell on a border has a row for each province. Rows are sorted by H3 index, province code and time. GeoJSON has the
hexagons, or with --by province the areas of the provinces. Rows that are not grouped are counted on stderr.

Buckets are parts of a day (15m, 1h), days, or weeks from Monday on. Times are timestamps of Parquet and Arrow, ISO 8601,
or Unix time in seconds to nanoseconds; a date without separators (20260102) and a number below 100,000,000 are not
times. The column time is the beginning of the bucket: in CSV and JSON with its offset, in Parquet and Arrow an instant.

Sums and averages leave out empty values and values that are not numbers; the summary counts the latter. Sums of integers
are exact to 64 bits, beyond which the run ends with exit code 3; those of other numbers, decimals included, are doubles,
whose last digits depend on the order of rows.

Operators of --where are =, !=, <, <=, > and >=, for numbers, times (of typed columns) and text. A value in quotes is a
text (id = '007' is not 7), but for columns typed as numbers or times, as in SQL. A row without a value is left out.

Examples:
  $ hexcodes aggregate pings.csv --count --avg speed -o heat.geojson
  $ hexcodes aggregate pings.parquet --by province --time ts --bucket 1d -o days.csv
  $ hexcodes aggregate day-*.csv.gz --by cell -r 9 --where 'speed > 5' --sum load -o cells.parquet`,
    )
    .action(aggregate);
}

async function aggregate(files: string[], options: Options): Promise<void> {
  const keys = options.by.split(',').map((key) => key.trim());
  const wrong = keys.find((key) => key !== 'cell' && key !== 'province');
  if (wrong !== undefined) throw badUsage(`--by ${options.by}: must be cell, province, or cell,province`);
  const limitBytes = memoryBytesOf(options.memory);
  const byCell = keys.includes('cell');
  const byProvince = keys.includes('province');
  const clock = new ZoneClock(options.zone);
  const [added, averaged] = [[...new Set(options.sum)], [...new Set(options.avg)]];
  const sums = [...new Set([...added, ...averaged])];
  const bucketMs = bucketMsOf(options.bucket ?? '1h');
  if (options.bucket !== undefined && options.time === undefined) throw badUsage('--bucket is for --time');
  const conditions = (options.where ?? []).map(conditionOf);
  const wanted = {
    numbers: sums,
    others: [
      ...conditions.map(({ column }) => column),
      ...(options.time === undefined ? [] : [options.time]),
    ],
  };
  const hexcodes = await loadLibrary();
  const aggregation = new Aggregation(hexcodes, {
    byCell,
    byProvince,
    clock,
    sums,
    resolution: requireResolution(options.resolution),
    time: options.time === undefined ? undefined : { column: options.time, bucketMs },
    conditions,
    limitBytes,
  });
  let groups = 0;
  const write = async (output: RowsOutput): Promise<void> => {
    const results = resultsOf(hexcodes, {
      byCell,
      byProvince,
      clock,
      format: output.format,
      hasTime: options.time !== undefined,
      hasCount: options.count === true || sums.length === 0,
      sums: added.map((name) => ({ name, ...sumOf(sums, aggregation, name) })),
      averages: averaged.map((name) => ({ name, ...sumOf(sums, aggregation, name) })),
    });
    const needsAreas = output.format === 'geojson' && !byCell;
    const areas = needsAreas ? await areasOfProvinces() : new Map<string, string>();
    await output.open(results.columns, (columns) => areasOf(columns, (code) => areas.get(code)!));
    for (const group of aggregation.groups()) {
      groups++;
      const written = output.add(results.rowOf(group));
      if (written !== undefined) await written;
    }
  };
  const { rows, elapsedMs } = await runPoints(hexcodes, {
    files: { ...pointFilesOf(files, options), wanted },
    output: { output: options.output, format: formatTo(options) },
    isQuiet: options.quiet === true,
    take: (batch) => aggregation.take(batch),
    end: write,
    cleanUp: () => aggregation.remove(),
  });
  if (options.quiet !== true)
    process.stderr.write(`${summaryOf(aggregation, sums, { rows, groups, elapsedMs }).join('\n')}\n`);
  const { counts } = aggregation;
  if (rows > counts.filtered && counts.grouped === 0)
    throw new CliFailure(EXIT.FAILED, 'no row was grouped', timeHint(counts.unreadTime));
}

function sumOf(
  sums: readonly string[],
  { sumColumns }: Aggregation,
  name: string,
): { index: number; isInteger: boolean } {
  const index = sums.indexOf(name);
  return { index, isInteger: sumColumns[index]!.isInteger };
}

/** The areas of all provinces as GeoJSON, by code. */
async function areasOfProvinces(): Promise<Map<string, string>> {
  const borders = new ProvinceBorders((await workerKernel()).index);
  return new Map(ADMIN_UNITS.map(({ code }, admin) => [code, JSON.stringify(borders.ofAdmin(admin))]));
}

function summaryOf(
  { counts, sumColumns, spills }: Aggregation,
  sums: readonly string[],
  { rows, groups, elapsedMs }: { rows: number; groups: number; elapsedMs: number },
): string[] {
  return [
    `${counted(rows, 'row')} in ${duration(elapsedMs)}: ${counted(groups, 'group')} of ${counted(counts.grouped, 'point')}`,
    ...countLines([
      [counts.filtered, 'left out by --where'],
      [counts.outside, 'in no province of Viet Nam nor its sea'],
      [counts.notPositions, 'without a position'],
      [counts.withoutTime, 'without a time'],
      ...sumColumns.map(
        ({ notNumbers }, index) =>
          [notNumbers, `values of ${sums[index]} that are not numbers: not added`] as const,
      ),
      [spills, `${spills === 1 ? 'time' : 'times'} the groups were written to the disk`],
    ]),
  ];
}
