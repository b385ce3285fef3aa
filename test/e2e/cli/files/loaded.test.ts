// CSV to CSV loads no reader of another format: a small file is done in the time that modules take.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();

test('modules of encode', async () => {
  folder.write('in.csv', 'id,lat,lng\n1,21.03,105.85\n');
  const env = { NODE_V8_COVERAGE: folder.file('loaded') };
  expect((await folder.run('encode in.csv -o out.csv -q', { env })).code).toBe(0);
  const names = new Set<string>();
  for (const name of readdirSync(folder.file('loaded'))) {
    const { result } = JSON.parse(readFileSync(`${folder.file('loaded')}/${name}`, 'utf8')) as {
      result: { url: string }[];
    };
    for (const { url } of result) names.add(url);
  }
  expect([...names].some((url) => url.endsWith('/files/whole-csv.js'))).toBe(true);
  expect(
    [...names].filter((url) =>
      /by-values|by-chunks|by-rows|whole-lines|geojson-source|ndjson|parquet|arrow/.test(url),
    ),
  ).toEqual([]);
});
