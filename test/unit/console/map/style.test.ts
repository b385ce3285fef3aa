// The style of the map over pictures of the operator's: dimmed on a dark page alone, below hexagons with a halo.
import { expect, test } from 'vitest';
import { consoleModule } from '../../../support/console-module.js';

interface Style {
  readonly layers: { id: string; paint?: Record<string, unknown> }[];
}
const { styleOf } = await consoleModule<{
  styleOf(shapes: object, palette: object, tiles: string | undefined): Style;
}>('map/style.ts');
const { paletteOf } = await consoleModule<{ paletteOf(isDark: boolean): object }>('map/palette.ts');
const SHAPES = { provinces: [], colors: [], sea: [], labels: [], rivers: [] };
const TILES = 'https://tiles.example/{z}/{x}/{y}.png';

test('light pictures are dimmed below a dark page, and left as they are below a light one', () => {
  const [light, dark] = [false, true].map((isDark) => styleOf(SHAPES, paletteOf(isDark), TILES).layers[0]);
  expect([light?.id, light?.paint]).toEqual(['tiles', {}]);
  expect(dark?.paint?.['raster-brightness-max']).toBeLessThan(0.7);
});

test('hexagons over pictures have a halo below them', () => {
  const ids = (tiles?: string): string[] =>
    styleOf(SHAPES, paletteOf(true), tiles)
      .layers.map(({ id }) => id)
      .filter((id) => id.startsWith('grid'));
  expect(ids(TILES)).toEqual(['grid-halo', 'grid']);
  expect(ids()).toEqual(['grid']);
});
