// The panel of the fleet. All that it needs comes when it is first opened.
import type { Panel } from '../panels.js';
import { withStyle } from '../shell/styles.js';

export const FLEET_PANEL: Panel = {
  id: 'fleet',
  title: 'fleet',
  open: async (host, desk) => (await withStyle(import('./open-fleet.js'))).openFleet(host, desk),
};
