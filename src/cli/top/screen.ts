// Draws a view as lines of text, for a terminal or a file alike.
import { grouped, type Paint } from '../../files/terminal/paint.js';
import { visibleMessage } from '../../files/terminal/visible.js';
import type { Quantiles, View } from './readings.js';

/** Rows of each table where the height of the terminal is not known. */
const MOST_ROWS = 20;

export function drawView(view: View, address: string, paint: Paint, rows = MOST_ROWS): string[] {
  const { versions, pool, stream, bulk, eventLoop } = view;
  const state = view.isReady ? paint('green', 'ready') : paint('red', 'not ready');
  const faults = [
    ...(view.hasKeyStoreFault ? ['the key store cannot be read'] : []),
    ...(view.hasUsageStoreFault ? ['usage cannot be stored'] : []),
    ...(view.droppedLogLines > 0 ? [`${grouped(view.droppedLogLines)} log lines dropped`] : []),
  ];
  const summary = [
    [
      'requests',
      `${perSecond(view.requestsPerSecond)}, connections ${grouped(view.connections)}, refused over a limit ${perSecond(view.refusalsPerSecond)}`,
    ],
    [
      'points',
      `${perSecond(view.pointsPerSecond)}, of which failed ${perSecond(view.failedPointsPerSecond)}`,
    ],
    ['bodies', `in ${bytes(view.bytesInPerSecond)}/s, out ${bytes(view.bytesOutPerSecond)}/s`],
    [
      'event loop',
      `late by p50 ${duration(eventLoop.p50)}, p99 ${duration(eventLoop.p99)}, at most ${duration(eventLoop.max)}`,
    ],
    [
      'process',
      `CPU ${Math.round(view.cpuShare * 100)} %, memory ${bytes(view.residentBytes)}, held for peers ${bytes(view.heldBytes)} of ${bytes(view.heldBytesLimit)}`,
    ],
    [
      'pool',
      `${grouped(pool.threads)} threads, blocks ${grouped(pool.blocks)}, queued ${grouped(pool.queued)}, ${latencies(pool)}`,
    ],
    [
      'stream',
      `connections ${grouped(stream.connections)}, frames ${perSecond(stream.framesPerSecond)}, unanswered ${grouped(stream.unanswered)}, ${latencies(stream)}`,
    ],
    ['bulk', `under way ${grouped(bulk.underWay)}, on disk ${bytes(bulk.spooledBytes)}`],
  ];
  const routes = table(
    ['ROUTE', 'REQUESTS', 'P50', 'P99', '4XX', '5XX'],
    view.routes.map((route) => [
      route.route,
      perSecond(route.requestsPerSecond),
      duration(route.p50),
      duration(route.p99),
      perSecond(route.refusedPerSecond),
      perSecond(route.failedPerSecond),
    ]),
    rows,
    paint,
  );
  const keys = table(
    ['KEY', 'REQUESTS', 'POINTS'],
    view.keys.map((key) => [
      key.id === '' ? '(others)' : key.id,
      perSecond(key.requestsPerSecond),
      perSecond(key.pointsPerSecond),
    ]),
    rows,
    paint,
  );
  return [
    `${paint('bold', `hexcodes ${versions.version ?? ''}`)} on ${visibleMessage(address)}, ${state}, up ${upTime(view.upSeconds)}`,
    paint(
      'dim',
      `kernel ${versions.kernel ?? ''}, data of ${versions.data_date ?? ''} (${versions.data ?? ''}), ${versions.transport ?? ''} ${versions.transport_version ?? ''}, Node ${versions.node ?? ''}`,
    ),
    ...faults.map((fault) => paint('red', fault)),
    '',
    ...summary.map(([name = '', text = '']) => `${name.padEnd(11)} ${text}`),
    '',
    ...routes,
    '',
    ...keys,
  ];
}

/** The first column to the left, the others to the right; rows beyond `most` are counted. */
function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  most: number,
  paint: Paint,
): string[] {
  const shown = rows.slice(0, Math.max(1, most)).map((row) => row.map(visibleMessage));
  const widths = head.map((title, at) => Math.max(title.length, ...shown.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  const left = rows.length - shown.length;
  return [
    paint('dim', line(head)),
    ...shown.map(line),
    ...(rows.length === 0 ? [paint('dim', '(none)')] : []),
    ...(left > 0 ? [paint('dim', `and ${left} more`)] : []),
  ];
}

function latencies({ p50, p99 }: Quantiles): string {
  return `p50 ${duration(p50)}, p99 ${duration(p99)}`;
}

function perSecond(rate: number): string {
  return `${rate < 10 && rate > 0 ? rate.toFixed(1) : grouped(rate)}/s`;
}

/** Three digits, in the unit that suits: `250 µs`, `1.25 ms`, `2.50 s`. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined) return '-';
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  return seconds < 1 ? `${(seconds * 1000).toPrecision(3)} ms` : `${seconds.toPrecision(3)} s`;
}

/** In binary units: `512 B`, `1.5 MiB`. */
export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function upTime(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} days ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(seconds)} s`;
}
