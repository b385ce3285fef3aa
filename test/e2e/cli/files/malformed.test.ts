// Malformed inputs and outputs through the real command: exit codes, messages, and no output left behind.
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';
import { writePointsCsv } from '../../../support/files/points-csv.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

describe('a malformed file: the message names file, row and column, and no output is left', () => {
  const long = Buffer.alloc(100 * 1024 * 1024, 'x');
  const head = 'id,lat,lng\n1,21,105\n';
  const cases: [name: string, content: string | Uint8Array, message: RegExp][] = [
    ['utf8.csv', Buffer.from(`${head}\xff,21,105\n`, 'latin1'), /utf8\.csv, row 2, column id: not UTF-8/],
    ['nul.csv', `${head}2,2\u00001,105\n`, /nul\.csv, row 2, column lat: a NUL byte/],
    ['quote.csv', `${head}"2,21,105\n`, /quote\.csv, row 2: a quote is not closed/],
    ['last.csv', `id,lat,lng,note\n1,21,105,a\n2,21,105,"b\n`, /last\.csv, row 2: a quote is not closed/],
    ['long.csv', Buffer.concat([Buffer.from(head), long]), /long\.csv, row 2: .*longer than/],
    ['empty.csv', '', /empty\.csv: the file is empty/],
    ['missing.csv', 'id,x\n1,2\n', /missing\.csv: no column lat or latitude: it has id, x/],
    ['twice.csv', 'lat,LAT,lng\n1,2,3\n', /more than one column could be lat/],
    ['cut.csv.gz', gzipSync(head.repeat(1000)).subarray(0, 60), /cut\.csv\.gz: the gzip data is cut off/],
    ['byte.csv.gz', gzipSync(head).subarray(0, 1), /byte\.csv\.gz: the gzip data is cut off/],
    [
      'bad.csv.gz',
      Buffer.concat([gzipSync(head).subarray(0, -8), Buffer.alloc(8, 1)]),
      /bad\.csv\.gz: broken gzip/,
    ],
    ['line.ndjson', '{"lat":1,"lng":2}\n{"lat":\n', /line\.ndjson, row 2: not JSON/],
    ['list.ndjson', '{"lat":1,"lng":2}\n[1,2]\n', /list\.ndjson, row 2: not a JSON object/],
    ['nul.ndjson', '{"lat":1,"lng":2}\n{"a":"\u0000"}\n', /nul\.ndjson, row 2: a NUL byte/],
    [
      'utf8.ndjson',
      Buffer.from('{"lat":1,"lng":2}\n{"a":"\xff"}\n', 'latin1'),
      /utf8\.ndjson, row 2: not UTF-8/,
    ],
    [
      'long.ndjson',
      Buffer.concat([Buffer.from('{"lat":1,"lng":2}\n'), long]),
      /long\.ndjson, row 2: a line of more than 16 MiB/,
    ],
    [
      'cut.geojson',
      '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{}',
      /cut\.geojson, row 1: the file ends in the middle/,
    ],
    [
      'other.geojson',
      '{"type":"FeatureCollection","features":[{"a":1},3]}',
      /other\.geojson, row 2: something that is no feature/,
    ],
    ...['EPSG:3857', 'urn:ogc:def:crs:EPSG::3405'].flatMap((system) => {
      const crs = `"crs": { "type": "name", "properties": { "name": "${system}" } }`;
      const features = '"features":[{"type":"Feature","properties":{}}]';
      const message = /in another system than WGS 84: "\S+:3\d+"/;
      return [
        [`head-${system.slice(-4)}.geojson`, `{"type":"FeatureCollection",${crs},${features}}`, message],
        [`tail-${system.slice(-4)}.geojson`, `{"type":"FeatureCollection",${features},${crs}}`, message],
      ] satisfies (typeof cases)[number][];
    }),
    ['cut.parquet', Buffer.from('PAR1 and no more'), /cut\.parquet: not a whole Parquet file/],
    [
      'cut.arrow',
      Buffer.from('ARROW1\0\0\xff\xff\xff\xff\x10\0', 'latin1'),
      /cut\.arrow: the Arrow data is cut off/,
    ],
  ];
  test.each(cases)('%s', async (name, content, message) => {
    folder.write(name, content);
    const ran = await folder.run(['encode', name, '-o', `result-${name}`]);
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringMatching(message)]);
    expect(folder.names().filter((each) => each.startsWith('result-'))).toEqual([]);
  });

  // From a pipe, encode converts in one thread and decode by workers.
  test.each(['encode', 'decode'])('%s reports the first of several faults', async (operation) => {
    writePointsCsv(folder.file('points.csv'), 30_000, 1);
    const lines = folder.read('points.csv').split('\n');
    lines[9_000] = '\0,1,2,3';
    lines[25_000] = '\0,1,2,3';
    lines[28_000] = '"open,1,2,3';
    lines[0] = operation === 'encode' ? lines[0]! : lines[0]!.replace('id', 'hexcodes');
    const options = operation === 'encode' ? [] : ['--threads', '2', '--prefix', 'h_'];
    const ran = await folder.run([operation, ...options], { stdin: lines.join('\n') });
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('(stdin), row 9000, column ')]);
  });

  test('a damaged Parquet file, a missing file, a folder, an output that cannot be opened', async () => {
    writePointsCsv(folder.file('few.csv'), 6, 1);
    expect((await folder.run(['encode', 'few.csv', '-o', 'p.parquet', '-q'])).code).toBe(0);
    const whole = folder.bytes('p.parquet');
    folder.write('half.parquet', Buffer.concat([whole.subarray(0, 200), whole.subarray(400)]));
    const half = await folder.run(['decode', 'half.parquet', '--prefix', 'x_', '-o', 'result-half.csv']);
    expect([half.code, half.stderr]).toEqual([3, expect.stringContaining('half.parquet')]);
    for (const [args, code, message] of [
      [['encode', 'none.csv'], 3, 'cannot read none.csv: no such file'],
      [['encode', '.'], 3, 'cannot read .: it is a directory'],
      [['encode', 'few.csv', '-o', 'no/such/folder.csv'], 4, 'cannot write no/such/folder.csv'],
    ] as const) {
      const ran = await folder.run(args);
      expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(message)]);
    }
    expect(folder.names().filter((each) => each.startsWith('result-'))).toEqual([]);
  });
});
