// Our columns of types whose values are in no record: the former province, the distance to the border and the share of
// right provinces. They become plain values behind those of a window.

import { type Kernel, OK } from '../../hexcodes/kernel/kernel.js';
import { recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import type { AddedValue } from '../../hexcodes/wire/rows/pieces.js';
import { plainAdder, type ValueAdder } from './plain-values.js';
import type { TextRows, ValueRanges } from './text-rows.js';

type Value = AddedValue['is'];
type ValueAt = (lat: number, lng: number) => string | number | null;

interface BorderColumn {
  readonly valueAt: ValueAt;
  readonly add: ValueAdder;
}

export class BorderRanges {
  readonly #columns: readonly BorderColumn[];
  #ranges: readonly ValueRanges[] = [];

  constructor(kernel: Kernel, values: readonly Value[]) {
    const of = (kind: 'text' | 'int' | 'double', valueAt: ValueAt): BorderColumn => ({
      valueAt,
      add: plainAdder({ name: '', kind }),
    });
    const known: Readonly<Partial<Record<Value, BorderColumn>>> = {
      former: of('text', (lat, lng) => kernel.formerProvinces?.[kernel.exports.unitOf(lat, lng)] ?? null),
      metres: of('int', (lat, lng) => kernel.borderAt(lat, lng).borderM),
      share: of('double', (lat, lng) => kernel.borderAt(lat, lng).certainty),
    };
    this.#columns = values.flatMap((is) => known[is] ?? []);
  }

  /** Whether a value is one of these. */
  static has(is: Value): boolean {
    return is === 'former' || is === 'metres' || is === 'share';
  }

  /** The rows with these columns behind theirs, until the next ones. @param records of the rows */
  behind(rows: TextRows, records: Uint8Array): TextRows {
    const { text, rowCount, latLngDeg } = rows;
    if ((this.#ranges[0]?.starts.length ?? 0) < rowCount)
      this.#ranges = this.#columns.map(() => ({
        starts: new Int32Array(rowCount),
        ends: new Int32Array(rowCount),
      }));
    for (const [c, { valueAt, add }] of this.#columns.entries()) {
      const { starts, ends } = this.#ranges[c]!;
      for (let row = 0; row < rowCount; row++) {
        const isOk = records[recordStatusAt(row)] === OK;
        const value = isOk ? valueAt(latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!) : null;
        starts[row] = value === null ? -1 : text.at;
        if (value !== null) add(text, value);
        ends[row] = text.at;
      }
    }
    return { ...rows, columns: [...rows.columns, ...this.#ranges] };
  }
}
