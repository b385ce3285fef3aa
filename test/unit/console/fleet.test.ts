// The fleet of the page: its vehicles and its figures.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { consoleModule } from '../../support/console-module.js';
import { randomFrom } from '../../support/open-world.js';
import { refusalOf } from '../../support/raw-stream.js';
import { shippedKernel } from '../../support/shipped.js';
import { Wire } from '../../support/wire.js';

// The figures of the fleet: counted from answers alone, inside the window, and 0 where nothing answers.
describe('figures', async () => {
  interface Figures {
    readonly points: number;
    readonly pointsPerSecond: number;
    readonly changesPerSecond: number;
    readonly failed: number;
    readonly refused: number;
    readonly unanswered: number;
    readonly window: number;
    readonly medianMs?: number;
    readonly longestMs?: number;
  }
  const { FleetStream } = await consoleModule<{
    FleetStream: new (
      vehicles: number,
    ) => {
      readonly answered: Float64Array;
      readonly unanswered: number;
      open(ready: string): void;
      lose(): void;
      begin(): void;
      send(pairs: Float64Array, nowMs: number): Uint8Array[];
      answer(bytes: Uint8Array, nowMs: number): void;
      figures(nowMs: number): Figures;
      codeOf(vehicle: number): string;
    };
  }>('fleet/fleet-stream.ts');
  const wire = new Wire(shippedKernel());
  const answerOf = (frame: Uint8Array): Uint8Array => wire.frame(frame).slice();
  const ready = (window: number): string =>
    JSON.stringify({
      type: 'ready',
      format: 1,
      max_frame_bytes: 1_310_736,
      max_points: 65_536,
      window,
      window_bytes: 4_194_304,
    });
  /** Vehicles in a row to the north of a street in Hà Nội, the last of them abroad. */
  const rowOf = (count: number, shiftDeg = 0): Float64Array =>
    Float64Array.from({ length: 2 * count }, (_, i) =>
      i % 2 === 1 ? 105.8525 : i === 2 * count - 2 ? 48 : 21 + shiftDeg + i * 1e-6,
    );

  test('nothing is sent before the service is ready, and nothing is counted before it answers', () => {
    const stream = new FleetStream(3);
    stream.begin();
    expect(stream.send(rowOf(3), 0)).toEqual([]);
    stream.open(ready(16));
    expect(stream.send(rowOf(3), 0)).toHaveLength(1);
    expect(stream.figures(5)).toMatchObject({ points: 0, pointsPerSecond: 0, unanswered: 1, window: 16 });
    expect(stream.codeOf(0)).toBe('');
  });

  test('answers make points, failures, changed codes and times', () => {
    const stream = new FleetStream(3);
    stream.open(ready(16));
    const turn = (pairs: Float64Array, sentMs: number, answeredMs: number): void => {
      stream.begin();
      for (const frame of stream.send(pairs, sentMs)) stream.answer(answerOf(frame), answeredMs);
    };
    turn(rowOf(3), 0, 7);
    expect(stream.figures(10)).toMatchObject({
      points: 3,
      pointsPerSecond: 3,
      changesPerSecond: 0,
      failed: 1,
      medianMs: 7,
      longestMs: 7,
    });
    expect([stream.codeOf(0), stream.codeOf(2)]).toEqual([expect.stringMatching(/^HN-/), '']);
    turn(rowOf(3), 100, 120);
    expect(stream.figures(200).changesPerSecond).toBe(0);
    turn(rowOf(3, 0.01), 200, 203);
    expect(stream.figures(300)).toMatchObject({ changesPerSecond: 2, points: 9, medianMs: 7, longestMs: 20 });
    expect([...stream.answered]).toEqual([...rowOf(3, 0.01)]);
    // A second without answers.
    expect(stream.figures(1300)).toMatchObject({ points: 9, pointsPerSecond: 0, changesPerSecond: 0 });
    expect(stream.figures(1300).medianMs).toBeUndefined();
  });

  test('the window holds, and every vehicle has its turn', () => {
    const count = 4096 * 3 + 5;
    const stream = new FleetStream(count);
    stream.open(ready(2));
    const pairs = rowOf(count);
    stream.begin();
    const waiting = stream.send(pairs, 0);
    expect(waiting.map((frame) => frame.length)).toEqual([16 + 4096 * 16, 16 + 4096 * 16]);
    for (let frame = waiting.shift(); frame !== undefined; frame = waiting.shift()) {
      expect(stream.unanswered).toBeLessThanOrEqual(2);
      stream.answer(answerOf(frame), 1);
      waiting.push(...stream.send(pairs, 1));
    }
    expect(stream.figures(2)).toMatchObject({ points: count, unanswered: 0 });
    expect([...stream.answered]).toEqual([...pairs]);
    // A turn that begins while the window is full sends nothing more.
    stream.begin();
    expect(stream.send(pairs, 3)).toHaveLength(2);
    stream.begin();
    expect(stream.send(pairs, 4)).toEqual([]);
  });

  test('a lost connection takes its frames along, refused ones are counted, a wrong answer is an error', () => {
    const stream = new FleetStream(3);
    stream.open(ready(16));
    stream.begin();
    stream.send(rowOf(3), 0);
    stream.lose();
    expect(stream.figures(1)).toMatchObject({ points: 0, unanswered: 0, window: 0 });
    stream.open(ready(16));
    stream.begin();
    const [frame] = stream.send(rowOf(3), 0);
    stream.answer(refusalOf(frame!, 2), 1);
    expect(stream.figures(2)).toMatchObject({ points: 0, refused: 3, pointsPerSecond: 0 });
    expect(() => stream.answer(answerOf(frame!), 1)).toThrow('another frame');
  });
});

// Vehicles of the fleet: always on a street, on land, near the middle, and no faster than they may be.
describe('vehicles', async () => {
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

  test('vehicles stay on streets, and drive as far as their time allows', async () => {
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
});
