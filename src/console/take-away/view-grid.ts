// The hexagons of what the map shows, as a file of GeoJSON.

import { type Box, codesWithin, estimatedCells, stripsOf } from '../../hexcodes/geometry/cells.js';
import { cellFeature } from '../../hexcodes/geometry/codebook.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';

/** Most hexagons in a file: some 25 MB. */
export const MAX_CELLS = 50_000;

export type ViewGrid =
  | { readonly kind: 'file'; readonly file: Blob; readonly cells: number }
  | { readonly kind: 'tooMany'; readonly estimate: number };

/**
 * Works a few milliseconds at a time.
 * @param progress called with the completed share, 0 to 1
 */
export async function viewGrid(
  library: Hexcodes,
  box: Box,
  resolution: number,
  progress: (part: number) => void,
): Promise<ViewGrid> {
  const estimate = estimatedCells(box, resolution);
  // Far beyond the limit nothing is tried; near it cells abroad, which have no codes, do not count.
  if (estimate > 4 * MAX_CELLS) return { kind: 'tooMany', estimate };
  const parts: string[] = [];
  let cells = 0;
  let strips = 0;
  const all = stripsOf(box, resolution);
  for (const codes of codesWithin(library, box, resolution)) {
    cells += codes.length;
    if (cells > MAX_CELLS) return { kind: 'tooMany', estimate };
    for (const code of codes) parts.push(JSON.stringify(cellFeature(library, code)));
    progress(++strips / all);
    await new Promise((resolve) => setTimeout(resolve));
  }
  const text = ['{"type":"FeatureCollection","features":[\n', parts.join(',\n'), '\n]}\n'];
  return { kind: 'file', file: new Blob(text, { type: 'application/geo+json' }), cells };
}
