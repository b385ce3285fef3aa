// The colours of zones: those of Okabe and Ito, which people with any kind of colour blindness tell apart. More zones
// than colours begin again, and a zone has a number besides, on the map and in lists.

type Rgb = readonly [red: number, green: number, blue: number];

const COLORS: readonly Rgb[] = [
  [0, 114, 178],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
  [213, 94, 0],
  [86, 180, 233],
  [240, 228, 66],
];

export const zoneColor = (zone: number): Rgb => COLORS[zone % COLORS.length]!;
export const zoneCss = (zone: number): string => `rgb(${zoneColor(zone).join(' ')})`;
