// The package hexcodes-lib as others get it: small, without binaries and scripts, with one dependency of JavaScript, and
// every entry by import and by require().
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MOST_BYTES = 5 * 1000 * 1000;

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-lib-'));
const installed = join(folder, 'node_modules', 'hexcodes-lib');
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

beforeAll(() => {
  execFileSync(process.execPath, ['pack-lib.mjs', '--to', folder], { stdio: 'pipe' });
  mkdirSync(installed, { recursive: true });
  const tarball = join(folder, `hexcodes-lib-${version}.tgz`);
  execFileSync('tar', ['xzf', tarball, '-C', installed, '--strip-components=1']);
  // Its only dependency; h3-js is not there.
  symlinkSync(resolve('node_modules/ws'), join(folder, 'node_modules', 'ws'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function filesBelow(path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)],
  );
}

test('is at most 5 MB with what it depends on, and has no binaries, no scripts and no source that is not used', () => {
  const files = [...filesBelow(installed), ...filesBelow('node_modules/ws')];
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  console.log(`hexcodes-lib with ws: ${bytes} bytes installed`);
  expect(bytes).toBeLessThan(MOST_BYTES);
  const own = files
    .filter((file) => file.startsWith(installed))
    .map((file) => file.slice(installed.length + 1));
  expect(own.filter((file) => !/\.(js|d\.ts|json|md)$|^(LICENSE|NOTICE|data\/LICENSE)$/.test(file))).toEqual(
    [],
  );
  expect(own.filter((file) => /\b(server|cli|keys|pool)\//.test(file))).toEqual([]);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(manifest).toMatchObject({ name: 'hexcodes-lib', version, license: 'Apache-2.0 AND ODbL-1.0' });
  expect(Object.keys(manifest.dependencies as object)).toEqual(['ws']);
  expect(manifest.scripts).toBeUndefined();
  expect(readFileSync(join(installed, 'docs/library.md'), 'utf8')).not.toMatch(/from 'hexcodes[/']/);
});

test('links of its documents lead to files that it has', () => {
  const broken = filesBelow(installed)
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\]\(([^)\s#:]+)(?:#[^)]*)?\)/g)].map((match) =>
        join(dirname(file), match[1]!),
      ),
    )
    .filter((path) => !existsSync(path));
  expect(broken).toEqual([]);
});

const USE = `
const answer = async () => {
  const hexcodes = await Hexcodes.load();
  const web = await Web.load();
  const code = hexcodes.encode(21.0288, 105.8525).hexcodes;
  let isOurs;
  try {
    area(hexcodes, 'x');
  } catch (error) {
    isOurs = error instanceof HexcodesError;
  }
  const again = web.encode(21.0288, 105.8525).hexcodes;
  console.log(code, again, neighbors(hexcodes, code).length, webNeighbors(web, code).length, isOurs, typeof HexcodesClient);
};
answer();
`;

test.each([
  [
    'import',
    'main.mjs',
    `import { Hexcodes, HexcodesError } from 'hexcodes-lib';
    import { area, neighbors } from 'hexcodes-lib/geometry';
    import { Hexcodes as Web } from 'hexcodes-lib/web';
    import { neighbors as webNeighbors } from 'hexcodes-lib/web/geometry';
    import { HexcodesClient } from 'hexcodes-lib/client';`,
  ],
  [
    'require()',
    'main.cjs',
    `const { Hexcodes, HexcodesError } = require('hexcodes-lib');
    const { area, neighbors } = require('hexcodes-lib/geometry');
    const { Hexcodes: Web } = require('hexcodes-lib/web');
    const { neighbors: webNeighbors } = require('hexcodes-lib/web/geometry');
    const { HexcodesClient } = require('hexcodes-lib/client');`,
  ],
])('every entry works by %s', (_, name, imports) => {
  writeFileSync(join(folder, name), imports + USE);
  const ran = spawnSync(process.execPath, [name], { cwd: folder, encoding: 'utf8' });
  expect([ran.stderr, ran.stdout]).toEqual(['', 'HN-6GHP4-83RFR HN-6GHP4-83RFR 6 6 true function\n']);
});

test('its types are found by import and by require()', () => {
  const program = `
    import { Hexcodes, type Encoded } from 'hexcodes-lib';
    import { distance } from 'hexcodes-lib/geometry';
    import { HexcodesClient, type BulkOptions } from 'hexcodes-lib/client';
    export const use = (given: Encoded, options: BulkOptions): unknown => [Hexcodes, distance, HexcodesClient, given.lat, options.format];
  `;
  for (const name of ['types.mts', 'types.cts']) writeFileSync(join(folder, name), program);
  const compilerOptions = { module: 'nodenext', strict: true, noEmit: true, skipLibCheck: false, types: [] };
  const config = { compilerOptions, files: ['types.mts', 'types.cts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const ran = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', folder], {
    encoding: 'utf8',
  });
  expect(ran.stdout + ran.stderr).toBe('');
});
