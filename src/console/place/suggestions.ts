// The answers to a text of the box among which one chooses, by touch or by arrows and Enter: with the box they are a
// combobox (WAI-ARIA 1.2), whose focus stays in the box.
import { element } from '../shell/elements.js';

export interface Suggestion {
  readonly title: string;
  /** Its kind or the nearest town, and how far it is; '' is left out. */
  readonly words: readonly string[];
  choose(): void;
}

export class Suggestions {
  readonly #box: HTMLInputElement;
  readonly #host: HTMLElement;
  #list: readonly Suggestion[] = [];
  #rows: readonly HTMLElement[] = [];
  #active = -1;

  /** @param host notes stand in it, too */
  constructor(box: HTMLInputElement, host: HTMLElement) {
    this.#box = box;
    this.#host = host;
    box.setAttribute('role', 'combobox');
    box.setAttribute('aria-autocomplete', 'list');
    this.clear();
    box.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined && this.#rows.length > 0) {
        event.preventDefault();
        this.#move(step);
      } else if (event.key === 'Escape') this.clear();
    });
  }

  show(list: readonly Suggestion[]): void {
    this.#list = list;
    this.#rows = list.map(({ title, words, choose }, i) =>
      element(
        'li',
        {
          class: 'suggestion',
          id: `suggestion-${i}`,
          attributes: { role: 'option', 'aria-selected': 'false' },
          click: choose,
        },
        element('span', { class: 'code', text: title }),
        ...words
          .filter((each) => each !== '')
          .map((text, at) => element('span', { class: at === 0 ? 'soft' : 'soft away', text })),
      ),
    );
    this.#host.append(
      element(
        'ul',
        { class: 'suggestions', label: 'suggestions', id: 'suggestions', attributes: { role: 'listbox' } },
        ...this.#rows,
      ),
    );
    this.#box.setAttribute('aria-expanded', 'true');
    this.#box.setAttribute('aria-controls', 'suggestions');
  }

  /** Empties the answer, notes included. */
  clear(): void {
    this.#host.replaceChildren();
    [this.#list, this.#rows, this.#active] = [[], [], -1];
    this.#box.setAttribute('aria-expanded', 'false');
    this.#box.removeAttribute('aria-controls');
    this.#box.removeAttribute('aria-activedescendant');
  }

  /** Chooses what the arrows have marked. @returns false where they have marked none */
  choose(): boolean {
    const marked = this.#list[this.#active];
    marked?.choose();
    return marked !== undefined;
  }

  #move(step: number): void {
    const count = this.#rows.length;
    // Before the first is the box itself, as after the last.
    this.#active = ((this.#active + 1 + step + count + 1) % (count + 1)) - 1;
    for (const [i, row] of this.#rows.entries())
      row.setAttribute('aria-selected', String(i === this.#active));
    const row = this.#rows[this.#active];
    if (row === undefined) this.#box.removeAttribute('aria-activedescendant');
    else this.#box.setAttribute('aria-activedescendant', row.id);
    row?.scrollIntoView({ block: 'nearest' });
  }
}
