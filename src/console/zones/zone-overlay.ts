// The zones on the map, and the one that is being drawn: a picture over either way of drawing the map. While one draws,
// what is pressed on the map comes here first.

import type { Desk, MapView } from '../desk.js';
import { button, byId, element, focusMap, svg } from '../shell/elements.js';
import { language, number, say } from '../words/language.js';
import { zones } from './kept-zones.js';
import { type Corner, cornerAt, faultOf, MAX_CORNERS, type Zone, zoneCss } from './zone.js';

/** Shortest movement of a finger that moves the map. */
const TAP_PX = 6;
const CORNER_PX = 5;
/** A press as near as this to the first corner closes the outline. */
const CLOSING_PX = 14;

/** Pixels that a press of an arrow key moves a corner by. */
const KEY_STEP_PX = 4;
const ARROWS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

interface Drawing {
  readonly corners: Corner[];
  readonly end: (corners: readonly Corner[] | undefined) => void;
  /** The zone whose corners are moved; absent of a new one. */
  readonly zone?: Zone;
}

export class ZoneOverlay {
  readonly #picture = svg('svg', { class: 'zone-picture', 'aria-hidden': 'true' });
  readonly #bar = element('div', { class: 'zone-bar', label: 'zoneDrawing', role: 'group' });
  readonly #status = element('p', { id: 'zone-status', role: 'status' });
  /** Corners that can be moved, in their order. */
  readonly #handles = element('div', { class: 'zone-handles' });
  readonly #frame: HTMLElement;
  #drawing: Drawing | undefined;
  /** Positions of the pointer over the map, and of the last press. */
  #pointer: { x: number; y: number } | undefined;
  #pressed: { x: number; y: number } | undefined;
  /** Why the outline cannot be completed, until it changes. */
  #fault = '';

  constructor(private readonly desk: Desk) {
    const map = byId('map');
    this.#frame = map.parentElement!;
    map.after(this.#picture);
    this.#bar.append(
      this.#status,
      button('zoneCorner', { id: 'zone-corner' }, () => this.#addMiddle()),
      button('zoneUndo', { id: 'zone-undo' }, () => this.#undo()),
      button('zoneEnd', { class: 'strong', id: 'zone-end' }, () => this.#finish()),
      button('zoneCancel', { id: 'zone-cancel' }, () => this.#end(undefined)),
    );
    this.#listen(map);
    desk.map.each((view) => view?.onMove(() => this.#draw()));
    zones.each(() => this.#draw());
    language.on(() => this.#say());
  }

  /**
   * Lets the visitor draw an outline.
   * @param end called with its corners; undefined after a cancellation
   */
  draw(end: Drawing['end']): void {
    this.#begin({ corners: [], end });
    focusMap();
  }

  /** Lets the visitor move the corners of a zone. @param end as of `draw` */
  edit(zone: Zone, end: Drawing['end']): void {
    this.#begin({ corners: [...zone.corners], end, zone });
    this.#handles.replaceChildren(...zone.corners.map((_, corner) => this.#handle(corner)));
    this.#frame.append(this.#handles);
    this.#draw();
    this.#handles.querySelector('button')?.focus();
  }

  #begin(drawing: Drawing): void {
    this.#drawing?.end(undefined);
    this.#handles.remove();
    this.#drawing = drawing;
    this.desk.isDrawing.set(true);
    this.#frame.classList.add('is-drawing');
    this.#frame.append(this.#bar);
    for (const button of this.#bar.querySelectorAll<HTMLElement>('#zone-corner, #zone-undo'))
      button.hidden = drawing.zone !== undefined;
    this.#say();
  }

  /** A corner that is dragged, or moved by arrow keys. */
  #handle(corner: number): HTMLElement {
    const handle = element('button', { class: 'zone-handle' });
    handle.setAttribute('aria-label', say('zoneCornerOf', { corner: corner + 1 }));
    const moveTo = (x: number, y: number): void => {
      const { lat, lng } = this.desk.map.now!.positionAt(x, y);
      this.#drawing!.corners[corner] = cornerAt(lat, lng);
      this.#say();
    };
    handle.addEventListener('pointerdown', ({ pointerId }) => handle.setPointerCapture(pointerId));
    handle.addEventListener('pointermove', ({ pointerId, clientX, clientY }) => {
      if (!handle.hasPointerCapture(pointerId)) return;
      const { left, top } = this.#frame.getBoundingClientRect();
      moveTo(clientX - left, clientY - top);
    });
    handle.addEventListener('keydown', (event) => {
      const step = ARROWS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const [lng, lat] = this.#drawing!.corners[corner]!;
      const { x, y } = this.desk.map.now!.project(lng, lat);
      moveTo(x + KEY_STEP_PX * step[0], y + KEY_STEP_PX * step[1]);
    });
    return handle;
  }

  #listen(map: HTMLElement): void {
    // Handles the event before the map.
    const capture = <K extends keyof HTMLElementEventMap>(
      name: K,
      listener: (event: HTMLElementEventMap[K]) => void,
    ): void =>
      map.addEventListener(name, (event) => this.#isNew && listener(event), {
        capture: true,
      });
    const at = ({ clientX, clientY }: MouseEvent): { x: number; y: number } => {
      const { left, top } = map.getBoundingClientRect();
      return { x: clientX - left, y: clientY - top };
    };
    capture('pointerdown', (event) => {
      this.#pressed = event.isPrimary ? at(event) : undefined;
    });
    capture('pointermove', (event) => {
      if (event.pointerType === 'touch') return;
      this.#pointer = at(event);
      this.#draw();
    });
    capture('pointerleave', () => {
      this.#pointer = undefined;
      this.#draw();
    });
    capture('click', (event) => {
      event.stopPropagation();
      const { x, y } = at(event);
      const moved = this.#pressed === undefined ? 0 : Math.hypot(x - this.#pressed.x, y - this.#pressed.y);
      // The second click of a double one is its end, not a corner.
      if (moved <= TAP_PX && event.detail < 2) this.#press(x, y);
    });
    capture('dblclick', (event) => {
      event.stopPropagation();
      event.preventDefault();
      this.#finish();
    });
    this.#frame.addEventListener(
      'keydown',
      (event) => {
        if (this.#drawing === undefined) return;
        const isOnMap = this.#isNew && map.contains(event.target as Node);
        const run = {
          Escape: () => this.#end(undefined),
          ...(isOnMap
            ? {
                Enter: () => this.#finish(),
                ' ': () => this.#addMiddle(),
                Backspace: () => this.#undo(),
              }
            : {}),
        }[event.key];
        if (run === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        run();
      },
      { capture: true },
    );
  }

  /** Whether an outline is drawn, of which presses on the map are corners. */
  get #isNew(): boolean {
    return this.#drawing !== undefined && this.#drawing.zone === undefined;
  }

  #press(x: number, y: number): void {
    const view = this.desk.map.now;
    const { corners } = this.#drawing!;
    if (view === undefined) return;
    if (corners.length >= 3) {
      const first = view.project(corners[0]![0], corners[0]![1]);
      if (Math.hypot(first.x - x, first.y - y) <= CLOSING_PX) {
        this.#finish();
        return;
      }
    }
    const { lat, lng } = view.positionAt(x, y);
    this.#add(lat, lng);
  }

  #addMiddle(): void {
    const { lat, lng } = this.desk.map.now!.center();
    this.#add(lat, lng);
  }

  #add(latDeg: number, lngDeg: number): void {
    const { corners } = this.#drawing!;
    const corner = cornerAt(latDeg, lngDeg);
    const last = corners.at(-1);
    if (last !== undefined && last[0] === corner[0] && last[1] === corner[1]) return;
    if (corners.length === MAX_CORNERS) {
      this.#say(say('zoneFull', { corners: number(MAX_CORNERS) }));
      return;
    }
    corners.push(corner);
    this.#say();
  }

  #undo(): void {
    this.#drawing!.corners.pop();
    this.#say();
  }

  #finish(): void {
    const { corners } = this.#drawing!;
    const fault = faultOf(corners);
    if (fault === undefined) this.#end(corners);
    else this.#say(say(fault));
  }

  #end(corners: readonly Corner[] | undefined): void {
    const drawing = this.#drawing;
    this.#drawing = undefined;
    this.#pointer = undefined;
    this.#frame.classList.remove('is-drawing');
    this.#bar.remove();
    this.#handles.remove();
    this.#draw();
    drawing?.end(corners);
    // The click that has completed it is not one for the map.
    setTimeout(() => this.desk.isDrawing.set(this.#drawing !== undefined));
  }

  /** @param fault why the outline cannot be completed; '' after a change */
  #say(fault = ''): void {
    this.#fault = fault;
    this.#draw();
  }

  #draw(): void {
    const view = this.desk.map.now;
    if (view === undefined) return;
    const moved = this.#drawing?.zone === undefined ? undefined : this.#drawing;
    const parts = zones.now.flatMap(({ id, corners }, zone) =>
      outline(view, id === moved?.zone?.id ? moved.corners : corners, zone),
    );
    if (moved !== undefined) {
      this.#status.textContent = this.#fault || say('zoneMove');
      [...this.#handles.children].forEach((handle, corner) => {
        const { x, y } = view.project(...moved.corners[corner]!);
        (handle as HTMLElement).style.translate = `calc(${x}px - 50%) calc(${y}px - 50%)`;
      });
    } else if (this.#drawing !== undefined) {
      const { corners } = this.#drawing;
      this.#status.textContent =
        this.#fault ||
        (corners.length === 0
          ? say('zoneHow')
          : say(corners.length === 1 ? 'zoneCornerOne' : 'zoneCorners', { corners: number(corners.length) }));
      parts.push(...this.#open(view, corners));
    }
    this.#picture.replaceChildren(...parts);
    this.#picture.dataset.zones = String(zones.now.length);
  }

  /** The outline as far as it goes, with a line to the pointer. */
  #open(view: MapView, corners: readonly Corner[]): SVGElement[] {
    const points = corners.map(([lng, lat]) => view.project(lng, lat));
    const ahead = this.#pointer === undefined ? [] : [this.#pointer];
    const made = [
      svg('polygon', { class: 'zone-open', points: pairs([...points, ...ahead]) }),
      svg('polyline', { class: 'zone-line is-halo', points: pairs(points) }),
      svg('polyline', { class: 'zone-line', points: pairs(points) }),
    ];
    const signs = points.map(({ x, y }, i) =>
      svg('circle', { class: i === 0 ? 'zone-corner is-first' : 'zone-corner', cx: x, cy: y, r: CORNER_PX }),
    );
    return [...made, ...signs];
  }
}

/** A zone with its number in the middle of its corners. */
function outline(view: MapView, corners: readonly Corner[], zone: number): SVGElement[] {
  const points = corners.map(([lng, lat]) => view.project(lng, lat));
  const x = points.reduce((sum, point) => sum + point.x, 0) / points.length;
  const y = points.reduce((sum, point) => sum + point.y, 0) / points.length;
  const area = svg('polygon', { class: 'zone-area', points: pairs(points) });
  area.style.setProperty('--zone', zoneCss(zone));
  const halo = svg('polygon', { class: 'zone-halo', points: pairs(points) });
  return [halo, area, svg('text', { class: 'zone-number', x, y }, String(zone + 1))];
}

const pairs = (points: readonly { x: number; y: number }[]): string =>
  points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
