// `encode --certainty` of one position; of files: test/property/differential/engine.test.ts.
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../../../support/cli.js';
import { shippedKernel } from '../../../support/shipped.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
const near = new Hexcodes(shippedKernel()).borderOf(21.0757, 105.9872)!;

test('one position', async () => {
  const { border_m, certainty } = near;
  const ran = await folder.run(['encode', '21.0757,105.9872', '--certainty']);
  expect(ran.stdout).toMatch(new RegExp(`^\\S+ {2}border at ${border_m} m, certainty ${certainty}\n$`));
  const far = await folder.run(['encode', '12.6667,108.05', '--certainty']);
  expect(far.stdout).toMatch(/^DLK-\S+ {2}no border within 5 km, certainty 0\.9999\n$/);
  const { stdout } = await folder.run(['encode', '21.0757,105.9872', '--certainty', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ border_m, certainty });
});

test('an index without bands: the distance alone', async () => {
  const index = Buffer.from(
    readFileSync('data/index.bin').toString('latin1').replace('"bands"', '"bandz"'),
    'latin1',
  );
  index.writeUInt32LE(crc32(index.subarray(16)), 12);
  folder.write('other.bin', index);
  const ran = await folder.run(['encode', '21.0757,105.9872', '--certainty'], {
    env: { HEXCODES_INDEX: 'other.bin' },
  });
  expect(ran.stdout).toMatch(new RegExp(`^\\S+ {2}border at ${near.border_m} m\n$`));
});
