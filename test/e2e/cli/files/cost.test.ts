// Costs of the work on a file: bounded by its bytes for every textual reader, at every place of its format (the
// small twin of `npm run proof -- linear`); rows that leave the fast path; and the modules that are loaded.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { hostilePiece, LinearWork } from '../../../support/files/linear.js';
import { randomFrom } from '../../../support/open-world.js';
import { ownFolder, sharedCommand } from '../../../support/shared.js';

const folder = ownFolder('linear');
const work = new LinearWork(await Hexcodes.load(), folder);
const random = randomFrom(1);
const PIECES = Array.from({ length: 5 }, () => hostilePiece(random));
/** Met: a line of them took time with its square. */
const HEADS = ['|', '\r', '|+Z ', '\r\t', '<!-->', '-- \n', '/**/', '{ '];
/** Comments, sections, tags and references, whole and begun. */
const XML = [
  ...[
    '<!-- - -->',
    '<!-- ',
    '- -',
    '<c ',
    '&lt;]]&gt;',
    '<![CDATA[x]]>',
    '<![CDATA[',
    '<a b="',
    '<x/>',
    '<x{n}/>',
  ],
  ...['a ', ` b{n}="x"`, `a='"' `, '&a;&', '&#65;&amp;', '&#1', '_x00', '<?x y?>', '<a><a><a></a></a></a>'],
  ...['<c/>', '<si/>', '<si><r><t>a</t></r></si>', '<r><t>a</t></r>', '""m', 'y;', '['],
];

const SQL = [
  ...['[', '"', '`', "'", '--', '/*', '(', ')', ',', '""', "x'", 'DEFAULT ', 'DEFAULT (', '- ', '1e', '9'],
  ...['CHECK ', '\u00a0', '/* */'],
];

test.each(LinearWork.places)('%s', async (place) => {
  const pieces = /^(?:gpx|kml|xlsx)/.test(place) ? [...PIECES, ...XML] : [...PIECES];
  if (place === 'gpkg sql') pieces.push(...SQL);
  if (place === 'csv header') pieces.push('c{n},');
  for (const piece of pieces) expect(await work.faultOf(place, piece)).toBeUndefined();
});

test.each(['message', 'head'] as const)('a text that is read as a %s', async (reader) => {
  for (const piece of [...PIECES, ...HEADS]) expect(await work.faultOfText(reader, piece)).toBeUndefined();
});

// The line of a run about rows that were read the slow way, through the real command.

describe('slow rows', () => {
  const folder = sharedCommand();

  const ROWS = 20_000;

  function write(name: string, lineOf: (n: number) => string): string {
    folder.write(name, Array.from({ length: ROWS }, (_, n) => `${lineOf(n)}\n`).join(''));
    return name;
  }

  async function said(...args: string[]): Promise<string[]> {
    return (await allSaid(...args)).filter((line) => / of the rows were read the slow way/.test(line));
  }

  async function allSaid(...args: string[]): Promise<string[]> {
    const { code, stderr } = await folder.run(['encode', ...args, '-o', 'out', '--threads', '2']);
    expect(code).toBe(0);
    return stderr.split('\n');
  }

  test('spellings of every kind take the fast path', async () => {
    const spaced = write(
      'spaced.ndjson',
      (n) => `{"id": ${n}, "lat": 21.0288, "note": {"a": [1, "\\u00e9"]}, "lng": 1.058525e2}`,
    );
    for (const to of ['ndjson', 'csv', 'parquet', 'arrow'])
      expect(await said(spaced, '--to', to, '--verbose'), to).toEqual([]);
    const blank = write(
      'blank.ndjson',
      (n) => `{"id" : ${n}, "lat" : 21.0288, "lng" : 105.85250000000000000001}`,
    );
    expect(await said(blank, '--to', 'csv', '--verbose')).toEqual([]);
    const table = write('table.csv', (n) => (n === 0 ? 'lat,lng' : '" 21,0288","1.058525e2"'));
    expect(await said(table, '--to', 'csv', '--verbose')).toEqual([]);
  });

  test('lines of a pipe are copied, too', async () => {
    const lines = `{"lat":21.0288,"lng":105.8525,"note":"${'x'.repeat(500)}"}\n`.repeat(2000);
    for (const stdin of [lines, lines.slice(0, 100), lines.slice(0, -1), `${lines}{"lat":"x"}`]) {
      const piped = await folder.run('encode - --former --verbose', { stdin });
      folder.write('lines.ndjson', stdin);
      const read = await folder.run('encode lines.ndjson --former --verbose');
      expect(piped.stdout).toBe(read.stdout);
      expect(piped.code).toBe(read.code);
      if (piped.code === 0)
        expect(piped.stderr).toContain('Converted by bytes: lines were copied as they are');
    }
  });

  test('certainty has the decimal comma that is asked for, from and to each format', async () => {
    folder.write('comma.csv', 'id;lat;lng\n1;21.0288;105.8525\n');
    folder.write('comma.ndjson', '{"id":1,"lat":21.0288,"lng":105.8525}\n');
    for (const name of ['comma.csv', 'comma.ndjson']) {
      const args = [
        'encode',
        name,
        '--to',
        'csv',
        '--certainty',
        '--decimal',
        'comma',
        '--delimiter',
        ';',
        '-q',
      ];
      expect((await folder.run(args)).stdout).toMatch(/;0,\d+;OK\n$/);
    }
  });

  test('a run ends with the share of slow rows, what they are and a remedy', async () => {
    const numbers = write('numbers.csv', (n) =>
      n === 0 ? 'lat,lng' : n % 4 === 0 ? '21e-300,105' : '21.0288,105.85',
    );
    expect(await said(numbers, '--to', 'csv')).toEqual([]);
    expect(await said(numbers, '--to', 'csv', '--verbose')).toEqual([
      expect.stringMatching(
        /^25 % of the rows were read the slow way: 4,999 numbers .* \(write degrees as decimals\)\.$/,
      ),
    ]);
    const twice = write(
      'twice.ndjson',
      (n) => `{"lat":21,"lng":105,"a":{"b":1${n % 4 === 0 ? ',"b":2' : ''}}}`,
    );
    expect(await said(twice, '--to', 'csv', '--verbose')).toEqual([
      expect.stringMatching(/^25 % of the rows were read the slow way: 5,000 lines .* with a name twice/),
    ]);
    const faulty = write('faulty.ndjson', (n) => `{"lat":${n % 100 === 0 ? '"x"' : 21.0288},"lng":105.8525}`);
    // The line alone leaves the fast path, not its block.
    expect(await said(faulty, '--to', 'ndjson', '--verbose')).toEqual([
      expect.stringMatching(/^1 % of the rows were read the slow way: 200 lines with a position in text, /),
    ]);
    expect(await allSaid(faulty, '--to', 'ndjson', '--verbose')).toContain(
      'Converted by bytes: lines were copied as they are, but for those that cannot be.',
    );
    const sure = write('sure.ndjson', () => '{"lat":21.0288,"lng":105.8525}');
    expect(await said(sure, '--to', 'ndjson', '--certainty', '--former', '--verbose')).toEqual([]);
    expect(await said(sure, '--to', 'csv', '--certainty', '--former', '--verbose')).toEqual([]);
    expect(await said(sure, '--to', 'parquet', '--certainty', '--former', '--verbose')).toEqual([]);
    const elsewhere = ['--errors', folder.file('failed.csv')];
    expect(await said(sure, '--to', 'parquet', ...elsewhere)).toEqual([
      '100 % of the rows were read the slow way: 20,000 rows value by value (--verbose says why).',
    ]);
    expect(await said(sure, '--to', 'parquet', ...elsewhere, '-q')).toEqual([]);
  });
});

// A run loads no reader of a format that it does not read: a small file is done in the time that modules take.

const PARQUET = 'parquet-source|hyparquet-compressors';

describe('modules', () => {
  const folder = sharedCommand();
  const { ndjson, csv } = {
    ndjson: '{"id":1,"lat":21.03,"lng":105.85}\n',
    csv: 'id,lat,lng\n1,21.03,105.85\n',
  };

  test.each([
    [
      'in.csv',
      'csv',
      'whole-csv',
      'by-values|by-chunks|by-rows|whole-lines|geojson-source|ndjson|parquet|arrow',
    ],
    ['in.csv', 'ndjson', 'by-rows', `by-values|by-chunks|whole-lines|arrow|${PARQUET}`],
    ['in.csv', 'parquet', 'by-rows', `by-values|by-chunks|whole-lines|arrow|${PARQUET}`],
    ['in.ndjson', 'ndjson', 'whole-lines', `by-values|by-chunks|by-rows|arrow|${PARQUET}`],
    ['in.ndjson', 'geojson', 'by-rows', `by-chunks|arrow|${PARQUET}`],
  ])('%s to %s loads %s', async (name, target, loaded, others) => {
    folder.write(name, name.endsWith('csv') ? csv : ndjson);
    const coverage = folder.file(`loaded-${name}-${target}`);
    const { code } = await folder.run(`encode ${name} -o out-${name}.${target} -q`, {
      env: { NODE_V8_COVERAGE: coverage },
    });
    expect(code).toBe(0);
    const reports = readdirSync(coverage).map(
      (file) =>
        JSON.parse(readFileSync(`${coverage}/${file}`, 'utf8')) as { result: readonly { url: string }[] },
    );
    const names = new Set(reports.flatMap(({ result }) => result.map(({ url }) => url)));
    expect([...names].some((url) => url.endsWith(`/files/${loaded}.js`))).toBe(true);
    expect([...names].filter((url) => new RegExp(others).test(url))).toEqual([]);
  });
});
