// Hostile CSV, NDJSON, JSON batches and JSON frames through both builds of the kernel, in one of them without its help
// for envelopes; `npm run proof -- text` runs millions of rows through two checkouts.
import { expect, test } from 'vitest';
import { convertBlock } from '#dist/hexcodes/wire/bulk/convert-block.js';
import { BulkReader } from '#dist/hexcodes/wire/bulk/reader.js';
import { ByteSink } from '#dist/hexcodes/wire/bytes/byte-sink.js';
import * as batch from '#dist/hexcodes/wire/rows/batch.js';
import { answerJsonFrame } from '#dist/hexcodes/wire/rows/json-frame.js';
import { HostileText, type TextWay } from '../../../support/hostile-text.js';
import { openKernel, randomFrom } from '../../../support/open-world.js';

const SEED = 20261124;

test('both builds give the same bytes and errors', () => {
  const shared = { convertBlock, BulkReader, ByteSink, answerJsonFrame };
  const release: TextWay = { kernel: openKernel(), batch, ...shared };
  const withoutKernel: TextWay['batch'] = {
    ...batch,
    openBatch: (operation, bytes) => batch.openBatch(operation, bytes),
  };
  const debug: TextWay = { kernel: openKernel('kernel.debug'), batch: withoutKernel, ...shared };
  const texts = new HostileText(release, debug, randomFrom(SEED));
  for (let round = 0; round < 8; round++) texts.round();
  expect(texts.wrong, `seed ${SEED}`).toEqual([]);
  expect(texts.rows).toBe(8 * 4800);
  expect(texts.refused).toBeGreaterThan(0);
  expect(texts.refused).toBeLessThan(texts.texts / 2);
});
