// `hexcodes track FILES --id COLUMN --time COLUMN`: the positions of vehicles to their stays in cells, and the changes
// of province.

import type { Command } from 'commander';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { codeTextOf } from '../../files/formats/values/column-text.js';
import { requireBelowCeiling } from '../../files/held/ceiling.js';
import { loadLibrary } from '../../files/library.js';
import { conditionOf, rowFilter } from '../../files/points/row-filter.js';
import { areasOf, type RowsOutput } from '../../files/points/rows-output.js';
import { cellsOf, runPoints } from '../../files/points/run-points.js';
import { type Stay, Stays } from '../../files/points/stays.js';
import { columnNamed } from '../../files/points/values.js';
import { durationMsOf, instantOf, timeColumn, timeHint, ZoneClock } from '../../files/points/zone-clock.js';
import { requireResolution } from '../../files/request.js';
import { duration } from '../../files/terminal/progress.js';
import { counted } from '../../files/terminal/say.js';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { NOT_A_COORDINATE } from '../../hexcodes/kernel/kernel.js';
import { gathered } from '../conversion-options.js';
import { addPointOptions, countLines, formatTo, type PointOptions, pointFilesOf } from '../point-options.js';

interface Options extends PointOptions {
  readonly id: string;
  readonly time: string;
  readonly resolution: string;
  readonly gap?: string;
  readonly zone: string;
  readonly where: readonly string[];
  readonly provinceChanges?: boolean;
}

const noCounts = () => ({
  stays: 0,
  filtered: 0,
  outside: 0,
  notPositions: 0,
  withoutTime: 0,
  withoutId: 0,
  /** The first text that is not a time. */
  unreadTime: undefined as string | undefined,
});
type Counts = Readonly<ReturnType<typeof noCounts>>;

export default function declare(program: Command): void {
  addPointOptions(
    program
      .command('track')
      .description('Turn positions of vehicles into stays, one row each; positions in the same cell are one.')
      .argument('[files...]', 'files of points in any format that encode reads; stdin without')
      .requiredOption('--id <column>', 'column that names the vehicle')
      .requiredOption('--time <column>', 'column of times')
      .option('-r, --resolution <0-15>', 'of the cells; 9 has edges of 200 m', '9')
      .option(
        '--gap <length>',
        'a gap of this length between positions ends a stay, as 30m or 2h; default: no gap does',
      )
      .option('--zone <name>', 'of times in and out', 'Asia/Ho_Chi_Minh')
      .option('--where <condition>', "COLUMN OP VALUE, as 'speed > 5'; several must all be true", gathered)
      .option('--province-changes', 'only stays that begin in another province than the one before'),
  )
    .addHelpText(
      'after',
      `
Columns: id; hexcodes, h3_cell and admin_code; event, why the row begins (first of the vehicle, another province, else
cell); previous_admin_code; entered, left and seconds of the first and last position in the cell; and the number of
points.

Positions of a vehicle must come in the order of time; those that do not are left out and counted. A position outside
ends a stay, as does a time without positions longer than --gap. A row is written when its stay ends, those of the end in
the order in which vehicles appeared. One stay of each vehicle is held, some 400 bytes.

Examples:
  $ hexcodes track pings.csv --id vehicle --time ts -o stays.csv
  $ hexcodes track day.parquet --id imei --time at --gap 30m --to ndjson
  $ hexcodes track day.parquet --id imei --time at --province-changes -q`,
    )
    .action(track);
}

async function track(files: string[], options: Options): Promise<void> {
  const hexcodes = await loadLibrary();
  const clock = new ZoneClock(options.zone);
  const resolution = requireResolution(options.resolution);
  const conditions = (options.where ?? []).map(conditionOf);
  const others = [options.id, options.time, ...conditions.map(({ column }) => column)];
  const wanted = { numbers: [], others };
  const stays = new Stays(
    options.gap === undefined ? Number.POSITIVE_INFINITY : durationMsOf(options.gap, '--gap'),
  );
  const counts = noCounts();
  let rowOf: ((stay: Stay) => unknown[]) | undefined;
  const open = async (output: RowsOutput): Promise<(stay: Stay) => unknown[]> => {
    const entered = timeColumn('entered', output.format, clock);
    const left = timeColumn('left', output.format, clock);
    const text = (name: string) => ({ name, kind: 'text' as const });
    const columns = [
      ...['id', 'hexcodes', 'h3_cell', 'admin_code', 'event', 'previous_admin_code'].map(text),
      entered.column,
      left.column,
      { name: 'seconds', kind: 'long' as const },
      { name: 'points', kind: 'long' as const },
    ];
    await output.open(columns, areasOf);
    return ({ id, cell, admin, event, previousAdmin, enteredMs, leftMs, points }) => {
      const { code } = ADMIN_UNITS[admin]!;
      const previous = previousAdmin === null ? null : ADMIN_UNITS[previousAdmin]!.code;
      const times = [entered.valueIn(enteredMs), left.valueIn(leftMs)];
      const seconds = BigInt(Math.floor((leftMs - enteredMs) / 1000));
      return [
        id,
        hexcodes.pack(cell, code),
        cell.toString(16),
        code,
        event,
        previous,
        ...times,
        seconds,
        BigInt(points),
      ];
    };
  };
  const write = (stay: Stay, output: RowsOutput): Promise<void> | undefined => {
    if (options.provinceChanges === true && stay.event !== 'province') return undefined;
    counts.stays++;
    return output.add(rowOf!(stay));
  };
  const { rows, elapsedMs } = await runPoints(hexcodes, {
    files: { ...pointFilesOf(files, options), wanted },
    output: { output: options.output, format: formatTo(options) },
    isQuiet: options.quiet === true,
    async take(batch, output) {
      rowOf ??= await open(output);
      const { columns, file, rows: read } = batch;
      const passes = rowFilter(conditions, columns, file, clock);
      const at = {
        id: columnNamed(columns, options.id, file),
        time: columnNamed(columns, options.time, file),
      };
      for (const { row, cell, admin, status } of cellsOf(hexcodes, batch, resolution)) {
        if (!passes(read, row)) counts.filtered++;
        else if (status === NOT_A_COORDINATE) counts.notPositions++;
        else {
          const id = codeTextOf(columns[at.id]!, read.values[at.id]?.[row]);
          const timeMs = instantOf(columns[at.time]!, read.values[at.time]?.[row], clock);
          if (Number.isNaN(timeMs)) {
            counts.withoutTime++;
            counts.unreadTime ??= codeTextOf(columns[at.time]!, read.values[at.time]?.[row]) || undefined;
          } else if (id === '') counts.withoutId++;
          else {
            if (cell === 0n) counts.outside++;
            const ended = stays.take({ id, timeMs: Math.floor(timeMs), cell, admin });
            if (ended !== null) await write(ended, output);
          }
        }
      }
      requireBelowCeiling(
        { file },
        stays.heldBytes,
        `the last stay of each of ${counted(stays.vehicles, 'vehicle')}`,
        'Split the files by vehicle.',
      );
    },
    async end(output) {
      rowOf ??= await open(output);
      for (const stay of stays.open()) await write(stay, output);
    },
  });
  if (options.quiet !== true)
    process.stderr.write(`${summaryOf(counts, stays, rows, elapsedMs).join('\n')}\n`);
  if (rows > counts.filtered && stays.vehicles === 0)
    throw new CliFailure(
      EXIT.FAILED,
      'no row has a vehicle, a time and a position',
      timeHint(counts.unreadTime),
    );
}

function summaryOf(counts: Counts, { vehicles, late }: Stays, rows: number, elapsedMs: number): string[] {
  return [
    `${counted(rows, 'row')} in ${duration(elapsedMs)}: ${counted(counts.stays, 'stay')} of ${counted(vehicles, 'vehicle')}`,
    ...countLines([
      [counts.filtered, 'left out by --where'],
      [counts.outside, 'in no province of Viet Nam nor its sea'],
      [counts.notPositions, 'without a position'],
      [counts.withoutTime, 'without a time'],
      [counts.withoutId, 'without a vehicle'],
      [late, 'earlier than the position before of their vehicle: left out'],
    ]),
  ];
}
