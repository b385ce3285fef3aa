// Outlines of the plain map: what is cut off outside the view changes nothing inside it.
import { expect, test } from 'vitest';
import { consoleModule } from '../../../support/console-module.js';
import { randomFrom } from '../../../support/open-world.js';

type Corner = readonly [number, number];
const { Outline, mercatorX, mercatorY } =
  await consoleModule<typeof import('../../../../src/console/map/flat-outline.js')>('map/flat-outline.ts');

const [WIDTH, HEIGHT, PAD] = [300, 200, 16];
const AT = { lng: 105.8, lat: 21 };
const view = (zoom: number) => ({
  x: mercatorX(AT.lng),
  y: mercatorY(AT.lat),
  worldPx: 512 * 2 ** zoom,
  widthPx: WIDTH,
  heightPx: HEIGHT,
});

/** The lines that a canvas would be given. */
function drawn(outline: InstanceType<typeof Outline>, zoom: number): Corner[][] {
  const lines: Corner[][] = [];
  outline.draw(
    {
      moveTo: (x, y) => lines.push([[x, y]]),
      lineTo: (x, y) => lines.at(-1)!.push([x, y]),
      closePath: () => undefined,
    },
    view(zoom),
  );
  return lines;
}

function isIn(rings: readonly (readonly Corner[])[], x: number, y: number): boolean {
  let inside = false;
  for (const ring of rings)
    ring.forEach(([x1, y1], i) => {
      const [x0, y0] = ring.at(i - 1)!;
      if (y1 > y !== y0 > y && x < x1 + ((x0 - x1) * (y - y1)) / (y0 - y1)) inside = !inside;
    });
  return inside;
}

/** A star of many corners, whose rim goes through the view at every zoom. */
function star(corners: number, reach: number): [number, number][] {
  const random = randomFrom(5);
  return Array.from({ length: corners }, (_, i) => {
    const angle = (2 * Math.PI * i) / corners;
    const far = reach * (0.2 + random());
    return [AT.lng + 0.3 * reach + far * Math.cos(angle), AT.lat + far * Math.sin(angle)];
  });
}

test.each([4, 7, 9, 12, 16])('zoom %i: the same area is inside', (zoom) => {
  const rings = [star(1000, 2), star(60, 0.4), star(30, 9)];
  const { x, y, worldPx } = view(zoom);
  const whole = rings.map((ring) =>
    ring.map(
      ([lng, lat]): Corner => [
        (mercatorX(lng) - x) * worldPx + WIDTH / 2,
        (mercatorY(lat) - y) * worldPx + HEIGHT / 2,
      ],
    ),
  );
  const lines = drawn(new Outline(rings, true), zoom);
  const random = randomFrom(zoom);
  let [inside, wrong] = [0, 0];
  for (let i = 0; i < 500; i++) {
    const [px, py] = [random() * WIDTH, random() * HEIGHT];
    const expected = isIn(whole, px, py);
    if (expected) inside++;
    if (isIn(lines, px, py) !== expected) wrong++;
  }
  expect(inside).toBeGreaterThan(25);
  // Corners that are nearer than half a pixel are one, so that few points at a rim may change sides.
  expect(wrong).toBeLessThan(zoom < 9 ? 20 : 3);
  for (const [px, py] of zoom < 9 ? [] : lines.flat()) {
    expect(Math.abs(px - WIDTH / 2)).toBeLessThan(WIDTH / 2 + PAD + 1);
    expect(Math.abs(py - HEIGHT / 2)).toBeLessThan(HEIGHT / 2 + PAD + 1);
  }
});

test('near the ground an outline of 4,000 corners has a few', () => {
  expect(drawn(new Outline([star(4000, 2)], true), 17).flat().length).toBeLessThan(20);
  expect(drawn(new Outline([star(4000, 2)], true), 7).flat().length).toBeGreaterThan(500);
});

test('a river that leaves the view and comes back is two lines', () => {
  const { worldPx } = view(12);
  const perPx = 360 / worldPx;
  const river = [0, 100, 400, 400, 0].map((px, i): [number, number] => [
    AT.lng + px * perPx,
    AT.lat + (i - 2) * 20 * perPx * 0.9,
  ]);
  const lines = drawn(new Outline([river], false), 12);
  expect(lines.length).toBe(2);
  for (const [px, py] of lines.flat()) {
    expect(Math.abs(px - WIDTH / 2)).toBeLessThanOrEqual(WIDTH / 2 + PAD + 0.01);
    expect(Math.abs(py - HEIGHT / 2)).toBeLessThanOrEqual(HEIGHT / 2 + PAD + 0.01);
  }
  expect(
    drawn(new Outline([river.map(([lng, lat]): [number, number] => [lng + 1, lat])], false), 12),
  ).toEqual([]);
});
