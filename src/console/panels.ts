// The panels beside the map. Each is an entry of a list in main.ts; its content is made when it is first opened.
import type { Desk } from './desk.js';
import { byId, element, scrollTo, toast } from './shell/elements.js';
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
      attributes: {
        type: 'button',
        role: 'tab',
        id: `tab-${panel.id}`,
        'aria-controls': `panel-${panel.id}`,
      },
      on: {
        click: () => {
          show(panel.id);
          // On a phone the sheet below the map shows little: what was chosen goes to its top.
          if (matchMedia(NARROW).matches) scrollTo(tabs);
        },
      },
    });
    const body = element('div', {
      class: 'panel',
      attributes: { id: `panel-${panel.id}`, role: 'tabpanel', 'aria-labelledby': `tab-${panel.id}` },
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
      const note = element('p', { class: 'soft', key: 'loading', attributes: { role: 'status' } });
      body.append(note);
      // Its files may not come, as without a network: the next click tries again.
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
