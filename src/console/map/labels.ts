// The names on the map, as HTML over it: the provinces where there is space, and the archipelagos and the sea.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { element } from '../shell/elements.js';
import { language, say } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import type { Label } from './shapes.js';

interface Name {
  readonly node: HTMLElement;
  readonly lng: number;
  readonly lat: number;
  /** Width of the text; 0 before it is measured. */
  width: number;
}

const AT_SEA: readonly { key: TextKey; lng: number; lat: number }[] = [
  { key: 'hoangSa', lng: 112.0, lat: 16.1 },
  { key: 'truongSa', lng: 114.2, lat: 9.2 },
  { key: 'eastSea', lng: 112.4, lat: 13.2 },
];

/** Cities of the country: their names have priority. */
const CITIES = ['HN', 'HCM', 'DNG', 'HP', 'CT', 'HUE'];

const HEIGHT_PX = 18;
/** Beyond this scale, in pixels for the world, one is inside a province and its name says nothing. */
const MOST_WORLD_PX = 512 * 2 ** 12;

export class Labels {
  readonly #names: Name[];

  constructor(host: HTMLElement, labels: readonly Label[]) {
    const box = element('div', { class: 'labels', attributes: { 'aria-hidden': 'true' } });
    const weight = ({ admin, space }: Label): number =>
      space + (CITIES.includes(ADMIN_UNITS[admin]?.code ?? '') ? 10 : 0);
    const bySpace = [...labels].sort((a, b) => weight(b) - weight(a));
    const provinces = bySpace.map(({ admin, lng, lat }) => ({
      node: element('span', { class: 'label', text: ADMIN_UNITS[admin]?.name ?? '' }),
      lng,
      lat,
      width: 0,
    }));
    const waters = AT_SEA.map(({ key, lng, lat }) => ({
      node: element('span', { class: 'label at-sea', text: say(key) }),
      lng,
      lat,
      width: 0,
    }));
    language.on(() => {
      AT_SEA.forEach(({ key }, i) => {
        const name = waters[i] as Name;
        name.node.textContent = say(key);
        name.width = 0;
      });
    });
    this.#names = [...waters, ...provinces];
    box.append(...this.#names.map(({ node }) => node));
    host.append(box);
  }

  /** Lays the names out. @param project degrees to pixels @param worldPx width of the world in pixels */
  place(project: (lng: number, lat: number) => { x: number; y: number }, worldPx: number): void {
    const taken: { x: number; y: number; width: number }[] = [];
    for (const name of this.#names) {
      if (name.width === 0) name.width = name.node.offsetWidth;
      const { x, y } = project(name.lng, name.lat);
      const { width } = name;
      const isFree = taken.every(
        (other) => Math.abs(other.x - x) > (other.width + width) / 2 + 4 || Math.abs(other.y - y) > HEIGHT_PX,
      );
      const isShown = isFree && worldPx < MOST_WORLD_PX;
      name.node.classList.toggle('is-shown', isShown);
      if (!isShown) continue;
      taken.push({ x, y, width });
      name.node.style.transform = `translate(${(x - width / 2).toFixed(1)}px, ${(y - HEIGHT_PX / 2).toFixed(1)}px)`;
    }
  }
}
