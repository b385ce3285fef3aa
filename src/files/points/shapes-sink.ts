// GeoJSON whose features are areas: each row has the hexagon of its cell, or without cells the area of its province.

import { cellRing } from '../../hexcodes/geometry/cell-ring.js';
import type { Output } from '../disk/output.js';
import type { TableColumn, TableSink } from '../formats/table.js';
import { jsonWriterOf } from '../formats/values/column-text.js';

/** @param provinceGeometry of a province by its code, as GeoJSON text; called once for each */
export function shapesSink(
  output: Output,
  columns: readonly TableColumn[],
  provinceGeometry: (adminCode: string) => string = () => 'null',
): TableSink {
  const names = columns.map(({ name }) => `${JSON.stringify(name)}:`);
  const writers = columns.map(jsonWriterOf);
  const cell = columns.findIndex(({ name }) => name === 'h3_cell');
  const admin = columns.findIndex(({ name }) => name === 'admin_code');
  const areas = new Map<string, string>();
  const areaOf = (code: string): string => {
    const area = areas.get(code) ?? provinceGeometry(code);
    areas.set(code, area);
    return area;
  };
  let separator = '{"type":"FeatureCollection","features":[\n';
  return {
    async write({ rowCount, values }) {
      const parts: string[] = [];
      for (let row = 0; row < rowCount; row++) {
        const geometry =
          cell < 0
            ? areaOf(values[admin]![row] as string)
            : JSON.stringify({ type: 'Polygon', coordinates: [cellRing(values[cell]![row] as string)] });
        const properties = columns.map((_, c) => `${names[c]}${writers[c]!(values[c]![row])}`).join(',');
        parts.push(separator, `{"type":"Feature","geometry":${geometry},"properties":{${properties}}}`);
        separator = ',\n';
      }
      await output.write(Buffer.from(parts.join('')));
    },
    async close() {
      await output.write(Buffer.from(`${separator === ',\n' ? '' : separator}\n]}\n`));
    },
  };
}
