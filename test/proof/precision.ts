// `npm run proof -- precision [--size POINTS] [--seed S]`: how far encode and decode move a point, by resolution, over
// the whole coverage with its sea and islands: the table of docs/reference/precision.md. Fails if a point moves farther
// than the radius of its cell.
import { cellToParent } from 'h3-js';
import { Hexcodes } from '#hexcodes';
import { area, distance, edge, type LatLng, radius } from '#hexcodes/geometry';
import { randomFrom } from '../support/open-world.js';
import { optionsOf } from './run-length.js';

const FINEST = 15;

export default async function precision(args: string[]): Promise<void> {
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
