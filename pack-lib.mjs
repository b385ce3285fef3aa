#!/usr/bin/env node
// `npm run pack:lib [-- --to FOLDER]`: makes the package hexcodes-lib from the build, in dist-lib/, and packs it: library,
// geometry with h3-js in it, client and web files. It installs without build tools and without the server's binaries.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(fileURLToPath(import.meta.url));
const at = process.argv.indexOf('--to');
const target = resolve(at < 0 ? '.' : process.argv[at + 1]);
process.chdir(root);

const NAME = 'hexcodes-lib';
const FOLDER = 'dist-lib';
const ENTRIES = ['library/hexcodes', 'geometry', 'client/node', 'client/web'];
const DOCS = ['library', 'bulk', 'http', 'stream', 'code-format', 'accuracy'];
const H3_NOTICE = '/*! Contains h3-js, © Uber Technologies, Inc., Apache-2.0: see NOTICE. */';

const { version, license, exports, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(join(FOLDER, 'docs'), { recursive: true });
mkdirSync(join(FOLDER, 'data'));

const bundle = await rolldown({
  input: Object.fromEntries(ENTRIES.map((name) => [name, `dist/hexcodes/${name}.js`])),
  external: ['ws'],
  treeshake: { moduleSideEffects: false },
});
for (const [format, dir] of [
  ['es', join(FOLDER, 'dist')],
  ['cjs', join(FOLDER, 'dist/cjs')],
]) {
  const output = { dir, format, entryFileNames: '[name].js', chunkFileNames: 'shared/[name].js' };
  await bundle.write({ ...output, postBanner: ({ name }) => (name === 'geometry' ? H3_NOTICE : '') });
  // The declarations of dist/cjs are those of the entries and of what they import, and say nothing of h3-js.
  cpSync('dist/cjs', dir, {
    recursive: true,
    filter: (path) => !path.endsWith('.js') && !path.endsWith('.json'),
  });
}
await bundle.close();
cpSync('dist/cjs/package.json', join(FOLDER, 'dist/cjs/package.json'));
cpSync('dist/web', join(FOLDER, 'dist/web'), { recursive: true });

for (const file of ['LICENSE', 'NOTICE', 'data/LICENSE']) cpSync(file, join(FOLDER, file));
const shipped = new Set(['CHANGELOG.md', ...DOCS.map((name) => `docs/${name}.md`)]);
for (const file of shipped) writeFileSync(join(FOLDER, file), documentOf(file));

/** A document under the name of this package; links to what is not in it are plain text. */
function documentOf(file) {
  return readFileSync(file, 'utf8')
    .replace(/(['`])hexcodes(?=(\/(client|geometry|web|web\/geometry))?\1)/g, `$1${NAME}`)
    .replaceAll('node_modules/hexcodes/', `node_modules/${NAME}/`)
    .replace(/\[([^\]]+)\]\(([^)#\s]+)(#[^)]*)?\)/g, (link, text, to) =>
      to.includes(':') || shipped.has(join(dirname(file), to)) ? link : text,
    );
}

const readme = `# ${NAME}

The library of hexcodes without its service and command: codes for every position in Viet Nam, the geometry of their cells,
and a client for the service. How to use it: [docs/library.md](docs/library.md), [docs/bulk.md](docs/bulk.md).

Code: Apache-2.0 (LICENSE, NOTICE). The boundaries inside: ODbL-1.0 (data/LICENSE). **Contains information from OpenStreetMap,
© OpenStreetMap contributors, ODbL 1.0.**
`;
writeFileSync(join(FOLDER, 'README.md'), readme);
const manifest = {
  name: NAME,
  version,
  description: 'Location codes for Viet Nam: the library of hexcodes, its geometry and its client',
  license,
  type: 'module',
  engines: { node: '>=20' },
  sideEffects: false,
  exports,
  files: readdirSync(FOLDER),
  dependencies: { ws: dependencies.ws },
};
writeFileSync(join(FOLDER, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

mkdirSync(target, { recursive: true });
const [{ filename, size, unpackedSize }] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--pack-destination', target], { cwd: FOLDER, encoding: 'utf8' }),
);
console.log(`${join(target, filename)}: ${size} bytes, ${unpackedSize} unpacked`);
