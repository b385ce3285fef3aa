// `npm run proof -- map [--size 2000000] [--seed S]`: the shipped lines against the definition they were drawn from
// (data/map/coverage.ts), at points anywhere and at points beside lines. Where the two differ, the distance to the
// nearest line is how far that line is from its true place.
import { buildShippedMap } from '../../data/map/draw-map.js';
import { STEPS_PER_DEGREE } from '../../data/map/plane/grid.js';
import { OUTSIDE, taggedLinesOfMap } from '../../data/map/plane/labelled-lines.js';
import { LineField } from '../../data/map/plane/line-field.js';
import { randomFrom } from '../support/random.js';
import { optionsOf } from './run-length.js';

/** How far lines at sea may be from their place by the design; most are far below it. */
const MAX_M = 500;

export default async function proveMap(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '2000000', seed: '1' });
  const random = randomFrom(Number(values.seed));
  const size = Number(values.size);
  const { definition, map } = buildShippedMap();
  const { lines, tags } = taggedLinesOfMap(map);
  const field = new LineField(lines, tags);
  const found = { 'on our land': [] as number[], elsewhere: [] as number[] };
  const check = (x: number, y: number) => {
    const drawn = field.holderOf(x, y);
    if ((drawn < 0 ? OUTSIDE : drawn) === definition.unitAt(x, y)) return;
    const distanceM = field.nearest(x, y, 100_000)?.distanceM ?? Infinity;
    found[definition.onLand(x, y) ? 'on our land' : 'elsewhere'].push(distanceM);
  };
  for (let i = 0; i < size; i++) {
    // Half a step beside the grid of vertices: no point lies on a line's end.
    const x = Math.floor((101.6 + random() * 16.8) * STEPS_PER_DEGREE) + 0.5;
    const y = Math.floor((6.4 + random() * 17.4) * STEPS_PER_DEGREE) + 0.5;
    check(x, y);
  }
  const anywhere = found.elsewhere.length + found['on our land'].length;
  for (let i = 0; i < size; i++) {
    const line = Math.floor(random() * map.left.length) * 4;
    const along = random();
    const x = map.lines[line]! + along * (map.lines[line + 2]! - map.lines[line]!);
    const y = map.lines[line + 1]! + along * (map.lines[line + 3]! - map.lines[line + 1]!);
    check(Math.floor(x + (random() - 0.5) * 400) + 0.5, Math.floor(y + (random() - 0.5) * 400) + 0.5);
  }
  console.log(`map: ${size} points anywhere (seed ${values.seed}), ${anywhere} differ from the definition`);
  for (const [where, distances] of Object.entries(found)) {
    distances.sort((a, b) => a - b);
    const at = (part: number) => (distances[Math.floor((distances.length - 1) * part)] ?? 0).toFixed(1);
    console.log(
      `map: of these and of ${size} within 200 m of a line, ${distances.length} ${where}: ` +
        `median ${at(0.5)} m, 99 % ${at(0.99)} m, most ${at(1)} m from the line`,
    );
    if ((distances.at(-1) ?? 0) > MAX_M) throw new Error(`A line is more than ${MAX_M} m from its place.`);
  }
}
