// `npm run proof -- map [--size 2000000] [--seed S]`: the shipped lines against the definition they were drawn from
// (data/map/coverage.ts), at points anywhere and at points beside lines. Where the two differ, the distance to the
// nearest line is how far that line is from its true place.

import { readFileSync } from 'node:fs';
import { cellToParent } from 'h3-js';
import { Hexcodes } from '#hexcodes';
import { area, distance, edge, type LatLng, radius } from '#hexcodes/geometry';
import { buildShippedMap } from '../../data/map/draw-map.js';
import { STEPS_PER_DEGREE } from '../../data/map/plane/grid.js';
import { OUTSIDE, taggedLinesOfMap } from '../../data/map/plane/labelled-lines.js';
import { LineField } from '../../data/map/plane/line-field.js';
import { KERNEL_FILES } from '../support/open-world.js';
import { checkBorders } from '../support/peers/border-distance.js';
import { randomFrom } from '../support/random.js';
import { CheckedMap, checkCodes, placesAlong, shippedIndex } from '../support/region/map-checks.js';
import { shippedFiles } from '../support/shipped.js';
import { optionsOf } from './run-length.js';

/** How far lines at sea may be from their place by the design; most are far below it. */
const MAX_M = 500;

export async function proveMap(args: string[]): Promise<void> {
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

// `npm run proof -- border [--size 100000] [--seed S]`: border_m and the neighbour of the shipped map, in both builds
// of the kernel, at random points against every line of the map.

export async function proveBorder(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '100000', seed: '1' });
  const { index, reach } = shippedFiles();
  for (const [build, path] of Object.entries(KERNEL_FILES)) {
    const kernel = Hexcodes.from({ kernel: readFileSync(path), index, reach }).kernel;
    const { points, near, worstM, wrong } = checkBorders(
      kernel,
      index,
      Number(values.size),
      randomFrom(Number(values.seed)),
    );
    console.log(
      `border: ${build}: ${points} points (seed ${values.seed}), ${near} of them within 5 km of a border: ` +
        `${wrong.length} off by more than 1 m or with another neighbour; at most ${worstM.toFixed(2)} m`,
    );
    for (const line of wrong.slice(0, 20)) console.log(line);
    if (wrong.length > 0) process.exitCode = 1;
  }
}

// `npm run proof -- region [--size 20000000] [--seed S]`: the shipped map in the kernel against rings, at full size:
// points anywhere, every line, sweeps of one row in a thousand of the map, and the codes of places every 100 m along
// every line at all 16 resolutions.

export async function proveRegion(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '20000000', seed: '1' });
  const size = Number(values.size);
  const seed = Number(values.seed);
  const { file, kernel } = shippedIndex();
  const map = new CheckedMap(file, kernel);
  map.checkAnywhere(randomFrom(seed), size);
  const besideLines = map.checkLines();
  const random = randomFrom(seed + 1);
  let rows = 0;
  for (let y = map.box.south - 1; y <= map.box.north; y += 1 + Math.floor(random() * 2_000)) {
    map.checkRow(y);
    ++rows;
  }
  const hexcodes = await Hexcodes.load();
  const places = placesAlong(map.arcs, 100);
  let codes = 0;
  for (let resolution = 0; resolution < 16; ++resolution) codes += checkCodes(hexcodes, places, resolution);
  console.log(
    `region: ${size} points (seed ${seed}), ${besideLines} on and beside lines, ${rows} rows swept: ` +
      `one region inside, none outside; ${codes} codes along all lines, 16 resolutions: within reach, read back`,
  );
}

// `npm run proof -- precision [--size POINTS] [--seed S]`: how far encode and decode move a point, by resolution, over
// the whole coverage with its sea and islands: the table of docs/reference/precision.md. Fails if a point moves farther
// than the radius of its cell.

const FINEST = 15;

export async function provePrecision(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '2e4', seed: '1' });
  const hexcodes = await Hexcodes.load();
  const points = coveredPoints(hexcodes, Number(values.size), randomFrom(Number(values.seed)));
  const cellOf = ([latDeg, lngDeg]: LatLng, resolution: number): string =>
    hexcodes.read(hexcodes.encode(latDeg, lngDeg, resolution).hexcodes)!.cell.toString(16);
  const finest = points.map((point) => cellOf(point, FINEST));
  console.log(`precision: ${points.length} points, uniform by area over the coverage, seed ${values.seed}`);
  console.log(
    '| resolution | edge, mean | area, mean | moved by, mean | moved by, largest | radius, largest | not the ancestor |',
  );
  console.log('|---|---|---|---|---|---|---|');
  for (let resolution = 0; resolution <= FINEST; resolution++) {
    const sums = { edge: 0, area: 0, moved: 0, notTheAncestor: 0 };
    let farthest = 0;
    let largestRadius = 0;
    points.forEach((point, n) => {
      const { hexcodes: code } = hexcodes.encode(point[0], point[1], resolution);
      const moved = distance(hexcodes, point, code);
      const cellRadius = radius(hexcodes, code);
      if (moved > cellRadius * (1 + 1e-9)) throw new Error(`${code} moves ${point} by ${moved} m`);
      sums.edge += edge(hexcodes, code);
      sums.area += area(hexcodes, code);
      sums.moved += moved;
      if (cellToParent(finest[n]!, resolution) !== cellOf(point, resolution)) sums.notTheAncestor++;
      farthest = Math.max(farthest, moved);
      largestRadius = Math.max(largestRadius, cellRadius);
    });
    const columns = [
      lengthText(sums.edge / points.length),
      areaText(sums.area / points.length),
      lengthText(sums.moved / points.length),
      lengthText(farthest),
      lengthText(largestRadius),
      `${((100 * sums.notTheAncestor) / points.length).toFixed(1)} %`,
    ];
    console.log(`| ${resolution} | ${columns.join(' | ')} |`);
  }
}

/** Points drawn uniformly by area from the box of the shipped index, those that have a province. */
function coveredPoints(hexcodes: Hexcodes, count: number, random: () => number): LatLng[] {
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity };
  for (const vertices of hexcodes.coverageEdges()) {
    for (let i = 0; i < vertices.length; i += 2) {
      box.west = Math.min(box.west, vertices[i]! / 1e6);
      box.east = Math.max(box.east, vertices[i]! / 1e6);
      box.south = Math.min(box.south, vertices[i + 1]! / 1e6);
      box.north = Math.max(box.north, vertices[i + 1]! / 1e6);
    }
  }
  const sine = (deg: number) => Math.sin((deg * Math.PI) / 180);
  const points: LatLng[] = [];
  while (points.length < count) {
    const height = sine(box.south) + random() * (sine(box.north) - sine(box.south));
    const latDeg = (Math.asin(height) * 180) / Math.PI;
    const lngDeg = box.west + random() * (box.east - box.west);
    if (hexcodes.adminCodeOf(latDeg, lngDeg) !== null) points.push([latDeg, lngDeg]);
  }
  return points;
}

function lengthText(metres: number): string {
  return metres < 1000 ? `${metres.toPrecision(3)} m` : `${Number((metres / 1000).toPrecision(3))} km`;
}

function areaText(squareMetres: number): string {
  return squareMetres < 1e6
    ? `${Number(squareMetres.toPrecision(3))} m²`
    : `${Number((squareMetres / 1e6).toPrecision(3))} km²`;
}
