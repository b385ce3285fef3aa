// The content of the panel of the fleet: its choices, and while it runs the figures that the worker counts.
import type { Desk } from '../desk.js';
import { element, svg } from '../shell/elements.js';
import { shipped } from '../shipped.js';
import { fleetTexts } from '../words/fleet-texts.js';
import { number, say, tell } from '../words/language.js';
import { addTexts, type TextKey } from '../words/texts.js';
import type { FleetFigures, FleetNews, FleetRefusal, FleetTask } from './fleet-stream.js';

addTexts(fleetTexts);

const STREAM_PATH = '/v1/hexcodes/stream';
/** Centres of the cities that are provinces. */
const CITIES: readonly (readonly [name: string, lat: number, lng: number])[] = [
  ['Hà Nội', 21.0285, 105.8342],
  ['Thành phố Hồ Chí Minh', 10.7869, 106.6909],
  ['Hải Phòng', 20.8449, 106.6881],
  ['Đà Nẵng', 16.0544, 108.2022],
  ['Huế', 16.4637, 107.5909],
  ['Cần Thơ', 10.0302, 105.7669],
];
const VEHICLES = [100, 1000, 10_000, 100_000];
const REPORTS = [1, 5, 10];
const SECONDS = [15, 60];
/** Half the height of the view in degrees of latitude: as far as vehicles drive. */
const REACH_DEG = 0.1;
/** Figures in a line: those of the longest run, four a second. */
const MAX_SHOWN = 240;

/** @param text of an option, from its number */
function choice(
  id: string,
  key: TextKey,
  values: readonly number[],
  usual: number,
  text: (value: number) => string = number,
): { readonly field: HTMLElement; value(): number } {
  const options = values.map((value) => element('option', { text: () => text(value), value: String(value) }));
  const select = element('select', { id }, ...options);
  select.selectedIndex = usual;
  const label = element('label', { key, for: id });
  return { field: element('div', { class: 'field' }, label, select), value: () => Number(select.value) };
}

/** A figure with a line of its history. */
class Meter {
  readonly row: HTMLElement;
  readonly #value: HTMLElement;
  readonly #line = svg('polyline');
  readonly #label = element('span', { class: 'soft' });
  readonly #words: () => string;
  #window = 0;
  #past: number[] = [];

  constructor(id: string, key: TextKey) {
    this.#words = () => say(key, { window: number(this.#window) });
    tell(this.#label, this.#words);
    this.#value = element('output', { text: '0', id: `fleet-${id}`, 'aria-live': 'off' });
    const box = { viewBox: `0 0 ${MAX_SHOWN} 30`, preserveAspectRatio: 'none', 'aria-hidden': 'true' };
    this.row = element('div', { class: 'meter' }, this.#label, this.#value, svg('svg', box, this.#line));
  }

  clear(): void {
    this.#past = [];
  }

  /** @param window frames that may be unanswered, which one of the labels says */
  show(value: number, text = (): string => number(value), window = 0): void {
    this.#window = window;
    tell(this.#label, this.#words);
    tell(this.#value, text);
    this.#past.push(value);
    if (this.#past.length > MAX_SHOWN) this.#past.shift();
    const most = Math.max(1, ...this.#past);
    const points = this.#past.map((each, x) => `${x},${(29 - (28 * each) / most).toFixed(1)}`);
    this.#line.setAttribute('points', points.join(' '));
  }
}

const REFUSALS = {
  denied: 'fleetDenied',
  quota: 'fleetQuota',
  broken: 'fleetBroken',
} as const satisfies Record<FleetRefusal, TextKey>;

export function openFleet(host: HTMLElement, desk: Desk): void {
  const key = element('input', {
    id: 'fleet-key',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const city = element('select', { id: 'fleet-city' });
  for (const [name] of CITIES) city.append(new Option(name));
  const vehicles = choice('fleet-vehicles', 'fleetVehicles', VEHICLES, 1);
  const reports = choice('fleet-reports', 'fleetReports', REPORTS, 1);
  const seconds = choice('fleet-seconds', 'fleetSeconds', SECONDS, 1, (value) =>
    say('secondsOf', { seconds: value }),
  );
  const cost = element('p', { class: 'soft', id: 'fleet-cost' });
  const status = element('p', { id: 'fleet-status', role: 'status' });
  const faults = element('p', { class: 'note', id: 'fleet-faults', hidden: true });
  const codes = element('ol', { class: 'fleet-codes', id: 'fleet-codes' });
  const meters = {
    rate: new Meter('rate', 'fleetRate'),
    changes: new Meter('changes', 'fleetChanges'),
    window: new Meter('window', 'fleetWindow'),
    latency: new Meter('latency', 'fleetLatency'),
  };
  const start = element('button', { key: 'fleetStart', class: 'strong', id: 'fleet-start', type: 'submit' });
  const stop = element('button', { key: 'stop', id: 'fleet-stop', hidden: true });
  const shown = element(
    'div',
    { class: 'fleet-shown', hidden: true },
    ...Object.values(meters).map(({ row }) => row),
    element('h3', { key: 'fleetCodes' }),
    codes,
    element('p', { class: 'soft', key: 'fleetColors' }),
  );

  let worker: Worker | undefined;
  const report = (words: () => string, isQuiet = false): void => {
    if (words() !== status.textContent) status.setAttribute('aria-live', isQuiet ? 'off' : 'polite');
    tell(status, words);
  };
  const showCost = (): void => {
    const points = vehicles.value() * reports.value() * seconds.value();
    tell(cost, () => say('fleetCost', { points: number(points) }));
  };
  const showFigures = (figures: FleetFigures): void => {
    const { pointsPerSecond, changesPerSecond, unanswered, window, medianMs, longestMs } = figures;
    meters.rate.show(pointsPerSecond);
    meters.changes.show(changesPerSecond);
    meters.window.show(unanswered, undefined, window);
    const times = [medianMs, longestMs];
    meters.latency.show(medianMs ?? 0, () =>
      times.map((ms) => (ms === undefined ? '–' : number(ms, 1))).join(' · '),
    );
    const { failed, refused } = figures;
    faults.hidden = failed + refused === 0;
    tell(faults, () =>
      [
        ...(failed > 0 ? [say('fleetFailed', { points: number(failed) })] : []),
        ...(refused > 0 ? [say('fleetOverLimit', { points: number(refused) })] : []),
      ].join(' '),
    );
  };
  const rest = (): void => {
    worker?.terminate();
    worker = undefined;
    settings.hidden = false;
    if (document.activeElement === stop) start.focus();
    stop.hidden = true;
  };
  const take = ({ state, reason, figures, secondsLeft, points, codes: latest }: FleetNews): void => {
    showFigures(figures);
    desk.points.set({
      ...points,
      describe: async (wanted) =>
        wanted.map((point) => say('vehicle', { vehicle: number(points.rows[point]! + 1) })),
    });
    codes.replaceChildren(...latest.map((code) => element('li', {}, element('code', { text: code || '…' }))));
    const left = { seconds: Math.ceil(secondsLeft) };
    if (state === 'opening') report(() => say('fleetOpening'));
    if (state === 'running') report(() => say('fleetRunning', left), true);
    if (state === 'lost') report(() => say('fleetLost', left), true);
    if (state === 'ended') report(() => say('fleetEnded', { points: number(figures.points) }));
    if (state === 'refused') report(() => say(REFUSALS[reason]));
    if (state === 'ended' || state === 'refused') rest();
  };
  const begin = (): void => {
    const [, lat, lng] = CITIES[city.selectedIndex] as (typeof CITIES)[number];
    for (const meter of Object.values(meters)) meter.clear();
    shown.hidden = false;
    settings.hidden = true;
    stop.hidden = false;
    stop.focus();
    report(() => say('fleetOpening'));
    const east = REACH_DEG / Math.cos((lat * Math.PI) / 180);
    desk.map.now?.showBox({
      south: lat - REACH_DEG,
      north: lat + REACH_DEG,
      west: lng - east,
      east: lng + east,
    });
    const url = new URL(STREAM_PATH, location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const task: FleetTask = {
      url: shipped.hasService ? url.href : undefined,
      paths: shipped.files,
      key: key.value.trim(),
      land: shipped.files.land,
      lat,
      lng,
      vehicles: vehicles.value(),
      reportsPerSecond: reports.value(),
      seconds: seconds.value(),
    };
    worker = new Worker(shipped.files.fleetWorker, { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<FleetNews>) => take(data));
    worker.addEventListener('error', () => {
      report(() => say('failed'));
      rest();
    });
    worker.postMessage(task);
  };

  stop.addEventListener('click', () => worker?.postMessage('stop'));
  // Nobody looks at a hidden page, and its points are charged to the key.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) worker?.postMessage('stop');
  });
  const settings = element(
    'form',
    { class: 'fleet-form', autocomplete: 'off', on: { change: showCost } },
    element('p', { class: 'soft', key: shipped.hasService ? 'fleetHint' : 'fleetHintHere' }),
    ...(shipped.hasService ? [element('label', { key: 'fleetKey', for: 'fleet-key' }), key] : []),
    element('label', { key: 'fleetCity', for: 'fleet-city' }),
    city,
    element('div', { class: 'fields' }, vehicles.field, reports.field, seconds.field),
    ...(shipped.hasService ? [cost] : []),
    element('div', { class: 'actions' }, start),
  );
  settings.addEventListener('submit', (event) => {
    event.preventDefault();
    if (worker === undefined) begin();
  });
  showCost();
  host.append(
    element('h2', { key: 'fleetTitle' }),
    settings,
    status,
    faults,
    shown,
    element('div', { class: 'actions' }, stop),
  );
}
