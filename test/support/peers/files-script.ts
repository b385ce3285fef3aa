// The script that a user would write without us: csv-parse reads the rows, which-polygon finds the province in the
// shipped boundaries, h3-js the cell, and docs/code-format.md says how the code is written. One thread.
//
//   node files-script.js IN.csv OUT.csv

import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import { latLngToCell } from 'h3-js';
import whichPolygon from 'which-polygon';
import { ADMIN_UNITS } from '#hexcodes';
import { bordersOf } from '../region/made-partitions.js';
import { packByPeer } from './code-format.js';

const RESOLUTION = 13;

const [input, output] = process.argv.slice(2) as [string, string];
const borders = bordersOf(readFileSync('data/index.bin'));
const province = whichPolygon<{ code: string }>({
  type: 'FeatureCollection',
  features: ADMIN_UNITS.map(({ code }, place) => ({
    type: 'Feature',
    properties: { code },
    geometry: borders.ofAdmin(place),
  })),
});

await pipeline(
  createReadStream(input),
  parse({ columns: true, bom: true }),
  async function* (rows: AsyncIterable<Record<string, string>>) {
    for await (const row of rows) {
      const lat = Number(row.lat);
      const lng = Number(row.lng);
      const found = province([lng, lat]);
      if (found === null) {
        yield { ...row, hexcodes: '', resolution: RESOLUTION, admin_code: '', status: 'NOT_FOUND' };
        continue;
      }
      const hexcodes = packByPeer(latLngToCell(lat, lng, RESOLUTION), found.code);
      yield { ...row, hexcodes, resolution: RESOLUTION, admin_code: found.code, status: 'OK' };
    }
  },
  stringify({ header: true }),
  createWriteStream(output),
);
