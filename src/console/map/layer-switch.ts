// The switch of layers: what the map shows besides the land. It comes when it is first opened.
import type { Desk, Layers } from '../desk.js';
import { element } from '../shell/elements.js';
import { shipped } from '../shipped.js';
import { countTexts } from '../words/count-texts.js';
import { addTexts } from '../words/texts.js';

addTexts(countTexts);

const NAMES = {
  counts: 'layerCounts',
  points: 'layerPoints',
  grid: 'layerGrid',
  codes: 'layerCodes',
  streets: 'layerStreets',
} as const satisfies Record<keyof Layers, string>;

/** @param isFlat a plain drawing has no streets */
export function layerChoices({ layers, points }: Desk, isFlat: boolean): HTMLElement[] {
  const rows = (Object.keys(NAMES) as (keyof Layers)[])
    .filter((layer) => layer !== 'streets' || (shipped.basemap !== null && !isFlat))
    .map((layer) => {
      const box = element('input', {
        id: `layer-${layer}`,
        type: 'checkbox',
        on: { change: () => layers.set({ ...layers.now, [layer]: box.checked }) },
      });
      const row = element('label', { class: 'check' }, box, element('span', { key: NAMES[layer] }));
      return { layer, box, row };
    });
  const update = (): void => {
    for (const { layer, box, row } of rows) {
      box.checked = layers.now[layer];
      row.hidden = (layer === 'points' || layer === 'counts') && points.now === undefined;
    }
  };
  layers.each(update);
  points.on(update);
  return rows.map(({ row }) => row);
}
