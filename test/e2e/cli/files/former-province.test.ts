// `encode --former` of one position; of files: test/property/differential/engine.test.ts.
import { afterAll, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';
import { OPEN_INDEX } from '../../../support/open-world.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
folder.write('places.csv', 'lat,lng\n20.4463,106.3366\n');

test('one position', async () => {
  expect((await folder.run(['encode', '20.4463,106.3366', '--former'])).stdout).toMatch(
    /^HY-\S+ {2}Thái Bình\n$/,
  );
  const { stdout } = await folder.run(['encode', '20.4463,106.3366', '--former', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ admin_code: 'HY', former_province: 'Thái Bình' });
});

test('an index without them is refused', async () => {
  folder.write('open.bin', OPEN_INDEX);
  for (const what of ['places.csv', '20.4463,106.3366']) {
    const ran = await folder.run(['encode', what, '--former'], { env: { HEXCODES_INDEX: 'open.bin' } });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toContain('the boundary index has no provinces of before July 2025');
  }
});
