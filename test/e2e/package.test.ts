// The library as others get it: installed from its tarball into an empty folder, small and without a package of others;
// what it holds, what its entries export by import and by require(), and how much of it a bundler must keep.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';
import { bytesBelow, filesBelow, installFrom, packagesIn, packInto } from '../support/packages.js';
import { ownFolder } from '../support/shared.js';

const MAX_BYTES = 5 * 1000 * 1000;
/** Both files of hexcodes/web, gzipped. */
const MAX_WEB_BYTES = 1.5 * 1024 * 1024;

const folder = ownFolder('pack');
const installed = join(folder, 'node_modules', 'hexcodes');
let packed: string[];
let tarball = '';

beforeAll(async () => {
  const [{ file, files }] = (await packInto(join(folder, 'tarballs'), ['hexcodes'])) as [
    Awaited<ReturnType<typeof packInto>>[0],
  ];
  packed = files.map(({ path }) => path);
  tarball = file;
  installFrom(folder, [tarball]);
});

test('is at most 5 MB and the only package, without binaries, scripts and parts of the service', () => {
  const bytes = bytesBelow(join(folder, 'node_modules'));
  console.log(`hexcodes: ${bytes} bytes installed`);
  expect(bytes).toBeLessThan(MAX_BYTES);
  expect(packagesIn(folder)).toEqual(['hexcodes']);
  expect(
    packed.filter((path) => !/\.(js|d\.ts|json|md)$|^(LICENSE|NOTICE|data\/LICENSE)$/.test(path)),
  ).toEqual([]);
  expect(packed.filter((path) => /\b(server|cli|keys|pool)\//.test(path))).toEqual([]);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(manifest).toMatchObject({ name: 'hexcodes', license: 'Apache-2.0 AND ODbL-1.0 AND CC-BY-4.0' });
  for (const field of ['dependencies', 'scripts', 'private', 'devDependencies'])
    expect(manifest[field]).toBeUndefined();
  expect(manifest.peerDependenciesMeta).toEqual({ ws: { optional: true } });
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

/** Runs a module in the project that the package is installed in. */
function run(source: string): string {
  writeFileSync(join(folder, 'main.mjs'), source);
  const ran = spawnSync(process.execPath, ['main.mjs'], { cwd: folder, encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  return ran.stdout;
}

test('the notice of the boundaries is in README and in the one file that holds them', () => {
  const notice = 'Contains information from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0';
  for (const path of ['README.md', 'NOTICE', 'dist/web/hexcodes.js'])
    expect(readFileSync(join(installed, path), 'utf8').replace(/\s+/g, ' '), path).toContain(notice);
  expect(readFileSync(join(installed, 'dist/web/geometry.js'), 'utf8')).toMatch(
    /^\/\*! hexcodes, Apache-2\.0\. .*h3-js/,
  );
});

test('holds what its entries name', () => {
  const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    exports: unknown;
  };
  const paths = [...JSON.stringify(exports).matchAll(/"\.\/([^"]+\.(?:js|d\.ts))"/g)].map(
    ([, path]) => path!,
  );
  expect(paths.length).toBeGreaterThan(15);
  expect(paths.filter((path) => !packed.includes(path))).toEqual([]);
  for (const path of ['dist/cjs/package.json', 'data/LICENSE', 'LICENSE', 'NOTICE', 'README.md'])
    expect(packed).toContain(path);
});

test('a stream in Node says which package it needs', () => {
  const out = run(`
    import { HexcodesClient } from 'hexcodes/client';
    const stream = new HexcodesClient({ baseUrl: 'http://127.0.0.1:9/v1' }).stream({ operation: 'decode', source: [['x']] });
    try {
      for await (const _ of stream);
    } catch ({ code, message }) {
      console.log(code, message);
    }
  `);
  expect(out).toBe('BAD_ARGUMENT streams in Node need the package ws: npm install ws\n');
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

test('require() gets equal answers, and one error class for library and geometry', () => {
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
  const source = readFileSync(join(installed, 'dist/web/hexcodes.js'), 'utf8');
  expect(source).not.toMatch(/\bimport\s*[{*('"]|\bfrom\s*["']|node:|\bfetch\(|\bprocess\b|\bBuffer\b/);
  const size = ['hexcodes.js', 'geometry.js']
    .map((name) => gzipSync(readFileSync(join(installed, 'dist/web', name))).length)
    .reduce((sum, bytes) => sum + bytes);
  console.log(`hexcodes/web with geometry: ${size} bytes gzipped`);
  expect(size).toBeLessThan(MAX_WEB_BYTES);
  const { Hexcodes } = (await import(join(installed, 'dist/web/hexcodes.js'))) as typeof import('#hexcodes');
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

test('unused code is not bundled', async () => {
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
    const ran = spawnSync(process.execPath, [join('test/judges/node_modules', script), tarball, ...options], {
      encoding: 'utf8',
    });
    expect([script, ran.status, ran.status === 0 ? '' : ran.stdout]).toEqual([script, 0, '']);
  }
});

test('its types are found by import and by require()', () => {
  const program = `
    import { Hexcodes, type Encoded } from 'hexcodes';
    import { distance } from 'hexcodes/geometry';
    import { HexcodesClient, type BulkOptions } from 'hexcodes/client';
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

const PAGE = `
  import { Hexcodes } from 'hexcodes';
  import { neighbors } from 'hexcodes/geometry';
  import { HexcodesClient } from 'hexcodes/client';
  const hexcodes = await Hexcodes.load();
  const { hexcodes: code } = hexcodes.encode(21.0288, 105.8525);
  console.log(code, neighbors(hexcodes, code).length, typeof HexcodesClient);
`;

/** Bundles run in a folder of their own, where no package is near. */
function runAlone(from: string, name: string): string {
  const alone = mkdtempSync(join(tmpdir(), 'hexcodes-bundle-'));
  cpSync(from, alone, { recursive: true });
  writeFileSync(join(alone, 'package.json'), '{"type": "module"}');
  const ran = spawnSync(process.execPath, [join(alone, name)], { cwd: alone, encoding: 'utf8' });
  rmSync(alone, { recursive: true });
  return ran.stdout + ran.stderr;
}

test('Vite bundles it for pages and for Node', async () => {
  const root = join(folder, 'vite');
  mkdirSync(root);
  writeFileSync(join(root, 'main.js'), PAGE);
  const { build } = await import('vite');
  for (const ssr of [false, true]) {
    const outDir = join(root, ssr ? 'node' : 'page');
    await build({
      root,
      configFile: false,
      logLevel: 'error',
      ssr: { noExternal: ['hexcodes'] },
      build: {
        outDir,
        ssr,
        target: 'es2022',
        minify: false,
        rollupOptions: { input: join(root, 'main.js'), output: { entryFileNames: 'out.js' } },
      },
    });
    expect(runAlone(outDir, 'out.js')).toBe('HN-6GHP4-83RFR 6 function\n');
  }
});

test('esbuild bundles it for pages and for Node', async () => {
  writeFileSync(join(folder, 'page.mjs'), PAGE);
  const { build } = await import('esbuild');
  for (const platform of ['browser', 'node'] as const) {
    const outdir = join(folder, 'esbuild', platform);
    const { warnings } = await build({
      entryPoints: [join(folder, 'page.mjs')],
      outdir,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      platform,
      format: 'esm',
      target: 'es2022',
      logLevel: 'silent',
    });
    expect(warnings).toEqual([]);
    expect(runAlone(outdir, 'page.mjs')).toBe('HN-6GHP4-83RFR 6 function\n');
  }
});
