// Opens the map after the rest of the page: by WebGL where the browser has it, else drawn on a canvas.
import { COUNTRY, type Desk, type MapView } from '../desk.js';
import { byId, element, toast } from '../shell/elements.js';
import { loadStyle, withStyle } from '../shell/styles.js';
import { bytesOf, shipped } from '../shipped.js';
import { say } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import type { Inset } from './inset.js';
import type { Shapes } from './shapes.js';
import type { ShapesRequest } from './worker.js';

/** Towns and rivers: data/README.md. */
const OTHER_SOURCES = '© GeoNames, CC BY 4.0 · GSHHG, LGPL 3';

/** On the element of the map: `webgl` or `flat` once it is drawn. */
export async function openMap(desk: Desk): Promise<void> {
  const host = byId('map');
  const hasWebgl = document.createElement('canvas').getContext('webgl2') !== null;
  const library = hasWebgl ? import('./webgl-map.js') : undefined;
  // Its failure is met where it is awaited.
  library?.catch(() => undefined);
  const shapes = await loadShapes();
  byId('credit').textContent = [shipped.basemap?.attribution, shapes.notice, OTHER_SOURCES]
    .filter(Boolean)
    .join(' · ');
  let map: MapView | undefined;
  if (library !== undefined) {
    try {
      const [{ openWebglMap }] = await Promise.all([library, loadStyle('mapStyle')]);
      map = await openWebglMap(host, desk, shapes);
      host.dataset.state = 'webgl';
    } catch (error) {
      // A browser may have WebGL and refuse it in the end.
      console.warn(error);
      host.replaceChildren();
      host.removeAttribute('class');
    }
  }
  if (map === undefined) {
    const { openFlatMap } = await import('./flat-map.js');
    map = openFlatMap(host, desk, shapes);
    host.dataset.state = 'flat';
  }
  openControls(map);
  openLayers(host.parentElement!, desk, host.dataset.state === 'flat');
  countPoints(host.parentElement!, desk, map);
  comeNear(host.parentElement!, desk, shapes, map);
  desk.map.set(map);
  // A click that came while the map was being drawn is where it was made.
  const place = desk.place.now;
  if (place !== undefined && place.isClicked !== true) map.show(place);
}

async function loadShapes(): Promise<Shapes> {
  const [index, land, rivers] = await Promise.all([bytesOf('index'), bytesOf('land'), bytesOf('rivers')]);
  const worker = new Worker(shipped.files.mapWorker, { type: 'module' });
  const shapes = await new Promise<Shapes>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Shapes>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    const request: ShapesRequest = { index, land, rivers };
    worker.postMessage(request, [index.buffer, land.buffer, rivers.buffer]);
  });
  worker.terminate();
  return shapes;
}

/** The buttons on the map: nearer, farther, the whole country; and the cross in its middle, at which Enter chooses. */
function openControls(map: MapView): void {
  const button = (label: TextKey, sign: string, run: () => void): HTMLElement =>
    element('button', { text: sign, label, attributes: { type: 'button' }, on: { click: run } });
  const frame = byId('map').parentElement;
  frame?.append(
    element(
      'div',
      { class: 'map-buttons' },
      button('zoomIn', '+', () => map.zoomBy(1)),
      button('zoomOut', '−', () => map.zoomBy(-1)),
      button('wholeCountry', '⌂', () => map.showBox(COUNTRY)),
    ),
    element('div', { class: 'cross', attributes: { 'aria-hidden': 'true' } }),
    element('p', { class: 'hidden-hint', key: 'mapHint', attributes: { id: 'map-hint' } }),
  );
}

/** Views that are wider, degrees, show by themselves where they are. */
const MAX_VIEW_DEG = 3;

/** Shows the small map of the country while the view is near; it comes with the first such view. */
function comeNear(frame: HTMLElement, desk: Desk, shapes: Shapes, map: MapView): void {
  let inset: Promise<Inset> | undefined;
  const update = (): void => {
    const { west, east } = map.bounds();
    const isNear = east - west < MAX_VIEW_DEG;
    if (isNear) inset ??= import('./inset.js').then(({ openInset }) => openInset(frame, desk, shapes, map));
    // Without a network it stays away.
    inset?.then(({ show }) => show(isNear)).catch(() => undefined);
  };
  update();
  map.onMove(update);
}

/** The switch of layers, whose choices come when it is first opened. */
function openLayers(frame: HTMLElement, desk: Desk, isFlat: boolean): void {
  const choices = element('div', { class: 'menu' });
  const fold = element('details', { class: 'layers' }, element('summary', { key: 'layers' }), choices);
  let asked = false;
  fold.addEventListener('toggle', () => {
    if (asked) return;
    asked = true;
    withStyle(import('./layer-switch.js')).then(
      ({ layerChoices }) => choices.append(...layerChoices(desk, isFlat)),
      () => {
        asked = false;
        toast(say('failed'));
      },
    );
  });
  frame.append(fold);
}

/** Counting by hexagon comes with the first points. */
function countPoints(frame: HTMLElement, desk: Desk, map: MapView): void {
  let isAsked = false;
  desk.points.each((points) => {
    if (points === undefined || isAsked) return;
    isAsked = true;
    withStyle(import('../points/open-counts.js')).then(
      ({ openCounts }) => openCounts(frame, byId('panels'), desk, map),
      () => {
        isAsked = false;
        toast(say('failed'));
      },
    );
  });
}
