// The zones of the visitor, in the storage of the page until they are removed; and how their cells are chosen.
import { keep, kept, Value, ZONES_KEY } from '../shell/value.js';
import {
  type Corner,
  cornerAt,
  faultOf,
  MAX_CORNERS,
  MAX_ZONES,
  ringOf,
  tidyName,
  uniqueName,
  type Zone,
} from './zone.js';
import type { CoverTask } from './zone-list.js';

/** As of `hexcodes cover`. */
const DEFAULT_COVER_RESOLUTION = 9;

export interface ZoneSettings {
  /** 0 to 15. */
  readonly resolution: number;
  readonly isCompact: boolean;
}

interface Kept extends ZoneSettings {
  readonly zones: readonly Zone[];
}

const NONE: Kept = { zones: [], resolution: DEFAULT_COVER_RESOLUTION, isCompact: true };

/** The content of the storage, which others may have written. Entries that are not zones are left out. */
export function readKept(text: string | null): Kept {
  let given: unknown;
  try {
    given = JSON.parse(text ?? '');
  } catch {
    return NONE;
  }
  const { zones, resolution, isCompact } = (given ?? {}) as Record<string, unknown>;
  const read: Zone[] = [];
  for (const each of Array.isArray(zones) ? zones : []) {
    const zone = zoneOf(
      each,
      read.map(({ name }) => name),
    );
    if (zone !== undefined && read.length < MAX_ZONES && !read.some(({ id }) => id === zone.id))
      read.push(zone);
  }
  return {
    zones: read,
    resolution: isResolution(resolution) ? resolution : NONE.resolution,
    isCompact: isCompact !== false,
  };
}

const isResolution = (given: unknown): given is number =>
  Number.isInteger(given) && (given as number) >= 0 && (given as number) <= 15;

function zoneOf(given: unknown, names: readonly string[]): Zone | undefined {
  const { id, name, corners } = (given ?? {}) as Record<string, unknown>;
  if (typeof id !== 'string' || typeof name !== 'string' || !Array.isArray(corners)) return undefined;
  if (corners.length > MAX_CORNERS || !corners.every(isCorner)) return undefined;
  const read = corners.map(([lng, lat]) => cornerAt(lat, lng));
  const tidy = tidyName(name);
  return tidy === '' || faultOf(read) !== undefined
    ? undefined
    : { id, name: uniqueName(tidy, names), corners: read };
}

function isCorner(given: unknown): given is Corner {
  if (!Array.isArray(given) || given.length !== 2) return false;
  const [lng, lat] = given as unknown[];
  return typeof lng === 'number' && typeof lat === 'number' && Math.abs(lng) <= 180 && Math.abs(lat) <= 90;
}

const { zones: keptBefore, ...settingsBefore } = readKept(kept(ZONES_KEY));
export const zones = new Value<readonly Zone[]>(keptBefore);
export const zoneSettings = new Value<ZoneSettings>(settingsBefore);

// Zones of another tab come at once, so that what is kept here next has them too.
addEventListener('storage', ({ key }) => {
  if (key !== ZONES_KEY && key !== null) return;
  const { zones: others, ...settings } = readKept(kept(ZONES_KEY));
  zoneSettings.set(settings);
  zones.set(others);
});

/** The current zones, in their order, as a worker lists their codes. */
export const zonesToCover = (): Omit<CoverTask, 'paths'> => ({
  zones: zones.now.map((zone) => ({ name: zone.name, ring: ringOf(zone) })),
  ...zoneSettings.now,
});

/** Sets the zones. @returns whether the browser keeps them beyond this visit */
export function keepZones(next: readonly Zone[]): boolean {
  zones.set(next);
  return write();
}

export function keepSettings(next: ZoneSettings): boolean {
  zoneSettings.set(next);
  return write();
}

function write(): boolean {
  const { resolution, isCompact } = zoneSettings.now;
  const text = JSON.stringify({ zones: zones.now, resolution, isCompact });
  keep(ZONES_KEY, zones.now.length === 0 ? '' : text);
  return zones.now.length === 0 || kept(ZONES_KEY) === text;
}
