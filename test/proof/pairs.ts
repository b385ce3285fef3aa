// `npm run proof -- pairs [--size 200000] [--seed S]`: rows by encode, and as many by decode, through every pair of a
// format that is read and a format that is written. Programs of others write the inputs and read the outputs: codes,
// positions, statuses, counts, order and values.
// test/support/pairs.py is the judge; .ci/python installs what it needs.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../support/cli.js';
import { randomFrom } from '../support/open-world.js';
import { runPython } from '../support/python-env.js';
import { below, pick, type Random } from '../support/random.js';
import { optionsOf, report } from './run-length.js';

const INPUTS = 'csv tsv ndjson geojson parquet arrow arrows xlsx gpx kml gpkg'.split(' ');
const OUTPUTS = ['csv', 'tsv', 'ndjson', 'geojson', 'parquet', 'arrow', 'arrows', 'xlsx'];

const NAMES = [
  ...[
    'a',
    '',
    'Phở 10, Lý Quốc Sư',
    'a"b',
    '"',
    '""',
    "'",
    'a;b',
    'a|b',
    'a\tb',
    'a\nb',
    '\\',
    '\\n',
    'NULL',
    'nan',
    'true',
    '0',
    '007',
  ],
  ...[
    '1e5',
    '=1+1',
    '#',
    'ẤẬ',
    'Hồ Gươm',
    '👍🏽',
    '\u2028',
    '\u00a0x',
    '中文',
    'x'.repeat(300),
    '<b>&amp;',
    '{"a":1}',
    '[1]',
    '2026-01-02',
  ],
];
const ODD = [
  0, -0, 5e-324, -5e-324, 1e-7, 90, -90, 180, -180, 90.00000000000001, 180.00000000000003, 1e22, 1e308,
  -1e308,
];

interface Row {
  readonly id: number | bigint;
  readonly name: string;
  readonly lat: number | null;
  readonly lng: number | null;
}

function drawn(n: number, random: Random): Row {
  const kind = random();
  const digits = below(18, random);
  const near = (value: number): number =>
    random() < 0.5 ? value : Number(value.toPrecision(Math.max(1, digits)));
  const [lat, lng] =
    kind < 0.85
      ? [near(8 + 15.5 * random()), near(102 + 8 * random())]
      : kind < 0.93
        ? [near(-90 + 180 * random()), near(-180 + 360 * random())]
        : kind < 0.97
          ? [pick(ODD, random), pick(ODD, random)]
          : [random() < 0.5 ? null : 21, null];
  // Ids are in order: two rows never have one.
  return { id: n * 2 ** 20 + below(2 ** 20, random), name: pick(NAMES, random), lat, lng };
}

interface Judged {
  readonly pairs: Record<
    string,
    Record<string, { rows: number; different: Record<string, number>; first: string | null }>
  >;
}

async function python<Answer>(...args: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await runPython(['test/support/pairs.py', ...args]);
  if (code !== 0) throw new Error(`pairs.py ${args.join(' ')}: ${stderr.slice(-2000)}`);
  return (stdout === '' ? undefined : JSON.parse(stdout)) as Answer;
}

/** A row of positions with the answer of encode, as the judge reads it. */
function encodeRow(hexcodes: Hexcodes, n: number, random: Random): object {
  const row = drawn(n, random);
  const { lat, lng } = row;
  const { kernel } = hexcodes;
  const isOk = lat !== null && lng !== null && kernel.exports.encodeOne(lat, lng, 13) === 0;
  const code = isOk ? kernel.textAt(0) : '';
  const isIn = lat !== null && lng !== null && Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
  const status = isOk ? 'OK' : isIn ? 'NOT_FOUND' : 'INVALID_REQUEST';
  const cell = isOk ? hexcodes.read(code)!.cell.toString(16) : null;
  return { ...row, code, status, cell, resolution: 13 };
}

const CODE_SPELLINGS: readonly ((code: string) => string)[] = [
  (code) => code,
  (code) => code,
  (code) => code.toLowerCase(),
  (code) => code.replaceAll('-', ''),
  (code) => code.replaceAll('-', ' '),
  (code) => code.replaceAll('-', '\u2013'),
  (code) => code.replace(/[A-Z2-9]/g, (unit) => String.fromCharCode(unit.charCodeAt(0) + 0xfee0)),
  // Slips, and texts around a code: refused, unless the check symbol happens to fit.
  (code) => code.slice(0, -1),
  (code) => code.replace(/.$/, (last) => (last === '2' ? '3' : '2')),
  (code) => `${code.slice(0, 4)}B${code.slice(5)}`,
  (code) => `giao ${code}, gấp`,
  (code) => `x${code}`,
];

/** A row of codes with the answer of decode. */
function decodeRow(hexcodes: Hexcodes, n: number, random: Random): object {
  const { id, name } = drawn(n, random);
  let made = '';
  while (made === '') {
    const [lat, lng] = [8 + 15.5 * random(), 102 + 8 * random()];
    if (hexcodes.adminCodeOf(lat, lng) !== null) made = hexcodes.encode(lat, lng, below(16, random)).hexcodes;
  }
  const place = random() < 0.03 ? null : pick(CODE_SPELLINGS, random)(made);
  const read = place === null ? null : hexcodes.read(place);
  const status = read !== null ? 'OK' : place === null ? 'INVALID_REQUEST' : 'INVALID_HEXCODES';
  const { lat = null, lng = null, resolution = null } = read ?? {};
  return { id, name, place, lat, lng, resolution, status, cell: read?.cell.toString(16) ?? null };
}

const OPERATIONS = { encode: encodeRow, decode: decodeRow } as const;

/** Options of decode for an input: the column of codes, and names besides the position that the file has. */
const DECODE_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  gpx: ['--column', 'sym', '--prefix', 'd_'],
  kml: ['--column', 'place', '--prefix', 'd_'],
};

export default async function provePairs(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '200000', seed: '1' });
  const seed = Number(values.seed);
  const count = Math.ceil(Number(values.size) / (INPUTS.length * OUTPUTS.length));
  const hexcodes = await Hexcodes.load();
  const faults: string[] = [];
  const words: string[] = [];
  for (const [operation, rowOf] of Object.entries(OPERATIONS)) {
    const random = randomFrom(seed);
    const lines = Array.from({ length: count }, (_, n) => `${JSON.stringify(rowOf(hexcodes, n, random))}\n`);
    const { rows, pairs, read } = await throughPairs(operation as keyof typeof OPERATIONS, lines, faults);
    words.push(`${operation}: ${rows} rows through ${pairs} pairs, ${read} rows read by judges`);
  }
  report('pairs', words.join('; '), seed, faults);
}

async function throughPairs(
  operation: keyof typeof OPERATIONS,
  lines: readonly string[],
  faults: string[],
): Promise<{ rows: number; pairs: number; read: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-pairs-'));
  const cli = new CliFolder();
  let rows = 0;
  let read = 0;
  let pairs = 0;
  try {
    writeFileSync(join(folder, 'truth.ndjson'), lines.join(''));
    await python('write', folder, operation);
    const { versions, cells } = await python<{ versions: object; cells: number }>('cells', folder);
    if (cells > 0) faults.push(`${operation}: ${cells} cells are others by h3-py`);
    for (const source of INPUTS) {
      const input = join(folder, `in.${source}`);
      if (!existsSync(input)) {
        faults.push(`${source}: nobody wrote it`);
        continue;
      }
      const options = operation === 'decode' ? (DECODE_OPTIONS[source] ?? ['--column', 'place']) : [];
      for (const format of OUTPUTS) {
        const output = join(folder, `out.${format}`);
        rmSync(output, { force: true });
        const { code, stderr } = await cli.run([operation, input, '-o', output, '-q', ...options]);
        if (code !== 0)
          faults.push(`${operation} ${source} to ${format}: exit code ${code}, ${stderr.slice(0, 300)}`);
      }
      const judged = await python<Judged>('judge', folder, operation, source);
      for (const [format, judges] of Object.entries(judged.pairs)) {
        pairs++;
        rows += Math.max(0, ...Object.values(judges).map((each) => each.rows));
        for (const [judge, { rows: of, different, first }] of Object.entries(judges)) {
          read += of;
          const kinds = Object.entries(different).map(([kind, many]) => `${many} ${kind}`);
          if (kinds.length > 0)
            faults.push(
              `${operation} ${source} to ${format} by ${judge}: ${kinds.join(', ')}; ${first?.slice(0, 700)}`,
            );
        }
      }
      console.log(
        `${operation} ${source}: ${JSON.stringify(Object.fromEntries(Object.entries(judged.pairs).map(([format, each]) => [format, Object.keys(each).length])))}`,
      );
    }
    console.log(`judges: ${JSON.stringify(versions)}`);
  } finally {
    cli.remove();
    rmSync(folder, { recursive: true });
  }
  return { rows, pairs, read };
}
