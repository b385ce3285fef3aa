// Columns of coordinates as doubles, from the pages of one row group: plain values and dictionaries are read here,
// other encodings by hyparquet.

import { brokenAt } from '../../exit-codes.js';
import type { UnpackedPages } from './codecs.js';
import { columnValues, type GroupReading, soundColumn } from './parquet-source.js';
import { indexesIn, type PageBytes, plainPages, presentOf, type SoundChunk } from './sound-chunk.js';

export interface Coordinates {
  /** NaN where there is none. */
  readonly degrees: Float64Array;
  /** 1 where there is a value; null where all rows have one. */
  readonly defined: Uint8Array | null;
  /** The chunk as it is in the file. */
  readonly bytes: Uint8Array;
}

/** Memory of the degrees of one row group, which are written over by those of the next. */
export interface DegreesMemory {
  degrees: Float64Array<ArrayBuffer>;
}

/**
 * @param name of a column of doubles or floats
 * @throws CliFailure BAD_INPUT for a column that is damaged
 */
export async function readCoordinates(
  reading: GroupReading,
  name: string,
  memory: DegreesMemory = { degrees: new Float64Array(0) },
): Promise<Coordinates> {
  const { pages, rows, groupStart, file } = reading;
  const location = { file, row: groupStart + 1, column: name };
  try {
    const [sound, ...others] = await soundColumn(reading, location, { bytes: 0 });
    if (sound === undefined || others.length > 0) throw new Error(`${others.length + 1} columns of one name`);
    const { bytes } = sound.chunk;
    const read = readPlain(sound, pages, rows, memory);
    if (read !== null) return { ...read, bytes };
    const column = await columnValues(reading, name);
    const degrees = new Float64Array(rows);
    const defined = new Uint8Array(rows);
    for (let row = 0; row < rows; row++) {
      const value = column[row] as number | null | undefined;
      degrees[row] = value ?? Number.NaN;
      defined[row] = value === null || value === undefined ? 0 : 1;
    }
    return { degrees, defined, bytes };
  } catch (error) {
    throw brokenAt(location, error);
  } finally {
    pages.clear();
  }
}

/** Puts latitudes and longitudes beside each other. */
export function interleave(
  points: Float64Array,
  lats: Float64Array,
  lngs: Float64Array,
  from: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    points[2 * i] = lats[from + i]!;
    points[2 * i + 1] = lngs[from + i]!;
  }
}

/** null for an encoding that is not read here. @throws Error for pages of fewer values than rows */
function readPlain(
  sound: SoundChunk,
  unpacked: UnpackedPages,
  rows: number,
  memory: DegreesMemory,
): Omit<Coordinates, 'bytes'> | null {
  const { type } = sound.chunk.metadata;
  if (memory.degrees.length < rows) memory.degrees = new Float64Array(rows);
  const degrees = memory.degrees.subarray(0, rows);
  let defined: Uint8Array | null = null;
  let dictionary: Float64Array | null = null;
  let row = 0;
  for (const { isDictionary, isIndexed, isPlain, page, count, levels } of plainPages(sound, unpacked)) {
    if (isDictionary) {
      dictionary = plainValues(page, type, count);
      continue;
    }
    if (!isIndexed && !isPlain) return null;
    if (row + count > rows) throw new Error(`pages of ${row + count} values where ${rows} are due`);
    const present = presentOf(levels, count);
    if (levels !== null) {
      defined ??= new Uint8Array(rows).fill(1);
      defined.set(levels, row);
    }
    if (present === count && !isIndexed && type === 'DOUBLE') {
      const at = page.at;
      page.skip(8 * count);
      const into = new Uint8Array(degrees.buffer, degrees.byteOffset + 8 * row, 8 * count);
      into.set(page.bytes.subarray(at, page.at));
      row += count;
      continue;
    }
    const values = isIndexed ? indexedValues(page, dictionary, present) : plainValues(page, type, present);
    if (present === count) degrees.set(values, row);
    else
      for (let i = 0, v = 0; i < count; i++)
        degrees[row + i] = defined![row + i] === 1 ? values[v++]! : Number.NaN;
    row += count;
  }
  if (row !== rows) throw new Error(`${row} values where ${rows} are due`);
  return { degrees, defined };
}

function plainValues(page: PageBytes, type: string, count: number): Float64Array {
  const width = type === 'FLOAT' ? 4 : 8;
  const at = page.at;
  page.skip(width * count);
  // A copy that is aligned; `slice` of a Buffer would be none.
  const own = new Uint8Array(width * count);
  own.set(page.bytes.subarray(at, page.at));
  return width === 8
    ? new Float64Array(own.buffer, 0, count)
    : Float64Array.from(new Float32Array(own.buffer, 0, count));
}

function indexedValues(page: PageBytes, dictionary: Float64Array | null, count: number): Float64Array {
  const values = new Float64Array(count);
  if (count === 0) return values;
  if (dictionary === null) throw new Error('a page that names a dictionary, and there is none');
  const indexes = indexesIn(page, count);
  for (let i = 0; i < count; i++) {
    const index = indexes[i]!;
    if (index >= dictionary.length) throw new Error(`value ${index} of a dictionary of ${dictionary.length}`);
    values[i] = dictionary[index]!;
  }
  return values;
}
