// The colours of zones: those of Okabe and Ito, which people with any kind of colour blindness tell apart. More zones
// than colours begin again, and a zone has a number besides, on the map and in lists.
import type { Rgb } from '../points/drawn-points.js';
import { MAX_ZONES } from './zone.js';

const COLORS: readonly Rgb[] = [
  [0, 114, 178],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
  [213, 94, 0],
  [86, 180, 233],
  [240, 228, 66],
];

/** Colours of all zones that there may be. */
export const zoneColors: readonly Rgb[] = Array.from(
  { length: MAX_ZONES },
  (_, zone) => COLORS[zone % COLORS.length]!,
);
export const zoneCss = (zone: number): string => `rgb(${zoneColors[zone]!.join(' ')})`;
