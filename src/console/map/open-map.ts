// Opens the map after the rest of the page: by WebGL where the browser has it, else drawn on a canvas.
import type { Desk, MapView } from '../desk.js';
import { byId, element } from '../shell/elements.js';
import { bytesOf, shipped } from '../shipped.js';
import { openControls } from './controls.js';
import type { Shapes } from './shapes.js';
import type { ShapesRequest } from './worker.js';

/** On the element of the map: `webgl` or `flat` once it is drawn. */
export async function openMap(desk: Desk): Promise<void> {
  const host = byId('map');
  const hasWebgl = document.createElement('canvas').getContext('webgl2') !== null;
  const library = hasWebgl ? import('./webgl-map.js') : undefined;
  // Its failure is met where it is awaited.
  library?.catch(() => undefined);
  const shapes = await loadShapes();
  byId('credit').textContent = [shipped.basemap?.attribution, shapes.notice].filter(Boolean).join(' · ');
  let map: MapView | undefined;
  if (library !== undefined) {
    try {
      const [{ openWebglMap }] = await Promise.all([library, loadStyle()]);
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
  desk.map.set(map);
  if (desk.place.now !== undefined) map.show(desk.place.now);
}

async function loadShapes(): Promise<Shapes> {
  const [index, land] = await Promise.all([bytesOf('index'), bytesOf('land')]);
  const worker = new Worker(shipped.files.mapWorker, { type: 'module' });
  const shapes = await new Promise<Shapes>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Shapes>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    const request: ShapesRequest = { index, land };
    worker.postMessage(request, [index.buffer, land.buffer]);
  });
  worker.terminate();
  return shapes;
}

/** The style sheet of the map's library. */
function loadStyle(): Promise<void> {
  return new Promise((resolve, reject) => {
    const link = element('link', { attributes: { rel: 'stylesheet', href: shipped.files.mapStyle } });
    link.addEventListener('load', () => resolve());
    link.addEventListener('error', () => reject(new Error(`${shipped.files.mapStyle} cannot be loaded`)));
    // Before our own, which has the last word.
    document.head.prepend(link);
  });
}
