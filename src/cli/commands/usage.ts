// `hexcodes usage`: what keys have used, from the store of the data folder or the database that nodes share, as a table
// for people or as CSV and Parquet. It may run beside the service, which stores what it counts every few seconds.
import type { Command } from 'commander';
import { columns } from '../../capacity/report/figures.js';
import type { ServeConfig } from '../../config/config.js';
import { destinationOf } from '../../files/disk/destination.js';
import { Targets } from '../../files/disk/targets.js';
import { badUsage, CliFailure, EXIT } from '../../files/exit-codes.js';
import { formatOfName } from '../../files/format.js';
import { openSink } from '../../files/formats/open.js';
import { BATCH_ROWS, type TableColumn } from '../../files/formats/table.js';
import { visible } from '../../files/terminal/say.js';
import { openStore } from '../../server/keys/store/open-store.js';
import type { UsageRow } from '../../server/usage/batch.js';
import { Calendar } from '../../server/usage/calendar.js';
import { mayHaveUsage, openUsage, usageFault } from '../../server/usage/store/usage-store.js';
import { addFlags, settingsOf } from '../settings.js';

const NAMES = ['dataDir', 'store', 'quotaTimeZone'] as const;
type Config = Pick<ServeConfig, (typeof NAMES)[number]>;

interface Bounds {
  readonly from?: string;
  readonly to?: string;
}

export default function register(program: Command): void {
  const about = 'what keys have used: requests and points';
  const usage = program.command('usage').summary(about).description(about);
  const addBounds = (command: Command): Command =>
    addFlags(
      command
        .option('--from <date>', 'first day or hour, as 2026-11-01 or 2026-11-01T08')
        .option('--to <date>', 'last day or hour, itself included'),
      NAMES,
    );

  const show = addBounds(
    usage.command('show', { isDefault: true }).description('a table by key and operation'),
  ).option('--json', 'as one JSON array');
  show.action(({ json, ...bounds }: Bounds & { readonly json?: boolean }) =>
    withRows(show, bounds, async (rows, address) => {
      const lines = await linesOf(rows, await namesOf(address));
      process.stdout.write(json === true ? `${JSON.stringify(lines, null, 2)}\n` : tableOf(lines));
    }),
  );

  const exported = addBounds(
    usage
      .command('export')
      .description('rows by hour, key, operation and outcome')
      .argument('[file]', 'instead of standard output; .csv and .parquet say the format')
      .option('--csv', 'as CSV')
      .option('--parquet', 'as Parquet')
      .option('-o, --output <file>', 'file, as the argument gives it')
      .addHelpText(
        'after',
        `
Columns: hour (its beginning, in UTC), key_id, operation (encode, decode, encode_batch, decode_batch, encode_bulk,
decode_bulk, stream, lookup), outcome (ok, failed, refused), requests, points. --from and --to are in the zone of
--quota-time-zone.`,
      ),
  );
  exported.action(async (file: string | undefined, options: ExportOptions) => {
    if (file !== undefined && options.output !== undefined)
      throw badUsage('give the file once: as the argument or with --output');
    const path = file ?? options.output ?? '-';
    const format = formatFor(path, options);
    await withRows(exported, options, (rows) => exportTo(path, format, rows));
  });
}

interface ExportOptions extends Bounds {
  readonly csv?: boolean;
  readonly parquet?: boolean;
  readonly output?: string;
}

function formatFor(path: string, { csv = false, parquet = false }: ExportOptions): 'csv' | 'parquet' {
  if (csv !== parquet) return csv ? 'csv' : 'parquet';
  const { format, gzip } = formatOfName(path);
  if (!csv && !gzip && (format === 'csv' || format === 'parquet')) return format;
  throw badUsage('give one of --csv and --parquet, or a file that ends with one of them');
}

interface Address {
  readonly dataDir: string;
  readonly url: string | undefined;
}

/** Names of keys by id. Keys that the store does not have, such as those of HEXCODES_API_KEYS, have none. */
async function namesOf(address: Address): Promise<ReadonlyMap<string, string>> {
  try {
    const store = await openStore(address);
    try {
      return new Map((await store.keys()).map(({ id, name }) => [id, name]));
    } finally {
      await store.close();
    }
  } catch {
    // Without a store of keys the table has only ids.
    return new Map();
  }
}

const HOUR_MS = 3_600_000;
const BOUND = /^\d{4}-\d{2}-\d{2}(T\d{2}(:00)?)?$/;

async function withRows(
  command: Command,
  { from, to }: Bounds,
  work: (rows: AsyncIterable<UsageRow>, address: Address) => Promise<void>,
): Promise<void> {
  const config = settingsOf(command, NAMES);
  if (config === undefined) return;
  const address = { dataDir: config.dataDir, url: config.store };
  const fromMs = from === undefined ? 0 : boundMs('--from', from, config).startMs;
  const untilMs = to === undefined ? Number.MAX_SAFE_INTEGER : boundMs('--to', to, config).endMs;
  if (fromMs >= untilMs) throw badUsage(`--from ${from} is later than --to ${to}`);
  if (!mayHaveUsage(address)) {
    const hint = 'give the folder of the server with --data-dir';
    throw new CliFailure(EXIT.FAILED, `no usage is stored in ${config.dataDir}`, hint);
  }
  try {
    const store = await openUsage(address);
    try {
      await work(store.rows(fromMs, untilMs), address);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure(EXIT.FAILED, usageFault(address, error));
  }
}

/** A day or an hour in the time zone. */
function boundMs(
  option: string,
  text: string,
  { quotaTimeZone }: Config,
): { startMs: number; endMs: number } {
  const name = text.slice(0, 10);
  const dayMs = BOUND.test(text) ? Date.parse(name) : Number.NaN;
  const hour = text.length > 10 ? Number(text.slice(11, 13)) : undefined;
  // Date.parse reads 30 February as a day in March.
  const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(name);
  if (!isDay || (hour ?? 0) > 23)
    throw badUsage(`${option} ${text}: must be a day as 2026-11-01 or an hour as 2026-11-01T08`);
  // Noon of that day in Greenwich lies in it, or in the day before or after it.
  const calendar = new Calendar(quotaTimeZone, dayMs + 12 * HOUR_MS);
  let { day } = calendar.periods;
  if (day.name < name) day = calendar.periodsAt(day.endMs).day;
  else if (day.name > name) day = calendar.periodsAt(day.startMs - 1).day;
  if (hour === undefined) return day;
  return { startMs: day.startMs + hour * HOUR_MS, endMs: day.startMs + (hour + 1) * HOUR_MS };
}

const COLUMNS: readonly TableColumn[] = [
  { name: 'hour', kind: 'timestamp', unit: 'ms', isUtc: true },
  { name: 'key_id', kind: 'text' },
  { name: 'operation', kind: 'text' },
  { name: 'outcome', kind: 'text' },
  { name: 'requests', kind: 'long' },
  { name: 'points', kind: 'long' },
];

async function exportTo(
  path: string,
  format: 'csv' | 'parquet',
  rows: AsyncIterable<UsageRow>,
): Promise<void> {
  const notResumable = 'An export cannot be resumed';
  const output = destinationOf(path);
  const targets = new Targets({ output, rejects: null, notResumable, isResume: false, shape: '' });
  try {
    const dialect = { delimiter: ',', decimal: '.', hasMark: false, hasHeader: true, titleRows: 0 } as const;
    const sink = await openSink(format, { output: targets.output, columns: COLUMNS, dialect });
    let values: unknown[][] = COLUMNS.map(() => []);
    const flush = async (): Promise<void> => {
      const rowCount = values[0]!.length;
      if (rowCount === 0) return;
      await sink.write({ rowCount, values });
      values = COLUMNS.map(() => []);
    };
    for await (const { hourMs, keyId, operation, outcome, requests, points } of rows) {
      const row = [BigInt(hourMs), keyId, operation, outcome, BigInt(requests), BigInt(points)];
      for (const [column, value] of row.entries()) values[column]!.push(value);
      if (values[0]!.length === BATCH_ROWS) await flush();
    }
    await flush();
    await sink.close();
    await targets.finish(0);
  } catch (error) {
    targets.abandon(false);
    throw error;
  }
}

/** Answered requests and points, failed points, and work rejected over limits. */
interface Line {
  readonly key_id: string;
  readonly name: string;
  readonly operation: string;
  requests: number;
  points: number;
  failed_points: number;
  refused_requests: number;
  refused_points: number;
}

const TITLES = [
  'KEY',
  'NAME',
  'OPERATION',
  'REQUESTS',
  'POINTS',
  'FAILED',
  'REFUSED REQUESTS',
  'REFUSED POINTS',
];

async function linesOf(
  rows: AsyncIterable<UsageRow>,
  names: ReadonlyMap<string, string>,
): Promise<readonly Line[]> {
  const lines = new Map<string, Line>();
  for await (const { keyId, operation, outcome, requests, points } of rows) {
    const id = `${keyId}\t${operation}`;
    const line = lines.get(id) ?? {
      key_id: keyId,
      name: names.get(keyId) ?? '',
      operation,
      requests: 0,
      points: 0,
      failed_points: 0,
      refused_requests: 0,
      refused_points: 0,
    };
    lines.set(id, line);
    if (outcome === 'refused') {
      line.refused_requests += requests;
      line.refused_points += points;
    } else {
      line.requests += requests;
      line.points += points;
      if (outcome === 'failed') line.failed_points += points;
    }
  }
  return [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
}

function tableOf(lines: readonly Line[]): string {
  const table = lines.map((line) => Object.values(line).map((value) => visible(String(value))));
  if (table.length === 0) return 'no usage\n';
  return `${columns([TITLES, ...table], [3, 4, 5, 6, 7])}\n`;
}
