// The command with one position or code, and its messages for people: answers, errors, help, exit codes.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VERSION } from '#dist/hexcodes/version.js';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { CliFolder } from '../../support/cli.js';

const folder = new CliFolder();
let library: Hexcodes;
beforeAll(async () => {
  library = await Hexcodes.load();
});
afterAll(() => folder.remove());

const LAT = 21.0288;
const LNG = 105.8525;

test('encode and decode of one position or code', async () => {
  const { hexcodes: code } = library.encode(LAT, LNG);
  expect(await folder.run(['encode', `${LAT},${LNG}`])).toMatchObject({
    code: 0,
    stdout: `${code}\n`,
    stderr: '',
  });
  const coarse = await folder.run(['encode', `${LAT}, ${LNG}`, '-r', '7', '--json']);
  expect(JSON.parse(coarse.stdout)).toEqual(library.encode(LAT, LNG, 7));
  const { lat, lng } = library.decode(code)!;
  expect((await folder.run(['decode', code])).stdout).toBe(`${lat},${lng}\n`);
  const json = await folder.run(['decode', code.toLowerCase().replaceAll('-', ' '), '--json']);
  expect(JSON.parse(json.stdout)).toEqual({ hexcodes: code, ...library.decode(code) });
});

test('one position or code that fails: exit 1, a sentence and a hint', async () => {
  const swapped = await folder.run(['encode', `${LNG},${LAT}`]);
  expect(swapped).toMatchObject({ code: 1, stdout: '' });
  expect(swapped.stderr).toContain('lat and lng look swapped');
  const outside = await folder.run(['encode', '0,0']);
  expect(outside).toMatchObject({ code: 1, stdout: '' });
  expect(outside.stderr).toContain('In no province');
  // South of the equator the argument begins as options do.
  for (const args of [['-21.5,105'], ['-21.5, -105'], ['-21.5', '105'], ['-.5,1', '--json']]) {
    const south = await folder.run(['encode', ...args]);
    expect([args, south.code, south.stderr]).toEqual([args, 1, expect.stringContaining('In no province')]);
  }
  const code = library.encode(LAT, LNG).hexcodes;
  const wrong = await folder.run(['decode', code.replace('8', 'B')]);
  expect(wrong).toMatchObject({ code: 1, stdout: '' });
  expect(wrong.stderr).toMatch(/is not a hexcode\nDid you mean .*\?/);
  expect(wrong.stderr).toContain(code);
});

test.skipIf(!existsSync('/dev/full'))(
  'a standard output that is full: exit 4 and a sentence (needs /dev/full)',
  async () => {
    for (const args of [['encode', `${LAT},${LNG}`], ['provinces']]) {
      const { status, stderr } = spawnSync(
        'sh',
        ['-c', 'exec "$0" "$@" > /dev/full', ...folder.commandLine(args)],
        {
          encoding: 'utf8',
        },
      );
      expect(stderr).toBe('hexcodes: cannot write standard output: the disk is full\n');
      expect(status).toBe(4);
    }
  },
);

test('a reader that has closed standard output is no failure', () => {
  const line = folder.commandLine(['encode', `${LAT},${LNG}`]);
  const script = '{ sleep 0.1; "$0" "$@"; echo "exit $?" >&2; } | true';
  const { stderr } = spawnSync('sh', ['-c', script, ...line], { encoding: 'utf8' });
  expect(stderr).toBe('exit 0\n');
});

test.each([
  [['21.0288,105.8525'], "unknown command '21.0288,105.8525'\nPerhaps: hexcodes encode 21.0288,105.8525"],
  [['hn-6ghp4-83rfr'], 'Perhaps: hexcodes decode hn-6ghp4-83rfr'],
  [['there.csv'], 'Perhaps: hexcodes encode there.csv, or decode'],
  [['encode', 'HN 6GHP4 83RFR'], "not a position\nPerhaps: hexcodes decode 'HN 6GHP4 83RFR'"],
  [['decode', '21.0288,105.8525'], 'is not a hexcode\nPerhaps: hexcodes encode 21.0288,105.8525'],
  [['encode', '--lat', '21.0288', '--lng', '105.8525'], 'Perhaps: hexcodes encode 21.0288,105.8525'],
  [
    ['encode', 'there.csv', 'new.csv'],
    'cannot read new.csv: no such file or directory\nPerhaps: -o new.csv.',
  ],
])('%j: the command that was meant', async (args, words) => {
  folder.write('there.csv', 'lat,lng\n21.0288,105.8525\n');
  const ran = await folder.run(args);
  expect(ran.code).not.toBe(0);
  expect(ran.stderr).toContain(words);
});

test.each(['version', '-v', '-V', '--version'])('%s shows the version', async (word) => {
  expect(await folder.run([word])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${VERSION}\n`),
  });
});

test('a wrong command line: exit 2 and a message that names the fault', async () => {
  for (const [args, message] of [
    [['encode', '--bogus'], "unknown option '--bogus'"],
    [['bogus'], "unknown command 'bogus'"],
    [['encode', '1,2', '-r', '16'], '--resolution 16: must be an integer from 0 to 15'],
    [
      ['encode', 'x.csv', '--to', 'gpx'],
      '--to gpx: must be one of csv, tsv, xlsx, ndjson, geojson, parquet, arrow',
    ],
    [['encode', 'x.csv', '--threads', '0'], '--threads 0'],
    [['encode', 'x.csv', '--keep', 'a', '--drop', 'b'], 'exclude one another'],
    [['suggest', 'x', '--near', '1'], '--near 1: must be a position'],
    [['completion', 'cmd'], 'bash, zsh, fish'],
  ] as const) {
    const ran = await folder.run(args);
    expect([args, ran.code, ran.stdout]).toEqual([args, 2, '']);
    expect(ran.stderr).toContain(message);
  }
});

test('one position or code with options of files: --output is written, the others are refused by name', async () => {
  const { hexcodes: code } = library.encode(LAT, LNG);
  const ran = await folder.run(['encode', `${LAT},${LNG}`, '-o', 'one.txt']);
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, '', '']);
  expect(folder.read('one.txt')).toBe(`${code}\n`);
  expect((await folder.run(['encode', `${LAT},${LNG}`, '-o', '.'])).code).toBe(4);
  for (const [args, message] of [
    [['encode', `${LAT},${LNG}`, '--to', 'geojson'], '--to is for files: it does not apply to one position'],
    [['encode', `${LAT},${LNG}`, '--keep', 'id'], '--keep is for files'],
    [['encode', `${LAT},${LNG}`, '--errors', 'skip'], '--errors is for files'],
    [['decode', code, '--column', 'x'], '--column is for files: it does not apply to one code'],
    [['encode', 'x.csv', '--json'], '--json is for one position or code'],
    [['encode', 'x.csv', '--id', 'a', '--keep', 'b'], '--keep and --id exclude one another'],
  ] as const) {
    const refused = await folder.run(args);
    expect([args, refused.code, refused.stdout]).toEqual([args, 2, '']);
    expect(refused.stderr).toContain(message);
  }
});

test('inspect: facts as JSON and drawn; exit 1 for a text that is no code', async () => {
  const { hexcodes: code, admin_code } = library.encode(LAT, LNG);
  const drawn = await folder.run(['inspect', code.toLowerCase()]);
  expect(drawn.code).toBe(0);
  for (const part of [code, admin_code, 'Hà Nội', '8d415cb4e42613f', 'neighbours', 'openstreetmap.org']) {
    expect(drawn.stdout).toContain(part);
  }
  expect(drawn.stdout).not.toContain('\u001b');
  const facts = JSON.parse((await folder.run(['inspect', code, '--json'])).stdout);
  expect(facts).toMatchObject({ hexcodes: code, admin_code, resolution: 13, h3_cell: '8d415cb4e42613f' });
  expect(facts.neighbors).toHaveLength(6);
  expect(new Set(facts.neighbors.map((each: { direction: string }) => each.direction)).size).toBe(6);
  expect(facts.boundary).toHaveLength(6);
  const spaced = await folder.run(['inspect', ...code.toLowerCase().split('-')]);
  expect(spaced.stdout).toBe(drawn.stdout);
  expect(await folder.run(['inspect', 'nonsense'])).toMatchObject({ code: 1, stdout: '' });
});

test('suggest', async () => {
  const { hexcodes: code } = library.encode(LAT, LNG);
  const ran = await folder.run([
    'suggest',
    code.replace('8', 'B'),
    '--near',
    `${LAT},${LNG}`,
    '--limit',
    '3',
  ]);
  expect(ran.code).toBe(0);
  expect(ran.stdout.split('\n')[0]).toContain(code);
  expect(ran.stdout.trim().split('\n').length).toBeLessThanOrEqual(3);
  const json = JSON.parse((await folder.run(['suggest', code, '--json'])).stdout);
  expect(json).toMatchObject([{ hexcodes: code, slip: 'none' }]);
  expect(await folder.run(['suggest', 'nothing like it'])).toMatchObject({ code: 1 });
});

test('provinces', async () => {
  const table = (await folder.run(['provinces'])).stdout.trim().split('\n');
  expect(table).toHaveLength(34);
  const rows = JSON.parse((await folder.run(['provinces', '--json'])).stdout);
  expect(rows).toEqual(
    ADMIN_UNITS.map(({ code, name, mergedUnits }) => ({ code, name, merged_units: mergedUnits })),
  );
});

test('check', async () => {
  const good = [0, 5, 9, 13, 15].map((resolution) => library.encode(LAT, LNG, resolution).hexcodes);
  folder.write('good.csv', `place\n${good.join('\n')}\n`);
  expect(await folder.run(['check', 'good.csv', '--column', 'place'])).toMatchObject({
    code: 0,
    stdout: '5 codes: all valid\n',
  });
  folder.write('bad.csv', `hexcodes\n${good[3]}\n${good[3]?.replace('8', 'B')}\n${good[3]?.toLowerCase()}\n`);
  const bad = await folder.run(['check', 'bad.csv']);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/^bad\.csv, row 2: ".*" {2}perhaps .*\n3 codes: 1 invalid\n$/);
  expect((await folder.run(['check', 'bad.csv', '--canonical', '--limit', '0'])).stdout).toBe(
    '3 codes: 2 invalid\n',
  );
  expect(await folder.run(['check', 'bad.csv', '-q'])).toMatchObject({ code: 1, stdout: '', stderr: '' });
  // The only column of a list needs no name.
  expect(await folder.run(['check', 'good.csv'])).toMatchObject({ code: 0 });
  folder.write('two.csv', `id,place\n1,${good[3]}\n`);
  const unnamed = await folder.run(['check', 'two.csv']);
  expect(unnamed).toMatchObject({ code: 3, stdout: '' });
  expect(unnamed.stderr).toContain('--column "place"');
});

test('help has examples; version', async () => {
  for (const name of ['encode', 'decode', 'inspect', 'suggest', 'check', 'provinces', 'completion']) {
    const ran = await folder.run([name, '--help']);
    expect([name, ran.code]).toEqual([name, 0]);
    if (name !== 'provinces') expect(ran.stdout).toContain('Examples:');
  }
  const help = await folder.run(['--help']);
  expect(help.stdout).toContain('encode');
  expect(help.stdout).toContain('completion');
  expect((await folder.run(['--version'])).stdout).toMatch(
    new RegExp(
      `^${VERSION.replaceAll('.', '\\.')}\\ntransport (@btc-vision/uwebsockets.js|uws-pack) 20\\.\\d+\\.\\d+\\n$`,
    ),
  );
});

test('completion scripts parse in the installed shells', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, code } = await folder.run(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['encode', 'inspect', 'serve', 'resolution', 'errors', 'points-per-second'])
      expect(stdout).toContain(word);
    const checked = spawnSync(shell, ['-n'], { input: stdout });
    if (checked.error === undefined) expect([shell, checked.stderr.toString()]).toEqual([shell, '']);
  }
  const { stdout } = await folder.run(['completion', 'bash']);
  const asked = (line: string): string => {
    const words = line.split(' ');
    const script = `COMP_WORDS=(${line.replace(/ $/, " ''")}); COMP_CWORD=${words.length - 1}; _hexcodes; echo "\${COMPREPLY[@]}"`;
    const { stdout: replies } = spawnSync('bash', ['-c', `${stdout}\n${script}`], { encoding: 'utf8' });
    return replies.trim();
  };
  for (const line of [
    'hexcodes --he',
    'hexcodes encode --hel',
    'hexcodes keys list --he',
    'hexcodes serve --he',
  ])
    expect(asked(line)).toBe('--help');
  expect(asked('hexcodes encode --res')).toBe('--resolution --resume');
  expect(asked('hexcodes wo')).toBe('worker');
  expect(asked('hexcodes worker col')).toBe('collect');
  expect(asked('hexcodes worker setup --rep')).toBe('--replicas');
  expect(asked('hexcodes encode --to p')).toBe('parquet');
});

test('colours on terminals only, and never with NO_COLOR', async () => {
  const inTerminal = (env: Record<string, string>) =>
    spawnSync('script', ['-qec', `${process.execPath} dist/cli/main.js provinces`, '/dev/null'], {
      encoding: 'utf8',
      env: { ...process.env, TERM: 'xterm', NO_COLOR: '', ...env },
    });
  const coloured = inTerminal({});
  // `script` gives a terminal. Where it is missing only pipes are tested, by all other tests.
  if (coloured.error !== undefined) return;
  expect(coloured.stdout).toContain('\u001b[1m');
  expect(inTerminal({ NO_COLOR: '1' }).stdout).not.toContain('\u001b[');
});

test('the help has groups of all commands, the exit codes of the document and where the documents are', async () => {
  const { stdout } = await folder.run(['--help']);
  const document = readFileSync('docs/command.md', 'utf8');
  const documented = [...document.matchAll(/^\| (\d)(?= \|)/gm)].map(([, code]) => code);
  expect([...stdout.matchAll(/^ {2}(\d) {2}\S/gm)].map(([, code]) => code)).toEqual(documented);
  expect(stdout).not.toContain('\nCommands:');
  expect(stdout).toContain('Documents: docs/command.md');
});

test.each([[['serve', '--port', 'abc']], [['serve', '--processes', 'x']], [['usage', '--data-dir', '']]])(
  'a setting that is wrong is a fault of the command line: %j',
  async (args) => expect(await folder.run(args)).toMatchObject({ code: 2, stdout: '' }),
);

test('check --json is one object', async () => {
  folder.write('mixed.csv', 'hexcodes\nHN-6GHP4-83RFR\nHN-6GHP4-B3RFR\n');
  const { code, stdout } = await folder.run(['check', 'mixed.csv', '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    {
      rows: 2,
      invalid: 1,
      listed: [{ file: 'mixed.csv', row: 2, text: 'HN-6GHP4-B3RFR', perhaps: 'HN-6GHP4-83RFR' }],
    },
  ]);
  expect(await folder.run(['check', 'mixed.csv', '--json', '-q'])).toMatchObject({ code: 2, stdout: '' });
});
