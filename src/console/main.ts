// The console, the page at `/`: a box for codes that answers before the map is there, panels, and the map.
import type { Desk, MapView } from './desk.js';
import { FILE_PANEL, openDrops } from './file/file-panel.js';
import { loadLibrary } from './load-library.js';
import { openMap } from './map/open-map.js';
import { openPanels } from './panels.js';
import { openCodeBox } from './place/code-box.js';
import type { Place } from './place/place.js';
import { PLACE_PANEL } from './place/place-panel.js';
import { openShareLinks } from './place/share-link.js';
import type { PointsToDraw } from './points/drawn-points.js';
import { toast } from './shell/elements.js';
import { openOffline } from './shell/offline.js';
import { openSwitches } from './shell/switches.js';
import { Value } from './shell/value.js';
import { TAKE_AWAY_PANEL } from './take-away/take-away-panel.js';
import { openLanguage, say } from './words/language.js';

/** The panels, in the order of their tabs. */
const PANELS = [PLACE_PANEL, FILE_PANEL, TAKE_AWAY_PANEL];

openSwitches();
openLanguage();

try {
  const library = await loadLibrary();
  const desk: Desk = {
    library,
    place: new Value<Place | undefined>(undefined),
    rings: new Value(0),
    map: new Value<MapView | undefined>(undefined),
    points: new Value<PointsToDraw | undefined>(undefined),
  };
  const panels = openPanels(PANELS, desk);
  openDrops(() => panels.show(FILE_PANEL.id));
  openCodeBox(desk, (place) => {
    desk.place.set(place);
    desk.map.now?.show(place);
  });
  openShareLinks(desk);
  await openMap(desk);
  openOffline();
} catch (error) {
  console.error(error);
  toast(say('failed'));
}
