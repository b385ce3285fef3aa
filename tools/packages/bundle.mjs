// Bundles dist/ into what the three published packages ship: src/hexcodes/dist (library, geometry, client),
// src/server/dist and src/cli/dist. Private workspaces and the packages of INSIDE are inside; others are imported from
// where they are installed, and the command imports the service from hexcodes-server. Called by build.mjs.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

// h3-js for bundles of programs: a file of its own, loaded by the first call of one of its functions. It is 443 KB, and
// takes 18 ms of a start that may never need it.

/** Bundled wherever they are used: commander's eight files take 8 ms of each start, more than all of ours. */
export const INSIDE = ['commander', 'h3-js'];

const ID = '\0lazy-h3';
const FILE = 'shared/h3-js.cjs';
const require = createRequire(import.meta.url);

/**
 * A plugin of rolldown that puts lazy functions instead of h3-js.
 * @param {(file: string) => string} pathText the text of a module's code that names a file of the package
 */
function lazyH3(pathText) {
  const h3 = require('h3-js');
  const exported = Object.entries(h3).map(([name, value]) =>
    typeof value === 'function'
      ? `export const ${name} = (...given) => loaded().${name}(...given);`
      : `export const ${name} = ${JSON.stringify(value)};`,
  );
  const code = [
    `import { createRequire } from 'node:module';`,
    'let h3;',
    `const loaded = () => (h3 ??= createRequire(import.meta.url)(${pathText(FILE)}));`,
    ...exported,
  ];
  return {
    name: 'lazy-h3',
    resolveId: (id) => (id === 'h3-js' ? ID : null),
    load: (id) => (id === ID ? { code: code.join('\n'), moduleSideEffects: false } : null),
  };
}

/** Writes the file that the lazy functions load. */
async function writeH3(out, notice) {
  const bundle = await rolldown({ input: require.resolve('h3-js'), platform: 'node' });
  await bundle.write({ file: join(out, FILE), format: 'cjs', postBanner: notice });
  await bundle.close();
}

const DIST = resolve('dist');
const H3_NOTICE = '/*! Contains h3-js, © Uber Technologies, Inc., Apache-2.0: see NOTICE. */';
const SHIPPED = {
  'dist/kernel.wasm': 'kernel.wasm',
  'data/index.bin': 'index.bin',
  'data/reach.bin': 'reach.bin',
};

/**
 * Programs by their package: its entries in dist/, and files that its modules read, with their names in the package.
 */
const PROGRAMS = {
  cli: {
    entries: [
      'cli/main',
      'cli/serve/process-entry',
      'pool/worker',
      'capacity/generator/program',
      'capacity/control/program',
      'capacity/processes/core-speed-program',
    ],
    together: {
      start: ['cli/one-position'],
      program: ['cli/program'],
      files: ['cli/commands/encode', 'cli/commands/decode', 'files/run'],
    },
    files: { ...SHIPPED, 'data/capacity.json': 'capacity.json' },
  },
  server: {
    entries: ['pool/worker', 'server/keys/worker', 'server/usage/worker', 'server/admin/port-thread'],
    files: {
      'dist/console': 'console',
      'dist/documents.json': 'documents.json',
      'dist/viewer': 'viewer',
    },
  },
};

const packageOf = (specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** Modules of one part of dist/ that modules of another import, as `server/serve`. */
export function importedFrom(part, by) {
  const found = new Set();
  for (const file of readdirSync(join(DIST, by), { recursive: true }).filter((name) =>
    name.endsWith('.js'),
  )) {
    const path = join(DIST, by, file);
    for (const [, to] of readFileSync(path, 'utf8').matchAll(
      /(?:\bfrom\s+|\bimport\()['"](\.[^'"]+)\.js['"]/g,
    )) {
      const name = relative(DIST, resolve(dirname(path), to));
      if (name.startsWith(`${part}/`)) found.add(name);
    }
  }
  return [...found].sort();
}

/** The modules that a module loads at once, itself and those that they load included. */
export function closureOf(path, seen = new Set()) {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, to] of readFileSync(path, 'utf8').matchAll(
    /^(?:import\s*|(?:import|export)\b[^;'"]*\bfrom\s+)['"](\.[^'"]+)['"]/gm,
  ))
    closureOf(resolve(dirname(path), to), seen);
  return seen;
}

const IN_PLACE = /new URL\(\s*['"](\.[^'"]*)['"],\s*import\.meta\.url\s*\)/g;
const MARK = 'file-of-the-package:';

/** `new URL('…', import.meta.url)` for another entry, or for a file of the package, by its name in the package. */
function places(name, { entries, files }, nameInPackage) {
  const names = new Map(entries.map((entry) => [join(DIST, `${entry}.js`), `${nameInPackage(entry)}.js`]));
  for (const [path, inPackage] of Object.entries(files)) names.set(resolve(path), inPackage);
  // Where the package, or the checkout that it is built in, begins.
  names.set(resolve('.'), '../../..');
  return {
    name: 'places',
    transform(code, id) {
      const text = code.replace(IN_PLACE, (_, to) => {
        const place = names.get(resolve(dirname(id), to));
        if (place === undefined)
          throw new Error(`${name}: ${relative('.', id)} reads ${to}, which is not in the package`);
        return `new URL('${MARK}${place}${to.endsWith('/') ? '/' : ''}', import.meta.url)`;
      });
      return text === code ? null : { code: text };
    },
    renderChunk(code, { fileName }) {
      const text = code.replace(new RegExp(`(["'\`])${MARK}([^"'\`]*)\\1`, 'g'), (_, quote, to) => {
        const path = relative(dirname(fileName), to.replace(/\/$/, ''));
        return `${quote}${path.startsWith('.') ? '' : './'}${path}${to.endsWith('/') ? '/' : ''}${quote}`;
      });
      return text === code ? null : { code: text };
    },
  };
}

/**
 * Chunks of the modules that entries load, each in the first that needs it: a file more costs a millisecond of the
 * start. Entries themselves are not in them: the program waits for commands, which import its chunk.
 */
function groupsOf(together) {
  const taken = new Set();
  return Object.entries(together).map(([name, entries]) => {
    const own = new Set(entries.flatMap((entry) => [...closureOf(join(DIST, `${entry}.js`))]));
    for (const entry of entries) own.delete(join(DIST, `${entry}.js`));
    for (const id of own) if (taken.has(id)) own.delete(id);
    for (const id of own) taken.add(id);
    const isCommander = (id) => name === 'program' && id.includes('/node_modules/commander/');
    return { name, test: (id) => own.has(id) || isCommander(id) };
  });
}

/**
 * The command or the server, into src/NAME/dist.
 * @param {'cli' | 'server'} name
 */
export async function bundleProgram(name) {
  const out = join('src', name, 'dist');
  const program = PROGRAMS[name];
  const entries =
    name === 'server' ? [...program.entries, ...importedFrom('server', 'cli')] : program.entries;
  const nameInPackage = (entry) => (entry.startsWith(`${name}/`) ? entry.slice(name.length + 1) : entry);
  const service = {
    name: 'service',
    resolveId(id, importer) {
      if (importer === undefined || !id.startsWith('.')) return null;
      const path = relative(DIST, resolve(dirname(importer), id));
      return path.startsWith('server/')
        ? { id: `hexcodes-server/${path.slice('server/'.length)}`, external: true }
        : null;
    },
  };
  rmSync(out, { recursive: true, force: true });
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [nameInPackage(entry), join(DIST, `${entry}.js`)])),
    platform: 'node',
    external: (id) => isBuiltin(id) || (!/^[./\0]/.test(id) && !INSIDE.includes(packageOf(id))),
    plugins: [
      lazyH3((file) => `'${MARK}${file}'`),
      places(name, { ...program, entries }, nameInPackage),
      ...(name === 'cli' ? [service] : []),
    ],
  });
  const groups = groupsOf(program.together ?? {});
  const { output } = await bundle.write({
    dir: out,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name].js',
    codeSplitting: { groups },
  });
  await bundle.close();
  await writeH3(out, H3_NOTICE);
  for (const [from, to] of Object.entries(program.files)) cpSync(from, join(out, to), { recursive: true });
  if (name === 'cli') {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    // Not before: it reads the declarations of the commands in dist/.
    const { manPage } = await import('./man.mjs');
    writeFileSync(join(out, 'hexcodes.1'), await manPage(version));
  }
  return output;
}

const LIBRARY = 'src/hexcodes/dist';
const ENTRIES = ['library/hexcodes', 'geometry', 'client/node', 'client/web'];

/**
 * The library, as ES modules and CommonJS; the declarations of dist/cjs are those of its entries and of what they
 * import.
 */
export async function bundleLibrary() {
  for (const name of existsSync(LIBRARY) ? readdirSync(LIBRARY) : []) {
    if (name !== 'web') rmSync(join(LIBRARY, name), { recursive: true });
  }
  const bundle = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, `dist/hexcodes/${name}.js`])),
    external: ['ws'],
    treeshake: { moduleSideEffects: false },
  });
  for (const [format, dir] of [
    ['es', LIBRARY],
    ['cjs', join(LIBRARY, 'cjs')],
  ]) {
    const output = { dir, format, entryFileNames: '[name].js', chunkFileNames: 'shared/[name].js' };
    await bundle.write({ ...output, postBanner: ({ name }) => (name === 'geometry' ? H3_NOTICE : '') });
    cpSync('dist/cjs', dir, { recursive: true, filter: (path) => !/\.js(on)?$/.test(path) });
  }
  await bundle.close();
  writeFileSync(join(LIBRARY, 'cjs/package.json'), '{"type": "commonjs"}\n');
}

/** The library and the geometry as one file each, for pages without a bundler. */
export async function bundleForPages() {
  const common = { platform: 'browser', treeshake: { moduleSideEffects: false } };
  // Bundled files travel alone, so each says whose work is in it.
  const write = async (file, options, parts) => {
    const bundle = await rolldown({ ...common, ...options });
    await bundle.write({
      file: join(LIBRARY, 'web', file),
      codeSplitting: false,
      format: 'es',
      minify: true,
      postBanner: `/*! hexcodes, Apache-2.0. ${parts} */`,
    });
    await bundle.close();
  };
  mkdirSync(join(LIBRARY, 'web'), { recursive: true });
  await write(
    'hexcodes.js',
    { input: 'dist/hexcodes/library/hexcodes.js' },
    'Boundaries ODbL-1.0: Contains information from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0. ' +
      'H3 grid after H3, © Uber Technologies, Inc., Apache-2.0; numbers after fdlibm, © 1993 Sun Microsystems, Inc.; ' +
      'fast_float, Apache-2.0, and Drachennest, BSL-1.0: see NOTICE.',
  );
  await write(
    'geometry.js',
    {
      input: 'dist/hexcodes/geometry.js',
      // One HexcodesError for both files, so that `instanceof` holds.
      external: (id) => id === './hexcodes.js',
      plugins: [
        {
          name: 'errors-of-the-library',
          resolveId: (id) => (id.endsWith('/errors.js') ? { id: './hexcodes.js', external: true } : null),
        },
      ],
    },
    'Contains h3-js, © Uber Technologies, Inc., Apache-2.0: see NOTICE.',
  );
}
