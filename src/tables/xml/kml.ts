// Placemarks of KML 2.2 as rows, with their tracks point by point. KMZ is the same in a ZIP archive.

import { unzipSync } from 'fflate';
import type { Shape } from '../../hexcodes/wire/rows/well-known-binary.js';
import { rowsAsCsv } from '../rows-as-csv.js';
import { placedRows, type ShapeRow } from '../shapes/shape-rows.js';
import type { PointChoice } from '../shapes/shapes.js';
import { TableError } from '../table-error.js';
import { XmlReader } from './xml-reader.js';

const OF_MARK = ['name', 'description', 'folder', 'time'] as const;
/** Memory of a field of a row, about. */
const FIELD_BYTES = 32;

interface Mark {
  readonly fields: Map<string, string>;
  readonly shape: Shape;
  readonly types: Set<number>;
  /** Points of a track with their times. */
  readonly track: { time: string; lng: number; lat: number }[];
}

/**
 * @param hold is told of bytes that are held, and throws where they are too many
 * @throws TableError
 */
export function kmlAsCsv(
  content: Uint8Array,
  choice: PointChoice | null,
  hold: (bytes: number) => void,
): Iterable<Uint8Array> {
  const placemarks = new PlacemarksReader(hold);
  const isZip = content[0] === 0x50 && content[1] === 0x4b;
  for (const document of isZip ? unzipped(content, hold) : [content]) placemarks.read(document);
  const names = [...OF_MARK, ...placemarks.dataNames].filter((name) => !/^(?:lat|lng)$/i.test(name));
  const rows = placemarks.placemarks.flatMap(
    ({ fields, shape, types, track }): ShapeRow<string | undefined>[] => {
      const of = (time?: string): (string | undefined)[] =>
        names.map((name) => (name === 'time' && time !== undefined ? time : fields.get(name)));
      const type = types.size === 1 ? [...types][0]! : 7;
      const whole = { fields: of(), shape: types.size === 0 ? null : { ...shape, type } };
      const each = track.map(({ time, lng, lat }) => ({ fields: of(time), shape: pointAt(lng, lat) }));
      return types.size === 0 && each.length > 0 ? each : [whole, ...each];
    },
  );
  return rowsAsCsv(names, placedRows(rows, choice));
}

const pointAt = (lng: number, lat: number): Shape => ({
  ...{ type: 1, points: [lng, lat], lines: [], polygons: [], system: 0 },
});

/** The documents of an archive: the first may only link to others, with a layer in each. */
function unzipped(content: Uint8Array, hold: (bytes: number) => void): Uint8Array[] {
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
  const documents = Object.values(files);
  if (documents.length === 0) throw new TableError('the archive holds no KML');
  return documents;
}

const PIECE_BYTES = 256 * 1024;
const SYSTEM = { system: 0 } as const;

class PlacemarksReader {
  readonly placemarks: Mark[] = [];
  /** Names of the data of placemarks, in the order in which they appear. */
  readonly dataNames = new Set<string>();
  #mark: Mark | null = null;
  #rings: number[][] = [];
  #when: string[] = [];
  #at = 0;
  #dataName = '';
  readonly #path: string[] = [];
  readonly #folders: string[] = [];

  constructor(private readonly hold: (bytes: number) => void) {}

  read(content: Uint8Array): void {
    const reader = new XmlReader({
      open: (name, attributes) => this.#open(name, attributes),
      close: (name, text) => this.#close(name, text),
    });
    for (let at = 0; at < content.length; at += PIECE_BYTES)
      reader.push(content.subarray(at, at + PIECE_BYTES));
    reader.end();
  }

  #open(name: string, attributes: () => Readonly<Record<string, string>>): void {
    this.#path.push(name);
    if (name === 'Folder' || name === 'Document') this.#folders.push('');
    else if (name === 'Placemark') {
      const shape = { type: 0, points: [], lines: [], polygons: [], ...SYSTEM };
      this.#mark = { fields: new Map(), shape, types: new Set(), track: [] };
    } else if (name === 'Data' || name === 'SimpleData') this.#dataName = attributes().name ?? '';
    else if (name === 'Polygon') this.#rings = [];
    else if (name === 'Track') {
      this.#when = [];
      this.#at = 0;
    }
  }

  #close(name: string, text: string): void {
    this.#path.pop();
    const parent = this.#path.at(-1) ?? '';
    const mark = this.#mark;
    if (mark === null) {
      if (name === 'name' && parent === 'Folder') this.#folders[this.#folders.length - 1] = text;
      if (name === 'Folder' || name === 'Document') this.#folders.pop();
      return;
    }
    if (name === 'Placemark') {
      const folder = this.#folders.filter((each) => each !== '').join(' / ');
      if (folder !== '') this.#set('folder', folder);
      this.placemarks.push(mark);
      this.#mark = null;
    } else if (parent === 'Placemark' && (name === 'name' || name === 'description')) this.#set(name, text);
    else if (parent === 'TimeStamp' && name === 'when') this.#set('time', text);
    else if ((parent === 'Data' && name === 'value') || name === 'SimpleData') this.#setData(text);
    else if (name === 'coordinates') this.#geometry(parent, coordinatesIn(text));
    else if (name === 'Polygon') {
      mark.shape.polygons.push(this.#rings);
      mark.types.add(3);
    } else if (parent === 'Track' && name === 'when') this.#when.push(text);
    else if (parent === 'Track' && name === 'coord') {
      const [lng = Number.NaN, lat = Number.NaN] = text.split(/\s+/).map(Number);
      this.hold(4 * FIELD_BYTES);
      mark.track.push({ time: this.#when[this.#at++] ?? '', lng, lat });
    }
  }

  #geometry(parent: string, coordinates: number[]): void {
    const { shape, types } = this.#mark!;
    this.hold(8 * coordinates.length);
    if (parent === 'Point') {
      shape.points.push(...coordinates.slice(0, 2));
      types.add(1);
    } else if (this.#path.includes('Polygon')) this.#rings.push(coordinates);
    else {
      shape.lines.push(coordinates);
      types.add(2);
    }
  }

  #setData(text: string): void {
    const isTaken = (OF_MARK as readonly string[]).includes(this.#dataName);
    const name = isTaken ? `data_${this.#dataName}` : this.#dataName;
    if (name === '') return;
    this.dataNames.add(name);
    this.#set(name, text);
  }

  #set(name: string, text: string): void {
    this.hold(FIELD_BYTES + 2 * text.length);
    this.#mark!.fields.set(name, text);
  }
}

/** `lng,lat[,alt]` between blanks, without what is no position. */
function coordinatesIn(text: string): number[] {
  const coordinates: number[] = [];
  for (const tuple of text.split(/\s+/)) {
    const [lng, lat] = tuple.split(',').map((each) => (each === '' ? Number.NaN : Number(each)));
    if (Number.isFinite(lng) && Number.isFinite(lat)) coordinates.push(lng!, lat!);
  }
  return coordinates;
}
