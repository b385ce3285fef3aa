#!/usr/bin/env node
// Builds dist/ (kernel.wasm, kernel.debug.wasm, the library, the command) and build/ (bench, data and proof
// programs). A step whose inputs have not changed since its last success is skipped, so that `prepare`, `test`
// and `bench` may all call this without cost.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleForPages, bundleLibrary, bundleProgram } from './tools/packages/bundle.mjs';
import { buildConsole, CONSOLE_FILES } from './tools/packages/bundle-console.mjs';
import { buildDocuments, renderDocuments } from './tools/packages/documents.mjs';

const root = dirname(fileURLToPath(import.meta.url));
process.chdir(root);

/** Every file below a folder, or the file itself, in a stable order. */
function filesOf(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isDirectory()) {
    return readdirSync(path, { withFileTypes: true })
      .filter((e) => !e.isDirectory() || e.name !== 'dist')
      .flatMap((e) => (e.isDirectory() ? filesOf(join(path, e.name)) : [join(path, e.name)]))
      .sort();
  }
  return [path];
}

function digestOf(inputs) {
  const hash = createHash('sha256').update(process.version.split('.')[0]);
  for (const file of inputs.flatMap(filesOf)) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

function run(command, args) {
  const { status } = spawnSync(process.execPath, [join('node_modules', command), ...args], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** Runs `work` unless its inputs are those of the last success and its outputs still stand. */
async function step(name, inputs, outputs, work) {
  const stamp = join('build', '.stamps', name);
  const digest = digestOf(['build.mjs', 'package-lock.json', ...inputs]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest && outputs.every((o) => existsSync(o)))
    return;
  console.log(`build: ${name}`);
  await work();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, digest);
}

/** Removes compiled files whose source is gone, so that nothing old is packed, tested or run. */
function prune(outDir, sourceDirs, sourceOf) {
  for (const file of sourceDirs.flatMap((dir) => filesOf(join(outDir, dir)))) {
    const source = sourceOf(file).replace(/(\.d\.ts|\.js)$/, '');
    if (/(\.d\.ts|\.js)$/.test(file) && !['.ts', '.d.ts'].some((end) => existsSync(source + end)))
      rmSync(file);
  }
}

const ASC = 'assemblyscript/bin/asc.js';
const TSC = 'typescript/bin/tsc';

await step('kernel', ['assembly', 'asconfig.json'], ['dist/kernel.wasm', 'dist/kernel.debug.wasm'], () => {
  mkdirSync('dist', { recursive: true });
  for (const target of ['debug', 'release']) run(ASC, ['--config', 'asconfig.json', '--target', target]);
});

await step('library', ['src', 'tsconfig.json'], ['dist/hexcodes/library/hexcodes.js'], () => {
  prune(
    'dist',
    readdirSync('dist').filter((name) => !['cjs', 'console'].includes(name)),
    (file) => file.replace('dist', 'src'),
  );
  run(TSC, ['-p', 'tsconfig.json']);
  if (existsSync('dist/cli/main.js')) chmodSync('dist/cli/main.js', 0o755);
});

const BINARIES = { KERNEL: 'dist/kernel.wasm', INDEX: 'data/index.bin', REACH: 'data/reach.bin' };
await step('binaries', Object.values(BINARIES), ['dist/hexcodes/library/embedded.js'], () => {
  const lines = Object.entries(BINARIES).map(
    ([name, path]) => `export const ${name} = '${readFileSync(path).toString('base64')}';\n`,
  );
  writeFileSync('dist/hexcodes/library/embedded.js', lines.join(''));
});

const API_INPUTS = ['src', 'tsconfig.json', 'docs', 'tools/packages/documents.mjs'];
const API_OUTPUTS = [
  'dist/openapi.json',
  'dist/asyncapi.json',
  'dist/documents.json',
  'dist/server/routes/documents.js',
];
await step('api', API_INPUTS, API_OUTPUTS, async () => {
  const { openApiDocument } = await import(pathToFileURL('dist/server/api/document.js'));
  const { asyncApiDocument } = await import(pathToFileURL('dist/server/api/stream-document.js'));
  const { apiPage } = await import(pathToFileURL('dist/server/api/page/page.js'));
  const document = JSON.stringify(openApiDocument());
  const documents = await renderDocuments();
  const { html, policy } = apiPage(documents.list);
  await buildDocuments(documents, html);
  const streamDocument = JSON.stringify(asyncApiDocument());
  writeFileSync('dist/openapi.json', document);
  writeFileSync('dist/asyncapi.json', streamDocument);
  const texts = { OPENAPI: document, ASYNCAPI: streamDocument, API_PAGE: html, API_PAGE_POLICY: policy };
  const lines = Object.entries(texts).map(
    ([name, text]) => `export const ${name} = ${JSON.stringify(text)};\n`,
  );
  writeFileSync('dist/server/routes/documents.js', lines.join(''));
});

const LIBRARY_INPUTS = [
  ...Object.values(BINARIES),
  'src/hexcodes',
  'tsconfig.json',
  'tools/packages/bundle.mjs',
];
const LIBRARY_OUTPUTS = ['src/hexcodes/dist/library/hexcodes.js', 'src/hexcodes/dist/web/geometry.js'];
await step(
  'packages/hexcodes',
  [...LIBRARY_INPUTS, 'tools/packages/tsconfig.cjs.json'],
  LIBRARY_OUTPUTS,
  async () => {
    rmSync('dist/cjs', { recursive: true, force: true });
    // The declarations once more, in a folder whose modules are CommonJS.
    run(TSC, ['-p', 'tools/packages/tsconfig.cjs.json']);
    await bundleLibrary();
    await bundleForPages();
  },
);

const CONSOLE_INPUTS = ['console', 'hexcodes', 'tables'];
const CONSOLE_DATA = [...Object.values(CONSOLE_FILES), 'tools/packages/bundle-console.mjs'];
await step(
  'console',
  [...CONSOLE_INPUTS.map((name) => `src/${name}`), ...CONSOLE_DATA],
  ['dist/console/files.json'],
  buildConsole,
);

const PROGRAM_INPUTS = [
  ...Object.values(BINARIES),
  'src',
  'data/capacity.json',
  'dist/documents.json',
  'tsconfig.json',
  'tools/packages/bundle.mjs',
];
for (const name of ['server', 'cli']) {
  const output = name === 'cli' ? 'main.js' : 'serve.js';
  await step(`packages/${name}`, PROGRAM_INPUTS, [`src/${name}/dist/${output}`], () => bundleProgram(name));
}

// Not where an image is built, whose context has no tests.
if (existsSync('test')) {
  const inputs = ['src', 'bench', 'data', 'test', 'tsconfig.json', 'tools/tsconfig.json'];
  await step('tools', inputs, ['build'], () => {
    prune('build', ['bench', 'data', 'test'], (file) => file.replace('build/', ''));
    run(TSC, ['-p', 'tools']);
  });
}
