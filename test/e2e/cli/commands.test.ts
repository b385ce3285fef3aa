// The command with one position or code, in the texts that people have, and its answers for people: errors, help, exit
// codes.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { OPEN_INDEX } from '../../support/open-world.js';
import { ownFolder, sharedCommand } from '../../support/shared.js';
import { shippedKernel, VERSION } from '../../support/shipped.js';

const folder = sharedCommand();

const library = await Hexcodes.load();

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
  // South of the equator the argument begins as options do.
  for (const args of [['-21.5,105'], ['-21.5, -105'], ['-21.5', '105'], ['-.5,1', '--json']]) {
    const south = await folder.run(['encode', ...args]);
    expect([args, south.code]).toEqual([args, 1]);
  }
  const code = library.encode(LAT, LNG).hexcodes;
  const wrong = await folder.run(['decode', code.replace('8', 'B')]);
  expect(wrong).toMatchObject({ code: 1, stdout: '' });
  expect(wrong.stderr).toContain(code);
});

test('metres have a code where their system is named, and the remedy where it is not', async () => {
  for (const text of ['48Q 588584.75 2325571.51', "VN-2000 105°45' 2326145.35 510458.11"])
    expect((await folder.run(['encode', text])).stdout).toBe(`${library.encode(LAT, LNG).hexcodes}\n`);
  for (const command of ['encode', 'inspect', 'decode'])
    for (const text of ['588584 2325571', 'VN-2000 2326145 510458'])
      expect((await folder.run([command, text])).stderr).toContain(
        'These are metres, whose system must be named',
      );
});

test('whoever asks for JSON gets failures as lines of JSON, with the exit code', async () => {
  const code = library.encode(LAT, LNG).hexcodes;
  for (const [args, failed] of [
    [
      ['decode', 'nope', code, 'nor-7'],
      ['failed', 'failed'],
    ],
    [['inspect', '83RFR'], ['failed']],
    [['encode', '0,0'], ['failed']],
    [['encode', `${LAT},${LNG}`, '--to', 'csv'], ['usage']],
    [['check', 'none.csv'], ['bad_input']],
    [['suggest', code, '--limit', '0'], ['usage']],
    [['suggest', code, '--bogus'], ['usage']],
    [['suggest'], ['usage']],
    [['bogus'], ['usage']],
    [['keys', 'list', '--bogus'], ['usage']],
    [['encode', code, '-o', '/none/x'], ['bad_input']],
  ] as const) {
    const ran = await folder.run([...args, '--json']);
    const lines = ran.stderr.trimEnd().split('\n');
    const errors = lines.map(
      (line) => (JSON.parse(line) as { error: { code: string; message: string; exit_code: number } }).error,
    );
    expect([args, errors.map((each) => each.code)]).toEqual([args, failed]);
    for (const each of errors) {
      expect(each.exit_code).toBe(ran.code);
      expect(each.message).not.toBe('');
    }
  }
});

test.skipIf(!existsSync('/dev/full'))(
  'a standard output that is full: exit 4 and a sentence (needs /dev/full)',
  async () => {
    for (const args of [['encode', `${LAT},${LNG}`], ['provinces'], ['serve', '--print-config']]) {
      const { status, stderr } = spawnSync(
        'sh',
        ['-c', 'exec "$0" "$@" > /dev/full', ...folder.commandLine(args)],
        {
          encoding: 'utf8',
        },
      );
      expect(stderr).toMatch(/^hexcodes: .*\n$/);
      expect(status).toBe(4);
    }
  },
);

test('a reader that has closed standard output is not a failure', () => {
  const script = '{ sleep 0.1; "$0" "$@"; echo "exit $?" >&2; } | true';
  for (const args of [
    ['encode', `${LAT},${LNG}`],
    ['serve', '--print-config'],
  ]) {
    const { stderr } = spawnSync('sh', ['-c', script, ...folder.commandLine(args)], { encoding: 'utf8' });
    expect(stderr).toBe('exit 0\n');
  }
});

test.each(['version', '-v', '-V', '--version'])('%s shows the version', async (word) => {
  expect(await folder.run([word])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${VERSION}\n`),
  });
});

test('one position or code with options of files: --output is written, the others are refused by name', async () => {
  const { hexcodes: code } = library.encode(LAT, LNG);
  const ran = await folder.run(['encode', `${LAT},${LNG}`, '-o', 'one.txt']);
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, '', '']);
  expect(folder.read('one.txt')).toBe(`${code}\n`);
  expect((await folder.run(['encode', `${LAT},${LNG}`, '-o', '.'])).code).toBe(4);
});

test('inspect: facts as JSON and drawn; exit 1 for a text that is not a code', async () => {
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
  expect(await folder.run('inspect nonsense')).toMatchObject({ code: 1, stdout: '' });
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
  const table = (await folder.run('provinces')).stdout.trim().split('\n');
  expect(table).toHaveLength(34);
  const rows = JSON.parse((await folder.run('provinces --json')).stdout);
  expect(rows).toEqual(
    ADMIN_UNITS.map(({ code, name, mergedUnits }) => ({ code, name, merged_units: mergedUnits })),
  );
});

test('check', async () => {
  const good = [0, 5, 9, 13, 15].map((resolution) => library.encode(LAT, LNG, resolution).hexcodes);
  folder.write('good.csv', `place\n${good.join('\n')}\n`);
  expect(await folder.run('check good.csv --column place')).toMatchObject({
    code: 0,
    stdout: '5 codes: all valid\n',
  });
  folder.write('bad.csv', `hexcodes\n${good[3]}\n${good[3]?.replace('8', 'B')}\n${good[3]?.toLowerCase()}\n`);
  const bad = await folder.run('check bad.csv');
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/^bad\.csv, row 2: ".*" {2}perhaps .*\n3 codes: 1 invalid\n$/);
  expect((await folder.run('check bad.csv --canonical --limit 0')).stdout).toBe('3 codes: 2 invalid\n');
  expect(await folder.run('check bad.csv -q')).toMatchObject({ code: 1, stdout: '', stderr: '' });
  // The only column of a list needs no name.
  expect(await folder.run('check good.csv')).toMatchObject({ code: 0 });
  folder.write('two.csv', `id,place\n1,${good[3]}\n`);
  const unnamed = await folder.run('check two.csv');
  expect(unnamed).toMatchObject({ code: 3, stdout: '' });
});

test('help has examples; version', async () => {
  for (const name of ['encode', 'decode', 'inspect', 'suggest', 'check', 'provinces', 'completion']) {
    const ran = await folder.run([name, '--help']);
    expect([name, ran.code]).toEqual([name, 0]);
    if (name !== 'provinces') expect(ran.stdout).toContain('Examples:');
  }
  const help = await folder.run('--help');
  expect(help.stdout).toContain('encode');
  expect(help.stdout).toContain('completion');
  expect((await folder.run('--version')).stdout).toMatch(
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
  const { stdout } = await folder.run('completion bash');
  const script = `${stdout}
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hexcodes; echo "\${COMPREPLY[@]}"; }
while read -r line; do ask $line; done`;
  const replies: Readonly<Record<string, string>> = {
    'hexcodes --he': '--help',
    'hexcodes encode --hel': '--help',
    'hexcodes keys list --he': '--help',
    'hexcodes serve --he': '--help',
    'hexcodes encode --res': '--resolution --resume',
    'hexcodes wo': 'worker',
    'hexcodes worker col': 'collect',
    'hexcodes worker setup --rep': '--replicas',
    'hexcodes encode --to p': 'parquet',
  };
  const input = `${Object.keys(replies).join('\n')}\n`;
  const asked = spawnSync('bash', ['-c', script], { encoding: 'utf8', input });
  expect(asked.stdout.trim().split('\n')).toEqual(Object.values(replies));
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
  const { stdout } = await folder.run('--help');
  const document = readFileSync('docs/reference/command.md', 'utf8');
  const documented = [...document.matchAll(/^- (\d): /gm)].map(([, code]) => code);
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
  const { code, stdout } = await folder.run('check mixed.csv --json');
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    {
      rows: 2,
      invalid: 1,
      listed: [{ file: 'mixed.csv', row: 2, text: 'HN-6GHP4-B3RFR', perhaps: 'HN-6GHP4-83RFR' }],
    },
  ]);
  expect(await folder.run('check mixed.csv --json -q')).toMatchObject({ code: 2, stdout: '' });
});

describe('the short way of one position', () => {
  const folder = ownFolder('one');
  const command = sharedCommand();

  const COMMAND = resolve('dist/cli/main.js');

  function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const ran = spawnSync(process.execPath, [COMMAND, ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    return [ran.status, ran.stdout, ran.stderr];
  }

  test.each([
    '21.0288,105.8525',
    '21.0288 105.8525',
    '21°01\'43.7"N 105°51\'09"E',
    '105.8525,21.0288',
    '0,0',
    '91,105',
    '21',
    '21.0288,105.8525,3',
    '8.6,111.9',
  ])('%s', async (text) => {
    const { code, stdout, stderr } = await command.run(['encode', text, '-q']);
    expect(run(['encode', text])).toEqual([code, stdout, stderr]);
  });

  test('the code of a position, and of one south of the equator a sentence', () => {
    expect(run(['encode', '21.0288,105.8525'])).toEqual([0, 'HN-6GHP4-83RFR\n', '']);
    expect(run(['encode', '-21.0288,105.8525'])[0]).toBe(1);
  });

  test('a file of this name is a file', () => {
    writeFileSync(join(folder, '21.0288,105.8525'), 'lat,lng\n21.0288,105.8525\n');
    const [status, stdout] = run(['encode', '21.0288,105.8525']);
    rmSync(join(folder, '21.0288,105.8525'));
    expect([status, stdout]).toEqual([0, expect.stringContaining('admin_code')]);
  });

  test('boundaries of the user that cannot be read are named', () => {
    const env = { HEXCODES_INDEX: join(folder, 'none.bin') };
    expect(run(['encode', '21.0288,105.8525'], env)).toEqual(run(['encode', '21.0288,105.8525', '-q'], env));
    expect(run(['encode', '21.0288,105.8525'], env)[0]).toBe(3);
  });
});

describe('given texts', () => {
  const CODE = 'HN-6GHP4-83RFR';

  let centre = '';

  beforeAll(async () => {
    const { lat, lng } = (await Hexcodes.load()).decode(CODE)!;
    centre = `${lat},${lng}\n`;
  });

  test.each([
    ['Toi o HN-6GHP4-83RFR nhe'],
    ['http://hexcodes.example/#HN-6GHP4-83RFR'],
    ['hexcodes.example/#HN-6GHP4-83RFR'],
    ['HN-6GHP4-83RFR/'],
    ['ha noi 6ghp4 83rfr'],
    ['8d415cb4e42613f'],
  ])('decode and inspect read the code in %s', async (text) => {
    expect(await folder.run(['decode', text])).toMatchObject({ code: 0, stdout: centre, stderr: '' });
    expect(await folder.run(['decode', ...text.split(' ')])).toMatchObject({ code: 0, stdout: centre });
    const inspected = await folder.run(['inspect', text, '--json']);
    expect(JSON.parse(inspected.stdout).hexcodes).toBe(CODE);
  });

  test('one of several that is none is named, the others are answered, exit 1', async () => {
    const decoded = await folder.run(['decode', CODE, 'HN-6GHP4-83RFQ', CODE]);
    expect(decoded).toMatchObject({ code: 1, stdout: centre + centre });
    expect(decoded.stderr).toContain('HN-6GHP4-83RFQ');
    const encoded = await folder.run('encode 21.0288,105.8525 48.8,2.3 21.x,105 21.0288,105.8525');
    expect(encoded).toMatchObject({ code: 1, stdout: `${CODE}\n${CODE}\n` });
    expect(encoded.stderr).toContain('21.x,105');
  });

  test('of several places in a message encode and decode answer each, inspect and suggest name them', async () => {
    const OTHER = 'HCM-GXC6M-P9845';
    const both = `${CODE} and ${OTHER}`;
    const text = `giao ${CODE} rồi\n${OTHER.replace(/-(?=[^-]*$)/, '-\n')}, xong`;
    const decoded = await folder.run(['decode', text]);
    expect(decoded).toMatchObject({ code: 0, stderr: '' });
    expect(decoded.stdout.split('\n')).toHaveLength(3);
    expect(decoded.stdout).toContain(centre);
    const words = ['giao', CODE, 'rồi', OTHER, 'xong'];
    expect(await folder.run(['decode', ...words])).toMatchObject({ code: 0, stdout: decoded.stdout });
    for (const command of ['inspect', 'suggest'])
      expect(await folder.run([command, text])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `hexcodes: the text names 2 places: ${both}\nGive one of them.\n`,
      });
    expect(await folder.run(['decode', `${CODE} https://x.example/#${CODE.toLowerCase()}`])).toMatchObject({
      code: 0,
      stdout: centre,
    });
    const positions = 'từ 21.0288,105.8525 đến 10.7799, 106.7';
    expect(await folder.run(['encode', positions])).toMatchObject({
      code: 0,
      stdout: `${CODE}\n${OTHER}\n`,
    });
    expect((await folder.run(['inspect', positions])).stderr).toContain('21.0288,105.8525 and 10.7799,106.7');
  });

  test.each([
    ['only messages', ['giao HN-6GHP4-83RFR nhé', 'tới HCM-GXC6M-P9845; hoặc HN-6GHP4-899JC'], 1],
    ['some messages', ['HN-6GHP4-83RFR', 'tới HCM-GXC6M-P9845 hoặc HN-6GHP4-899JC'], 0],
  ])('a column with %s is told how codes are taken out of text', async (_, rows, code) => {
    const file = folder.write('messages.csv', `note\n${rows.join('\n')}\n`);
    const run = await folder.run(['decode', file, '--column', 'note']);
    expect(run.code).toBe(code);
    const [, line] = /a column for decode holds codes alone.*: (grep .*) \| hexcodes decode/.exec(
      run.stderr,
    )!;
    expect(execFileSync('sh', ['-c', line!], { cwd: folder.path, encoding: 'utf8' })).toBe(
      `${rows
        .join(' ')
        .match(/(?:HN|HCM)-[-\w]+/g)!
        .join('\n')}\n`,
    );
    const none = folder.write('none.csv', 'note\nHN-6GHP4-83RFR\nkhông có\n');
    expect((await folder.run(['decode', none, '--column', 'note'])).stderr).not.toContain('grep');
  });

  test('names of files that are absent are not texts', async () => {
    for (const args of [
      ['decode', 'absent.csv'],
      ['decode', `folder/${CODE}.csv`],
      ['decode', CODE, 'absent.csv'],
      ['encode', '21.0288,105.8525', 'folder/absent'],
    ])
      expect([args, await folder.run(args)]).toEqual([
        args,
        expect.objectContaining({ code: 3, stdout: '' }),
      ]);
  });

  test.each([
    ['https://www.google.com/maps/@21.0288,105.8525,17z', 'the middle of its view'],
    ['7PH72VH3+GX', "the middle of the Plus Code's cell"],
    ['2VH3+GX Hoàn Kiếm, Hà Nội', "the middle of the Plus Code's cell"],
  ])('encode says that the position of %s is a middle', async (text, words) => {
    const ran = await folder.run(['encode', text]);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^HN-/) });
    expect(ran.stderr).toContain(words);
    expect((await folder.run(['encode', text, '--quiet'])).stderr).toBe('');
    expect((await folder.run(['encode', text.split(' ')[0]!])).code).toBe(text.startsWith('2') ? 3 : 0);
  });

  test('links without a pin are counted in the summary of files', async () => {
    folder.write('links.csv', 'link\nhttps://maps.google.com/?ll=21.0288\\,105.8525\n'.replace('\\,', '%2C'));
    const ran = await folder.run('encode links.csv --position link');
    expect(ran.stdout).toContain(`${CODE},13,HN,OK`);
    expect(ran.stderr).toContain('1 link has no pin: the middle of the view was taken');
  });

  test('columns in ten-millionths of a degree are named, and the line that divides them runs', async () => {
    const rows = '{"latitudeE7":210288000,"longitudeE7":1058525000}\n';
    folder.write('e7.ndjson', rows);
    folder.write('e7.csv', 'latitudeE7,longitudeE7\n210288000,1058525000\n');
    const hints: string[] = [];
    for (const name of ['e7.ndjson', 'e7.csv']) {
      const { code, stderr } = await folder.run(['encode', name]);
      expect([code, stderr]).toEqual([3, expect.stringContaining('hold degrees times 10,000,000')]);
      hints.push(/jq -c '([^']*)'/.exec(stderr)![1]!);
    }
    const [program] = new Set(hints);
    const jq = spawnSync('jq', ['-c', program!], { input: rows });
    if (jq.error !== undefined) return;
    folder.write('degrees.ndjson', jq.stdout);
    expect((await folder.run('encode degrees.ndjson -q --to csv')).stdout).toContain(CODE);
  });

  test.each([
    ['aggregate', '--time', 'ts', '--bucket', '1h', '--by', 'province'],
    ['track', '--id', 'id', '--time', 'ts'],
  ])(
    '%s says which time it does not read, and the line that turns days runs',
    async (command, ...options) => {
      folder.write('days.csv', 'id,lat,lng,ts\n1,21.0288,105.8525,02/01/2026 23:30\n');
      const refused = await folder.run([command, 'days.csv', '-q', '--to', 'csv', ...options]);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain('"02/01/2026 23:30" is not a time that is read');
      const program = /sed -E '([^']*)'/.exec(refused.stderr)![1]!;
      const sed = spawnSync('sed', ['-E', program, folder.file('days.csv')]);
      folder.write('turned.csv', sed.stdout);
      const { code, stdout } = await folder.run([command, 'turned.csv', '-q', '--to', 'csv', ...options]);
      expect([code, stdout]).toEqual([0, expect.stringContaining('2026-01-02T23:')]);
    },
  );
});

test('check says by its exit code that a code is invalid, whoever has left', async () => {
  folder.write('codes.csv', 'hexcodes\nHN-6GHP4-83RFR\nHN-6GHP4-83RFQ\n');
  const ran = await folder.run('check codes.csv', { started: (child) => child.stdout?.destroy() });
  expect([ran.code, ran.stderr]).toEqual([1, '']);
});

/** Clears the screen, sets the title, begins a C1 sequence, turns the direction of writing round. */
const EVIL = '\u001b[2J\u001b]0;x\u0007\u009b1m\u202e';

test('foreign texts in messages have no control characters', async () => {
  folder.write('columns.csv', `id,${EVIL}a,${EVIL}b\n1,2,3\n`);
  folder.write('codes.csv', `hexcodes\n"${EVIL}"\n`);
  folder.write(`${EVIL}.csv`, 'lat,lng\n21.0288\n');
  for (const args of [
    ['encode', `${EVIL}none.csv`],
    ['encode', `${EVIL}.csv`],
    ['encode', 'columns.csv'],
    ['encode', 'columns.csv', '--lat', `${EVIL}a`, '--lng', `${EVIL}c`],
    ['encode', 'columns.csv', '--lat', `${EVIL}a`, '--lng', `${EVIL}b`, '--drop', `${EVIL}c`],
    ['encode', 'columns.csv', '--lat', `${EVIL}a`, '--lng', `${EVIL}b`, '-o', `${EVIL}/out.csv`],
    ['encode', 'columns.csv', '--to', EVIL],
    ['encode', `--${EVIL}`],
    ['decode', EVIL],
    ['suggest', EVIL],
    ['check', 'codes.csv'],
    [EVIL],
  ]) {
    const ran = await folder.run(args);
    expect([args, ran.code === 0]).toEqual([args, false]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
    expect(ran.stdout + ran.stderr).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
    expect(ran.stdout + ran.stderr).not.toBe('');
  }
});

test('controls in texts of others, separators and marks of direction become escapes, and keys are masked', async () => {
  const codes = [7, 8, 13, 0x1b, 0x7f, 0x80, 0x9b, 0x9f, 0x061c, 0x200e, 0x200f];
  codes.push(0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069);
  const plain = 'Hà Nội – 河内 😀 \\u001b';
  for (const at of [0, 10]) {
    const some = codes.slice(at, at + 10);
    folder.write('columns.csv', `${[...some.map((code) => `"a${String.fromCharCode(code)}b"`), plain]}\n1\n`);
    const { stderr } = await folder.run('encode columns.csv');
    const shown = [...some.map((code) => `a\\u${code.toString(16).padStart(4, '0')}b`), plain];
    expect(stderr).toContain(`it has ${shown.join(', ')}\n`);
  }
  const { stderr } = await folder.run(['encode', 'hxk_0123456789abcdef.csv']);
  expect(stderr).toContain('hxk_….csv');
});

const near = new Hexcodes(shippedKernel()).borderOf(21.0757, 105.9872)!;

test('one position', async () => {
  const { border_m, certainty } = near;
  const ran = await folder.run('encode 21.0757,105.9872 --certainty');
  expect(ran.stdout).toMatch(new RegExp(`^\\S+ {2}border at ${border_m} m, certainty ${certainty}\n$`));
  const far = await folder.run('encode 12.6667,108.05 --certainty');
  expect(far.stdout).toMatch(/^DLK-\S+ {2}no border within 5 km, certainty 0\.9999\n$/);
  const { stdout } = await folder.run('encode 21.0757,105.9872 --certainty --json');
  expect(JSON.parse(stdout)).toMatchObject({ border_m, certainty });
});

test('an index without bands: the distance alone', async () => {
  const index = Buffer.from(
    readFileSync('data/index.bin').toString('latin1').replace('"bands"', '"bandz"'),
    'latin1',
  );
  index.writeUInt32LE(crc32(index.subarray(16)), 12);
  folder.write('other.bin', index);
  const ran = await folder.run('encode 21.0757,105.9872 --certainty', {
    env: { HEXCODES_INDEX: 'other.bin' },
  });
  expect(ran.stdout).toMatch(new RegExp(`^\\S+ {2}border at ${near.border_m} m\n$`));
});

folder.write('places.csv', 'lat,lng\n20.4463,106.3366\n');

test('one position', async () => {
  expect((await folder.run('encode 20.4463,106.3366 --former')).stdout).toMatch(/^HY-\S+ {2}Thái Bình\n$/);
  const { stdout } = await folder.run('encode 20.4463,106.3366 --former --json');
  expect(JSON.parse(stdout)).toMatchObject({ admin_code: 'HY', former_province: 'Thái Bình' });
});

test('an index without them is refused', async () => {
  folder.write('open.bin', OPEN_INDEX);
  for (const what of ['places.csv', '20.4463,106.3366']) {
    const ran = await folder.run(['encode', what, '--former'], { env: { HEXCODES_INDEX: 'open.bin' } });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toContain('the boundary index has no provinces from before July 2025');
  }
});

test.each(['', ' --errors failed.csv'])('line ends of CSV are in no field and in no name%s', async (more) => {
  folder.write('ends.csv', 'lat,lng,name\r\n21.0288,105.8525,x\r\n');
  const { stdout } = await folder.run(`encode ends.csv --to ndjson -q${more}`);
  expect(JSON.parse(stdout)).toMatchObject({ lat: 21.0288, name: 'x', status: 'OK' });
});
