// Opens the map after the rest of the page: drawn on a canvas at first, then by WebGL where the browser has it.
import { COUNTRY, type Desk, type MapView } from '../desk.js';
import { byId, element, loadStyle, toast, withStyle } from '../shell/elements.js';
import { loadH3 } from '../shell/h3.js';
import { once } from '../shell/value.js';
import { bytesOf } from '../shell/worker-kernel.js';
import { shipped } from '../shipped.js';
import { say } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import type { Inset } from './inset.js';
import type { Shapes } from './shapes.js';
import type { ShapesRequest } from './worker.js';

/** Towns and rivers: data/README.md. */
const OTHER_SOURCES = '© GeoNames, CC BY 4.0 · GSHHG, LGPL 3';

/** Scripts and data of the first map. */
export interface MapParts {
  readonly worker: Worker;
  readonly land: Promise<Uint8Array<ArrayBuffer>>;
  readonly rivers: Promise<Uint8Array<ArrayBuffer>>;
  readonly flat: Promise<typeof import('./flat-map.js')>;
}

/** Starts loading: over a slow network each sequential request takes half a second. */
export function prepareMap(): MapParts {
  const worker = new Worker(shipped.files.mapWorker, { type: 'module' });
  const [land, rivers, flat] = [
    bytesOf(shipped.files.land),
    bytesOf(shipped.files.rivers),
    import('./flat-map.js'),
  ];
  // Their failures are handled where they are awaited.
  for (const each of [land, rivers, flat]) each.catch(() => undefined);
  return { worker, land, rivers, flat };
}

/**
 * Opens the plain map first, then loads h3-js, then the map library if the browser has WebGL. The element of the map
 * gets `data-first` once a map is drawn, and finally `data-state`, `webgl` or `flat`.
 */
export async function openMap(desk: Desk, index: Uint8Array, parts: MapParts): Promise<void> {
  const host = byId('map');
  const frame = host.parentElement!;
  const [shapes, { openFlatMap }] = await Promise.all([loadShapes(index, parts), parts.flat]);
  byId('credit').textContent = [shipped.basemap?.attribution, shapes.notice, OTHER_SOURCES]
    .filter(Boolean)
    .join(' · ');
  const first = openFlatMap(host, desk, shapes);
  const { map, use } = exchangeable(first);
  openControls(map);
  comeNear(frame, desk, shapes, map);
  showPlace(desk, map);
  await loadH3();
  openLayers(frame, desk, host);
  countPoints(frame, desk, map);
  desk.map.set(map);
  showPlace(desk, map);
  if (document.createElement('canvas').getContext('webgl2') !== null) {
    try {
      const [{ openWebglMap }] = await Promise.all([import('./webgl-map.js'), loadStyle('mapStyle')]);
      use(await openWebglMap(host, desk, shapes, first));
      host.dataset.state = 'webgl';
      return;
    } catch (error) {
      // A browser may have WebGL and still fail to use it.
      console.warn(error);
      for (const node of host.querySelectorAll('[class^=maplibregl]')) node.remove();
      host.removeAttribute('class');
    }
  }
  first.stay();
  host.dataset.state = 'flat';
}

/** Shows the chosen place, unless a click chose it while the map was being drawn: the click is in view. */
function showPlace(desk: Desk, map: MapView): void {
  const place = desk.place.now;
  if (place !== undefined && place.isClicked !== true) map.show(place);
}

/** A map for the other parts of the page, which another map may replace. */
function exchangeable(first: MapView): { map: MapView; use(next: MapView): void } {
  let now = first;
  const listeners: (() => void)[] = [];
  const onMove: MapView['onMove'] = (listener) => {
    listeners.push(listener);
    now.onMove(listener);
  };
  const map = new Proxy(first, {
    get: (_, name: keyof MapView) => (name === 'onMove' ? onMove : now[name]),
  });
  const use = (next: MapView): void => {
    now = next;
    for (const listener of listeners) {
      next.onMove(listener);
      listener();
    }
  };
  return { map, use };
}

async function loadShapes(index: Uint8Array, { worker, ...parts }: MapParts): Promise<Shapes> {
  const [land, rivers] = await Promise.all([parts.land, parts.rivers]);
  const shapes = await new Promise<Shapes>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Shapes>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    const request: ShapesRequest = { index, land, rivers };
    worker.postMessage(request, [land.buffer, rivers.buffer]);
  });
  worker.terminate();
  return shapes;
}

/** The buttons on the map: nearer, farther, the whole country; and the cross in its middle, at which Enter chooses. */
function openControls(map: MapView): void {
  const button = (label: TextKey, sign: string, run: () => void): HTMLElement =>
    element('button', { text: sign, label, click: run });
  const frame = byId('map').parentElement;
  frame?.append(
    element(
      'div',
      { class: 'map-buttons' },
      button('zoomIn', '+', () => map.zoomBy(1)),
      button('zoomOut', '−', () => map.zoomBy(-1)),
      button('wholeCountry', '⌂', () => map.showBox(COUNTRY)),
    ),
    element('div', { class: 'cross', 'aria-hidden': 'true' }),
    element('p', { class: 'hidden-hint', key: 'mapHint', id: 'map-hint' }),
  );
}

/** Degrees; a wider view shows where it is without the small map. */
const MAX_VIEW_DEG = 3;

/** Shows the small map of the country while the view is near; loaded with the first such view. */
function comeNear(frame: HTMLElement, desk: Desk, shapes: Shapes, map: MapView): void {
  let inset: Promise<Inset> | undefined;
  const update = (): void => {
    const { west, east } = map.bounds();
    const isNear = east - west < MAX_VIEW_DEG;
    if (isNear) inset ??= import('./inset.js').then(({ openInset }) => openInset(frame, desk, shapes, map));
    // Without a network it does not appear.
    inset?.then(({ show }) => show(isNear)).catch(() => undefined);
  };
  update();
  map.onMove(update);
}

/** The switch of layers, whose choices are loaded when it is first opened. */
function openLayers(frame: HTMLElement, desk: Desk, { dataset }: HTMLElement): void {
  const choices = element('div', { class: 'menu' });
  const fold = element('details', { class: 'layers' }, element('summary', { key: 'layers' }), choices);
  const load = once(async () => {
    const { layerChoices } = await withStyle(import('./layer-switch.js'));
    choices.append(...layerChoices(desk, dataset.state === 'flat'));
  });
  fold.addEventListener('toggle', () => load().catch(() => toast(say('failed'))));
  frame.append(fold);
}

/** Counting by hexagon is loaded with the first points. */
function countPoints(frame: HTMLElement, desk: Desk, map: MapView): void {
  const load = once(async () => {
    const { openCounts } = await withStyle(import('../points/open-counts.js'));
    openCounts(frame, byId('panels'), desk, map);
  });
  desk.points.each((points) => {
    if (points !== undefined) load().catch(() => toast(say('failed')));
  });
}
