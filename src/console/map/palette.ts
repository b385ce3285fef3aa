// The colours of the map, for light and dark.

export interface Palette {
  /** Beyond the sheet. */
  readonly ground: string;
  readonly sea: string;
  /** Colour of other countries. */
  readonly land: string;
  readonly coast: string;
  readonly border: string;
  readonly limit: string;
  readonly river: string;
  readonly grid: string;
  readonly cell: string;
  readonly ring: string;
  /** The circle around a measured position. */
  readonly error: string;
  /** The next larger hexagon of a place. */
  readonly parent: string;
  readonly provinces: readonly string[];
  /** Hexagons by the number of their points, from few to many: each stands out more than the one before. */
  readonly levels: readonly string[];
}

/** Widths of lines but rivers, pixels: borders and hexagons; the coast and what belongs to a place; its own cell. */
export const WIDTHS = { thin: 0.8, middle: 1.4, strong: 2.5 } as const;

/** Hexagons of counts let borders and streets through. */
export const COUNT_OPACITY = 0.82;

/** Land stands out against the sea by 1.3 at least, and the coast against both by 3 (test/unit/console/map). */
const LIGHT: Palette = {
  ground: '#f3f5f3',
  sea: '#a8cbe2',
  land: '#e9e6e0',
  coast: '#2f6480',
  border: '#7d8a83',
  limit: '#4f7f99',
  river: '#3f8cc0',
  grid: '#4d6560',
  cell: '#0b6e5f',
  ring: '#0b6e5f',
  error: '#1d4ed8',
  parent: '#b45309',
  provinces: ['#f1f8e6', '#fcf3da', '#e4f4f1', '#fcebe2', '#eeeefa', '#f5fae4', '#fbeef4'],
  levels: ['#fbc65b', '#f58e3e', '#e2524b', '#b52b68', '#7a1b78', '#3b0f6b'],
};

const DARK: Palette = {
  ground: '#0f1715',
  sea: '#0a1c2a',
  land: '#2e3432',
  coast: '#8fb3c4',
  border: '#6f7f78',
  limit: '#5f8296',
  river: '#4d8fbd',
  grid: '#9db5af',
  cell: '#5fd0bb',
  ring: '#5fd0bb',
  error: '#93c5fd',
  parent: '#fdba74',
  provinces: ['#31463a', '#453f30', '#2b4345', '#47363a', '#363950', '#3b4830', '#47343f'],
  levels: ['#6f47b0', '#a53f9f', '#d8486f', '#f2784b', '#fbb040', '#fdf28a'],
};

export const paletteOf = (isDark: boolean): Palette => (isDark ? DARK : LIGHT);
