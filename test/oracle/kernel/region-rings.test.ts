// The kernel against rings: of all regions, exactly the one it names winds around a point.
import { expect, test } from 'vitest';
import { writeIndexFile } from '../../../data/map/index-file.js';
import { bareKernel, putIndex } from '../../support/region/bare-kernel.js';
import { fieldsPartition, randomFrom } from '../../support/region/made-partitions.js';
import { CheckedMap } from '../../support/region/map-checks.js';
import { RingContainment, retoldRings, ringsOf } from '../../support/region/rings.js';

const SEED = 20261122;

test('made-up maps: one region inside, none outside, on and beside every line', () => {
  const random = randomFrom(SEED);
  for (const options of [{}, { jitter: 0 }, { field: 8_190, columns: 30, rows: 30 }]) {
    const kernel = bareKernel();
    const file = writeIndexFile(fieldsPartition(random, options), 'none');
    expect(putIndex(kernel, file)).toBe(0);
    const map = new CheckedMap(file, kernel);
    map.checkAnywhere(random, 20_000);
    map.checkLines();
    for (let row = 0; row < 50; ++row)
      map.checkRow(Math.floor(map.box.south + random() * (map.box.north - map.box.south)));
  }
});

test('rings that start at another vertex or run the other way wind around the same points', () => {
  const random = randomFrom(SEED);
  const file = writeIndexFile(fieldsPartition(random, {}), 'none');
  const map = new CheckedMap(file, bareKernel());
  const rings = ringsOf(map.borders, 255);
  const rotated = new RingContainment(retoldRings(rings, 3, false));
  const turned = new RingContainment(retoldRings(rings, 5, true));
  for (let i = 0; i < 10_000; ++i) {
    const x = Math.floor(map.box.west + random() * (map.box.east - map.box.west));
    const y = Math.floor(map.box.south + random() * (map.box.north - map.box.south));
    const windings = [...map.regions.windingsAt(x, y)];
    expect([...rotated.windingsAt(x, y)]).toEqual(windings);
    expect([...turned.windingsAt(x, y)].map(([region, turns]) => [region, -turns])).toEqual(windings);
  }
});
