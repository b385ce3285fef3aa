// Lines of JSON become lines that the readers of the service take: where their positions have other names, or are
// texts, objects, or degrees and minutes. The code of the command finds the positions.
import { repeatedMember } from '../../hexcodes/wire/params/json-grammar.js';
import { isSide } from '../../hexcodes/wire/params/names.js';
import { codeColumns, pairColumns } from '../../hexcodes/wire/rows/column-names.js';
import {
  degreesInText,
  type FirstRows,
  positionInText,
  wholePosition,
} from '../../tables/positions/in-values.js';

type Row = Readonly<Record<string, unknown>>;
type Position = readonly [latDeg: number, lngDeg: number, isView?: boolean];

/** Sample lines that decide how the rest is rewritten. */
const SAMPLE_LINES = 100;
/** Members that the readers take besides the position; they refuse those that say a hemisphere. */
const KEPT = ['id', 'resolution'];

/**
 * How each line is rewritten; undefined where lines are taken as they are.
 * @param beginning of which a last line may be cut off
 */
export function lineRewriter(beginning: string, isAll: boolean): ((line: string) => string) | undefined {
  const lines = beginning.split('\n');
  if (!isAll) lines.pop();
  const rows = lines
    .slice(0, SAMPLE_LINES)
    .map(rowOf)
    .filter((row) => row !== undefined);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const positionOf = reader(rows, names);
  if (positionOf === undefined) return undefined;
  const keptNames = names.filter((name) => KEPT.includes(name) || isSide(name));
  return (line) => {
    const row = rowOf(line);
    // The readers refuse what a line gives twice with different values.
    if (row === undefined || repeatedMember(line) !== undefined) return line;
    const [lat, lng] = positionOf(row);
    const kept = keptNames.flatMap((name) => (name in row ? [[name, row[name]]] : []));
    // NaN becomes null, which the readers name as a fault.
    return JSON.stringify({ ...Object.fromEntries(kept), lat, lng });
  };
}

function reader(rows: readonly Row[], names: readonly string[]): ((row: Row) => Position) | undefined {
  const pair = pairColumns(names);
  if (pair.lat.length === 1 && pair.lng.length === 1) {
    const [lat = '', lng = ''] = [names[pair.lat[0]!], names[pair.lng[0]!]];
    const isPlain = lat === 'lat' && lng === 'lng' && !rows.some((row) => isText(row.lat) || isText(row.lng));
    return isPlain ? undefined : (row) => [degrees(row[lat], 'lat'), degrees(row[lng], 'lng')];
  }
  if (pair.lat.length > 0 || pair.lng.length > 0 || codeColumns(names).length > 0) return undefined;
  const sample: FirstRows = { names, rows: rows.map((row) => names.map((name) => textOf(row[name]))) };
  const where = wholePosition(sample, true);
  return where === null ? undefined : (row) => positionInText(textOf(row[names[where.column]!]), where);
}

function rowOf(line: string): Row | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : undefined;
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): boolean => typeof value === 'string';

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

function degrees(value: unknown, axis: 'lat' | 'lng'): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? degreesInText(value, axis) : Number.NaN;
}
