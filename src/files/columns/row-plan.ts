// How rows of some columns are converted: which columns are read, which are kept and which are added.

import { nameOf } from '../disk/input.js';
import { badInput, badUsage } from '../exit-codes.js';
import { FORMATS, hasPlainValues } from '../format.js';
import { POSITION_COLUMNS, type ReadColumns, type RowPlan, type TableColumn } from '../formats/table.js';
import type { Run } from '../request.js';
import { addedColumns, chosenMembers, DECODE_ADDED, keptColumns, type Sample } from './columns.js';
import { derivedColumns, ourColumns } from './encode-columns.js';
import { codeColumn, findPosition, resolutionColumn } from './position-columns.js';

/** The columns of the first input, and its first rows. */
export interface Found {
  readonly columns: readonly TableColumn[];
  readonly sample: Sample;
}

/** The columns that a run keeps and adds. */
type OutputColumns = Pick<RowPlan, 'kept' | 'sink' | 'ours' | 'position'>;

/** @throws CliFailure if the columns that the request names are not there, or ours clash with them */
export function planOf(run: Run, found: Found, source: RowPlan['source']): RowPlan {
  const { request, targetFormat, rejectsFormat } = run;
  const { columns } = found;
  const file = nameOf(request.inputs[0]!);
  const read = readColumns(run, found);
  const kept = keptColumns(columns, request.columns, file);
  const { lat, lng, code, whole } = read;
  for (const index of [...kept, lat, lng, code, whole?.column ?? -1]) refuseUnread(columns[index], file);
  const output =
    request.operation === 'encode'
      ? encodedColumns(run, columns, read, kept)
      : decodedColumns(run, found, kept);
  const { position } = output;
  if (
    formatsOf(run).some((format) => FORMATS[format].needsPosition) &&
    (position.lat < 0 || position.lng < 0)
  )
    throw badUsage('GeoJSON needs the columns of lat and lng: keep them');
  const isTyped = hasPlainValues(targetFormat);
  return { source, columns, ...read, ...output, format: targetFormat, rejects: rejectsFormat, isTyped };
}

/** The formats of the output and the file of failed rows. */
export const formatsOf = ({ targetFormat, rejectsFormat }: Run): RowPlan['format'][] =>
  rejectsFormat === null ? [targetFormat] : [targetFormat, rejectsFormat];

/** The columns that are read. @throws CliFailure where there are none */
export function readColumns(run: Run, { sample }: Pick<Found, 'sample'>): ReadColumns {
  const { request, hexcodes, sourceFormat, source } = run;
  const file = nameOf(request.inputs[0]!);
  const hasHeader = FORMATS[sourceFormat].delimiter === null || source.hasHeader;
  if (request.operation === 'decode') {
    const isCode = (text: string): boolean => hexcodes.isValid(text);
    return { lat: -1, lng: -1, code: codeColumn(sample, request.columns, file, isCode, hasHeader), own: -1 };
  }
  const own = resolutionColumn(sample.names, file);
  const where = findPosition(sample, request.columns, file, hasHeader);
  if (where.kind === 'pair') return { lat: where.lat, lng: where.lng, code: -1, own };
  return { lat: -1, lng: -1, code: -1, own, whole: where };
}

/** @throws CliFailure BAD_INPUT for a column whose values are not read */
function refuseUnread(column: TableColumn | undefined, file: string): void {
  if (column?.unread !== undefined)
    throw badInput({ file, column: column.name }, column.unread, 'Leave the column out with --drop.');
}

function encodedColumns(
  run: Run,
  columns: readonly TableColumn[],
  { lat, lng, own, whole }: ReadColumns,
  kept: readonly number[],
): OutputColumns {
  const { isFormer, hasCertainty = false, columns: choice, sort, inputs } = run.request;
  const isSorted = sort !== null;
  // Positions that came as text are written as numbers where the target has some.
  const isTyped = FORMATS[run.targetFormat].delimiter === null;
  const theirs = kept.map((index): TableColumn => {
    const column = columns[index]!;
    return isTyped && (index === lat || index === lng) && hasNoType(column)
      ? { name: column.name, kind: 'double' }
      : column;
  });
  const isPlaced = lat < 0 && formatsOf(run).some((format) => FORMATS[format].needsPosition);
  const shape = { hasResolution: own >= 0 && kept.includes(own), isFormer, hasCertainty, isSorted };
  const made = ourColumns(shape);
  const ours = [...(isPlaced ? PLACED : []), ...made];
  const added = addedColumns(ours, theirs, choice.prefix, nameOf(inputs[0]!));
  const first = kept.length + (isPlaced ? PLACED.length : 0);
  const derived = isSorted ? { derived: derivedColumns(made, first) } : {};
  return {
    kept,
    sink: { kept: theirs, added, ...chosenMembers(choice, added), ...derived },
    ours: ours.map(({ is = null }) => is),
    position: isPlaced
      ? { lat: kept.length, lng: kept.length + 1, ...binaryAt(columns, kept, whole?.column ?? -1) }
      : { lat: kept.indexOf(lat), lng: kept.indexOf(lng) },
  };
}

function decodedColumns(run: Run, { columns, sample }: Found, all: readonly number[]): OutputColumns {
  const { columns: choice, inputs } = run.request;
  // Features without geometries have no position of their own beside the one that we add.
  const kept = all.filter((index) => !placedOf(sample).includes(index));
  const theirs = kept.map((index) => columns[index]!);
  const added = addedColumns(DECODE_ADDED, theirs, choice.prefix, nameOf(inputs[0]!));
  return {
    kept,
    sink: { kept: theirs, added, ...chosenMembers(choice, added) },
    ours: ['lat', 'lng', 'resolution', 'status'],
    position: { lat: kept.length, lng: kept.length + 1 },
  };
}

const PLACED = POSITION_COLUMNS.map(
  (column, half) => ({ ...column, is: half === 0 ? 'lat' : 'lng' }) as const,
);

/** Whether values are texts, or integers of JSON, which has no types. */
const hasNoType = ({ kind, isInferred }: TableColumn): boolean =>
  kind === 'text' || (kind === 'long' && isInferred === true);

/** The column of binary geometries that positions are read from, by its index among those kept. */
function binaryAt(columns: readonly TableColumn[], kept: readonly number[], whole: number) {
  return columns[whole]?.kind === 'binary' ? { shape: kept.indexOf(whole) } : {};
}

/** The columns of geometries, where the first rows have none. */
export function placedOf({ position, rows }: Sample): readonly number[] {
  if (position === undefined) return [];
  const placed = [position.lat, position.lng];
  return rows.every((row) => placed.every((column) => row[column] === '')) ? placed : [];
}
