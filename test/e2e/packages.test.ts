// The command and the server as others get them: installed from their tarballs into an empty folder, and run there.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  bytesBelow,
  filesBelow,
  installFrom,
  type Packed,
  packagesIn,
  packInto,
} from '../support/packages.js';
import { ownFolder } from '../support/shared.js';

const MAX_COMMAND_BYTES = 40 * 1000 * 1000;
const MAX_SERVER_BYTES = 200 * 1000 * 1000;

const top = ownFolder('packages');
const [tarballs, alone, both] = ['tarballs', 'alone', 'both'].map((name) => join(top, name)) as [
  string,
  string,
  string,
];
let command: Packed;
let server: Packed;

beforeAll(async () => {
  [command, server] = (await packInto(tarballs, ['hexcodes-cli', 'hexcodes-server'])) as [Packed, Packed];
  installFrom(alone, [command.file]);
  installFrom(both, [command.file, server.file]);
});

const packageOf = (specifier: string): string =>
  specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** Runs the command that is installed in a folder, with that folder as its own. */
function run(folder: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(join(folder, 'node_modules/.bin/hexcodes'), args, {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('the command is at most 40 MB with what it needs, and the server is not among it', () => {
  const bytes = bytesBelow(join(alone, 'node_modules'));
  console.log(`hexcodes-cli: ${bytes} bytes installed, ${packagesIn(alone).length} packages`);
  expect(bytes).toBeLessThan(MAX_COMMAND_BYTES);
  for (const name of ['hexcodes-server', 'uWebSockets.js', 'uws-pack', 'libsql', 'pg', 'h3-js', 'hexcodes'])
    expect(packagesIn(alone)).not.toContain(name);
});

test('tarballs hold bundles, documents and licences, and no source', () => {
  for (const { files } of [command, server]) {
    const paths = files.map(({ path }) => path);
    for (const path of ['LICENSE', 'NOTICE', 'data/LICENSE', 'README.md', 'CHANGELOG.md', 'package.json'])
      expect(paths).toContain(path);
    expect(paths.filter((path) => !/^(dist|bin|docs|data)\/|^[^/]+$/.test(path))).toEqual([]);
    expect(paths.filter((path) => /\.ts$|\.map$/.test(path))).toEqual([]);
  }
  // The page that a global installation gives to man.
  const { man } = JSON.parse(readFileSync(join(alone, 'node_modules/hexcodes-cli/package.json'), 'utf8'));
  expect(man.map((path: string) => existsSync(join(alone, 'node_modules/hexcodes-cli', path)))).toEqual([
    true,
  ]);
});

test('a tarball names each package that its bundles import, and nothing of ours but the server', () => {
  for (const [folder, name] of [
    [alone, 'hexcodes-cli'],
    [both, 'hexcodes-server'],
  ] as const) {
    const installed = join(folder, 'node_modules', name);
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect([manifest.private, manifest.scripts, manifest.devDependencies]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const named = Object.keys({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      ...manifest.peerDependencies,
    });
    expect(named.filter((each) => /^@?hexcodes/.test(each))).toEqual(
      name === 'hexcodes-cli' ? ['hexcodes-server'] : [],
    );
    const imported = filesBelow(join(installed, 'dist'))
      .filter((file) => file.endsWith('.js') && !file.includes('/console/'))
      .flatMap((file) =>
        [
          ...readFileSync(file, 'utf8').matchAll(
            /^(?:import|export)[^"\n]*"([^".][^"\n]*)";$|\bimport\("([^".][^"\n]*)"\)/gm,
          ),
        ].map(([, atOnce, lazy]) => packageOf((atOnce ?? lazy) as string)),
      )
      .filter((each) => !each.startsWith('node:'));
    expect(imported.length).toBeGreaterThan(3);
    expect([...new Set(imported)].filter((each) => !named.includes(each))).toEqual([]);
  }
});

test('the command encodes a point and a file where nothing else is installed', () => {
  expect(run(alone, 'encode', '21.0288,105.8525')).toEqual({
    status: 0,
    stdout: 'HN-6GHP4-83RFR\n',
    stderr: '',
  });
  expect(run(alone, 'decode', 'HN-6GHP4-83RFR').stdout).toMatch(/^21\.02\d+,105\.85\d+/);
  const help = run(alone, '--help');
  expect([help.status, help.stdout.includes('serve')]).toEqual([0, true]);
});

test.each([['serve', '--port', '0'], ['keys', 'list'], ['usage']])(
  '%s without the server says in one line how to get it',
  (...args) => {
    const { status, stdout, stderr } = run(alone, ...args);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^hexcodes: \w+ needs the package hexcodes-server: npm install \.\/hexcodes-server-[\d.]+\.tgz, of the release that this command is of\n$/,
    );
  },
);

test('without the server, completion knows the other commands, and --version says that there is no transport', () => {
  expect(run(alone, 'completion', 'bash').stdout).toContain('encode');
  expect(run(alone, '--version').stdout).toMatch(/^\d+\.\d+\.\d+\ntransport none: /);
});

test('the server takes at most 200 MB, with one build of uWebSockets.js', () => {
  const bytes = bytesBelow(join(both, 'node_modules'));
  console.log(
    `hexcodes-cli and hexcodes-server: ${bytes} bytes installed, ${packagesIn(both).length} packages`,
  );
  expect(bytes).toBeLessThan(MAX_SERVER_BYTES);
  expect(packagesIn(both).filter((name) => /uws|websockets/i.test(name))).toEqual(['uWebSockets.js']);
});

test('the server that is installed beside it is started and asked, and makes keys', async () => {
  // Where the C library is older than that of the build, the sentence names the package to install.
  if (/transport none/.test(run(both, '--version').stdout)) {
    const [, needed] = /npm install (uws-pack@\S+) /.exec(run(both, 'serve', '--port', '0').stderr) ?? [];
    expect(needed).toBe(
      `uws-pack@${JSON.parse(readFileSync('package.json', 'utf8')).dependencies['uws-pack']}`,
    );
    cpSync('node_modules/uws-pack', join(both, 'node_modules/uws-pack'), { recursive: true });
  }
  const child = spawn(
    join(both, 'node_modules/.bin/hexcodes'),
    ['serve', '--port', '0', '--admin-port', '0', '--data-dir', join(both, 'var')],
    { cwd: both, env: { ...process.env, HEXCODES_API_KEY: undefined } },
  );
  onTestFinished(() => void child.kill('SIGKILL'));

  const address = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (part) => {
      text += part;
      const found = /answers on (http:\/\/\S+)/.exec(text)?.[1];
      if (found !== undefined && text.includes('\n')) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
  const key = readFileSync(join(both, 'var/first-key'), 'utf8').trim();
  const answer = await fetch(`${address}/v1/hexcodes/encode?lat=21.0288&lng=105.8525`, {
    headers: { 'X-API-Key': key },
  });
  expect([answer.status, ((await answer.json()) as { hexcodes?: string }).hexcodes]).toEqual([
    200,
    'HN-6GHP4-83RFR',
  ]);
  const page = await fetch(`${address}/`);
  expect([page.status, (await page.text()).includes('<html')]).toEqual([200, true]);
  const listed = run(both, 'keys', 'list', '--data-dir', join(both, 'var'));
  expect([listed.status, listed.stderr]).toEqual([0, '']);
});

test('one position is answered by two bundles and no package', () => {
  for (const path of ['main.js', 'shared/start.js']) {
    const text = readFileSync(`src/cli/dist/${path}`, 'utf8');
    const loaded = [
      ...text.matchAll(/^(?:import\s*|(?:import|export)\b[^;'"=]*?\bfrom\s*)['"]([^'"]+)['"];/gm),
    ];
    expect(loaded.map(([, to]) => to!).filter((to) => !to.startsWith('node:'))).toEqual([]);
  }
});

test('the programs load h3-js by the first call of it', () => {
  for (const name of ['cli', 'server'])
    expect(readFileSync(`src/${name}/dist/shared/h3-js.cjs`, 'utf8')).toContain('libh3');
  expect(readFileSync('src/server/dist/serve.js', 'utf8')).not.toContain('libh3');
});
