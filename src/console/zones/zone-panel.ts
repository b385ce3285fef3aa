// The panel of zones that are drawn by hand. All that it needs comes when it is first opened, or when zones are kept.
import type { Desk } from '../desk.js';
import type { Panel } from '../panels.js';
import { withStyle } from '../shell/styles.js';
import { kept } from '../shell/value.js';
import { ZONES_KEY } from './storage-key.js';

export const ZONE_PANEL: Panel = {
  id: 'zones',
  title: 'zones',
  open: async (host, desk) => (await withStyle(import('./open-zones.js'))).openZones(host, desk),
};

/** Zones of an earlier visit are on the map from the beginning. */
export function openKeptZones(desk: Desk): void {
  if ((kept(ZONES_KEY) ?? '') === '') return;
  // Without a network the panel tries again.
  withStyle(import('./open-zones.js')).then(
    ({ overlayOf }) => overlayOf(desk),
    () => undefined,
  );
}
