// Builds dist/console/: the page at `/`, its scripts bundled, all files that it asks for under names with a hash of
// their content, each with .br and .gz beside it, and files.json, which says what is what. Called by build.mjs.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const OUT = 'dist/console';
const OLD = 'build/console-before';

const TYPES = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
  '.bin': 'application/octet-stream',
  '.webmanifest': 'application/manifest+json',
};

/** Entries of the page and its workers, by role. */
const SCRIPTS = {
  page: 'src/console/main.ts',
  mapWorker: 'src/console/map/worker.ts',
  fileWorker: 'src/console/file/worker.ts',
  fleetWorker: 'src/console/fleet/worker.ts',
  zoneWorker: 'src/console/zones/worker.ts',
  countWorker: 'src/console/points/worker.ts',
  mapLibraryWorker: 'node_modules/maplibre-gl/src/source/worker.ts',
};
const WORKERS = Object.keys(SCRIPTS).filter((role) => role.endsWith('Worker'));
/** Files of the page that are not a script and no style, by role. */
export const CONSOLE_FILES = {
  kernel: 'dist/kernel.wasm',
  index: 'data/index.bin',
  reach: 'data/reach.bin',
  land: 'data/land.bin',
  rivers: 'data/rivers.bin',
};
/** The module of the map that is drawn first. */
const FIRST_MAP = 'src/console/map/flat-map.ts';
/** Styles from here on come with the first panel that is opened. */
const LATER_STYLES = '5';
/** In the place of Node's, which src/wire uses. */
const BUFFER = resolve('src/console/file/node-buffer.ts');
/**
 * The library of the map is bundled from its sources: its own bundles of the page and of its worker hold much of the
 * code twice, 100 KB as Brotli. Tiles in MLT are not read, which saves 14 KB.
 */
const MAP_LIBRARY = {
  'maplibre-gl': resolve('node_modules/maplibre-gl/src/index.ts'),
  '@maplibre/mlt': resolve('src/console/map/no-mlt.ts'),
};
const BUNDLING = {
  platform: 'browser',
  resolve: {
    extensionAlias: { '.js': ['.ts', '.js'] },
    alias: { 'node:buffer': BUFFER, ...MAP_LIBRARY },
  },
  transform: {
    inject: { Buffer: [BUFFER, 'Buffer'] },
    // As the library builds itself: fields that are declared only are not fields.
    typescript: { removeClassFieldsWithoutInitializer: true },
    assumptions: { setPublicClassFields: true },
  },
};
const MAP_NOTICE = '/*! Contains MapLibre GL JS, BSD-3-Clause: see NOTICE. */';
const ARCHIVE_NOTICE = '/*! Contains PMTiles, BSD-3-Clause: see NOTICE. */';
/**
 * Only `Hexcodes.load` imports the embedded data, which the page does not call. Left outside under a name of its own: a
 * path would be that of the machine.
 */
const WITHOUT_EMBEDDED = {
  name: 'without-embedded',
  resolveId: (id) => (/embedded\.js$/.test(id) ? { id: 'hexcodes-embedded', external: true } : null),
};
/** The functions of h3-js that the page and its workers call. */
const H3_FUNCTIONS = [
  ...['cellArea', 'cellToBoundary', 'cellToChildren', 'cellToLatLng', 'cellToParent', 'compactCells'],
  ...['edgeLength', 'getHexagonAreaAvg', 'getResolution', 'greatCircleDistance', 'gridDisk', 'isValidCell'],
  ...['latLngToCell', 'originToDirectedEdges', 'polygonToCells'],
];
const H3_CONSTANTS = ['UNITS'];
const H3_LOADER = resolve('src/console/shell/h3.ts');
const [LATE_H3, USED_H3] = ['\0late-h3', '\0used-h3'];

/** h3-js is loaded by shell/h3.ts, as the part of it that is used; elsewhere its functions call what is loaded. */
const lateH3 = async () => {
  const h3 = (await import('h3-js')).default;
  const late = [
    `import { h3 } from ${JSON.stringify(H3_LOADER)};`,
    ...H3_FUNCTIONS.map((name) => `export const ${name} = (...given) => h3.now.${name}(...given);`),
    ...H3_CONSTANTS.map((name) => `export const ${name} = ${JSON.stringify(h3[name])};`),
  ].join('\n');
  const used = `export { ${H3_FUNCTIONS.join(', ')} } from 'h3-js';`;
  return {
    name: 'late-h3',
    resolveId: (id, importer) =>
      id !== 'h3-js' || importer === USED_H3 ? null : importer === H3_LOADER ? USED_H3 : LATE_H3,
    load: (id) =>
      id === LATE_H3 ? { code: late, moduleSideEffects: false } : id === USED_H3 ? { code: used } : null,
  };
};

/**
 * Few scripts until the first map, as each takes half a second over a slow network: what they and workers have in
 * common, the rest of the page, and the rest of the first map. Of other modules rolldown makes the chunks.
 */
function partsOfStart() {
  let parts;
  const partOf = (id, modules) => {
    const closureOf = (path, hasLater = false, found = new Set()) => {
      if (found.has(path)) return found;
      found.add(path);
      const { importedIds = [], dynamicallyImportedIds = [] } = modules.getModuleInfo(path) ?? {};
      for (const each of importedIds) closureOf(each, hasLater, found);
      if (hasLater) for (const each of dynamicallyImportedIds) closureOf(each, true, found);
      return found;
    };
    parts ??= {
      page: closureOf(resolve(SCRIPTS.page)),
      map: closureOf(resolve(FIRST_MAP)),
      workers: WORKERS.map((role) => closureOf(resolve(SCRIPTS[role]), true)),
    };
    if (id === resolve(SCRIPTS.page)) return null;
    if (!parts.page.has(id) && !parts.map.has(id)) return null;
    // The others ask for a document.
    if (parts.workers.some((worker) => worker.has(id))) return 'common';
    return parts.page.has(id) ? 'shell' : 'first-map';
  };
  // A group takes what its modules import along, unless one before it has that.
  return ['common', 'shell', 'first-map'].map((part, i) => ({
    debugName: part,
    name: (id, modules) => (partOf(id, modules) === part ? part : null),
    priority: 2 - i,
  }));
}

export async function buildConsole() {
  const { build } = await import('rolldown');
  // Compressed files are not compressed again: names tell the content.
  rmSync(OLD, { recursive: true, force: true });
  mkdirSync('build', { recursive: true });
  if (existsSync(OUT)) renameSync(OUT, OLD);
  mkdirSync(join(OUT, 'assets'), { recursive: true });

  const roles = {};
  const files = {};
  const put = (role, name, bytes) => {
    if (role !== undefined) roles[role] = name;
    files[name] = TYPES[extname(name)];
    writeCompressed(join('assets', name), bytes);
  };
  const add = (role, stem, bytes) => put(role, hashed(stem, bytes), bytes);

  const { output } = await build({
    ...BUNDLING,
    input: SCRIPTS,
    plugins: [WITHOUT_EMBEDDED, await lateH3()],
    write: false,
    output: {
      format: 'es',
      minify: true,
      entryFileNames: '[name]-[hash].js',
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: { groups: partsOfStart() },
      postBanner: ({ moduleIds }) =>
        [
          ['/maplibre-gl/', MAP_NOTICE],
          ['/pmtiles/', ARCHIVE_NOTICE],
        ]
          .filter(([part]) => moduleIds.some((id) => id.includes(part)))
          .map(([, notice]) => notice)
          .join('\n'),
    },
  });
  for (const chunk of output) {
    const role = chunk.isEntry ? chunk.name : undefined;
    put(role, chunk.fileName, Buffer.from(chunk.code));
  }
  /** Scripts that the page imports at once, then those of its first map: a browser learns of them one by one. */
  const imports = new Set();
  const follow = (fileName) => {
    for (const each of output.find((chunk) => chunk.fileName === fileName).imports) {
      if (imports.has(each)) continue;
      imports.add(each);
      follow(each);
    }
  };
  follow(roles.page);
  const firstMap = output.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(FIRST_MAP))).fileName;
  imports.add(firstMap);
  follow(firstMap);

  const styles = readdirSync('src/console/style').sort();
  add('style', 'console.css', styleOf(styles.filter((name) => name < LATER_STYLES)));
  add('laterStyle', 'later.css', styleOf(styles.filter((name) => name > LATER_STYLES)));
  add('mapStyle', 'maplibre-gl.css', Buffer.from(mapStyle()));
  add('icon', 'icon.svg', readFileSync('src/console/icon.svg'));
  add('picture', 'icon.png', readFileSync('src/console/icon.png'));
  add('share', 'share.png', readFileSync('src/console/share.png'));
  // Beside the icons, and one folder below the page.
  const manifest = readFileSync('src/console/manifest.json', 'utf8').replace(
    /\{\{(\w+)\}\}/g,
    (_, role) => roles[role],
  );
  add('manifest', 'console.webmanifest', Buffer.from(manifest));
  for (const [role, path] of Object.entries(CONSOLE_FILES)) add(role, basename(path), readFileSync(path));

  writeFileSync(join(OUT, 'page.html'), readFileSync('src/console/page.html'));
  const [serviceWorker] = (
    await build({
      ...BUNDLING,
      input: 'src/console/shell/service-worker.ts',
      write: false,
      output: { format: 'iife', minify: true },
    })
  ).output;
  writeFileSync(join(OUT, 'service-worker.js'), serviceWorker.code);
  writeFileSync(join(OUT, 'files.json'), JSON.stringify({ roles, imports: [...imports], files }));
  rmSync(OLD, { recursive: true, force: true });
}

/** Files of src/console/style in one, without comments and line breaks. */
function styleOf(names) {
  const texts = names.map((name) => readFileSync(join('src/console/style', name), 'utf8'));
  const style = texts
    .join('\n')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ');
  return Buffer.from(style);
}

/** The style of the map's library without its controls, of which the page has none: 1.5 of 72 KB. */
function mapStyle() {
  return readFileSync('node_modules/maplibre-gl/dist/maplibre-gl.css', 'utf8')
    .replace(/[^{}]*maplibregl-(?:ctrl|popup|marker|cooperative|user-location)[^{}]*\{[^{}]*\}/g, '')
    .replace(/@[^{}]+\{\s*\}/g, '');
}

function hashed(name, bytes) {
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  return `${basename(name, extname(name))}-${hash}${extname(name)}`;
}

function writeCompressed(name, bytes) {
  writeFileSync(join(OUT, name), bytes);
  const isSame = existsSync(join(OLD, name)) && readFileSync(join(OLD, name)).equals(bytes);
  const kept = (ending, compress) => {
    const before = join(OLD, name + ending);
    writeFileSync(join(OUT, name + ending), isSame && existsSync(before) ? readFileSync(before) : compress());
  };
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT, BROTLI_PARAM_LGBLOCK } = constants;
  const params = { [BROTLI_PARAM_QUALITY]: 11, [BROTLI_PARAM_SIZE_HINT]: bytes.length };
  // In blocks of 64 KiB the index and h3-js are 0.4 % smaller.
  const isMixed = bytes.length > 65_536 && bytes.length < 262_144;
  const choices = isMixed ? [params, { ...params, [BROTLI_PARAM_LGBLOCK]: 16 }] : [params];
  const smallest = () => {
    const all = choices.map((choice) => brotliCompressSync(bytes, { params: choice }));
    return all.reduce((least, each) => (each.length < least.length ? each : least));
  };
  kept('.br', smallest);
  kept('.gz', () => gzipSync(bytes, { level: 9 }));
}
