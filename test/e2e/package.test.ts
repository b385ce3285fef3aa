// The package as others get it: what it holds, what its entries export, how much of it a bundler must keep.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Both files of hexcodes/web, gzipped. */
const MOST_WEB_BYTES = 1.5 * 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-pack-'));
const installed = join(folder, 'node_modules', 'hexcodes');
let packed: string[];
let tarball = '';

beforeAll(() => {
  const [report] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      encoding: 'utf8',
    }),
  ) as [{ filename: string; files: { path: string }[] }];
  packed = report.files.map(({ path }) => path);
  mkdirSync(installed, { recursive: true });
  tarball = join(folder, report.filename);
  execFileSync('tar', ['xzf', tarball, '-C', installed, '--strip-components=1']);
  // The links stand for `npm install`, without its hundreds of megabytes.
  symlinkSync(resolve('node_modules'), join(installed, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a module in the project that the package is installed in. */
function run(source: string): string {
  writeFileSync(join(folder, 'main.mjs'), source);
  const ran = spawnSync(process.execPath, ['main.mjs'], { cwd: folder, encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  return ran.stdout;
}

test('the notice of the boundaries stands in README and in the one file that holds them', () => {
  const notice = 'Contains information from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0';
  for (const path of ['README.md', 'NOTICE', 'data/README.md', 'dist/web/hexcodes.js'])
    expect(readFileSync(join(installed, path), 'utf8').replace(/\s+/g, ' '), path).toContain(notice);
  expect(readFileSync(join(installed, 'dist/web/geometry.js'), 'utf8')).toMatch(
    /^\/\*! hexcodes, Apache-2\.0\. .*h3-js/,
  );
});

test('holds what it needs and nothing that it does not', () => {
  for (const path of [
    'dist/hexcodes/library/hexcodes.js',
    'dist/hexcodes/library/hexcodes.d.ts',
    'dist/hexcodes/library/embedded.js',
    'dist/cjs/package.json',
    'dist/cjs/library/hexcodes.js',
    'dist/cjs/library/hexcodes.d.ts',
    'dist/web/hexcodes.js',
    'dist/web/geometry.js',
    'dist/cli/main.js',
    'dist/kernel.wasm',
    'data/index.bin',
    'data/reach.bin',
    'data/LICENSE',
    'test/vectors/codes.csv',
    'test/vectors/reading.csv',
    'LICENSE',
    'NOTICE',
    'README.md',
  ]) {
    expect(packed).toContain(path);
  }
  expect(
    packed.filter((path) => /^(?:src|assembly|bench|build|tools|var|data\/(?:sources|map))\//.test(path)),
  ).toEqual([]);
  expect(packed.filter((path) => path.startsWith('docs/') && !/\.(?:md|sql)$/.test(path))).toEqual([]);
  expect(packed.filter((path) => path.startsWith('test/') && !path.startsWith('test/vectors/'))).toEqual([]);
  for (const path of packed.filter((each) => each.endsWith('.d.ts') || each.endsWith('.js'))) {
    expect(existsSync(join(installed, path))).toBe(true);
  }
});

test('every entry works where it is installed', () => {
  const out = run(`
    import { Hexcodes, ADMIN_UNITS } from 'hexcodes';
    import { neighbors, parent } from 'hexcodes/geometry';
    import { Hexcodes as WebHexcodes } from 'hexcodes/web';
    import { neighbors as webNeighbors } from 'hexcodes/web/geometry';
    import * as client from 'hexcodes/client';
    const node = await Hexcodes.load();
    const web = await WebHexcodes.load();
    const { hexcodes } = node.encode(21.0288, 105.8525);
    console.log(JSON.stringify([
      ADMIN_UNITS.length,
      hexcodes,
      web.encode(21.0288, 105.8525).hexcodes === hexcodes,
      parent(node, hexcodes),
      JSON.stringify(neighbors(node, hexcodes)) === JSON.stringify(webNeighbors(web, hexcodes)),
      typeof client.HexcodesClient,
    ]));
  `);
  const [units, code, isSame, above, isSameRing, client] = JSON.parse(out);
  expect([units, isSame, isSameRing, client]).toEqual([34, true, true, 'function']);
  expect(code).toMatch(/^HN-/);
  expect(above).toMatch(/^HN-/);
});

test('require() gets the same answers, and one error class for library and geometry', () => {
  writeFileSync(
    join(folder, 'main.cjs'),
    `
    const { Hexcodes, HexcodesError } = require('hexcodes');
    const { area, parent } = require('hexcodes/geometry');
    const { HexcodesClient, HexcodesClientError } = require('hexcodes/client');
    Hexcodes.load().then((hexcodes) => {
      const code = hexcodes.encode(21.0288, 105.8525).hexcodes;
      let caught;
      try {
        area(hexcodes, 'x');
      } catch (error) {
        caught = error instanceof HexcodesError;
      }
      try {
        new HexcodesClient({ baseUrl: '' });
      } catch (error) {
        caught = caught && error instanceof HexcodesClientError;
      }
      console.log(code, parent(hexcodes, code), caught);
    });`,
  );
  // Newer versions of Node load ES modules by require() too; the entry has to work without that.
  for (const flags of [[], ['--no-experimental-require-module']]) {
    const ran = spawnSync(process.execPath, [...flags, 'main.cjs'], { cwd: folder, encoding: 'utf8' });
    expect([ran.stderr, ran.stdout]).toEqual(['', 'HN-6GHP4-83RFR HN-6GHP4-83R69 true\n']);
  }
});

test('the web bundle gives every recorded code and centre, alone', async () => {
  const source = readFileSync('dist/web/hexcodes.js', 'utf8');
  expect(source).not.toMatch(/\bimport\s*[{*('"]|\bfrom\s*["']|node:|\bfetch\(|\bprocess\b|\bBuffer\b/);
  const size = ['hexcodes.js', 'geometry.js']
    .map((name) => gzipSync(readFileSync(`dist/web/${name}`)).length)
    .reduce((sum, bytes) => sum + bytes);
  console.log(`hexcodes/web with geometry: ${size} bytes gzipped`);
  expect(size).toBeLessThan(MOST_WEB_BYTES);
  const { Hexcodes } = (await import(
    resolve('dist/web/hexcodes.js')
  )) as typeof import('#dist/hexcodes/library/hexcodes.js');
  const web = await Hexcodes.load();
  const rows = readFileSync('test/vectors/codes.csv', 'utf8')
    .split('\n')
    .filter((line) => /^[^#].*,\d/.test(line));
  expect(rows.length).toBeGreaterThan(600);
  for (const row of rows) {
    const [, , , resolution, adminCode, cell, code, lat, lng] = row.split(',') as string[];
    expect(web.pack(BigInt(`0x${cell}`), adminCode!)).toBe(code);
    const read = web.read(code!)!;
    expect(read).toMatchObject({ hexcodes: code, admin_code: adminCode, resolution: Number(resolution) });
    expect(Math.abs(read.lat - Number(lat))).toBeLessThan(1e-9);
    expect(Math.abs(read.lng - Number(lng))).toBeLessThan(1e-9);
  }
});

test('what is not used is not bundled', async () => {
  const sizeOf = async (source: string): Promise<number> => {
    const entry = join(folder, 'entry.mjs');
    writeFileSync(entry, source);
    const bundle = await rolldown({ input: entry, platform: 'browser' });
    const { output } = await bundle.generate({ minify: true });
    await bundle.close();
    return output[0].code.length;
  };
  const nothing = await sizeOf("import 'hexcodes'; import 'hexcodes/geometry';");
  const units = await sizeOf("import { ADMIN_UNITS } from 'hexcodes'; console.log(ADMIN_UNITS);");
  const library = await sizeOf("import { Hexcodes } from 'hexcodes'; console.log(await Hexcodes.load());");
  const shapes = await sizeOf("import { area } from 'hexcodes/geometry'; console.log(area);");
  console.log(`bundled bytes: nothing ${nothing}, table ${units}, library ${library}, geometry ${shapes}`);
  expect(nothing).toBeLessThan(100);
  expect(units).toBeLessThan(6_000);
  expect(library).toBeLessThan(20_000);
  expect(shapes).toBeGreaterThan(library);
});

test('publint and attw find nothing', () => {
  for (const [script, options] of [
    ['publint/src/cli.js', ['--strict']],
    ['@arethetypeswrong/cli/dist/index.js', ['--profile', 'node16', '--no-color', '--no-emoji']],
  ] as const) {
    // Without a tarball each would build the package again.
    const ran = spawnSync(process.execPath, [join('node_modules', script), tarball, ...options], {
      encoding: 'utf8',
    });
    expect([script, ran.status, ran.status === 0 ? '' : ran.stdout]).toEqual([script, 0, '']);
  }
});
