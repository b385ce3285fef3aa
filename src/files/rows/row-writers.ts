// Destinations of rows of bytes: the output, and the file of failed rows.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { OK } from '../../hexcodes/kernel/kernel.js';
import { codeBytes, recordAt, recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import { ROW_STATUSES } from '../../hexcodes/wire/job.js';
import { NOT_A_RESOLUTION } from '../columns/encode-columns.js';
import type { Output } from '../disk/output.js';
import type { Wanted } from '../driver.js';
import { type FileFormat, FORMATS, hasPlainValues } from '../format.js';
import { targetDialect } from '../formats/csv/dialect.js';
import { asNumbers } from '../formats/csv/read-csv.js';
import { openWriter } from '../formats/open.js';
import { adminOf } from '../formats/parquet/own-columns.js';
import type { FeatureFrame, OurValue, RowPlan, TableColumn } from '../formats/table.js';
import type { Run } from '../request.js';
import { commaAdder, plainAdder, textAdder } from './plain-values.js';
import { addValue, rangesOf, type TextRows, type ValueAdder, type ValueRanges } from './text-rows.js';
import { NO_FRAME, type RowWriter, rowPieces, type WrittenColumns } from './write-text.js';

/** One of the two texts of a feature of a source, before or after our properties. */
const side = (index: number): WrittenColumns['kept'][number] => ({ name: '', kind: 'json', index });

type ValueAt = (rows: TextRows, records: Uint8Array, row: number) => string | number | null;

interface MadeColumn {
  readonly valueAt: ValueAt;
  readonly add: ValueAdder;
}

/** Our columns that a writer does not make of records: they become ranges after those of a window. */
class MadeRanges {
  #ranges: readonly ValueRanges[] = [];

  constructor(private readonly columns: readonly MadeColumn[]) {}

  /** The rows with these columns added, valid until the next call. @param records of the rows */
  after(rows: TextRows, records: Uint8Array): TextRows {
    const { text, rowCount } = rows;
    if ((this.#ranges[0]?.starts.length ?? 0) < rowCount)
      this.#ranges = this.columns.map(() => rangesOf(rowCount));
    for (const [c, { valueAt, add }] of this.columns.entries())
      for (let row = 0; row < rowCount; row++)
        addValue(text, this.#ranges[c]!, row, valueAt(rows, records, row), add);
    return { ...rows, columns: [...rows.columns, ...this.#ranges] };
  }
}

function ourValue(is: OurValue, { request, hexcodes: { kernel } }: Run, { code, format }: RowPlan): ValueAt {
  const ofOk =
    (of: (lat: number, lng: number) => string | number | null): ValueAt =>
    ({ latLngDeg }, records, row) =>
      records[recordStatusAt(row)] === OK ? of(latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!) : null;
  const half =
    (n: 0 | 1): ValueAt =>
    ({ latLngDeg }, _, row) => {
      const [lat, lng] = [latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!];
      // GeoJSON makes geometries of these.
      const isRead = format !== 'geojson' || (Math.abs(lat) <= 90 && Math.abs(lng) <= 180);
      const degrees = n === 0 ? lat : lng;
      return isRead && !Number.isNaN(degrees) ? degrees : null;
    };
  const made: Readonly<Record<Exclude<OurValue, null>, ValueAt>> = {
    lat: half(0),
    lng: half(1),
    code: (_, records, row) => {
      const at = recordAt(row);
      if (records[recordStatusAt(row)] !== OK) return null;
      return Buffer.from(records.buffer, records.byteOffset + at, codeBytes(records, at)).toString('latin1');
    },
    resolution: ({ resolutions }, _, row) => {
      if (code >= 0) return null;
      const own = resolutions?.[row] ?? request.resolution;
      return own === NOT_A_RESOLUTION ? null : own;
    },
    admin: (_, records, row) =>
      records[recordStatusAt(row)] === OK ? ADMIN_UNITS[adminOf(records, recordAt(row))]!.code : null,
    former: ofOk((lat, lng) => kernel.formerProvinces?.[kernel.exports.unitOf(lat, lng)] ?? null),
    metres: ofOk((lat, lng) => kernel.borderAt(lat, lng).borderM),
    share: ofOk((lat, lng) => kernel.borderAt(lat, lng).certainty),
    status: (_, records, row) => ROW_STATUSES[records[recordStatusAt(row)]!]!,
  };
  return is === null ? () => null : made[is];
}

/** Values of ours that no record has, for writers that make the others of records. */
const BESIDE_RECORDS: ReadonlySet<OurValue> = new Set(['former', 'metres', 'share']);

/** How the rows of a run become those of an output. */
interface Layout {
  readonly format: FileFormat;
  readonly frame: FeatureFrame | undefined;
  readonly written: WrittenColumns;
  /** 0 or 1 for the columns that are made of positions. */
  readonly halves: readonly (0 | 1 | null)[];
  /** The kept columns of positions that become texts of numbers: their index, 0 for latitudes and 1 for longitudes. */
  readonly numbers: readonly (readonly [column: number, half: 0 | 1])[];
  readonly made: MadeRanges | null;
  /** Whether the kernel writes the columns of decoded codes: then no rows have them. */
  readonly writesDecoded: boolean;
}

/** @param isOther whether rows are those of another format than the output, whose columns are all made */
function layoutOf(run: Run, plan: RowPlan, isOther: boolean): Layout {
  const { request, hexcodes } = run;
  const { kept, sink, ours, columns, format, frame, own: ownAt } = plan;
  const isDecode = plan.code >= 0 && !isOther;
  const isTyped = hasPlainValues(format);
  const isCsv = FORMATS[format].delimiter !== null;
  const hasComma = isCsv && request.csv.decimal === ',';
  // A resolution that is left out is another in each row.
  const isOwnMade = ownAt >= 0 && !kept.includes(ownAt);
  const isText = !isTyped && plan.code < 0;
  const hasDegrees = ours.includes('lat') || ours.includes('share');
  const isAllMade = isOther || (isText && (format === 'xlsx' || isOwnMade || (hasComma && hasDegrees)));
  const isMade = (is: OurValue): boolean =>
    isAllMade || (isTyped && (BESIDE_RECORDS.has(is) || (isOwnMade && is === 'resolution')));
  const sidesAt = columns.length + (plan.codeAt === undefined ? 0 : 1);
  const width = sidesAt + (frame === undefined ? 0 : 2);
  const made: MadeColumn[] = [];
  const our = sink.added.map((column, c) => {
    const is = ours[c]!;
    // Our columns of codes that are decoded are in the rows.
    if (isDecode) return { ...column, index: width + c };
    const isDegrees = is === 'lat' || is === 'lng';
    if (!isMade(is) && !isDegrees) return { ...column, index: -1 };
    // Positions are plain values, without ranges.
    if (isDegrees && isTyped) return { ...column, index: width };
    const add = isTyped
      ? plainAdder(column)
      : hasComma
        ? commaAdder(column)
        : textAdder(column, FORMATS[format].isJson);
    made.push({ valueAt: ourValue(is, run, plan), add });
    return { ...column, index: width + made.length - 1 };
  });
  const lead = isDecode || isAllMade ? our.length : ours.filter((is) => is === 'lat' || is === 'lng').length;
  const theirs = sink.kept.map((column, c) => ({ ...column, index: kept[c]! }));
  const all: WrittenColumns = {
    kept: [...(frame === undefined ? theirs : [side(sidesAt), side(sidesAt + 1)]), ...our.slice(0, lead)],
    added: our.slice(lead),
    resolution: request.resolution,
    values: ours.slice(lead).flatMap((is) => {
      const isSorted = request.sort !== null && is === 'resolution' && isOwnMade;
      return is === null || is === 'lat' || is === 'lng' || isSorted ? [] : [is];
    }),
    kernel: hexcodes.kernel,
    isScanned: plan.source === 'text',
    decoded: isDecode ? our.length : 0,
  };
  const isCsvAlone = isCsv && (plan.rejects === null || FORMATS[plan.rejects].delimiter !== null);
  const writesDecoded = isDecode && isCsvAlone && rowPieces(all, ',') !== null;
  const written = isDecode && !writesDecoded ? { ...all, isScanned: false } : all;
  const halves = [
    ...kept.map((index, c) => halfOf(plan, index, sink.kept[c]!)),
    ...our.slice(0, isTyped ? lead : 0).map((_, c) => (ours[c] === 'lat' ? 0 : ours[c] === 'lng' ? 1 : null)),
  ];
  const numbers =
    isTyped || frame !== undefined
      ? []
      : kept.flatMap((index, c) => (halves[c] === null ? [] : [[index, halves[c]!] as const]));
  return {
    format,
    frame,
    written,
    halves,
    numbers,
    made: made.length > 0 ? new MadeRanges(made) : null,
    writesDecoded,
  };
}

/** 0 or 1 for a kept column of positions that were not numbers and become numbers. */
function halfOf({ lat, lng, columns, format }: RowPlan, index: number, { kind }: TableColumn): 0 | 1 | null {
  const was = columns[index]!.kind;
  const isOfPoints = format === 'geojson' && ['text', 'json', 'binary'].includes(was);
  if (!isOfPoints && (kind !== 'double' || was === 'double')) return null;
  return index === lat ? 0 : index === lng ? 1 : null;
}

export class RowWriters {
  private constructor(
    private readonly layout: Layout,
    private readonly output: RowWriter,
    private readonly other: Layout | null,
    private readonly rejects: RowWriter | null,
  ) {}

  /** @param other how failed rows are written, where that is otherwise than the others */
  static async open(
    run: Run,
    plan: RowPlan,
    other?: RowPlan,
    outputs: Outputs = run.targets,
  ): Promise<RowWriters> {
    const layout = layoutOf(run, plan, false);
    const ofRejects = other === undefined ? null : layoutOf(run, other, true);
    const output = await outputWriter(run, plan, layout, outputs);
    const rejects =
      outputs.rejects === null ? null : await rejectsWriter(run, plan, ofRejects ?? layout, outputs);
    return new RowWriters(layout, output, ofRejects, rejects);
  }

  /** Whether the kernel writes the columns of decoded codes; then rows do not have them. */
  get writesDecoded(): boolean {
    return this.layout.writesDecoded;
  }

  /** Writes OK rows before failed ones. */
  async write(given: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    const isFailed = wanted === 'failed';
    const { made, numbers, format } = (isFailed ? this.other : null) ?? this.layout;
    const own = isFailed && this.other !== null ? { ...given, ...given.rejected?.(records) } : given;
    const rows = made?.after(own, records) ?? own;
    // Failed rows of the same format have become numbers with the others.
    if (!isFailed || this.other !== null)
      for (const [column, half] of numbers) asNumbers(rows, column, half, format === 'geojson');
    await (isFailed ? this.rejects : this.output)?.write(rows, records, wanted);
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

/** Where rows go, and how far an earlier run has written them. */
export interface Outputs {
  readonly output: Output;
  readonly rejects: Output | null;
  readonly from: { readonly outputOffset: number; readonly rejectsOffset: number } | null;
}

async function outputWriter(
  run: Run,
  { sink, position }: RowPlan,
  { written: columns, halves, frame, format }: Layout,
  { output, from }: Outputs,
): Promise<RowWriter> {
  const { request, target: dialect } = run;
  if (request.sort !== null) {
    const { SortedRowWriter } = await import('../sorted/sorted-sink.js');
    return new SortedRowWriter(run, sink, columns, halves);
  }
  const isContinued = (from?.outputOffset ?? 0) > 0;
  return openWriter(format, { output, columns, halves, dialect, position, frame, isContinued });
}

async function rejectsWriter(
  { request, source, sourceFormat }: Run,
  { position }: RowPlan,
  { written: columns, halves, frame: around, format }: Layout,
  { rejects, from }: Outputs,
): Promise<RowWriter> {
  const dialect = targetDialect(source, sourceFormat, format, request.csv);
  const frame = around === undefined || around.isLines === true ? around : NO_FRAME;
  const isContinued = (from?.rejectsOffset ?? 0) > 0;
  return openWriter(format, { output: rejects!, columns, halves, dialect, position, frame, isContinued });
}
