// The content of the panel of zones: draws them, names them, lists their codes, and saves both as files.

import { boxOf, type Desk } from '../desk.js';
import { sizeChoice } from '../place/around.js';
import { copy } from '../place/copy.js';
import { button, download, element, toast } from '../shell/elements.js';
import { shipped } from '../shipped.js';
import { language, number, say } from '../words/language.js';
import { addTexts } from '../words/texts.js';
import { zoneTexts } from '../words/zone-texts.js';
import type { Imported } from './import-zones.js';
import { keepSettings, keepZones, zoneSettings, zones, zonesToCover } from './kept-zones.js';
import {
  type Corner,
  geoJsonOf,
  MAX_CORNERS,
  MAX_ZONES,
  tidyName,
  uniqueName,
  type Zone,
  zoneCss,
} from './zone.js';
import type { CoverNews, CoverTask, ZoneCodes } from './zone-list.js';
import { ZoneOverlay } from './zone-overlay.js';

addTexts(zoneTexts);

/** Far above the size of thirty outlines. */
const MAX_IMPORT_BYTES = 8 * 2 ** 20;
/** Most areas that are named when they cannot be imported. */
const MAX_NAMED = 5;
const LIMITS = { zones: MAX_ZONES, corners: MAX_CORNERS };

let overlay: ZoneOverlay | undefined;

/** The overlay of zones, one for the page. */
export function overlayOf(desk: Desk): ZoneOverlay {
  overlay ??= new ZoneOverlay(desk);
  return overlay;
}

export function openZones(host: HTMLElement, desk: Desk): void {
  const panel = new ZoneDesk(desk);
  host.append(...panel.elements());
  panel.open();
}

class ZoneDesk {
  readonly #draw = button('zoneDraw', { class: 'strong', id: 'zone-draw' }, () => this.#start());
  readonly #list = element('ol', { class: 'zones', id: 'zone-list' });
  readonly #size = sizeChoice('zone-size', () => this.#choose());
  readonly #compact = element('input', {
    id: 'zone-compact',
    type: 'checkbox',
    on: { change: () => this.#choose() },
  });
  readonly #listed = element('p', { class: 'soft', id: 'zones-status', role: 'status' });
  readonly #kept = element('p', {
    class: 'note',
    key: 'zonesNotKept',
    id: 'zones-not-kept',
    hidden: true,
  });
  readonly #command = element('code');
  readonly #csvButton = button(
    'zonesCsv',
    { id: 'zones-csv' },
    () => this.#csv && download(this.#csv, 'zones.csv'),
  );
  readonly #file = element('input', {
    class: 'file-input',
    label: 'zonesImport',
    id: 'zones-file',
    type: 'file',
    accept: '.geojson,.json,application/geo+json',
    on: { change: () => void this.#import() },
  });
  readonly #imported = element('p', { class: 'note', id: 'zones-imported', role: 'status' });
  readonly #rest: HTMLElement;
  #worker: Worker | undefined;
  /** The codes of the current zones; undefined while they are being listed. */
  #codes: readonly ZoneCodes[] | undefined;
  #csv: Blob | undefined;
  /** Index of a zone with too many cells. */
  #tooLarge: number | undefined;

  constructor(private readonly desk: Desk) {
    overlayOf(desk);
    const geoJson = button('zonesGeoJson', { id: 'zones-geojson' }, () =>
      download(new Blob([geoJsonOf(zones.now)], { type: 'application/geo+json' }), 'zones.geojson'),
    );
    const removeAll = button('zonesRemoveAll', { class: 'link', id: 'zones-remove' }, () => {
      this.#keep([]);
      this.#draw.focus();
    });
    this.#rest = element(
      'div',
      { class: 'zones-rest' },
      element('label', { key: 'zoneSize', for: 'zone-size' }),
      this.#size,
      element('label', { class: 'check' }, this.#compact, element('span', { key: 'zoneCompact' })),
      this.#listed,
      element('div', { class: 'downloads' }, this.#csvButton, geoJson),
      element('p', { key: 'zonesCommand' }),
      element('pre', { id: 'zones-command', tabindex: '0' }, this.#command),
      removeAll,
    );
  }

  elements(): HTMLElement[] {
    return [
      element('p', { key: 'zonesHint' }),
      element('p', { class: 'soft', key: 'zoneKeys' }),
      this.#draw,
      element('label', { class: 'zones-import' }, element('span', { key: 'zonesImport' }), this.#file),
      this.#imported,
      this.#kept,
      this.#list,
      this.#rest,
    ];
  }

  open(): void {
    const change = (): void => {
      this.#fill();
      this.#cover();
    };
    zones.on(change);
    zoneSettings.on(change);
    language.on(() => this.#fill());
    this.#fill();
    this.#cover();
  }

  #start(): void {
    // The map may still be loading.
    const refusal =
      this.desk.map.now === undefined
        ? say('gridNeedsMap')
        : zones.now.length >= MAX_ZONES
          ? say('zonesFull', { zones: number(MAX_ZONES) })
          : undefined;
    if (refusal !== undefined) {
      toast(refusal);
      return;
    }
    this.#draw.disabled = true;
    overlayOf(this.desk).draw((corners) => {
      this.#draw.disabled = false;
      if (corners === undefined) this.#draw.focus({ preventScroll: true });
      else this.#add(corners);
    });
  }

  #add(corners: readonly Corner[]): void {
    const names = zones.now.map(({ name }) => name);
    const name = uniqueName(say('zoneDefault', { zone: zones.now.length + 1 }), names);
    this.#keep([...zones.now, { id: newId(), name, corners }]);
    toast(say('zoneAdded', { name }));
    const input = this.#list.querySelector<HTMLInputElement>('li:last-child input');
    input?.focus();
    input?.select();
  }

  async #import(): Promise<void> {
    const [file] = this.#file.files ?? [];
    if (file === undefined) return;
    const text = file.size > MAX_IMPORT_BYTES ? '' : await file.text();
    this.#file.value = '';
    const names = zones.now.map(({ name }) => name);
    const { importedZones } = await import('./import-zones.js');
    const found = importedZones(text, names, (zone) => say('zoneDefault', { zone }));
    this.#imported.textContent =
      found === undefined
        ? say('zoneFileRefused')
        : [
            say('zonesImported', { zones: number(found.zones.length) }),
            ...(found.refused.length === 0 ? [] : [say('zonesRefused', { zones: reasonsOf(found.refused) })]),
          ].join(' ');
    this.#imported.classList.toggle('note', found === undefined || found.refused.length > 0);
    if (found === undefined || found.zones.length === 0) return;
    const added = found.zones.map((zone) => ({ ...zone, id: newId() }));
    this.#keep([...zones.now, ...added]);
    this.desk.map.now?.showBox(boxOf(added.flatMap(({ corners }) => corners)));
  }

  #keep(next: readonly Zone[]): void {
    this.#kept.hidden = keepZones(next);
  }

  #choose(): void {
    const next = { resolution: Number(this.#size.value), isCompact: this.#compact.checked };
    this.#kept.hidden = keepSettings(next);
  }

  /** Lists the codes in a separate worker, and ends one that is still working on other zones. */
  #cover(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#codes = undefined;
    this.#csv = undefined;
    this.#tooLarge = undefined;
    if (zones.now.length === 0) {
      this.#fillCodes();
      return;
    }
    const worker = new Worker(shipped.files.zoneWorker, { type: 'module' });
    this.#worker = worker;
    const end = (): void => {
      worker.terminate();
      if (this.#worker === worker) this.#worker = undefined;
      this.#fillCodes();
    };
    worker.addEventListener('error', () => {
      end();
      this.#listed.textContent = say('failed');
    });
    worker.addEventListener('message', ({ data }: MessageEvent<CoverNews>) => {
      if (this.#worker !== worker) return;
      if (data.kind === 'tooLarge') this.#tooLarge = data.zone;
      else [this.#codes, this.#csv] = [data.codes, data.csv];
      end();
    });
    worker.postMessage({ ...zonesToCover(), paths: shipped.files } satisfies CoverTask);
    this.#fillCodes();
  }

  /** The zones, without their codes. */
  #fill(): void {
    const { resolution, isCompact } = zoneSettings.now;
    this.#size.value = String(resolution);
    this.#compact.checked = isCompact;
    const options = `--resolution ${resolution}${isCompact ? ' --compact' : ''}`;
    this.#command.textContent = [
      `hexcodes cover zones.geojson --name name ${options} -o zones.csv`,
      'hexcodes contains points.csv --in zones.csv --all -o points-zones.csv',
    ].join('\n');
    const focused = document.activeElement?.id;
    this.#list.replaceChildren(...zones.now.map((zone, i) => this.#item(zone, i)));
    if (focused?.startsWith('zone-')) document.getElementById(focused)?.focus();
    this.#rest.hidden = zones.now.length === 0;
    this.#fillCodes();
  }

  #item(zone: Zone, index: number): HTMLElement {
    const { name } = zone;
    const action = (
      key: 'zoneShow' | 'zoneEdit' | 'zoneCopy' | 'removeAll',
      label: 'zoneShowOf' | 'zoneEditOf' | 'zoneCopyOf' | 'zoneRemoveOf',
      click: () => void,
    ): HTMLButtonElement => {
      const made = element('button', { id: `${label}-${index}`.replace(/^zone/, 'zone-'), click });
      made.setAttribute('aria-label', say(label, { name }));
      if (key === 'removeAll') {
        made.className = 'remove';
        made.textContent = '×';
      } else made.textContent = say(key);
      return made;
    };
    const sign = element('span', { class: 'zone-sign', text: String(index + 1) });
    sign.style.setProperty('--zone', zoneCss(index));
    sign.setAttribute('aria-hidden', 'true');
    const input = element('input', {
      id: `zone-name-${index}`,
      type: 'text',
      autocomplete: 'off',
      // Tab has to find the next field where it is.
      on: { change: () => setTimeout(() => this.#rename(zone, input.value)) },
    });
    input.value = name;
    input.setAttribute('aria-label', say('zoneName', { zone: index + 1 }));
    const copying = action('zoneCopy', 'zoneCopyOf', () => void this.#copy(index));
    copying.classList.add('zone-copy');
    return element(
      'li',
      {},
      element(
        'div',
        { class: 'zone-head' },
        sign,
        input,
        action('removeAll', 'zoneRemoveOf', () => {
          this.#keep(zones.now.filter(({ id }) => id !== zone.id));
          this.#draw.focus();
        }),
      ),
      element(
        'div',
        { class: 'copies' },
        action('zoneShow', 'zoneShowOf', () => this.desk.map.now?.showBox(boxOf(zone.corners))),
        action('zoneEdit', 'zoneEditOf', () => this.#edit(zone)),
        copying,
      ),
      element('details', {}, element('summary'), element('pre', { class: 'code', tabindex: '0' })),
    );
  }

  /** Lets the corners be moved. The list is rebuilt, so the focus goes to the button that draws. */
  #edit(zone: Zone): void {
    overlayOf(this.desk).edit(zone, (corners) => {
      if (corners !== undefined)
        this.#keep(zones.now.map((each) => (each.id === zone.id ? { ...each, corners } : each)));
      this.#draw.focus({ preventScroll: true });
    });
    // The bar has taken some space from the map.
    requestAnimationFrame(() => requestAnimationFrame(() => this.desk.map.now?.showBox(boxOf(zone.corners))));
  }

  #rename(zone: Zone, given: string): void {
    const others = zones.now.filter(({ id }) => id !== zone.id).map(({ name }) => name);
    const tidy = tidyName(given);
    const name = tidy === '' ? zone.name : uniqueName(tidy, others);
    this.#keep(zones.now.map((each) => (each.id === zone.id ? { ...each, name } : each)));
  }

  async #copy(index: number): Promise<void> {
    const text = await this.#codes?.[index]?.text?.text();
    if (text !== undefined) await copy(text);
  }

  /** Fills in the codes known so far. */
  #fillCodes(): void {
    const codes = this.#codes;
    [...this.#list.children].forEach((item, i) => {
      const known = codes?.[i];
      const details = item.querySelector('details')!;
      details.hidden = known === undefined;
      item.querySelector<HTMLButtonElement>('.zone-copy')!.disabled =
        !known?.count || known.text === undefined;
      if (known === undefined) return;
      const { count, first } = known;
      details.querySelector('summary')!.textContent =
        count === 0 ? say('zoneNoCodes') : say('zoneCodes', { codes: number(count) });
      const more = count > first.length ? [say('zoneMore', { codes: number(count - first.length) })] : [];
      details.querySelector('pre')!.textContent = [...first, ...more].join('\n');
    });
    const total = codes?.reduce((sum, { count }) => sum + count, 0) ?? 0;
    this.#csvButton.disabled = total === 0;
    const tooLarge = this.#tooLarge === undefined ? undefined : zones.now[this.#tooLarge];
    this.#listed.classList.toggle('note', tooLarge !== undefined);
    if (tooLarge !== undefined) this.#listed.textContent = say('zoneTooLarge', { name: tooLarge.name });
    else if (codes === undefined)
      this.#listed.textContent = zones.now.length === 0 ? '' : say('zonesListing');
    else
      this.#listed.textContent = say('zonesListed', {
        zones: number(zones.now.length),
        codes: number(total),
      });
  }
}

const newId = (): string =>
  [...crypto.getRandomValues(new Uint32Array(2))].map((part) => part.toString(36)).join('');

/** Areas that are not zones, with the reasons. */
const reasonsOf = (refused: Imported['refused']): string =>
  refused
    .slice(0, MAX_NAMED)
    .map(({ name, reason }) => `${name} (${say(reason, LIMITS).replace(/\.$/, '')})`)
    .concat(refused.length > MAX_NAMED ? ['…'] : [])
    .join(', ');
