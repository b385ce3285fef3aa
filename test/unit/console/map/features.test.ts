// The hexagons on the map: wide enough to be seen, and the chosen cell among its ring and its ancestors.
import { expect, test } from 'vitest';
import { gridDisk } from '#dist/hexcodes/geometry/family.js';
import { edge } from '#dist/hexcodes/geometry/shape.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { consoleModule } from '../../../support/console-module.js';

interface Polygons {
  features: { geometry: { coordinates: [number, number][][] }; properties: { kind: string } }[];
}
const { gridResolutionAt, gridOf, placeShapes, boxAround } = await consoleModule<{
  gridResolutionAt(worldPx: number, latDeg: number): number;
  gridOf(library: Hexcodes, view: object, resolution: number): Polygons;
  placeShapes(library: Hexcodes, place: object, rings: number): Polygons;
  boxAround(
    library: Hexcodes,
    place: object,
    rings: number,
  ): Record<'west' | 'south' | 'east' | 'north', number>;
}>('map/features.ts');
const library = await Hexcodes.load();
const place = library.read('HN-6GHP4-83RFR')!;

test('a hexagon is 44 to 117 pixels wide where it can be', () => {
  const EARTH_M = 40_075_017;
  for (let zoom = 4; zoom < 22; zoom += 0.25) {
    const worldPx = 512 * 2 ** zoom;
    const resolution = gridResolutionAt(worldPx, 16);
    if (resolution === 0 || resolution === 15) continue;
    const edgeM = edge(library, library.encode(16.05, 108.2, resolution).hexcodes);
    const widthPx = (2 * edgeM * worldPx) / (EARTH_M * Math.cos((16 * Math.PI) / 180));
    expect([zoom, widthPx >= 44 * 0.8 && widthPx <= 44 * Math.sqrt(7) * 1.25]).toEqual([zoom, true]);
  }
  expect([gridResolutionAt(1, 16), gridResolutionAt(1e15, 16)]).toEqual([0, 15]);
});

test('a measured position is drawn with the circle of its error, which the map makes room for', () => {
  const measured = { ...place, from: { lat: 21.0288, lng: 105.8525 }, accuracyM: 2500 };
  const [circle] = placeShapes(library, measured, 0).features;
  expect(circle!.properties.kind).toBe('error');
  const lats = circle!.geometry.coordinates[0]!.map(([, lat]) => lat);
  expect(((Math.max(...lats) - Math.min(...lats)) / 360) * 40_075_017).toBeCloseTo(5000, 0);
  const box = boxAround(library, measured, 0);
  expect([box.north, box.south]).toEqual([Math.max(...lats), Math.min(...lats)]);
});

test('the cell once and last, its ring around it, its ancestors between them', () => {
  const kinds = (rings: number) =>
    placeShapes(library, place, rings).features.map(({ properties }) => properties.kind);
  expect(kinds(0)).toEqual([...Array.from({ length: 13 }, () => 'ancestor'), 'cell']);
  const around = gridDisk(library, place.hexcodes, 2).length - 1;
  expect(kinds(2)).toEqual([
    ...Array.from({ length: around }, () => 'ring'),
    ...Array.from({ length: 13 }, () => 'ancestor'),
    'cell',
  ]);
});

test('the box has room for the rings, and the grid only cells with codes', () => {
  const [near, far] = [boxAround(library, place, 0), boxAround(library, place, 3)];
  expect(
    near.west < place.lng && place.lng < near.east && near.south < place.lat && place.lat < near.north,
  ).toBe(true);
  expect((far.east - far.west) / (near.east - near.west)).toBeCloseTo(7.6 / 1.6, 5);
  const inland = gridOf(library, { west: 105.8, south: 21.0, east: 105.9, north: 21.1 }, 8);
  expect(inland.features.length).toBeGreaterThan(50);
  expect(gridOf(library, { west: 2, south: 48, east: 2.2, north: 48.2 }, 8).features).toEqual([]);
  expect(gridOf(library, { west: 100, south: 5, east: 112, north: 24 }, 9).features).toEqual([]);
});
