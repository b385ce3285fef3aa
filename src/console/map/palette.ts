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
  readonly ancestor: string;
  readonly provinces: readonly string[];
}

const LIGHT: Palette = {
  ground: '#f3f5f3',
  sea: '#e3edf2',
  land: '#edebe7',
  coast: '#9db4bd',
  border: '#a9b3ad',
  limit: '#9bb0ba',
  river: '#8db4d3',
  grid: '#4d6560',
  cell: '#0b6e5f',
  ring: '#0b6e5f',
  error: '#1d4ed8',
  ancestor: '#b45309',
  provinces: ['#dfe9d6', '#ece5d0', '#d7e6e4', '#ecdcd4', '#dfdfec', '#e6ecd9', '#efe3e8'],
};

const DARK: Palette = {
  ground: '#0f1715',
  sea: '#101d24',
  land: '#1a201e',
  coast: '#48606a',
  border: '#4d5a55',
  limit: '#3a4c55',
  river: '#35617f',
  grid: '#9db5af',
  cell: '#5fd0bb',
  ring: '#5fd0bb',
  error: '#93c5fd',
  ancestor: '#fdba74',
  provinces: ['#273a30', '#38342a', '#22383a', '#3b2d2b', '#2d2e3f', '#313b28', '#3a2c33'],
};

export const paletteOf = (isDark: boolean): Palette => (isDark ? DARK : LIGHT);
