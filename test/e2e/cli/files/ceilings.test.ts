// Small files that claim or become a great deal, through the real command with a small heap: an answer, or one sentence
// with the limit and the way out and exit code 3; never an end of memory, a stack or a message of V8.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { unzipSync, type Zippable, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import type { RunOptions } from '../../../support/cli.js';
import {
  arrowWithCount,
  deepGeoJson,
  listsOfOneText,
  longTexts,
  overlappingTexts,
  soundArrow,
  workbook,
} from '../../../support/files/damaged.js';
import { workbookXml } from '../../../support/files/workbook-xml.js';
import { sharedCommand } from '../../../support/shared.js';

const MIB = 2 ** 20;
const folder = sharedCommand();

/** A heap of 256 MiB: the ceiling is 128 MiB. */
const SMALL = { NODE_OPTIONS: '--max-old-space-size=256' };
const run = (args: string[], options: RunOptions = {}) =>
  folder.run(args, { ...options, env: { ...SMALL, ...options.env } });

const OF_V8 = /heap|stack|Invalid (string|array|typed)|allocation failed|Cannot read properties/i;

async function refused(name: string, content: string | Uint8Array, args: string[] = []): Promise<string> {
  folder.write(name, content);
  const { code, stderr } = await run(['encode', name, '--to', 'ndjson', '-o', 'out.ndjson', '-q', ...args]);
  expect([code, stderr]).toEqual([3, expect.not.stringMatching(OF_V8)]);
  expect(stderr.split('\n')[0]).toContain(name);
  expect(folder.names().filter((each) => each.startsWith('out.'))).toEqual([]);
  return stderr;
}

describe('claims that are not true', () => {
  test('the Arrow file of these is sound', async () => {
    folder.write('sound.arrows', soundArrow());
    const { code, stdout } = await run(['encode', 'sound.arrows', '--to', 'csv', '-q']);
    expect([code, stdout.split('\n').length]).toEqual([0, 702]);
  });

  test.each(['columns', 'nodes', 'buffers'] as const)(
    'two damaged bytes: an Arrow file of 16 KB claims 67 million %s',
    async (list) => {
      const bytes = arrowWithCount(list);
      expect(bytes.length).toBeLessThan(20_000);
      expect(await refused('count.arrows', bytes)).toMatch(
        /broken Arrow data in message \d: metadata of \d+ bytes/,
      );
    },
  );

  test('Arrow: texts over the same bytes again and again', async () => {
    expect(await refused('over.arrows', overlappingTexts(4001, MIB))).toMatch(
      /column text: .*a text from 1048576 to 0 of 1048576 bytes/,
    );
  });

  test('a workbook whose head claims 4 GB', async () => {
    folder.write('claim.xlsx', workbook('', 4e9));
    const { code, stdout } = await run(['encode', 'claim.xlsx', '--to', 'csv', '-q']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('21.03,105.85,HN-')]);
  });
});

test('a workbook is not held: one with 17 MB of pictures is read with 16 MiB, from a pipe it is refused', async () => {
  const cells = ['lat', 'lng'].map((name) => `<c t="inlineStr"><is><t>${name}</t></is></c>`).join('');
  const rows = `<row>${cells}</row><row><c><v>21.03</v></c><c><v>105.85</v></c></row>`;
  const parts = unzipSync(workbookXml({ sheets: { s: rows } }));
  const pictures = { 'xl/media/image1.png': [randomBytes(17 * MIB), { level: 0 }] } satisfies Zippable;
  const bytes = zipSync({ ...parts, ...pictures });
  folder.write('pictures.xlsx', bytes);
  const options = { env: { HEXCODES_READ_MEMORY: '16' } };
  const { stdout } = await run(['encode', 'pictures.xlsx', '--to', 'csv', '-q'], options);
  expect(stdout).toContain('21.03,105.85,HN-');
  const { code, stderr } = await run(['encode', '-', '--to', 'csv', '-q'], { ...options, stdin: bytes });
  expect([code, stderr]).toEqual([
    3,
    expect.stringMatching(/the workbook takes .* one file may take 16 MiB/),
  ]);
});

describe('what becomes too much', () => {
  const LIMIT =
    /takes [\d,]+ MiB of memory, and one file may take 1\d\d MiB\n.*HEXCODES_READ_MEMORY=MiB allows more/;

  test('a workbook with a cell in its last corner', async () => {
    const row = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>';
    expect(await refused('corner.xlsx', workbook(row))).toMatch(
      /16384 columns and 1048576 rows: a value stands far/,
    );
  });

  test('a workbook whose sheet is 200 MB of blanks', async () => {
    const bytes = workbook(Buffer.alloc(200 * MIB, ' '));
    expect(bytes.length).toBeLessThan(MIB);
    expect(await refused('blank.xlsx', bytes)).toMatch(/16 MiB of it have no tag/);
  });

  test('Parquet in gzip, which is read as a whole', async () => {
    expect(await refused('zeros.parquet.gz', gzipSync(Buffer.alloc(150 * MIB)))).toMatch(LIMIT);
  });

  test('a row of NDJSON that is small as text', async () => {
    const row = `{"lat":21,"lng":105,"a":[${'[],'.repeat(3e6)}1]}\n`;
    expect(await refused('lists.ndjson', row)).toMatch(LIMIT);
  });

  test('a list of one long text', async () => {
    expect(await refused('list.arrows', listsOfOneText(4000, MIB))).toMatch(
      /column tags: .*more than 64 MiB of text/,
    );
  });

  test('rows with fields of their own', async () => {
    const rows = Array.from({ length: 8192 }, (_, row) => {
      const fields = Array.from({ length: 10 }, (_, i) => `"f${row}_${i}":1`);
      return `{"lat":21,"lng":105,${fields.join(',')}}\n`;
    });
    expect(await refused('fields.ndjson', rows.join(''))).toMatch(/more than 65536 fields/);
    expect(await refused('typed.ndjson', rows.join(''), ['--to', 'parquet'])).toMatch(
      /more than 65536 fields/,
    );
  });

  test('a line of NDJSON of more than 16 MiB, with and without its end', async () => {
    const row = (letters: number): string => `{"lat":21,"lng":105,"t":"${'x'.repeat(letters - 27)}"}`;
    for (const end of ['\n', ''])
      expect(await refused('long.ndjson', `${row(16 * MIB + 1)}${end}`)).toMatch(
        /row 1: a line of more than 16 MiB/,
      );
    folder.write('most.ndjson', `${row(16 * MIB)}\n`);
    expect((await folder.run(['encode', 'most.ndjson', '-q', '-o', 'most.csv'])).code).toBe(0);
  });

  test('a line of another encoding without an end', async () => {
    const content = Buffer.concat([Buffer.from('lat,lng,a\n21,105,'), Buffer.alloc(20 * MIB, 'a')]);
    expect(await refused('line.csv', content, ['--encoding', 'windows-1258'])).toMatch(
      /a line of more than 16 MiB of windows-1258/,
    );
  });

  test('areas for cover, and a list for contains', async () => {
    folder.write('areas.geojson', `[${' '.repeat(40 * MIB)}]`);
    const cover = await run(['cover', 'areas.geojson']);
    expect([cover.code, cover.stderr]).toEqual([3, expect.stringMatching(LIMIT)]);
    folder.write('list.csv', `hexcodes\n${'HN-6GHP4-83RFR\n'.repeat(900_000)}`);
    folder.write('points.csv', 'lat,lng\n21.0288,105.8525\n');
    const contains = await run(['contains', 'points.csv', '--in', 'list.csv', '-q'], {
      env: { HEXCODES_READ_MEMORY: '64' },
    });
    expect([contains.code, contains.stderr]).toEqual([3, expect.stringMatching(/list\.csv: the list takes/)]);
  });

  test('vehicles of track', async () => {
    const rows = Array.from({ length: 300_000 }, (_, i) => `v${i},2026-11-01T00:00:00Z,21,105.8\n`);
    folder.write('fleet.csv', `id,time,lat,lng\n${rows.join('')}`);
    const { code, stderr } = await run(
      ['track', 'fleet.csv', '--id', 'id', '--time', 'time', '-q', '-o', 'stays.csv'],
      {
        env: { HEXCODES_READ_MEMORY: '64' },
      },
    );
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/fleet\.csv: the last stay of each of .* vehicles takes/),
    ]);
  });
});

describe('nested too deeply', () => {
  test.each(['csv', 'ndjson', 'geojson'])('GeoJSON 3 million deep, to %s', async (to) => {
    const stderr = await refused('deep.geojson', deepGeoJson(3e6), ['--to', to]);
    expect(stderr).toMatch(/deep\.geojson, row 1: lists and objects are nested more than 512 deep/);
  });

  test('NDJSON', async () => {
    const nested = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    const stderr = await refused('deep.ndjson', `{"lat":21,"lng":105,"a":${nested}}\n`);
    expect(stderr).toMatch(/deep\.ndjson, row 1: lists and objects are nested more than 512 deep/);
  });

  test('512 deep is read', async () => {
    folder.write('less.geojson', deepGeoJson(500));
    const { code, stdout } = await run(['encode', 'less.geojson', '--to', 'csv', '-q']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('HN-')]);
  });
});

/** Bytes of output and peak memory of a run whose output is counted and not kept. */
async function measured(
  args: string[],
): Promise<{ code: number | null; bytes: number; peakKib: number; stderr: string }> {
  const script = `
    const { status } = process;
    process.on('exit', () => require('fs').writeSync(2, 'PEAK ' + process.resourceUsage().maxRSS));
  `;
  folder.write('peak.cjs', script);
  return new Promise((done) => {
    const child = spawn(
      'node',
      ['--require', folder.file('peak.cjs'), ...folder.commandLine(args).slice(1)],
      {
        cwd: folder.path,
        env: { ...process.env, ...SMALL },
      },
    );
    let bytes = 0;
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on('close', (code) => {
      done({ code, bytes, peakKib: Number(/PEAK (\d+)/.exec(stderr)?.[1]), stderr });
    });
  });
}

test('a Parquet file of 700 texts of 1 MiB in 50 KB is read in windows', async () => {
  const bytes = longTexts(700);
  expect(bytes.length).toBeLessThan(50_000);
  folder.write('long.parquet', bytes);
  const { code, bytes: written, peakKib } = await measured(['encode', 'long.parquet', '--to', 'csv', '-q']);
  expect([code, written]).toEqual([0, expect.any(Number)]);
  expect(written).toBeGreaterThan(700 * MIB);
  // The whole content is 700 MiB; of 2,000 texts 1.08 GB were in memory before, and an error.
  expect(peakKib).toBeLessThan(400 * 1024);
});

test.each([
  ['--to', 'ndjson'],
  ['--to', 'parquet'],
  ['--to', 'arrow'],
  ['--to', 'parquet', '--sort', 'cell', '--memory', '16'],
])('300 such texts: %s %s %s', async (...to) => {
  folder.write('texts.parquet', longTexts(300));
  const { code, stderr } = await measured(['encode', 'texts.parquet', '-q', ...to]);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^PEAK \d+$/)]);
});

test('a row of 6,000 columns, into Parquet and Arrow and from there', async () => {
  const columns = Array.from({ length: 6000 }, (_, c) => `,"c${c}":${c}`).join('');
  folder.write('wide.ndjson', `{"lat":21.03,"lng":105.85${columns}}\n`);
  for (const [from, to] of [
    ['wide.ndjson', 'wide.parquet'],
    ['wide.parquet', 'wide.arrow'],
    ['wide.arrow', 'wide.csv'],
  ] as const) {
    const ran = await measured(['encode', from, '--prefix', to, '-q', '-o', folder.file(to)]);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/^PEAK \d+$/)]);
    // Buffers of 64 KiB for each column took 0.7 GB; a schema for each column ended the heap.
    expect(ran.peakKib).toBeLessThan(400 * 1024);
  }
  expect(folder.read('wide.csv')).toContain(',5999,');
});

test('the ceiling is a variable: one value for all readers', async () => {
  folder.write('zeros.parquet.gz', gzipSync(Buffer.alloc(20 * MIB)));
  const at = (mib: string) =>
    run(['encode', 'zeros.parquet.gz', '--to', 'csv', '-q'], { env: { HEXCODES_READ_MEMORY: mib } });
  expect((await at('16')).stderr).toMatch(/takes 17 MiB of memory, and one file may take 16 MiB/);
  expect((await at('64')).stderr).toMatch(/not a whole Parquet file/);
  folder.write('few.csv', 'lat,lng\n21,105\n');
  expect((await run(['encode', 'few.csv'], { env: { HEXCODES_READ_MEMORY: '1' } })).code).toBe(2);
  expect((await run(['encode', 'few.csv'], { env: { HEXCODES_CHECKPOINT_BYTES: 'few' } })).code).toBe(2);
  const wrong = await at('many');
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('HEXCODES_READ_MEMORY many: must be a whole number of MiB from 16 to 65536'),
  ]);
});

// A pipe is read value by value: a batch ends at as many bytes as at as many rows.
test.each([
  ['csv', 'id,lat,lng,text\n', (id: number, text: string) => `${id},21,105.8,${text}\n`],
  ['ndjson', '', (id: number, text: string) => `{"id":${id},"lat":21,"lng":105.8,"text":"${text}"}\n`],
] as const)('8,000 rows of 50 kB from a pipe of %s', async (format, head, rowOf) => {
  const text = 'x'.repeat(50_000);
  const rows = Array.from({ length: 8000 }, (_, id) => Buffer.from(rowOf(id, text)));
  const { code, stdout } = await run(
    ['aggregate', '-', '--from', format, '--by', 'province', '--sum', 'id'],
    {
      stdin: Buffer.concat([Buffer.from(head), ...rows]),
      env: { NODE_OPTIONS: '--max-old-space-size=320' },
    },
  );
  expect([code, stdout]).toEqual([0, 'admin_code,province,sum_id\nHN,Hà Nội,31996000\n']);
});

test('more rows than a sheet of Excel holds are refused with a way out', async () => {
  folder.write('rows.csv', `lat,lng\n${'1,2\n'.repeat(1_048_576)}`);
  const { code, stderr } = await folder.run('encode rows.csv -q -o rows.xlsx');
  expect([code, stderr]).toEqual([4, expect.stringMatching(/of Excel.*\n.*write CSV/is)]);
  expect(folder.names()).not.toContain('rows.xlsx');
});
