// Zones out of a file of GeoJSON, as other programs draw them. An area that cannot be a zone is named with the reason.

import { parseExact, repeatedMember } from '../../hexcodes/wire/params/json-grammar.js';
import { otherSystem } from '../../hexcodes/wire/rows/coordinate-system.js';
import { isGeometry, mattersInGeoJson, otherSystemOf, shapeOfGeoJson } from '../../tables/shapes/shapes.js';
import type { TextKey } from '../words/texts.js';
import {
  type Corner,
  cornerAt,
  faultOf,
  MAX_CORNERS,
  MAX_ZONES,
  tidyName,
  uniqueName,
  type Zone,
} from './zone.js';

export interface Imported {
  readonly zones: readonly Omit<Zone, 'id'>[];
  readonly refused: readonly { readonly name: string; readonly reason: TextKey }[];
}

/** Properties that name an area, in their order. */
const NAMES = ['name', 'Name', 'NAME', 'ten', 'Tên', 'title', 'zone', 'id'];

type Members = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * @param taken names of the zones that are there
 * @param usual the name of an area without one, by its number from 1
 * @returns undefined for what is not GeoJSON
 */
export function importedZones(
  text: string,
  taken: readonly string[],
  usual: (zone: number) => string,
): Imported | undefined {
  let whole: unknown;
  try {
    whole = parseExact(text.replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
  if (!isObject(whole)) return undefined;
  const twice = repeatedMember(text, mattersInGeoJson(NAMES));
  if (twice !== undefined) return { zones: [], refused: [{ name: twice, reason: 'zoneTwice' }] };
  const features =
    whole.type === 'FeatureCollection' && Array.isArray(whole.features) ? whole.features : [whole];
  const zones: Omit<Zone, 'id'>[] = [];
  const refused: { name: string; reason: TextKey }[] = [];
  for (const feature of features) {
    if (!isObject(feature) || !(feature.type === 'Feature' || isGeometry(feature))) return undefined;
    const properties = isObject(feature.properties) ? feature.properties : {};
    const given = [...NAMES.map((name) => properties[name]), feature.id].find(
      (name) => ['string', 'number', 'bigint'].includes(typeof name) && tidyName(String(name)) !== '',
    );
    const bare = given === undefined ? usual(taken.length + zones.length + 1) : tidyName(String(given));
    const geometry = isGeometry(feature) ? feature : feature.geometry;
    const { polygons = [] } = shapeOfGeoJson(geometry) ?? {};
    const hasOtherSystem =
      otherSystem(whole.crs) !== null ||
      otherSystemOf({ coordRefSys: whole.coordRefSys, ...feature }) !== null;
    if (polygons.length === 0) refused.push({ name: bare, reason: 'zoneNoArea' });
    for (const rings of polygons) {
      const corners = cornersOf(rings[0] ?? []);
      const reason = hasOtherSystem ? 'zoneOtherSystem' : rings.length > 1 ? 'zoneHoles' : faultIn(corners);
      const isFull = taken.length + zones.length >= MAX_ZONES;
      if (reason !== undefined || isFull) {
        refused.push({ name: bare, reason: reason ?? 'zonesFull' });
        continue;
      }
      const name = uniqueName(bare, [...taken, ...zones.map((zone) => zone.name)]);
      zones.push({ name, corners });
    }
  }
  return { zones, refused };
}

/** The corners of a flat ring, which is closed in GeoJSON. */
function cornersOf(ring: readonly number[]): Corner[] {
  const corners: Corner[] = [];
  for (let at = 0; at + 1 < ring.length; at += 2) {
    const corner = cornerAt(ring[at + 1]!, ring[at]!);
    const last = corners.at(-1);
    if (last === undefined || last[0] !== corner[0] || last[1] !== corner[1]) corners.push(corner);
  }
  const [first, last] = [corners[0], corners.at(-1)];
  if (corners.length > 1 && first![0] === last![0] && first![1] === last![1]) corners.pop();
  return corners;
}

function faultIn(corners: readonly Corner[]): TextKey | undefined {
  if (!corners.every(([lng, lat]) => Math.abs(lng) <= 180 && Math.abs(lat) <= 90)) return 'zoneOtherSystem';
  return corners.length > MAX_CORNERS ? 'zoneFull' : faultOf(corners);
}
