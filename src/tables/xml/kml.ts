// Placemarks of KML 2.2 as rows, with their tracks point by point. KMZ is the same in a ZIP archive.

import { unzipSync } from 'fflate';
import type { Shape } from '../../hexcodes/wire/rows/well-known-binary.js';
import { rowsAsCsv } from '../rows-as-csv.js';
import { addPart, type PointChoice, placedRows, type ShapeRow } from '../shapes/shapes.js';
import { TableError } from '../table-error.js';
import { requireShort, XmlFields } from './xml-fields.js';
import { type XmlAttributes, XmlReader } from './xml-reader.js';

const OF_MARK = ['name', 'description', 'folder', 'time'] as const;
/** The column of all other fields, after the data. */
const OTHER = 'other';
/** Elements whose text, or texts, are data by their attribute `name`. */
const DATA: ReadonlySet<string> = new Set(['Data', 'SimpleData', 'SimpleArrayData']);
/** Approximate memory of a field of a row. */
const FIELD_BYTES = 32;

/** A placemark, or a link to another file. */
interface Mark {
  readonly columns: Map<string, string>;
  readonly other: XmlFields;
  readonly shape: Shape;
  readonly types: Set<number>;
  /** Points of a track with their times and data; null for one that is not there or cannot be read. */
  readonly track: {
    readonly columns: Map<string, string>;
    readonly point: readonly [lng: number, lat: number] | null;
    readonly fault?: string | undefined;
  }[];
  /** Why a coordinate of its shape cannot be read: then it has no position. */
  fault: string | undefined;
  /** Address of a link. */
  href: string;
}

type Row = ShapeRow<string | undefined>;

/**
 * CSV with a row for each placemark, for each point of its tracks, and, without a position, for each link to a file
 * outside of the archive. `other` is a JSON object of the fields that have no column.
 * @param hold is told of bytes that are held, and throws where they are too many
 * @throws TableError, also for a file of links alone
 */
export function kmlAsCsv(
  content: Uint8Array,
  choice: PointChoice | null,
  hold: (bytes: number) => void,
  passed?: (share: number) => void,
): Iterable<Uint8Array> {
  const placemarks = new PlacemarksReader(hold);
  const isZip = content[0] === 0x50 && content[1] === 0x4b;
  const documents = isZip ? unzipped(content, hold) : { '': content };
  for (const document of Object.values(documents)) placemarks.read(document);
  const links = placemarks.links.filter(({ href }) => !Object.hasOwn(documents, href.replace(/^\.\//, '')));
  if (placemarks.placemarks.length === 0 && links.length > 0)
    throw new TableError(
      `it holds only links to other files, which are not followed: ${links
        .slice(0, 3)
        .map(({ href }) => href.slice(0, 200))
        .join(', ')}${links.length > 3 ? `, and ${links.length - 3} more` : ''}`,
      'Fetch the files, and convert them.',
    );
  const names = [...OF_MARK, ...placemarks.dataNames, OTHER].filter((name) => !/^(?:lat|lng)$/i.test(name));
  const rows = [...placemarks.placemarks, ...links].flatMap(
    ({ columns, shape, types, track, fault }): Row[] => {
      const of = (own?: Mark['columns']): (string | undefined)[] =>
        names.map((name) => own?.get(name) ?? columns.get(name));
      const type = types.size === 1 ? [...types][0]! : 7;
      const isPlaced = types.size > 0 && fault === undefined;
      const whole = { fields: of(), shape: isPlaced ? { ...shape, type } : null, fault };
      const each = track.map(({ columns: own, point, fault: ofPoint }) => ({
        fields: of(own),
        shape: point === null ? null : pointAt(point),
        fault: ofPoint,
      }));
      return types.size === 0 && each.length > 0 && fault === undefined ? each : [whole, ...each];
    },
  );
  return rowsAsCsv(names, placedRows(rows, choice, passed));
}

const pointAt = (point: readonly [number, number]): Shape => ({
  type: 1,
  points: [...point],
  lines: [],
  polygons: [],
  order: [1],
  system: 0,
});

/** The documents of an archive: the first may only link to others, with a layer in each. */
function unzipped(content: Uint8Array, hold: (bytes: number) => void): Readonly<Record<string, Uint8Array>> {
  let files: Record<string, Uint8Array>;
  try {
    files = unzipSync(content, {
      filter({ name, originalSize }) {
        if (!/\.kml$/i.test(name)) return false;
        hold(originalSize);
        return true;
      },
    });
  } catch (error) {
    if (error instanceof Error && 'code' in error)
      throw new TableError(`the archive is broken (${error.message})`);
    throw error;
  }
  if (Object.keys(files).length === 0) throw new TableError('the archive holds no KML');
  return files;
}

const PIECE_BYTES = 256 * 1024;
const SYSTEM = { system: 0 } as const;

class PlacemarksReader {
  readonly placemarks: Mark[] = [];
  readonly links: Mark[] = [];
  /** Names of the data of placemarks, in the order in which they appear. */
  readonly dataNames = new Set<string>();
  #mark: Mark | null = null;
  #rings: number[][] = [];
  #when: string[] = [];
  #at = 0;
  /** The first point of the track, and how many values of one array, and angles, it has had. */
  #first = 0;
  #values = 0;
  #angles = 0;
  #dataName = '';
  readonly #path: string[] = [];
  readonly #folders: string[] = [];

  constructor(private readonly hold: (bytes: number) => void) {}

  read(content: Uint8Array): void {
    const reader = new XmlReader({
      open: (name, attributes, qualified) => this.#open(name, attributes, qualified),
      close: (name, text) => this.#close(name, text.trim(), text),
    });
    for (let at = 0; at < content.length; at += PIECE_BYTES)
      reader.push(content.subarray(at, at + PIECE_BYTES));
    reader.end();
  }

  #open(name: string, attributes: XmlAttributes, qualified: string): void {
    this.#path.push(name);
    const mark = this.#mark;
    if (mark === null) {
      if (name === 'Folder' || name === 'Document') this.#folders.push('');
      else if (name === 'Placemark' || name === 'NetworkLink') this.#mark = markOf(attributes);
      return;
    }
    const dataName = attributes.get('name');
    const isData = DATA.has(name);
    if (isData) {
      this.#dataName = dataName ?? '';
      this.#values = 0;
    } else if (name === 'Polygon') this.#rings = [];
    else if (name === 'Track') {
      this.#when = [];
      this.#at = 0;
      this.#first = mark.track.length;
      this.#angles = 0;
    }
    const others = attributes.entries().filter(([key]) => key !== 'name' && key !== 'schemaUrl');
    if (!isData && dataName !== undefined) others.push(['name', dataName]);
    mark.other.open(qualified, others);
  }

  #close(name: string, text: string, whole: string): void {
    this.#path.pop();
    const parent = this.#path.at(-1) ?? '';
    const mark = this.#mark;
    if (mark === null) {
      if (name === 'name' && parent === 'Folder') this.#folders[this.#folders.length - 1] = whole;
      if (name === 'Folder' || name === 'Document') this.#folders.pop();
    } else if (mark.other.depth === 0) this.#end(mark, name);
    else {
      const hasColumn = this.#take(mark, name, parent, text, whole);
      mark.other.close(hasColumn ? null : whole);
      const isSecond = !hasColumn && parent === 'Data' && name === 'value';
      if (isSecond) mark.other.add('@name', this.#dataName);
    }
  }

  #end(mark: Mark, name: string): void {
    this.#mark = null;
    const folder = this.#folders.filter((each) => each.trim() !== '').join(' / ');
    requireShort(folder.length, 'the name of a folder');
    if (folder !== '') this.#set(mark.columns, 'folder', folder);
    const other = mark.other.json();
    if (other !== undefined) this.#set(mark.columns, OTHER, other);
    this.hold(FIELD_BYTES);
    if (mark.track.length > 1)
      for (const [column, text] of mark.columns)
        requireShort(text.length, `the ${column} of a placemark with a track`);
    (name === 'Placemark' ? this.placemarks : this.links).push(mark);
  }

  /** @returns whether the element has a place in columns or in the shape */
  #take(mark: Mark, name: string, parent: string, text: string, whole: string): boolean {
    const isText = mark.other.isPlain;
    if (mark.other.depth === 1 && (name === 'name' || name === 'description'))
      return isText && this.#setOnce(mark.columns, name, whole);
    if (parent === 'TimeStamp' && name === 'when') return isText && this.#setOnce(mark.columns, 'time', text);
    if ((parent === 'Data' && name === 'value') || name === 'SimpleData') {
      const isTaken = isText && this.#setData(mark.columns, whole);
      if (!isTaken && name === 'SimpleData') mark.other.add('@name', this.#dataName);
      return isTaken;
    }
    // One for each point of a track: in the fields of all points they would be the square of its length.
    if (parent === 'SimpleArrayData' && name === 'value')
      return isText && this.#setPoint(mark, this.#values++, this.#dataName, whole);
    if (parent === 'Track' && name === 'angles')
      return isText && this.#setPoint(mark, this.#angles++, name, whole);
    if (name === 'SimpleArrayData' && mark.other.hasMembers) mark.other.add('@name', this.#dataName);
    if (name === 'coordinates') return this.#geometry(mark, parent, text);
    if (name === 'Polygon') {
      addPart(mark.shape, 3, this.#rings);
      mark.types.add(3);
    } else if (parent === 'Track' && name === 'when') {
      this.#when.push(text);
      return true;
    } else if (parent === 'Track' && name === 'coord') {
      const point = positionIn(text.split(/\s+/));
      this.hold(8 * FIELD_BYTES);
      // An empty element is a time without a position.
      const isRead = point !== null || text === '';
      const fault = isRead ? undefined : `${shown(text)} is not lng lat [height]`;
      mark.track.push({ columns: timed(this.#when[this.#at++] ?? ''), point, fault });
      return isRead;
    } else if (name === 'Track') {
      // Times without coordinates are rows without a position.
      const others = this.#when.slice(this.#at);
      this.hold(8 * FIELD_BYTES * others.length);
      mark.track.push(...others.map((time) => ({ columns: timed(time), point: null })));
    } else if (name === 'href' && (parent === 'Link' || parent === 'Url')) mark.href ||= text;
    return false;
  }

  #geometry(mark: Mark, parent: string, text: string): boolean {
    const { shape, types, other } = mark;
    const coordinates = coordinatesIn(text);
    if (typeof coordinates === 'string' || (parent === 'Point' && coordinates.length > 2)) {
      mark.fault ??=
        typeof coordinates === 'string'
          ? `${shown(coordinates)} is not lng,lat[,height]`
          : `${shown(text)} is not one tuple of a Point`;
      return false;
    }
    this.hold(8 * coordinates.length);
    if (parent === 'Point') {
      if (coordinates.length > 0) addPart(shape, 1, [coordinates[0]!, coordinates[1]!]);
      types.add(1);
      const height = text.split(',')[2];
      if (height !== undefined && Number(height) !== 0) other.add('@height', height);
    } else if (this.#path.includes('Polygon')) this.#rings.push(coordinates);
    else {
      addPart(shape, 2, coordinates);
      types.add(2);
    }
    return true;
  }

  #setPoint(mark: Mark, number: number, name: string, text: string): boolean {
    const columns = mark.track[this.#first + number]?.columns;
    return columns !== undefined && !mark.columns.has(name) && this.#setData(columns, text, name);
  }

  #setData(columns: Mark['columns'], text: string, given = this.#dataName): boolean {
    const isTaken = ([...OF_MARK, OTHER] as readonly string[]).includes(given);
    const name = isTaken ? `data_${given}` : given;
    if (name === '' || /^(?:lat|lng)$/i.test(name)) return false;
    this.dataNames.add(name);
    return this.#setOnce(columns, name, text);
  }

  #setOnce(columns: Mark['columns'], name: string, text: string): boolean {
    if (columns.has(name)) return false;
    this.#set(columns, name, text);
    return true;
  }

  #set(columns: Mark['columns'], name: string, text: string): void {
    this.hold(FIELD_BYTES + 2 * text.length);
    columns.set(name, text);
  }
}

const timed = (time: string): Map<string, string> => new Map([['time', time]]);

function markOf(attributes: XmlAttributes): Mark {
  const shape = { type: 0, points: [], lines: [], polygons: [], order: [], ...SYSTEM };
  const other = new XmlFields();
  for (const [name, value] of attributes.entries()) other.add(`@${name}`, value);
  return { columns: new Map(), other, shape, types: new Set(), track: [], fault: undefined, href: '' };
}

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;

/** Longitude and latitude of two or three numbers; null for anything else. */
function positionIn(numbers: readonly string[]): readonly [lng: number, lat: number] | null {
  if (numbers.length < 2 || numbers.length > 3 || !numbers.every((each) => NUMBER.test(each))) return null;
  return [Number(numbers[0]), Number(numbers[1])];
}

const MAX_SHOWN = 40;
const shown = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/** Tuples `lng,lat[,height]` between blanks; the first that is something else. */
function coordinatesIn(text: string): number[] | string {
  const coordinates: number[] = [];
  if (text === '') return coordinates;
  for (const tuple of text.split(/\s+/)) {
    const position = positionIn(tuple.split(','));
    if (position === null) return tuple;
    coordinates.push(...position);
  }
  return coordinates;
}
