// Waypoints, routes and tracks of GPX (1.0 and 1.1) as rows, as the file is read: one a point.

import { CsvLines } from '../rows-as-csv.js';
import { requireShort, XmlFields } from './xml-fields.js';
import { XmlReader } from './xml-reader.js';

/** Elements of a point that become columns, also inside its extensions: numbers and times, and texts. */
const VALUES = ['time', 'ele', 'speed', 'course', 'hdop', 'sat', 'hr', 'cad'] as const;
const TEXTS = ['sym', 'desc'] as const;
const COLUMNS = ['kind', 'name', 'number', 'segment', 'lat', 'lng', ...VALUES, ...TEXTS, 'other'] as const;
const KINDS = new Map([
  ['wpt', 'waypoint'],
  ['rtept', 'route'],
  ['trkpt', 'track'],
] as const);
const COLLAPSED: ReadonlySet<string> = new Set(VALUES);
const INDEXES: ReadonlyMap<string, number> = new Map(COLUMNS.map((name, index) => [name, index]));
const WANTED = new Map(['name', ...VALUES, ...TEXTS].map((name) => [name, INDEXES.get(name)!]));
const [KIND, NAME, NUMBER, SEGMENT, LAT, LNG] = COLUMNS.keys();

interface Point {
  readonly kind: 'waypoint' | 'route' | 'track';
  /** Texts in the order of the columns; undefined where there is none yet. */
  readonly columns: (string | undefined)[];
  readonly fields: XmlFields;
}

/** A track or a route: what its points have in common. */
interface Line {
  name: string | undefined;
  readonly number: number;
  segment: number;
  isInSegment: boolean;
  readonly fields: XmlFields;
}

/**
 * CSV with a row for each point. `name` is that of the point, else of its track or route, `number` counts these from 1,
 * and `segment` the parts of a track. `other` is a JSON object of all other fields, with those of the track or route in
 * `track` or `route`.
 * @throws TableError, as the chunks come
 */
export async function* gpxAsCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const lines = new CsvLines();
  lines.add(COLUMNS);
  const numbers = { trk: 0, rte: 0 };
  let line: Line | null = null;
  /** Columns and fields of one point after the other. */
  const columns = new Array<string | undefined>(COLUMNS.length);
  const fields = new XmlFields();
  let point: Point | null = null;
  /** Names inside of a link are those of the page that it leads to. */
  let linkDepth = 0;
  const reader = new XmlReader({
    open(name, attributes, qualified) {
      if (point !== null) {
        if (name === 'link') linkDepth++;
        point.fields.open(qualified, attributes.entries());
        return true;
      }
      const kind = KINDS.get(name as 'wpt');
      if (kind !== undefined) {
        columns.fill(undefined);
        fields.clear();
        point = { kind, columns, fields };
        columns[KIND!] = kind;
        const lat = attributes.get('lat');
        const lng = attributes.get('lon');
        columns[LAT!] = lat ?? '';
        columns[LNG!] = lng ?? '';
        if (attributes.count > Number(lat !== undefined) + Number(lng !== undefined))
          for (const [attribute, value] of attributes.entries())
            if (attribute !== 'lat' && attribute !== 'lon') point.fields.add(`@${attribute}`, value);
      } else if (name === 'trk' || name === 'rte')
        line = {
          name: undefined,
          number: ++numbers[name],
          segment: 0,
          isInSegment: false,
          fields: new XmlFields(),
        };
      else if (name === 'trkseg' && line !== null) {
        line.segment++;
        line.isInSegment = true;
      } else if (line !== null) {
        if (!line.isInSegment) line.fields.open(qualified, attributes.entries());
        return true;
      }
      return false;
    },
    close(name, text) {
      if (point !== null && point.fields.depth > 0) {
        const { columns, fields } = point;
        const index = linkDepth === 0 && fields.isPlain ? WANTED.get(name) : undefined;
        const hasColumn = index !== undefined && columns[index] === undefined;
        if (hasColumn) columns[index] = COLLAPSED.has(name) ? text.trim() : text;
        fields.close(hasColumn ? null : text);
        if (name === 'link') linkDepth--;
      } else if (point !== null) {
        if (line !== null && point.kind !== 'waypoint') addLine(point, line);
        const { columns, fields } = point;
        columns[columns.length - 1] = fields.json();
        lines.add(columns);
        point = null;
      } else if (name === 'trk' || name === 'rte') line = null;
      else if (name === 'trkseg' && line !== null) line.isInSegment = false;
      else if (line?.isInSegment === false && line.fields.depth > 0) {
        const isName =
          name === 'name' && line.fields.depth === 1 && line.fields.isPlain && line.name === undefined;
        if (isName) line.name = text;
        line.fields.close(isName ? null : text);
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

function addLine({ kind, columns, fields }: Point, line: Line): void {
  requireShort((line.name ?? '').length + line.fields.letters, `what a ${kind} says of itself`);
  const { name } = line;
  const isNamed = columns[NAME!] !== undefined;
  columns[NAME!] ??= name;
  columns[NUMBER!] = String(line.number);
  if (kind === 'track') columns[SEGMENT!] = String(line.segment);
  const value = line.fields.value();
  if (isNamed && name !== undefined) fields.add(kind, new Map([['name', name], ...(value ?? [])]));
  else if (value !== undefined) fields.add(kind, value);
}
