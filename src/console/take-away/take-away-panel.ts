// The panel of what can be taken away, and the page as it prints. All that they need comes when the panel is first
// opened, or a place is chosen that may be printed.
import type { Desk } from '../desk.js';
import type { Panel } from '../panels.js';
import { loadH3 } from '../shell/h3.js';
import { withStyle } from '../shell/styles.js';

export const TAKE_AWAY_PANEL: Panel = {
  id: 'take-away',
  title: 'takeAway',
  open: async (host, desk) => {
    await loadH3();
    (await withStyle(import('./open-take-away.js'))).openTakeAway(host, desk);
  },
};

/** The page itself prints as the sheet of its place. */
export function openPrinting(desk: Desk): void {
  let isAsked = false;
  const open = (): void => {
    // The map goes before it.
    if (desk.place.now === undefined || desk.map.now === undefined || isAsked) return;
    isAsked = true;
    // Browsers do not wait before they print, so it comes before somebody does.
    withStyle(import('./open-take-away.js')).then(
      (parts) => parts.openPrinting(desk),
      () => {
        isAsked = false;
      },
    );
  };
  desk.place.on(open);
  desk.map.on(open);
}
