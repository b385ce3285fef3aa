// Remarks about a position that is not quite the one that a text names.

import type { Position } from '../../hexcodes/wire/rows/position-text.js';

const MIDDLES = {
  view: 'The link has no pin: this is the middle of its view. Click the place on the map, and copy the address again.',
  plus_code: "This is the middle of the Plus Code's cell.",
} as const;

/** Lines for standard error. */
export function notesOn({ middleOf }: Pick<Position, 'middleOf'>, isSwapped: boolean): string[] {
  return [
    ...(middleOf === undefined ? [] : [MIDDLES[middleOf]]),
    ...(isSwapped ? ['The first number was taken for the longitude.'] : []),
  ];
}
