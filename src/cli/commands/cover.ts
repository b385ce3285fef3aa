// `hexcodes cover AREA.geojson`: the codes of the cells of areas, for geofences and delivery zones.

import { isUtf8 } from 'node:buffer';
import type { Command } from 'commander';
import { openInput } from '../../files/disk/input.js';
import { badInput, badUsage, CliFailure, EXIT, reasonOf } from '../../files/exit-codes.js';
import { requireFormat } from '../../files/format.js';
import { refuseOther } from '../../files/formats/geojson/geojson-source.js';
import { jsonWeight } from '../../files/formats/values/json-columns.js';
import { requireBelowCeiling, wholeContent } from '../../files/held/ceiling.js';
import { loadLibrary } from '../../files/library.js';
import { areasOf, RowsOutput } from '../../files/points/rows-output.js';
import { requireResolution } from '../../files/request.js';
import { counted } from '../../files/terminal/say.js';
import { type Area, cover } from '../../hexcodes/geometry/cover.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { jsonText, parseExact, repeatedMember } from '../../hexcodes/wire/params/json-grammar.js';
import { DIFFERS } from '../../hexcodes/wire/params/query.js';
import { mattersInGeoJson, otherSystemOf } from '../../tables/shapes/shapes.js';

interface Options {
  readonly output?: string;
  readonly to?: string;
  readonly resolution: string;
  readonly cells: string;
  readonly compact?: boolean;
  readonly name?: string;
  readonly quiet?: boolean;
}

interface Zone {
  readonly name: string | null;
  readonly area: Area;
  /** Number of its feature, for messages. */
  readonly feature: number;
}

/** Copies of a file of areas that memory holds: in pieces, whole and as text. */
const AREA_COPIES = 4;

const CELLS = ['touch', 'center', 'inside'] as const;

export default function declare(program: Command): void {
  program
    .command('cover')
    .description('List the codes of the cells of areas: of polygons in GeoJSON.')
    .argument('[file]', 'a polygon, feature or collection in GeoJSON; stdin without', '-')
    .option('-r, --resolution <0-15>', 'of the cells; 9 has edges of 200 m', '9')
    .option(
      '--cells <which>',
      `cells that ${CELLS.join(', ')}: touch it, have their center in it, lie inside`,
      'touch',
    )
    .option('--compact', 'seven cells of one parent become the parent, again and again')
    .option('--name <property>', 'property of the features that names them: becomes the column zone')
    .option('-o, --output <file>', 'write here instead of stdout (-); a file takes its name only when whole')
    .option('--to <format>', 'format of the output; default: by extension, else csv')
    .option('-q, --quiet', 'no summary on stderr')
    .addHelpText(
      'after',
      `
Columns: hexcodes, h3_cell, admin_code, with --name after a column zone. An area has at most 2,000,000 cells. Cells
abroad are left out; a cell on a border of provinces has the code of its centre's.

Examples:
  $ hexcodes cover zone.geojson > zone.csv
  $ hexcodes cover zones.geojson --name district -r 10 --compact -o zones.parquet
  $ hexcodes contains orders.csv --in zones.parquet`,
    )
    .action(run);
}

async function run(path: string, options: Options): Promise<void> {
  const resolution = requireResolution(options.resolution);
  const which = CELLS.find((each) => each === options.cells);
  if (which === undefined) throw badUsage(`--cells ${options.cells}: must be one of ${CELLS.join(', ')}`);
  const format = options.to === undefined ? null : requireFormat(options.to, '--to');
  const hexcodes = await loadLibrary();
  const { zones, file } = await zonesOf(path, options.name);
  const output = new RowsOutput({ inputs: [path], output: options.output, format });
  let codes = 0;
  try {
    const names = [...(options.name === undefined ? [] : ['zone']), 'hexcodes', 'h3_cell', 'admin_code'];
    const columns = names.map((name) => ({ name, kind: 'text' as const }));
    await output.open(columns, areasOf);
    for (const { name, area, feature } of zones) {
      for (const row of rowsOf(
        hexcodes,
        area,
        { resolution, cells: which, compact: options.compact === true },
        { file, feature },
      )) {
        codes++;
        await output.add(options.name === undefined ? row : [name, ...row]);
      }
    }
    await output.finish();
  } catch (error) {
    output.abandon();
    throw error;
  }
  if (options.quiet !== true)
    process.stderr.write(`${counted(codes, 'code')} of ${counted(zones.length, 'area')}\n`);
  if (codes === 0) throw new CliFailure(EXIT.FAILED, 'no cell of Viet Nam was found');
}

function rowsOf(
  hexcodes: Hexcodes,
  area: Area,
  options: Parameters<typeof cover>[2],
  { file, feature }: { file: string; feature: number },
): string[][] {
  try {
    return cover(hexcodes, area, options).map((code) => {
      const { cell, admin_code } = hexcodes.read(code)!;
      return [code, cell.toString(16), admin_code];
    });
  } catch (error) {
    throw badInput({ file }, `feature ${feature}: ${reasonOf(error)}`);
  }
}

async function zonesOf(path: string, name: string | undefined): Promise<{ zones: Zone[]; file: string }> {
  const input = await openInput(path);
  const file = input.name;
  const bytes = await wholeContent(input, 'a file of areas', 'Split it into several.', AREA_COPIES);
  input.close();
  let document: unknown;
  try {
    if (!isUtf8(bytes)) throw badInput({ file }, 'not UTF-8');
    // Without a byte order mark.
    const text = new TextDecoder().decode(bytes);
    requireBelowCeiling({ file }, jsonWeight(text), 'a file of areas', 'Split it into several.');
    document = parseExact(text);
    const twice = repeatedMember(text, mattersInGeoJson(name === undefined ? [] : [name]));
    if (twice !== undefined) throw badInput({ file, column: twice }, `${twice} ${DIFFERS}`);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw badInput({ file }, `is not GeoJSON (${reasonOf(error)})`);
  }
  const { type, features } = (document ?? {}) as { type?: unknown; features?: unknown };
  const all: unknown[] = type === 'FeatureCollection' && Array.isArray(features) ? features : [document];
  const { crs, coordRefSys } = (document ?? {}) as { crs?: unknown; coordRefSys?: unknown };
  refuseOther(otherSystemOf({ crs }), file);
  const zones = all.map((each, i) => {
    refuseOther(otherSystemOf({ coordRefSys, ...(each as object | null) }), file, i + 1);
    return zoneOf(each, i + 1, name, file);
  });
  if (zones.length === 0) throw badInput({ file }, 'has no features');
  return { zones, file };
}

function zoneOf(given: unknown, feature: number, name: string | undefined, file: string): Zone {
  const { type, geometry, properties } = (given ?? {}) as {
    type?: unknown;
    geometry?: unknown;
    properties?: unknown;
  };
  const area = (type === 'Feature' ? geometry : given) as Area;
  const value = name === undefined ? null : ((properties ?? {}) as Record<string, unknown>)[name];
  if (value === undefined || (name !== undefined && value === null))
    throw badInput({ file }, `feature ${feature} has no property ${name}, named by --name`);
  const words = typeof value === 'string' ? value : value === null ? null : jsonText(value);
  return { name: words, area, feature };
}
