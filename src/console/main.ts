// The console, the page at `/`: a box for codes that answers before the map is loaded, panels, and the map.

import { Hexcodes } from '../hexcodes/library/hexcodes.js';
import type { Counts, Desk, Layers, MapView } from './desk.js';
import { openMap, prepareMap } from './map/open-map.js';
import {
  FILE_PANEL,
  FLEET_PANEL,
  openDrops,
  openKeptZones,
  openPanels,
  openPrinting,
  openSheet,
  TAKE_AWAY_PANEL,
  ZONE_PANEL,
} from './panels.js';
import { goTo } from './place/around.js';
import { openCodeBox } from './place/code-box.js';
import { openRecent, openShareLinks } from './place/copy.js';
import type { Place } from './place/place.js';
import { openPlaceBar, openTitle, PLACE_PANEL } from './place/place-panel.js';
import type { DescribedPoints } from './points/drawn-points.js';
import { button, byId, element } from './shell/elements.js';
import { openSwitches } from './shell/switches.js';
import { Value } from './shell/value.js';
import { kernelFiles } from './shell/worker-kernel.js';
import { shipped } from './shipped.js';
import { openLanguage } from './words/language.js';

/**
 * Registers the service worker, by which the page opens without a network after the first visit, and announces new
 * versions. Browsers allow service workers only over https and on this machine.
 */
function openOffline(): void {
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  if (workers === undefined) return;
  const watch = (worker: ServiceWorker | null): void => {
    worker?.addEventListener('statechange', () => {
      // The first installation is not a new version.
      if (worker.state === 'installed' && workers.controller !== null) offerReload('newVersion', 'reload');
    });
  };
  const register = (): void => {
    // Not while the page itself still loads. A browser that refuses leaves the page as it is.
    workers
      .register('service-worker.js')
      .then((registration) =>
        registration.addEventListener('updatefound', () => watch(registration.installing)),
      )
      .catch(() => undefined);
  };
  if (document.readyState === 'complete') register();
  else addEventListener('load', register, { once: true });
}

/** Announces a new version, or data that could not be loaded, until the page is reloaded. */
function offerReload(words: 'newVersion' | 'failed', key: 'reload' | 'retry', kind = ''): void {
  byId('notices').replaceChildren(
    element('span', { key: words }),
    button(key, { class: kind, id: key }, () => location.reload()),
  );
}

/** The panels, in the order of their tabs. */
const PANELS = [PLACE_PANEL, FILE_PANEL, ZONE_PANEL, TAKE_AWAY_PANEL, FLEET_PANEL];

openSwitches();
openSheet();
openLanguage();

const mapParts = prepareMap();

try {
  const files = await kernelFiles(shipped.files);
  const library = await Hexcodes.from(files);
  const desk: Desk = {
    library,
    place: new Value<Place | undefined>(undefined),
    rings: new Value(0),
    isDrawing: new Value(false),
    map: new Value<MapView | undefined>(undefined),
    points: new Value<DescribedPoints | undefined>(undefined),
    // Street names would make codes illegible.
    layers: new Value<Layers>({
      grid: shipped.basemap === null,
      codes: shipped.basemap === null,
      points: false,
      counts: true,
      streets: true,
    }),
    counts: new Value<Counts | undefined>(undefined),
  };
  const panels = openPanels(PANELS, desk);
  openDrops(() => panels.show(FILE_PANEL.id));
  openPlaceBar(desk);
  openRecent(desk);
  openPrinting(desk);
  const box = openCodeBox(desk, (place) => goTo(desk, place));
  openShareLinks(desk, box.look);
  // After it: a title is that of the last entry of the history.
  openTitle(desk);
  await openMap(desk, files.index, mapParts);
  openKeptZones(desk);
  openOffline();
} catch (error) {
  console.error(error);
  offerReload('failed', 'retry', 'strong');
}
