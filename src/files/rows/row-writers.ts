// Destinations of rows of bytes: the output, and the file of failed rows.

import { type Kernel, OK } from '../../hexcodes/kernel/kernel.js';
import { recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import type { AddedValue } from '../../hexcodes/wire/rows/convert-rows.js';
import { addedValues } from '../columns/encode-columns.js';
import type { Wanted } from '../driver.js';
import { FORMATS } from '../format.js';
import { targetDialect } from '../formats/csv/dialect.js';
import { asNumbers } from '../formats/csv/read-csv.js';
import { hasArrowFooter } from '../formats/open.js';
import { POSITION_COLUMNS, type RowPlan, type TableColumn } from '../formats/table.js';
import type { Run } from '../request.js';
import { plainAdder } from './plain-values.js';
import { addValue, rangesOf, type TextRows, type ValueAdder, type ValueRanges } from './text-rows.js';
import {
  CsvWriter,
  FeatureWriter,
  GeoJsonWriter,
  NdjsonWriter,
  NO_FRAME,
  type RowWriter,
  rowPieces,
  type WrittenColumns,
} from './write-text.js';

/** One of the two texts of a feature of a source, before or after our properties. */
const side = (index: number): WrittenColumns['kept'][number] => ({ name: '', kind: 'json', index });

type Value = AddedValue['is'];
type ValueAt = (lat: number, lng: number) => string | number | null;

interface BorderColumn {
  readonly valueAt: ValueAt;
  readonly add: ValueAdder;
}

/**
 * Our typed columns that are not in the records: the former province, the distance to the border and the share of
 * right provinces. They become plain values after those of a window.
 */
class BorderRanges {
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

  /** The rows with these columns added, valid until the next call. @param records of the rows */
  after(rows: TextRows, records: Uint8Array): TextRows {
    const { text, rowCount, latLngDeg } = rows;
    if ((this.#ranges[0]?.starts.length ?? 0) < rowCount)
      this.#ranges = this.#columns.map(() => rangesOf(rowCount));
    for (const [c, { valueAt, add }] of this.#columns.entries()) {
      for (let row = 0; row < rowCount; row++) {
        const isOk = records[recordStatusAt(row)] === OK;
        const value = isOk ? valueAt(latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!) : null;
        addValue(text, this.#ranges[c]!, row, value, add);
      }
    }
    return { ...rows, columns: [...rows.columns, ...this.#ranges] };
  }
}

/** Positions of a column of texts as columns of numbers, which GeoJSON makes geometries of. */
class PositionRanges {
  #ranges: readonly ValueRanges[] = [];

  after(rows: TextRows): TextRows {
    const { text, rowCount, latLngDeg } = rows;
    if ((this.#ranges[0]?.starts.length ?? 0) < rowCount)
      this.#ranges = POSITION_COLUMNS.map(() => rangesOf(rowCount));
    for (let row = 0; row < rowCount; row++) {
      const isPoint = Math.abs(latLngDeg[2 * row]!) <= 90 && Math.abs(latLngDeg[2 * row + 1]!) <= 180;
      for (const [half, ranges] of this.#ranges.entries())
        addValue(text, ranges, row, isPoint ? latLngDeg[2 * row + half] : null, addDegrees);
    }
    return { ...rows, columns: [...rows.columns, ...this.#ranges] };
  }
}
const addDegrees: ValueAdder = (into, degrees) => into.addNumber(degrees as number);

/** Maps the rows of a run to those of its outputs. */
interface Layout {
  readonly written: WrittenColumns;
  /** 0 or 1 for the columns that are made of positions. */
  readonly halves: readonly (0 | 1 | null)[];
  /** The kept columns of positions that become texts of numbers: their index, 0 for latitudes and 1 for longitudes. */
  readonly numbers: readonly (readonly [column: number, half: 0 | 1])[];
  /** Makes our columns that are in no record. */
  readonly made: BorderRanges | PositionRanges | null;
  /** Whether the kernel writes the columns of decoded codes; then rows do not have them. */
  readonly writesDecoded: boolean;
}

function layoutOf(run: Run, plan: RowPlan): Layout {
  const { request, hexcodes } = run;
  const { kept, sink, lat, lng, columns, frame } = plan;
  const isDecode = plan.code >= 0;
  const { hasTypes } = FORMATS[plan.format];
  const values = isDecode ? [] : addedValues(request, plan.own >= 0);
  const border = values.filter(BorderRanges.has);
  const theirs = sink.kept.map((column, c) => ({ ...column, index: kept[c]! }));
  const isPlaced = plan.whole !== undefined && FORMATS[plan.format].needsPosition;
  const degrees = sink.added.slice(0, isPlaced ? POSITION_COLUMNS.length : 0);
  // Our columns of codes that are decoded are in the rows.
  const inRow = (column: TableColumn, c: number) => ({ ...column, index: columns.length + c });
  const inRows = isDecode ? sink.added.map(inRow) : [];
  const all: WrittenColumns = {
    kept:
      frame === undefined
        ? [...theirs, ...inRows, ...degrees.map(inRow)]
        : [0, 1].map((n) => side(columns.length + n)),
    added: values.map((is, c) => {
      const at = border.indexOf(is);
      return { ...sink.added[degrees.length + c]!, index: at < 0 ? -1 : columns.length + at };
    }),
    resolution: request.resolution,
    values,
    kernel: hexcodes.kernel,
    isScanned: plan.source === 'text',
    decoded: inRows.length,
  };
  const isCsv = [plan.format, plan.rejects ?? plan.format].every(
    (format) => FORMATS[format].delimiter !== null,
  );
  const writesDecoded = isDecode && isCsv && rowPieces(all, ',') !== null;
  const written = isDecode && !writesDecoded ? { ...all, isScanned: false } : all;
  // Positions that were not numbers become numbers.
  const halves = kept.map((index, c) =>
    columns[index]!.kind !== 'double' && sink.kept[c]!.kind === 'double'
      ? index === lat
        ? 0
        : index === lng
          ? 1
          : null
      : null,
  );
  const numbers =
    hasTypes || frame !== undefined
      ? []
      : halves.flatMap((half, c) => (half === null ? [] : [[kept[c]!, half] as const]));
  // Positions are plain values, without ranges.
  if (isDecode && hasTypes) halves.push(0, 1);
  const ranges = border.length > 0 && hasTypes ? new BorderRanges(hexcodes.kernel, border) : null;
  return { written, halves, numbers, made: isPlaced ? new PositionRanges() : ranges, writesDecoded };
}

export class RowWriters {
  private constructor(
    private readonly run: Run,
    private readonly layout: Layout,
    private readonly output: RowWriter,
    private readonly rejects: RowWriter | null,
  ) {}

  static async open(run: Run, plan: RowPlan): Promise<RowWriters> {
    const layout = layoutOf(run, plan);
    const output = await openWriter(run, plan, layout, 'output');
    const rejects = plan.rejects === null ? null : await openWriter(run, plan, layout, 'rejects');
    return new RowWriters(run, layout, output, rejects);
  }

  /** Whether the kernel writes the columns of decoded codes; then rows do not have them. */
  get writesDecoded(): boolean {
    return this.layout.writesDecoded;
  }

  /** Writes OK rows before failed ones. */
  async write(given: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    const { made, numbers } = this.layout;
    const rows = made?.after(given, records) ?? given;
    if (wanted === 'failed') await this.rejects?.write(rows, records, wanted);
    else {
      for (const [column, half] of numbers)
        asNumbers(rows, column, half, this.run.targetFormat === 'geojson');
      await this.output.write(rows, records, wanted);
    }
  }

  async close(): Promise<void> {
    await this.output.close();
    await this.rejects?.close();
  }

  /** Removes temporary files beside the output. */
  remove(): void {
    this.output.remove?.();
  }
}

async function openWriter(
  run: Run,
  plan: RowPlan,
  { written, halves }: Layout,
  which: 'output' | 'rejects',
): Promise<RowWriter> {
  const { request, targets, sourceFormat } = run;
  const isOutput = which === 'output';
  const output = targets[which]!;
  const format = isOutput ? plan.format : plan.rejects!;
  if (isOutput && request.sort !== null) {
    const { SortedRowWriter } = await import('../sorted/sorted-sink.js');
    return new SortedRowWriter(run, plan.sink, written, halves);
  }
  if (format === 'parquet') {
    const { ParquetRowWriter } = await import('../formats/parquet/write-parquet.js');
    return new ParquetRowWriter(output, written, halves);
  }
  if (format === 'arrow') {
    const { ArrowRowWriter } = await import('../formats/arrow/write-arrow.js');
    return new ArrowRowWriter(output, written, halves, hasArrowFooter(output));
  }
  if (plan.frame !== undefined)
    return new FeatureWriter(
      output,
      written,
      isOutput || plan.frame.isLines === true ? plan.frame : NO_FRAME,
    );
  if (format === 'ndjson') return new NdjsonWriter(output, written);
  if (format === 'geojson') return new GeoJsonWriter(output, written, plan.position.lat, plan.position.lng);
  const dialect = isOutput ? run.target : targetDialect(run.source, sourceFormat, format, request.csv);
  const offset = (isOutput ? targets.from?.outputOffset : targets.from?.rejectsOffset) ?? 0;
  return new CsvWriter(output, written, dialect, offset > 0);
}
