// The panels beside the map. Each is an entry of a list in main.ts; its content is made when it is first opened.
import type { Desk } from './desk.js';
import { byId, element, scrollTo, toast, withStyle } from './shell/elements.js';
import { loadH3 } from './shell/h3.js';
import { kept, once, ZONES_KEY } from './shell/value.js';
import { say } from './words/language.js';
import type { TextKey } from './words/texts.js';

/** Where the panels are in a sheet below the map (style/2-layout.css). */
const NARROW = '(max-width: 52rem)';

export interface Panel {
  /** Id of its elements: `panel-ID` and `tab-ID`. */
  readonly id: string;
  readonly title: TextKey;
  /** Fills the panel; called once. */
  open(host: HTMLElement, desk: Desk): void | Promise<void>;
}

export interface Panels {
  /** Shows a panel. */
  show(id: string): void;
}

/** Makes a tab for each panel and shows the first; a single panel has no tab. */
export function openPanels(panels: readonly Panel[], desk: Desk): Panels {
  const tabs = byId('tabs');
  const host = byId('panels');
  const opened = new Set<string>();
  const parts = panels.map((panel) => {
    const tab = element('button', {
      key: panel.title,
      type: 'button',
      role: 'tab',
      id: `tab-${panel.id}`,
      'aria-controls': `panel-${panel.id}`,
      on: {
        click: () => {
          show(panel.id);
          // On a phone the sheet below the map shows little, so the chosen panel scrolls to its top.
          if (matchMedia(NARROW).matches) scrollTo(tabs);
        },
      },
    });
    const body = element('div', {
      class: 'panel',
      id: `panel-${panel.id}`,
      role: 'tabpanel',
      'aria-labelledby': `tab-${panel.id}`,
    });
    return { panel, tab, body };
  });

  const show = (id: string): void => {
    for (const { panel, tab, body } of parts) {
      const isShown = panel.id === id;
      tab.setAttribute('aria-selected', String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      body.hidden = !isShown;
      if (!isShown || opened.has(id)) continue;
      opened.add(id);
      const note = element('p', { class: 'soft', key: 'loading', role: 'status' });
      body.append(note);
      // Loading may fail, as without a network: the next click retries.
      Promise.resolve(panel.open(body, desk))
        .catch((error: unknown) => {
          console.error(error);
          opened.delete(id);
          toast(say('failed'));
        })
        .finally(() => note.remove());
    }
  };

  tabs.addEventListener('keydown', ({ key }) => {
    const at = parts.findIndex(({ tab }) => tab === document.activeElement);
    const last = parts.length - 1;
    const to = {
      ArrowRight: at === last ? 0 : at + 1,
      ArrowLeft: at === 0 ? last : at - 1,
      Home: 0,
      End: last,
    }[key];
    if (to === undefined || at < 0) return;
    const next = parts[to] as (typeof parts)[number];
    show(next.panel.id);
    next.tab.focus();
  });
  tabs.append(...parts.map(({ tab }) => tab));
  host.append(...parts.map(({ body }) => body));
  tabs.hidden = parts.length < 2;
  if (tabs.hidden) for (const { body } of parts) body.removeAttribute('role');
  if (panels[0] !== undefined) show(panels[0].id);
  return { show };
}

// The panel for files, and files dropped anywhere on the page. Everything else is loaded when the panel is first
// opened.

export const FILE_PANEL: Panel = {
  id: 'file',
  title: 'file',
  open: async (host, desk) => {
    const { FileDesk } = await withStyle(import('./file/file-desk.js'));
    const files = new FileDesk(desk);
    host.append(...files.elements());
    take = (dropped) => files.convertFiles(dropped);
    if (early.length > 0) take(early);
    early = [];
  },
};

/** Accepts dropped files, once the panel is open. */
let take: ((files: readonly File[]) => void) | undefined;
/** Files dropped before that. */
let early: File[] = [];

/** Files that are dropped anywhere on the page open the panel. */
export function openDrops(showPanel: () => void): void {
  const isFile = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true;
  document.addEventListener('dragover', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    document.body.classList.add('is-dropping');
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) document.body.classList.remove('is-dropping');
  });
  document.addEventListener('drop', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    document.body.classList.remove('is-dropping');
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    showPanel();
    if (take === undefined) early.push(...files);
    else take(files);
  });
}

// The panel of the fleet. Its code is loaded when it is first opened.

export const FLEET_PANEL: Panel = {
  id: 'fleet',
  title: 'fleet',
  open: async (host, desk) => (await withStyle(import('./fleet/open-fleet.js'))).openFleet(host, desk),
};

// The panel of downloads and print, and the printed page. Their code is loaded when the panel is first opened, or a
// place is chosen that may be printed.

export const TAKE_AWAY_PANEL: Panel = {
  id: 'take-away',
  title: 'takeAway',
  open: async (host, desk) => {
    await loadH3();
    (await withStyle(import('./take-away/open-take-away.js'))).openTakeAway(host, desk);
  },
};

/** Makes the page itself print as the sheet of its place. */
export function openPrinting(desk: Desk): void {
  // Browsers do not wait before they print, so the code is loaded in advance.
  const load = once(async () =>
    (await withStyle(import('./take-away/open-take-away.js'))).openPrinting(desk),
  );
  const open = (): void => {
    // The map is loaded before it.
    if (desk.place.now !== undefined && desk.map.now !== undefined) load().catch(() => undefined);
  };
  desk.place.on(open);
  desk.map.on(open);
}

// The panel of zones drawn by hand. Its code is loaded when it is first opened, or when there are stored zones.

export const ZONE_PANEL: Panel = {
  id: 'zones',
  title: 'zones',
  open: async (host, desk) => (await withStyle(import('./zones/open-zones.js'))).openZones(host, desk),
};

/** Shows zones of an earlier visit from the beginning. */
export function openKeptZones(desk: Desk): void {
  if ((kept(ZONES_KEY) ?? '') === '') return;
  // Without a network the panel tries again.
  withStyle(import('./zones/open-zones.js')).then(
    ({ overlayOf }) => overlayOf(desk),
    () => undefined,
  );
}

// The sheet below the map on a phone: dragged by its upper edge between three heights, or moved by arrow keys
// (style/2-layout.css).

/** From the lowest: the box and the code; room for a panel; all but a strip of the map. */
const HEIGHTS = ['low', 'middle', 'high'] as const;
/** Longest movement of a finger that counts as a tap. */
const TAP_PX = 5;

export function openSheet(): void {
  const desk = byId('desk');
  const edge = byId('sheet-edge');
  let now = 1;
  const set = (next: number): void => {
    now = Math.max(0, Math.min(HEIGHTS.length - 1, next));
    desk.dataset.height = HEIGHTS[now];
    edge.setAttribute('aria-valuenow', String(now));
  };
  set(now);

  let from: { y: number; height: number } | undefined;
  edge.addEventListener('pointerdown', (event) => {
    edge.setPointerCapture(event.pointerId);
    from = { y: event.clientY, height: desk.clientHeight };
  });
  edge.addEventListener('pointermove', ({ clientY }) => {
    if (from !== undefined) desk.style.height = `${from.height + from.y - clientY}px`;
  });
  const drop = ({ clientY }: PointerEvent): void => {
    if (from === undefined) return;
    const isTap = Math.abs(clientY - from.y) < TAP_PX;
    const dropped = from.height + from.y - clientY;
    from = undefined;
    desk.style.height = '';
    if (isTap) {
      set((now + 1) % HEIGHTS.length);
      return;
    }
    const far = HEIGHTS.map((_, height) => {
      set(height);
      return Math.abs(desk.clientHeight - dropped);
    });
    set(far.indexOf(Math.min(...far)));
  };
  edge.addEventListener('pointerup', drop);
  edge.addEventListener('pointercancel', drop);
  edge.addEventListener('keydown', (event) => {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    set(now + step);
  });
}
