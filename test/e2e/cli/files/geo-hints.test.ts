// Files of geometries that are refused, or read another way than their names suggest: each hint is run.
import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';
import { gdalNote, hasOgr2ogr } from '../../../support/gdal.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
const CODE = 'HN-6GHP4-83RFR';
const POINT = '{"type":"Point","coordinates":[105.8525,21.0288]}';

test('the geometry is the position, whatever the properties are called', async () => {
  const properties =
    '{"latitude":10.7769,"longitude":106.7009,"Lat":1,"x":2,"y":3,"location":"10, 106","gps":"x"}';
  folder.write('p.geojson', `{"type":"Feature","properties":${properties},"geometry":${POINT}}`);
  for (const to of ['csv', 'geojson', 'ndjson']) {
    const ran = await folder.run(['encode', 'p.geojson', '-q', '--to', to]);
    expect([ran.stderr, ran.stdout]).toEqual(['', expect.stringContaining(CODE)]);
  }
});

describe('a geometry by itself', () => {
  test.each(['g.geojson', 'g.json', '-'])('%s', async (name) => {
    if (name !== '-') folder.write(name, POINT);
    const ran = await folder.run(['encode', name, '-q', '--to', 'csv'], { stdin: POINT });
    expect([ran.stderr, ran.stdout]).toEqual(['', expect.stringContaining(CODE)]);
  });
});
