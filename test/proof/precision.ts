// `npm run proof -- precision [--size POINTS] [--seed S]`: how far encode and decode move a point, by resolution: the
// table of docs/accuracy.md. Fails if a point moves farther than the radius of its cell.

import { parseArgs } from 'node:util';
import { area, distance, edge, radius } from '#dist/geometry.js';
import { Hexcodes } from '#dist/library/node.js';
import { randomFrom } from '../support/open-world.js';

export default async function precision(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { size: { type: 'string', default: '2e4' }, seed: { type: 'string', default: '1' } },
  });
  const points = Number(values.size);
  const hexcodes = await Hexcodes.load();
  console.log(`precision: ${points} points a resolution, seed ${values.seed}, mean and largest`);
  console.log('| resolution | edge | area | moved by, mean | moved by, largest | radius, largest |');
  for (let resolution = 0; resolution <= 15; resolution++) {
    const random = randomFrom(Number(values.seed));
    const sums = { edge: 0, area: 0, moved: 0 };
    let farthest = 0;
    let largestRadius = 0;
    for (let done = 0; done < points; ) {
      const position = [8 + random() * 15.4, 102 + random() * 8] as const;
      if (hexcodes.adminCodeOf(position[0], position[1]) === null) continue;
      done++;
      const { hexcodes: code } = hexcodes.encode(position[0], position[1], resolution);
      const moved = distance(hexcodes, position, code);
      const cellRadius = radius(hexcodes, code);
      if (moved > cellRadius * (1 + 1e-9)) throw new Error(`${code} moves ${position} by ${moved} m`);
      sums.edge += edge(hexcodes, code);
      sums.area += area(hexcodes, code);
      sums.moved += moved;
      farthest = Math.max(farthest, moved);
      largestRadius = Math.max(largestRadius, cellRadius);
    }
    const columns = [
      lengthOf(sums.edge / points),
      areaOf(sums.area / points),
      lengthOf(sums.moved / points),
      lengthOf(farthest),
      lengthOf(largestRadius),
    ];
    console.log(`| ${resolution} | ${columns.join(' | ')} |`);
  }
}

function lengthOf(metres: number): string {
  return metres < 1000 ? `${metres.toPrecision(3)} m` : `${Number((metres / 1000).toPrecision(3))} km`;
}

function areaOf(squareMetres: number): string {
  return squareMetres < 1e6
    ? `${Number(squareMetres.toPrecision(3))} m²`
    : `${Number((squareMetres / 1e6).toPrecision(3))} km²`;
}
