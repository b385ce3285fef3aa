// A column of instants in the output: formats with types take instants, the others their local text.

import type { FileFormat } from '../format.js';
import type { TableColumn } from '../formats/table.js';
import type { ZoneClock } from './zone-clock.js';

export interface TimeColumn {
  readonly column: TableColumn;
  /** The value of an instant in milliseconds since 1970. */
  valueIn(utcMs: number): unknown;
}

export function timeColumn(name: string, format: FileFormat, clock: ZoneClock): TimeColumn {
  if (format === 'parquet' || format === 'arrow')
    return {
      column: { name, kind: 'timestamp', unit: 'ms', isUtc: true, zone: clock.zone },
      valueIn: (utcMs) => BigInt(utcMs),
    };
  return { column: { name, kind: 'text' }, valueIn: (utcMs) => clock.text(utcMs) };
}
