// The map of the operator's that a configuration names.
import type { BasemapArchive } from './archive.js';

interface BasemapSettings {
  readonly basemap: string | undefined;
  readonly tilesUrl: string | undefined;
}

/**
 * The archive that is served; undefined: none.
 * @throws Error with one sentence for people
 */
export async function openBasemap({
  basemap,
  tilesUrl,
}: BasemapSettings): Promise<BasemapArchive | undefined> {
  if (basemap === undefined) return undefined;
  if (tilesUrl !== undefined) throw new Error('--basemap and --tiles-url name two maps: give one of them');
  const { BasemapArchive } = await import('./archive.js');
  return BasemapArchive.open(basemap);
}
