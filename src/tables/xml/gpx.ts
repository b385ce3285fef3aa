// Waypoints, routes and tracks of GPX (1.0 and 1.1) as rows, as the file is read: one a point.

import { CsvLines } from '../rows-as-csv.js';
import { XmlReader } from './xml-reader.js';

/** Elements of a point that become columns, also inside its extensions. */
const OF_POINT = ['time', 'ele', 'speed', 'course', 'hdop', 'sat', 'hr', 'cad', 'sym', 'desc'] as const;
const COLUMNS = ['kind', 'name', 'number', 'segment', 'lat', 'lng', ...OF_POINT] as const;
const KINDS: Readonly<Record<string, string>> = { wpt: 'waypoint', rtept: 'route', trkpt: 'track' };
const WANTED: ReadonlySet<string> = new Set(['name', ...OF_POINT]);

/**
 * CSV with a row for each point. `name` is that of the point, else of its track or route, `number` counts these from 1,
 * and `segment` the parts of a track.
 * @throws TableError, as the chunks come
 */
export async function* gpxAsCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const lines = new CsvLines();
  lines.add(COLUMNS);
  const lineOf = { name: '', number: 0, segment: 0 };
  const numbers = { trk: 0, rte: 0 };
  const path: string[] = [];
  let point: Record<string, string> | null = null;
  /** Names inside of a link are those of the page that it leads to. */
  let linkDepth = 0;
  const reader = new XmlReader({
    open(name, attributes) {
      path.push(name);
      if (name === 'link') linkDepth++;
      if (KINDS[name] !== undefined) {
        const { lat = '', lon = '' } = attributes();
        point = { lat, lng: lon };
      } else if (name === 'trk' || name === 'rte') {
        lineOf.name = '';
        lineOf.number = ++numbers[name];
        lineOf.segment = 0;
      } else if (name === 'trkseg') {
        lineOf.segment++;
      }
    },
    close(name, text) {
      path.pop();
      if (name === 'link') linkDepth--;
      const kind = KINDS[name];
      if (kind !== undefined && point !== null) {
        const isLone = kind === 'waypoint';
        const of: Readonly<Record<string, string | undefined>> = {
          ...point,
          kind,
          name: point.name ?? (isLone ? undefined : lineOf.name),
          number: isLone ? undefined : String(lineOf.number),
          segment: kind === 'track' ? String(lineOf.segment) : undefined,
        };
        lines.add(COLUMNS.map((column) => of[column]));
        point = null;
      } else if (linkDepth === 0 && point !== null && WANTED.has(name)) {
        point[name] ??= text;
      } else if (name === 'name' && /^(?:trk|rte)$/.test(path.at(-1) ?? '')) {
        lineOf.name = text;
      }
    },
  });
  for await (const chunk of chunks) {
    reader.push(chunk);
    yield lines.take();
  }
  reader.end();
  yield lines.take();
}
