// Walks along every line of the map and looks to both sides: each position that lies in a province has a hexcode at
// each of the 16 resolutions, the hexcode names that province, and reads back.

import { ADMIN_UNITS, type Hexcodes } from '#hexcodes';
import type { CheckedMap } from './map-checks.js';

const METRES_PER_DEGREE = 111_320;
/** Places looked at from a place on a line, in micro-degrees: itself, its neighbours, and about 100 m away. */
const LOOKS = [0, 1, -1, 900, -900].flatMap((far) =>
  far === 0
    ? [[0, 0]]
    : [
        [far, 0],
        [0, far],
      ],
);

/** lat, lng, lat, lng, … of places beside the lines: vertices, and points between them at a fixed distance. */
export function placesAlong(arcs: CheckedMap['arcs'], everyM: number): Float64Array {
  const places: number[] = [];
  for (const { vertices } of arcs)
    for (let i = 0; i + 3 < vertices.length; i += 2) {
      const [x0, y0, x1, y1] = vertices.subarray(i, i + 4) as unknown as [number, number, number, number];
      const steps = Math.ceil((Math.hypot(x1 - x0, y1 - y0) / 1e6) * (METRES_PER_DEGREE / everyM));
      for (let step = 0; step < steps; ++step) {
        const x = Math.round(x0 + ((x1 - x0) * step) / steps);
        const y = Math.round(y0 + ((y1 - y0) * step) / steps);
        for (const [dx, dy] of LOOKS) places.push((y + dy!) / 1e6, (x + dx!) / 1e6);
      }
    }
  return Float64Array.from(places);
}

/** Throws at the first place without a hexcode of its own province that reads back; how many have one. */
export function checkCodes(hexcodes: Hexcodes, places: Float64Array, resolution: number): number {
  const records = hexcodes.encodeBatch(places, resolution);
  const decoded = hexcodes.decodeBatch(records);
  let inside = 0;
  for (let i = 0; i < places.length / 2; ++i) {
    const [lat, lng] = [places[2 * i]!, places[2 * i + 1]!];
    const region = hexcodes.kernel.exports.regionOf(lat, lng);
    const status = records[20 * i + 19]!;
    if (region === 255) {
      if (status !== 1) throw new Error(`${lat}, ${lng} lies outside, but has status ${status}`);
      continue;
    }
    ++inside;
    const { code } = ADMIN_UNITS[region]!;
    const record = records.subarray(20 * i, 20 * i + 19);
    const startsRight = [...`${code}-`].every((letter, at) => record[at] === letter.charCodeAt(0));
    if (status !== 0 || !startsRight || decoded.status[i] !== 0 || decoded.resolution[i] !== resolution)
      throw new Error(
        `${lat}, ${lng} in ${code} at resolution ${resolution}: status ${status}, record ` +
          `${String.fromCharCode(...record)}, read back with status ${decoded.status[i]}`,
      );
  }
  return inside;
}
