// `npm run data`: makes the boundary index from data/sources/; see data/README.md for its options.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { Kernel } from '#dist/hexcodes/kernel/kernel.js';
import { areaTable } from './map/area-table.js';
import { drawLandLine, drawRivers, LAND_LINE_FILE, RIVERS_FILE } from './map/console-map.js';
import { cutSources } from './map/cut-sources.js';
import { buildShippedMap, INDEX_FILE, LICENCE } from './map/draw-map.js';
import { writeIndexFile, writeReachFile } from './map/index-file.js';
import { writeNames } from './map/names.js';
import { drawPicture } from './map/picture.js';
import { buildReach, checkWithinReach, REACH_FILE } from './map/reach.js';
import { readLand } from './map/sources.js';
import { measure, measureTable } from './map/user/measure.js';
import { buildUserMap } from './map/user/user-map.js';

const values = readOptions();

if (values.cut !== undefined) cutSources(values.cut);
else if (values.picture !== undefined)
  writeFileSync(values.picture, drawPicture(readFileSync(INDEX_FILE), readLand()));
else if (values.areas) console.log(areaTable(buildShippedMap()).join('\n'));
else if (values.from !== undefined) makeUserIndex(values.from);
else if (values.measure !== undefined) printMeasured(values.measure);
else if (values.reach) makeReach();
else if (values.land) makeLandLine();
else if (values.names) await writeNames();
else if (values.rivers) makeRivers();
else makeIndex();

function makeIndex(): void {
  const { partition } = buildShippedMap();
  const file = writeIndexFile(partition, LICENCE);
  checkWithinReach(partition, file, readFileSync(REACH_FILE));
  writeFileSync(INDEX_FILE, file);
  console.log(`${INDEX_FILE}: ${partition.left.length} lines, ${file.length} bytes`);
}

/** The line that the console shows under the provinces. */
function makeLandLine(): void {
  const file = drawLandLine(readLand());
  writeFileSync(LAND_LINE_FILE, file);
  console.log(`${LAND_LINE_FILE}: ${file.length} bytes`);
}

/** The rivers that the console shows. */
function makeRivers(): void {
  const file = drawRivers();
  writeFileSync(RIVERS_FILE, file);
  console.log(`${RIVERS_FILE}: ${file.length} bytes`);
}

function makeUserIndex(path: string): void {
  const toleranceM = Number(/^(\d+(?:\.\d+)?)m?$/.exec(values.tolerance)?.[1] ?? Number.NaN);
  const { 'code-property': codeProperty, out, notice, mend, licence } = values;
  if (codeProperty === undefined || out === undefined || !(toleranceM <= 1000)) {
    console.error(
      'Usage: npm run data -- --from FILE.geojson --code-property NAME --out INDEX.bin [--notice TEXT] ' +
        '[--licence ID] [--name TEXT] [--date YYYY-MM-DD] [--tolerance 10m] [--mend]',
    );
    process.exitCode = 2;
    return;
  }
  try {
    const date = values.date ?? statSync(path).mtime.toISOString().slice(0, 10);
    const name = values.name ?? basename(path);
    const made = buildUserMap({ path, codeProperty, toleranceM, mend, notice, name, date });
    const { partition, report, warnings } = made;
    for (const warning of warnings) console.error(`warning: ${warning}`);
    const file = writeIndexFile(partition, licence);
    checkWithinReach(partition, file, readFileSync(REACH_FILE));
    writeFileSync(out, file);
    console.log(`${report}\n\n${out}: ${file.length} bytes`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}

function printMeasured(path: string): void {
  const [points, seed] = [Number(values.points), Number(values.seed)];
  try {
    if (!Number.isInteger(points) || points < 1 || !Number.isInteger(seed))
      throw new Error('--points must be a whole number above 0, --seed a whole number');
    const [kernel, index, reach] = ['dist/kernel.wasm', values.index, REACH_FILE].map((file) =>
      readFileSync(file),
    );
    const aroundKm = Number(values.around);
    if (!(aroundKm >= 0 && aroundKm <= 100)) throw new Error('--around must be kilometres from 0 to 100');
    const { weight } = values;
    const options = { path, codeProperty: values['code-property'], points, seed, weight, aroundKm };
    console.log(measureTable(measure(Kernel.create(kernel!, index!, reach!), options)));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}

/** Written once for each format of hexcodes: a changed row would refuse codes that have been issued. */
function makeReach(): void {
  if (existsSync(REACH_FILE) && !values.force) {
    console.error(`${REACH_FILE} is frozen: codes in use rely on it. --force writes it anew.`);
    process.exitCode = 1;
    return;
  }
  const { partition } = buildShippedMap();
  const file = writeReachFile(buildReach(partition, writeIndexFile(partition, LICENCE)));
  writeFileSync(REACH_FILE, file);
  console.log(`${REACH_FILE}: ${file.length} bytes`);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        cut: { type: 'string' },
        areas: { type: 'boolean', default: false },
        picture: { type: 'string' },
        from: { type: 'string' },
        'code-property': { type: 'string' },
        tolerance: { type: 'string', default: '0m' },
        mend: { type: 'boolean', default: false },
        notice: { type: 'string' },
        name: { type: 'string' },
        date: { type: 'string' },
        licence: { type: 'string', default: 'as the notice says' },
        out: { type: 'string' },
        measure: { type: 'string' },
        weight: { type: 'string' },
        around: { type: 'string', default: '0' },
        index: { type: 'string', default: INDEX_FILE },
        points: { type: 'string', default: '200000' },
        seed: { type: 'string', default: '1' },
        reach: { type: 'boolean', default: false },
        land: { type: 'boolean', default: false },
        names: { type: 'boolean', default: false },
        rivers: { type: 'boolean', default: false },
        force: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    console.error((error as Error).message);
    process.exit(2);
  }
}
