// The header row of a CSV body: the places of the columns that a conversion reads, and the header row of the answer.

import { BulkInputError, type BulkRequest, type CsvShape } from '../job.js';
import { csvFields } from '../rows/csv-fields.js';

const LAT_NAMES = ['lat', 'latitude'];
const LNG_NAMES = ['lng', 'lon', 'longitude'];
const BOM = '\ufeff';

export interface CsvOpening {
  readonly shape: CsvShape;
  /** The header of a CSV answer, with its line end. */
  readonly head: Uint8Array;
}

/**
 * Reads a header row.
 * @param header with its line end and byte order mark, where it has them
 * @throws BulkInputError that names the column that is missing, is there twice, or has the name of an added one
 */
export function openCsv(header: Uint8Array, request: BulkRequest): CsvOpening {
  const delimiter = request.delimiter ?? ',';
  const lineEnd = lineEndOf(header);
  const bareSize = header.length - (header.at(-1) === 10 ? lineEnd.length : 0);
  const bare = header.subarray(0, bareSize);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bare);
  const names = csvFields(text.startsWith(BOM) ? text.slice(1) : text, delimiter.charCodeAt(0));
  if (names === undefined) throw new BulkInputError('The header row has a quote that is not closed');

  const column = (wanted: readonly string[], isNeeded: boolean): number => {
    const found = columnsNamed(names, wanted);
    if (found.length > 1) {
      const twice = found.map((i) => JSON.stringify(names[i])).join(', ');
      throw new BulkInputError(`More than one column could be ${wanted[0]}: ${twice}`);
    }
    if (found.length === 0 && isNeeded) {
      const there = names.map((name) => JSON.stringify(name)).join(', ');
      throw new BulkInputError(`There is no column ${wanted.join(' or ')}; the header row has ${there}`);
    }
    return found[0] ?? -1;
  };
  const isEncode = request.operation === 'encode';
  const shape: CsvShape = {
    columns: names.length,
    lat: isEncode ? column(LAT_NAMES, true) : -1,
    lng: isEncode ? column(LNG_NAMES, true) : -1,
    resolution: isEncode ? column(['resolution'], false) : -1,
    hexcodes: isEncode ? -1 : column(['hexcodes'], true),
    lineEnd,
  };
  const added = addedColumns(request, shape.resolution >= 0);
  const clash = added.filter((name) => names.includes(name));
  if (clash.length > 0 && request.output === 'csv') {
    const columns = clash.map((name) => JSON.stringify(name)).join(', ');
    throw new BulkInputError(
      `The input has columns that the answer adds: ${columns}. A prefix renames those of the answer`,
    );
  }
  const fields = added.map((name) => quoted(name, delimiter));
  return { shape, head: extendedHeader(bare, fields, delimiter, lineEnd) };
}

/** Places of the columns with one of these names, in any case and with blanks around it. */
export function columnsNamed(names: readonly string[], wanted: readonly string[]): number[] {
  const places: number[] = [];
  // A header row may have 100,000 names: most are told apart by their lengths.
  const leastUnits = Math.min(...wanted.map((name) => name.length));
  for (const [i, name] of names.entries()) {
    if (name.length >= leastUnits && wanted.includes(name.trim().toLowerCase())) places.push(i);
  }
  return places;
}

/** The line end of a header row; LF where it has none. */
export function lineEndOf(header: Uint8Array): '\n' | '\r\n' {
  return header.at(-2) === 13 && header.at(-1) === 10 ? '\r\n' : '\n';
}

/** A header row with more fields: `bare` is the row as it came, without its line end. */
export function extendedHeader(
  bare: Uint8Array,
  fields: readonly string[],
  delimiter: string,
  lineEnd: string,
): Uint8Array {
  const rest = new TextEncoder().encode(fields.map((field) => delimiter + field).join('') + lineEnd);
  const head = new Uint8Array(bare.length + rest.length);
  head.set(bare);
  head.set(rest, bare.length);
  return head;
}

/** The header row of a CSV answer to NDJSON or frames. */
export function headWithoutInput(request: BulkRequest): Uint8Array {
  const delimiter = request.delimiter ?? ',';
  const echoed = request.operation === 'encode' ? ['lat', 'lng'] : ['hexcodes'];
  const id = request.input === 'ndjson' ? ['id'] : [];
  const names = [...id, ...echoed, ...addedColumns(request, false)];
  return new TextEncoder().encode(`${names.map((name) => quoted(name, delimiter)).join(delimiter)}\n`);
}

function addedColumns(request: BulkRequest, hasOwnResolution: boolean): string[] {
  const names =
    request.operation === 'encode'
      ? ['hexcodes', ...(hasOwnResolution ? [] : ['resolution']), 'admin_code', 'status']
      : ['lat', 'lng', 'resolution', 'status'];
  return names.map((name) => request.prefix + name);
}

function quoted(name: string, delimiter: string): string {
  return name.includes(delimiter) || /["\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}
