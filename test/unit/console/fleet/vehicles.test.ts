// Vehicles of the fleet: always on a street, on land, near the middle, and no faster than they may be.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { consoleModule } from '../../../support/console-module.js';
import { randomFrom } from '../../../support/open-world.js';

type Ring = [lng: number, lat: number][];
interface Lattice {
  readonly latStep: number;
  readonly lngStep: number;
  readonly isOpen: Uint8Array;
}
const { latticeAround, Vehicles } = await consoleModule<{
  latticeAround(lat: number, lng: number, land: readonly Ring[]): Lattice;
  Vehicles: new (
    count: number,
    lattice: Lattice,
    random: () => number,
  ) => { readonly pairs: Float64Array; move(seconds: number): void };
}>('fleet/vehicles.ts');
const { readLand } = await consoleModule<{ readLand(bytes: Uint8Array): Ring[] }>('map/shapes.ts');
const land = readLand(new Uint8Array(readFileSync('data/land.bin')));
const DA_NANG = [16.0544, 108.2022] as const;
const COUNT = 500;

test('streets lie on land, in Viet Nam, and around the middle', () => {
  const { isOpen } = latticeAround(...DA_NANG, land);
  const open = isOpen.reduce((sum, each) => sum + each, 0);
  // The city lies on a bay: some of it is water.
  expect(open).toBeGreaterThan(isOpen.length / 4);
  expect(open).toBeLessThan(isOpen.length * 0.7);
});

test('vehicles stay on streets, and go as far as their time lets them', async () => {
  const library = await Hexcodes.load();
  const lattice = latticeAround(...DA_NANG, land);
  const vehicles = new Vehicles(COUNT, lattice, randomFrom(5));
  const before = new Float64Array(2 * COUNT);
  let [offStreet, farthest, fastest] = [0, 0, 0];
  for (let step = 0; step < 200; step++) {
    before.set(vehicles.pairs);
    vehicles.move(3);
    for (let i = 0; i < COUNT; i++) {
      const [lat, lng] = [vehicles.pairs[2 * i]!, vehicles.pairs[2 * i + 1]!];
      const north = (lat - DA_NANG[0]) / lattice.latStep;
      const east = (lng - DA_NANG[1]) / lattice.lngStep;
      const [toNorth, toEast] = [north, east].map((each) => Math.abs(each - Math.round(each)));
      offStreet = Math.max(offStreet, Math.min(toNorth!, toEast!));
      farthest = Math.max(farthest, Math.hypot(north, east));
      const [dNorth, dEast] = [lat - before[2 * i]!, lng - before[2 * i + 1]!];
      const metres = (Math.abs(dNorth / lattice.latStep) + Math.abs(dEast / lattice.lngStep)) * 200;
      fastest = Math.max(fastest, metres);
    }
  }
  expect(offStreet).toBeLessThan(1e-6);
  expect(farthest).toBeLessThan(60);
  expect(fastest).toBeLessThanOrEqual(3 * 16 + 0.01);
  const coded = Array.from({ length: COUNT }, (_, i) =>
    library.adminCodeOf(vehicles.pairs[2 * i]!, vehicles.pairs[2 * i + 1]!),
  );
  expect(coded).not.toContain(null);
});

test('a middle at sea has no streets', () => {
  const sea = latticeAround(16.5, 111, land);
  expect(sea.isOpen.some((each) => each === 1)).toBe(false);
  expect(() => new Vehicles(1, sea, randomFrom(1))).toThrow('there is no land');
});
