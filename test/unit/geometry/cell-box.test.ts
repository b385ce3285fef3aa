// Boxes of cells: every position of a cell lies in its box, and the box is no larger than that needs.
import { cellToBoundary, latLngToCell } from 'h3-js';
import { expect, test } from 'vitest';
import { cellBox } from '#dist/hexcodes/geometry/geojson.js';
import { randomFrom } from '../../support/open-world.js';

const EXACT = 1e-9;
const ROUNDING = 2e-7;

/** Points on the great circle between two corners. */
function arc([latA, lngA]: number[], [latB, lngB]: number[], steps: number): [number, number][] {
  const vector = (lat: number, lng: number): number[] => {
    const [phi, lambda] = [(lat * Math.PI) / 180, (lng * Math.PI) / 180];
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
  };
  const [a, b] = [vector(latA!, lngA!), vector(latB!, lngB!)];
  return Array.from({ length: steps + 1 }, (_, i) => {
    const [x, y, z] = a.map((part, axis) => part * (1 - i / steps) + b[axis]! * (i / steps));
    return [(Math.atan2(z!, Math.hypot(x!, y!)) * 180) / Math.PI, (Math.atan2(y!, x!) * 180) / Math.PI];
  });
}

test.each(Array.from({ length: 16 }, (_, resolution) => resolution))('resolution %i', (resolution) => {
  const random = randomFrom(31 + resolution);
  for (let i = 0; i < 300; i++) {
    // Both sides of the equator: cells of resolution 0 and 1 reach beyond it.
    const [lat, lng] = [-10 + 35 * random(), 99 + 20 * random()];
    const cell = latLngToCell(lat, lng, resolution);
    const [west, south, east, north] = cellBox(cell);
    expect(lat >= south && lat <= north && lng >= west && lng <= east).toBe(true);
    const corners = cellToBoundary(cell);
    const outline = corners.flatMap((corner, at) => arc(corner, corners[(at + 1) % corners.length]!, 200));
    const lats = outline.map(([each]) => each);
    const lngs = outline.map(([, each]) => each);
    expect(south).toBeLessThanOrEqual(Math.min(...lats) + EXACT);
    expect(north).toBeGreaterThanOrEqual(Math.max(...lats) - EXACT);
    expect(west).toBeLessThanOrEqual(Math.min(...lngs) + EXACT);
    expect(east).toBeGreaterThanOrEqual(Math.max(...lngs) - EXACT);
    // Between two of its points the outline of a coarse cell rises a little more.
    const missed = resolution < 5 ? 1e-3 : 0;
    expect(south).toBeGreaterThan(Math.min(...lats) - ROUNDING - missed);
    expect(north).toBeLessThan(Math.max(...lats) + ROUNDING + missed);
    expect(west).toBeGreaterThan(Math.min(...lngs) - ROUNDING);
    expect(east).toBeLessThan(Math.max(...lngs) + ROUNDING);
  }
});
