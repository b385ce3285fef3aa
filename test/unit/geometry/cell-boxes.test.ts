// Boxes of many cells against cellBox, bit for bit: cells anywhere in the country at every resolution, each twice.
import { expect, test } from 'vitest';
import { CellBoxes } from '#dist/hexcodes/geometry/cell-boxes.js';
import { cellBox } from '#dist/hexcodes/geometry/geojson.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { randomFrom } from '../../support/open-world.js';

test('every resolution, the sea and the islands', async () => {
  const { kernel } = await Hexcodes.load();
  const random = randomFrom(33);
  const boxes = new CellBoxes();
  let compared = 0;
  for (let n = 0; n < 12_000; n++) {
    const resolution = n % 16;
    const cell = BigInt.asUintN(
      64,
      kernel.exports.cellOf(5 + random() * 20, 100 + random() * 19, resolution),
    );
    if (cell === 0n || kernel.exports.centerOf(cell) !== 0) continue;
    const [lat, lng] = [kernel.outputFloats[0]!, kernel.outputFloats[1]!];
    const wanted = cellBox(cell.toString(16));
    for (let turn = 0; turn < 2; turn++) {
      const box = boxes.boxOf(Number(cell >> 32n), Number(cell & 0xffff_ffffn), lat, lng, resolution);
      expect([...box]).toEqual(wanted);
    }
    compared++;
  }
  expect(compared).toBeGreaterThan(10_000);
});
