// `npm run pack [-- --to FOLDER] [NAME…]`: makes tarballs of the published packages hexcodes, hexcodes-server and
// hexcodes-cli from what build.mjs has bundled, each with its documents and licences. Private workspaces are in the
// bundles, so a tarball names the packages of others that they need.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { INSIDE } from './bundle.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Folders of src/ by the package that each is published as, with the documents that go along. */
export const PUBLISHED = {
  hexcodes: {
    folder: 'hexcodes',
    docs: ['library', 'bulk', 'http', 'stream', 'code-format', 'accuracy', 'licence'],
  },
  'hexcodes-server': {
    folder: 'server',
    docs: [
      'http',
      'bulk',
      'stream',
      'operations',
      'observation',
      'traccar',
      'transport',
      'console',
      'licence',
    ],
  },
  'hexcodes-cli': {
    folder: 'cli',
    docs: ['command', 'capacity', 'engine', 'recipes', 'code-format', 'accuracy', 'licence'],
  },
};
const readManifest = (folder) => JSON.parse(readFileSync(join(ROOT, 'src', folder, 'package.json'), 'utf8'));

const workspaces = () =>
  new Map(
    readdirSync(join(ROOT, 'src'))
      .filter((folder) => existsSync(join(ROOT, 'src', folder, 'package.json')))
      .map((folder) => [readManifest(folder).name, readManifest(folder)]),
  );

const sorted = (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
const isEmpty = (object) => Object.keys(object).length === 0;

/** The package.json of a tarball. @param name that of a published package */
export function manifestOf(name, all = workspaces()) {
  const { private: _, devDependencies: __, dependencies: ___, ...own } = all.get(name);
  const dependencies = {};
  const seen = new Set();
  const visit = (workspace) => {
    if (seen.has(workspace)) return;
    seen.add(workspace);
    for (const [needed, range] of Object.entries(all.get(workspace).dependencies ?? {})) {
      if (all.has(needed)) visit(needed);
      else if (!INSIDE.includes(needed)) dependencies[needed] = range;
    }
  };
  visit(name);
  return { ...own, ...(isEmpty(dependencies) ? {} : { dependencies: sorted(dependencies) }) };
}

/** A document of the package; links to what is not in it become plain text. */
function documentOf(file, shipped) {
  return readFileSync(join(ROOT, file), 'utf8').replace(
    /\[([^\]]+)\]\(([^)#\s]+)(#[^)]*)?\)/g,
    (link, text, to) => (to.includes(':') || shipped.has(join(dirname(file), to)) ? link : text),
  );
}

/**
 * Makes the tarball of one package.
 * @param {string} name of the package
 * @param {string} target the folder it is written to
 * @returns {{ file: string, size: number, unpackedSize: number, files: { path: string }[] }} `file` is its path
 */
export function pack(name, target) {
  const { folder, docs } = PUBLISHED[name];
  const source = join(ROOT, 'src', folder);
  const staged = mkdtempSync(join(tmpdir(), 'hexcodes-pack-'));
  try {
    for (const part of ['dist', 'bin'])
      if (existsSync(join(source, part))) cpSync(join(source, part), join(staged, part), { recursive: true });
    const shipped = new Set(['CHANGELOG.md', ...docs.map((doc) => `docs/${doc}.md`)]);
    for (const part of ['docs', 'data']) mkdirSync(join(staged, part));
    for (const file of ['LICENSE', 'NOTICE', 'data/LICENSE']) cpSync(join(ROOT, file), join(staged, file));
    // The server holds the rivers of the console.
    if (name === 'hexcodes-server')
      cpSync(join(ROOT, 'data/licences'), join(staged, 'data/licences'), { recursive: true });
    for (const file of shipped) writeFileSync(join(staged, file), documentOf(file, shipped));
    const readme = readFileSync(join(source, 'README.md'), 'utf8');
    writeFileSync(join(staged, 'README.md'), readme.replaceAll('](../../docs/', '](docs/'));
    const manifest = { ...manifestOf(name), files: readdirSync(staged) };
    writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    mkdirSync(target, { recursive: true });
    const [report] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', resolve(target)], {
        cwd: staged,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    const { filename, size, unpackedSize, files } = report;
    return { file: join(resolve(target), filename), size, unpackedSize, files };
  } finally {
    rmSync(staged, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { to: { type: 'string', default: '.' } },
  });
  const names = positionals.length === 0 ? Object.keys(PUBLISHED) : positionals;
  const unknown = names.filter((name) => PUBLISHED[name] === undefined);
  if (unknown.length > 0) {
    console.error(`pack: ${unknown.join(', ')}: published are ${Object.keys(PUBLISHED).join(', ')}`);
    process.exit(2);
  }
  for (const name of names) {
    const { file, size, unpackedSize, files } = pack(name, values.to);
    console.log(`${file}: ${size} bytes, ${unpackedSize} unpacked, ${files.length} files`);
  }
}
