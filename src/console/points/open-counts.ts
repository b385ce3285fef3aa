// The points of a file or a fleet as hexagons coloured by their number: requests the counts of the view from the
// worker, shows the legend, lists the rows of a hexagon, and removes the points from the map. It is loaded with the
// first points.
import { cellRing } from '../../hexcodes/geometry/codebook.js';
import { type Box, boxOf, type Desk, type Layers, type MapView } from '../desk.js';
import { gridResolutionAt } from '../map/features.js';
import { paletteOf } from '../map/palette.js';
import { goTo } from '../place/around.js';
import { placeAt } from '../place/place.js';
import { element, focusMap, scrollTo } from '../shell/elements.js';
import { isDark } from '../shell/switches.js';
import { shipped } from '../shipped.js';
import { countTexts } from '../words/count-texts.js';
import { number, say, tell } from '../words/language.js';
import { addTexts } from '../words/texts.js';
import type { CountNews, CountTask } from './counting.js';
import type { DescribedPoints } from './drawn-points.js';

addTexts(countTexts);

/** Minimum width of a hexagon: for a mouse, and for fingers and for drawings without WebGL, which are slow. */
const MIN_WIDTH_PX = { fine: 8, coarse: 16 };
/** Time after which the map counts as still. */
const REST_MS = 120;

export function openCounts(frame: HTMLElement, panels: HTMLElement, desk: Desk, map: MapView): void {
  const { library, points, layers, counts } = desk;
  const worker = new Worker(shipped.files.countWorker, { type: 'module' });
  const ask = (task: CountTask): void => worker.postMessage(task);
  ask({ kind: 'open', paths: shipped.files });

  const swatches = element('ol', { class: 'levels' });
  const uncounted = element('p', { class: 'soft' });
  const clear = element('button', {
    id: 'clear-points',
    click: () => {
      points.set(undefined);
      focusMap();
    },
  });
  const counted = element('div', {}, element('h3', { key: 'countsTitle' }), swatches, uncounted);
  const legend = element('section', { class: 'legend', id: 'legend' }, counted, clear);
  frame.append(legend);
  // The note of the map would be covered.
  frame.querySelector('.map-note')?.remove();
  const rows = element('section', { class: 'cell-rows', id: 'cell-rows', hidden: true });
  panels.before(rows);

  let last: Extract<CountNews, { kind: 'counted' }> | undefined;
  let asked = '';
  let isBusy = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of the current set of points, so that each set is requested once. */
  let set = 0;

  const update = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (points.now === undefined || !layers.now.counts) return;
    const box = map.bounds();
    const finest = finestFor(map, box);
    const view = JSON.stringify([set, finest, box]);
    if (isBusy || view === asked) return;
    asked = view;
    isBusy = true;
    ask({ kind: 'count', box, finest });
  };
  const updateSoon = (): void => {
    timer ??= setTimeout(update, REST_MS);
  };
  const cellAt = (lat: number, lng: number): { cell: bigint; code: string } | undefined => {
    if (last === undefined || library.adminCodeOf(lat, lng) === null) return undefined;
    const code = library.encode(lat, lng, last.counted.resolution).hexcodes;
    return { cell: library.read(code)!.cell, code };
  };
  /** Number of points of a cell; undefined if it has none. */
  const numberIn = (cell: bigint): number | undefined =>
    last?.counted.points[last.counted.cells.indexOf(cell)];
  const drawLegend = (): void => {
    const now = points.now;
    legend.hidden = now === undefined || now.groups.length === 0;
    counted.hidden = counts.now === undefined;
    tell(clear, () => say('clearPoints', { points: number(now?.groups.length ?? 0) }));
    uncounted.hidden = (last?.uncounted ?? 0) === 0;
    const left = last?.uncounted ?? 0;
    tell(uncounted, () => say('uncounted', { points: number(left) }));
    const levels = last?.counted.levels ?? [];
    swatches.replaceChildren(
      ...levels.map((least, level) => {
        const text = (): string => `${number(least)}${level === levels.length - 1 ? '+' : ''}`;
        const made = element('li', { text });
        made.style.setProperty('--level', paletteOf(isDark.now).levels[level]!);
        return made;
      }),
    );
  };
  const show = (news: typeof last): void => {
    last = news;
    counts.set(
      news && {
        counted: news.counted,
        textAt: (lat, lng) => {
          const at = cellAt(lat, lng);
          const found = at && numberIn(at.cell);
          return found === undefined ? undefined : say('countOf', { points: number(found), code: at!.code });
        },
        open: (lat, lng) => open(lat, lng),
      },
    );
    drawLegend();
  };
  const open = (lat: number, lng: number): boolean => {
    const at = cellAt(lat, lng);
    const total = at && numberIn(at.cell);
    if (at === undefined || last === undefined || total === undefined) return false;
    const box = boxOf(cellRing(at.cell.toString(16)));
    listed = { ...at, total, of: points.now! };
    ask({ kind: 'cell', cell: at.cell, box, resolution: last.counted.resolution });
    map.showBox(box);
    return true;
  };
  let listed: { cell: bigint; code: string; total: number; of: DescribedPoints } | undefined;
  const list = async (found: readonly number[]): Promise<void> => {
    if (listed === undefined) return;
    const { code, total, of } = listed;
    const texts = await of.describe(found);
    const items = found.map((point, i) =>
      element(
        'li',
        {},
        element('button', {
          text: texts[i]!,
          click: () =>
            goTo(desk, placeAt(library, of.positions[2 * point]!, of.positions[2 * point + 1]!, 13)),
        }),
      ),
    );
    const close = element('button', {
      class: 'remove',
      text: '×',
      label: 'closeRows',
      click: () => {
        closeRows();
        focusMap();
      },
    });
    const heading = element('h2', { text: () => say('countOf', { points: number(total), code }) });
    const more = total - found.length;
    rows.replaceChildren(
      element('div', { class: 'rows-head' }, heading, close),
      element('ol', {}, ...items),
      ...(more > 0
        ? [element('p', { class: 'soft', text: () => say('countMore', { points: number(more) }) })]
        : []),
    );
    rows.hidden = false;
    scrollTo(rows);
  };
  const closeRows = (): void => {
    rows.hidden = true;
    listed = undefined;
  };

  worker.addEventListener('message', ({ data }: MessageEvent<CountNews>) => {
    if (data.kind === 'cell') {
      if (data.cell === listed?.cell) void list(data.points);
      return;
    }
    isBusy = false;
    if (points.now !== undefined && layers.now.counts) show(data);
    update();
  });
  let before: DescribedPoints | undefined;
  /** The layers that were shown before there were points. */
  let usual: Partial<Layers> = {};
  const take = (now: DescribedPoints | undefined): void => {
    if (now === undefined) {
      closeRows();
      show(undefined);
      ask({ kind: 'points', positions: new Float64Array() });
      if (before !== undefined) layers.set({ ...layers.now, ...usual });
    } else {
      set++;
      ask({ kind: 'points', positions: now.positions });
      if (before === undefined) {
        const { grid, codes, points: drawn, counts: isCounted } = layers.now;
        usual = { grid, codes, points: drawn, counts: isCounted };
        layers.set({ ...layers.now, grid: false, codes: false });
      }
      // Zones are distinguished by the colours of points.
      const hasColors = now.colors !== undefined;
      if (before === undefined || hasColors !== (before.colors !== undefined))
        layers.set({ ...layers.now, points: hasColors, counts: !hasColors });
      update();
    }
    before = now;
    drawLegend();
  };
  points.each(take);
  layers.on(({ counts: isCounted }) => {
    asked = '';
    if (!isCounted && counts.now !== undefined) show(undefined);
    update();
  });
  isDark.on(drawLegend);
  map.onMove(updateSoon);
}

/** The finest resolution whose colours can be distinguished. */
function finestFor(map: MapView, { west, south, east, north }: Box): number {
  const lat = (south + north) / 2;
  const widthPx = map.project(east, lat).x - map.project(west, lat).x;
  const isCoarse = matchMedia('(pointer: coarse)').matches || document.querySelector('.flat-map') !== null;
  const least = MIN_WIDTH_PX[isCoarse ? 'coarse' : 'fine'];
  return gridResolutionAt((widthPx * 360) / (east - west), lat, least);
}
