// The output of a command that makes its own rows: any format, to stdout or to a file that gets its name only when it
// is complete.

import { cellRing } from '../../hexcodes/geometry/codebook.js';
import { destinationOf, refuseSameFile } from '../disk/destination.js';
import type { Output } from '../disk/output.js';
import { Targets } from '../disk/targets.js';
import { type FileFormat, FORMATS, formatOfName } from '../format.js';
import { openSink } from '../formats/open.js';
import { BATCH_ROWS, type TableColumn, type TableRows, type TableSink } from '../formats/table.js';
import { jsonWriterOf } from '../formats/values/column-text.js';

/** How GeoJSON is written: the geometry of a row, as text, and the columns that are not repeated beside it. */
type Shapes = (
  columns: readonly TableColumn[],
) => [geometryOf: (values: TableRows['values'], row: number) => string, inGeometry?: readonly number[]];

/**
 * Features that are areas: each row has the hexagon of its cell, or without cells the area of its province.
 * @param provinceGeometry of a province by its code, as GeoJSON text; called once for each
 */
export function areasOf(
  columns: readonly TableColumn[],
  provinceGeometry: (adminCode: string) => string = () => 'null',
): ReturnType<Shapes> {
  const cell = columns.findIndex(({ name }) => name === 'h3_cell');
  const admin = columns.findIndex(({ name }) => name === 'admin_code');
  const areas = new Map<string, string>();
  const areaOf = (code: string): string => {
    const area = areas.get(code) ?? provinceGeometry(code);
    areas.set(code, area);
    return area;
  };
  return [
    (values, row) =>
      cell < 0
        ? areaOf(values[admin]![row] as string)
        : JSON.stringify({ type: 'Polygon', coordinates: [cellRing(values[cell]![row] as string)] }),
  ];
}

function featuresSink(output: Output, columns: readonly TableColumn[], shapes: Shapes): TableSink {
  const [geometryOf, inGeometry = []] = shapes(columns);
  const members = columns.map((column, c) => {
    const [name, write] = [`${JSON.stringify(column.name)}:`, jsonWriterOf(column)];
    return (values: TableRows['values'], row: number): string => name + write(values[c]![row]);
  });
  let separator = '{"type":"FeatureCollection","features":[\n';
  return {
    async write({ rowCount, values }) {
      const parts: string[] = [];
      for (let row = 0; row < rowCount; row++) {
        const geometry = geometryOf(values, row);
        const isShown = (c: number): boolean =>
          !inGeometry.includes(c) || (geometry === 'null' && (values[c]![row] ?? '') !== '');
        const properties = members.flatMap((member, c) => (isShown(c) ? [member(values, row)] : []));
        parts.push(
          separator,
          `{"type":"Feature","geometry":${geometry},"properties":{${properties.join()}}}`,
        );
        separator = ',\n';
      }
      await output.write(Buffer.from(parts.join('')));
    },
    async close() {
      await output.write(Buffer.from(`${separator === ',\n' ? '' : separator}\n]}\n`));
    },
  };
}

export interface RowsOutputRequest {
  /** Paths of inputs: none of them may be the output. */
  readonly inputs: readonly string[];
  /** undefined for stdout. */
  readonly output: string | undefined;
  /** null: by the name of the output, else CSV. */
  readonly format: FileFormat | null;
}

const DIALECT = { delimiter: ',', decimal: '.', hasMark: false, hasHeader: true, titleRows: 0 } as const;

export class RowsOutput {
  readonly format: FileFormat;
  readonly #targets: Targets;
  #sink: TableSink | undefined;
  #values: unknown[][] = [];
  #startMs = performance.now();

  /** @throws CliFailure if it cannot be written */
  constructor({ inputs, output, format }: RowsOutputRequest) {
    const destination = destinationOf(output ?? '-');
    refuseSameFile(inputs, destination, null);
    this.format = format ?? formatOfName(destination.name).format ?? 'csv';
    const notResumable = 'This run cannot be resumed';
    this.#targets = new Targets({
      output: destination,
      rejects: null,
      notResumable,
      isResume: false,
      shape: '',
    });
  }

  /**
   * Begins the rows.
   * @param shapes of GeoJSON
   */
  async open(columns: readonly TableColumn[], shapes: Shapes): Promise<void> {
    const { output } = this.#targets;
    this.#sink =
      this.format === 'geojson'
        ? featuresSink(output, columns, shapes)
        : await openSink(this.format, {
            output,
            columns,
            dialect: { ...DIALECT, delimiter: FORMATS[this.format].delimiter?.usual ?? ',' },
          });
    // The last may be a geometry, which no column has.
    this.#values = [...columns, null].map(() => []);
  }

  /** Adds a row; resolves when the next may come. */
  add(row: readonly unknown[]): Promise<void> | undefined {
    for (let c = 0; c < row.length; c++) this.#values[c]!.push(row[c]);
    return this.#values[0]!.length === BATCH_ROWS ? this.#flush() : undefined;
  }

  /** Writes the end, and gives the file its name. */
  async finish(): Promise<void> {
    await this.#flush();
    await this.#sink?.close();
    await this.#targets.finish(performance.now() - this.#startMs);
  }

  /** Ends without success: nothing remains. */
  abandon(): void {
    this.#targets.abandon(false);
  }

  async #flush(): Promise<void> {
    const values = this.#values;
    const rowCount = values[0]?.length ?? 0;
    if (rowCount === 0) return;
    this.#values = values.map(() => []);
    await this.#sink?.write({ rowCount, values });
  }
}
