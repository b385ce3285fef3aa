// `hexcodes serve`: its configuration, and a process that may open few files.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sharedCommand } from '../../support/shared.js';

const folder = sharedCommand();

test('--check-config: 0 where it can be used, 2 with every fault; no file is made', async () => {
  folder.write('good.env', 'HEXCODES_PORT=8081\n');
  const good = await folder.run('serve --check-config --config good.env');
  expect([good.code, good.stdout]).toEqual([0, '']);
  folder.write('bad.env', 'HEXCODES_PORT=x\nHEXCODES_KEY_PEPPER=short\nHEXCODES_PROT=1\n');
  const bad = await folder.run('serve --check-config --config bad.env');
  expect(bad.code).toBe(2);
  expect(bad.stderr.match(/bad\.env:\d/g)).toEqual(['bad.env:1', 'bad.env:2', 'bad.env:3']);
  const index = await folder.run('serve --check-config --index good.env');
  expect(index.code).toBe(2);
  expect(folder.names()).toEqual(['bad.env', 'good.env']);
});

// Each is refused by the start, too; no names are looked up.
test.each([
  ...['host name', '256.1.1.1', '[::1]', 'localhost:80', 'fe80::1%lo', '/dev/null'].flatMap((host) => [
    [`--host`, host],
    ['--admin-host', host],
  ]),
  ['--index', '.'],
  ['--basemap', '.'],
  ['HEXCODES_UWS', 'fs'],
])('--check-config refuses %s %s', async (name, value) => {
  const isFlag = name!.startsWith('--');
  const args = ['serve', '--check-config', ...(isFlag ? [name!, value!] : [])];
  const { code, stderr } = await folder.run(args, { env: isFlag ? {} : { [name!]: value! } });
  expect([code, stderr]).toEqual([2, expect.stringContaining(name!)]);
});

type Refused = [dataDir: string, due: string, env?: Record<string, string>];

test('--check-config says what the start would say of the data folder and of files, and leaves nothing behind', async () => {
  const check = (dataDir: string, env: Record<string, string> = {}) =>
    folder.run(['serve', '--check-config', '--data-dir', dataDir], { env });
  const make = (...path: string[]): string => {
    mkdirSync(folder.file(path.join('/')), { recursive: true });
    return path[0]!;
  };
  const write = (name: string, file: string, text: string): string => {
    make(name);
    folder.write(`${name}/${file}`, text);
    return name;
  };
  folder.write('file', '');
  for (const args of [['init'], ['create', '--name', 'one', '--show']])
    expect((await folder.run(['keys', ...args, '--data-dir', 'lost'])).code).toBe(0);
  rmSync(folder.file('lost/pepper'));
  const refused: Refused[] = [
    ['file', 'the data folder file is a file, not a folder'],
    ['file/below/it', 'lies below a file'],
    ['/proc/hexcodes/below', 'cannot be made'],
    [write('damaged', 'keys.db', 'no database at all, but a text'), 'keys.db is damaged, or no key store'],
    [write('usage', 'usage.db', 'no database at all'), 'usage.db is damaged, or no store of usage'],
    [make('folder', 'keys.db'), 'keys.db'],
    [write('short', 'pepper', 'short'), 'holds no pepper'],
    ['lost', 'pepper is missing, and without it the 1 keys'],
    [write('spools', 'spool', ''), 'spool is a file'],
    [write('backlogs', 'traccar', ''), 'traccar is a file', { HEXCODES_TRACCAR_SINK: 'http://127.0.0.1:8/' }],
    ...['NKEY', 'CREDS', 'TLS_CA', 'TLS_CERT', 'TLS_KEY'].map((name): Refused => {
      const env = {
        HEXCODES_TRACCAR_SINK: 'nats://127.0.0.1:1/a.b',
        [`HEXCODES_NATS_${name}`]: 'absent.pem',
      };
      return ['good', `HEXCODES_NATS_${name} names a file that cannot be read`, env];
    }),
    [make('good'), 'names a folder', { HEXCODES_TRACCAR_SINK: `file:${folder.file(make('sink.csv'))}` }],
    ['good', 'HEXCODES_API_KEYS_FILE names a file', { HEXCODES_API_KEYS_FILE: 'absent' }],
  ];
  write('empty', 'usage.db', '');
  const before = folder.names();
  for (const [dataDir, due, env] of refused) {
    const { code, stderr } = await check(dataDir, env);
    expect([dataDir, code, stderr]).toEqual([dataDir, 2, expect.stringContaining(due)]);
  }
  for (const dataDir of ['good', 'empty', 'new/with/levels'])
    expect([dataDir, (await check(dataDir)).code]).toEqual([dataDir, 0]);
  expect([folder.names(), readdirSync(folder.file('good'))]).toEqual([before, []]);
  expect((await folder.run(['keys', 'init', '--data-dir', 'kept'])).code).toBe(0);
  const kept = readFileSync(folder.file('kept/keys.db'));
  expect((await check('kept')).code).toBe(0);
  expect(readFileSync(folder.file('kept/keys.db')).equals(kept)).toBe(true);
});

test('--check-config lets addresses and names pass', async () => {
  for (const host of ['::1', '0.0.0.0', '127.1', 'localhost', 'node_1.internal'])
    expect((await folder.run(['serve', '--check-config', '--host', host])).code).toBe(0);
});

test('--print-config: every setting with its source, and no secret', async () => {
  const env = { HEXCODES_KEY_PEPPER: 'pepper_0123456789', HEXCODES_CONFIG: 'good.env' };
  const { code, stdout, stderr } = await folder.run('serve --print-config --drain-ms 5', { env });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^HEXCODES_PORT=8081 +# good\.env:1$/m);
  expect(stdout).toMatch(/^HEXCODES_DRAIN_MS=5 +# --drain-ms$/m);
  expect(stdout).toMatch(/^HEXCODES_KEY_PEPPER=\*\*\* +# environment$/m);
  expect(stdout).toMatch(/^HEXCODES_GRACE_MS=10000 +# default$/m);
  expect(stdout).not.toContain('pepper_');
});

test('keys take the data folder from the file, and name its faults', async () => {
  folder.write('keys.env', `HEXCODES_DATA_DIR=${folder.file('var')}\n`);
  expect((await folder.run('keys init --config keys.env')).code).toBe(0);
  expect(readFileSync(folder.file('var/keys.db')).length).toBeGreaterThan(0);
  writeFileSync(folder.file('keys.env'), 'HEXCODES_DATADIR=x\n');
  const { code, stderr } = await folder.run('keys list --config keys.env');
  expect([code, stderr]).toEqual([2, expect.stringContaining('keys.env:1')]);
});

test.each([24, 32, 40, 80, 150])(
  'ulimit -n %i: serve says in one sentence what is missing',
  async (files) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hexcodes-files-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    const command = `ulimit -n ${files}; exec ${process.execPath} dist/cli/main.js serve --port 0 --admin-port 0 --data-dir ${dataDir}`;
    const [code, text] = await new Promise<[unknown, string]>((resolve) => {
      execFile('sh', ['-c', command], { timeout: 20_000 }, (error, _, said) => resolve([error?.code, said]));
    });
    expect(text).toMatch(/^hexcodes: [^\n]*open (enough )?files[^\n]*raise the limit[^\n]*\n$/);
    expect(code).toBe(1);
  },
);

/** Loaded before the command: another Node and C library, on which the builds do not load. */
const OTHER_SYSTEM = `
  import Module from 'node:module';
  const { node, failures, glibc } = JSON.parse(process.env.OTHER_SYSTEM);
  const load = Module._load;
  Module._load = (name, ...more) => {
    if (name in failures) throw new Error(failures[name]);
    return load(name, ...more);
  };
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node } });
  process.report.getReport = () => ({ header: { glibcVersionRuntime: glibc } });`;
const OLD = { 'uWebSockets.js': "version `GLIBC_2.38' not found", 'uws-pack': 'Cannot find module' };
const NONE = { 'uWebSockets.js': 'Cannot find module', 'uws-pack': 'Cannot find it' };

test.each([
  [
    '26.1.0',
    NONE,
    '2.41',
    '',
    /^hexcodes: Node 26\.1\.0 cannot .* Node 20, 22 and 24.*npx -p node@22 hexcodes serve.*uws-pack: Cannot find it/,
  ],
  [
    '24.21.0',
    OLD,
    '2.36',
    '',
    /glibc 2\.36: .* glibc 2\.38 or newer \(Debian 13, Ubuntu 24\.04\)\. Node 22 can with uws-pack@20\.0\.8: npx -p node@22/,
  ],
  ['22.21.0', OLD, '2.36', '', /npm install uws-pack@20\.0\.8 beside hexcodes-server/],
  ['22.1.0', {}, '2.41', 'nothing', /HEXCODES_UWS names.*nothing: Cannot find/],
] as const)(
  'Node %s without a build says in one sentence why, and the way out',
  async (node, failures, glibc, build, wanted) => {
    folder.write('other.mjs', OTHER_SYSTEM);
    const other = JSON.stringify({ node, failures, glibc });
    const env = { NODE_OPTIONS: '--import ./other.mjs', OTHER_SYSTEM: other, HEXCODES_UWS: build };
    const { code, stderr } = await folder.run('serve --port 0 --admin-port 0 --data-dir data', { env });
    expect([code, stderr.trimEnd().split('\n')]).toEqual([1, [expect.stringMatching(wanted)]]);
  },
);
