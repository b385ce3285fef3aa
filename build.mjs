#!/usr/bin/env node
// Builds dist/ (kernel.wasm, kernel-scalar.wasm, kernel.debug.wasm, src/ as JavaScript, the page), build/ (bench, data,
// tests and proofs) and what the packages ship; with --tests, which each run of tests calls, neither packages nor
// declarations. Types are
// checked by `npm run check` alone. A step whose inputs have not changed since its last success is skipped, so that
// `prepare`, `test` and `bench` may all call this without cost.
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
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { transformSync } from 'rolldown/utils';
import { bundleForPages, bundleLibrary, bundleProgram, closureOf } from './tools/packages/bundle.mjs';
import { buildConsole, CONSOLE_FILES } from './tools/packages/bundle-console.mjs';
import { buildDocuments } from './tools/packages/documents.mjs';
import { linkTo } from './tools/packages/link-to.mjs';

const root = dirname(fileURLToPath(import.meta.url));
process.chdir(root);

/** Every file below a folder, or the file itself, in a stable order. */
function filesOf(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isDirectory()) {
    return readdirSync(path, { withFileTypes: true })
      .filter((e) => !e.isDirectory() || !['dist', 'node_modules'].includes(e.name))
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

const TYPESCRIPT = /(?<!\.d)\.ts$/;

/**
 * Writes the TypeScript files below a folder as JavaScript below another, without a look at their types. Files that
 * stay as they are keep their times; JavaScript whose source is gone is removed, so that nothing old is tested or run.
 */
function transpile(sourceDir, outDir, isOurs = () => true) {
  const outputs = new Set();
  for (const path of filesOf(sourceDir)) {
    const name = path.slice(sourceDir.length + 1);
    if (!TYPESCRIPT.test(path) || !isOurs(name)) continue;
    const output = join(outDir, name.replace(TYPESCRIPT, '.js'));
    outputs.add(output);
    const { code, errors } = transformSync(path, readFileSync(path, 'utf8'), {
      target: 'es2022',
      typescript: { onlyRemoveTypeImports: true },
    });
    if (errors.length > 0) throw errors[0];
    if (existsSync(output) && readFileSync(output, 'utf8') === code) continue;
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, code);
  }
  for (const path of filesOf(outDir)) {
    const isMade = outputs.has(path) || MADE.has(path) || !isOurs(path.slice(outDir.length + 1));
    if (/\.[jt]s$/.test(path) && !isMade) rmSync(path);
  }
}

const ASC = 'assemblyscript/bin/asc.js';
const TSC = 'typescript/bin/tsc';
const isForTests = process.argv.includes('--tests');
/** Modules of dist/ that a step writes. */
const MADE = new Set(['dist/hexcodes/library/embedded.js', 'dist/server/routes/documents.js']);

/** Targets of asconfig.json with their first module. */
const KERNELS = { debug: 'index.ts', release: 'index.ts', scalar: 'points.ts' };
const KERNEL_FILES = ['kernel', 'kernel.debug', 'kernel-scalar'].map((name) => `dist/${name}.wasm`);
await step('kernel', ['assembly', 'asconfig.json'], KERNEL_FILES, () => {
  mkdirSync('dist', { recursive: true });
  for (const [target, entry] of Object.entries(KERNELS)) run(ASC, [`assembly/${entry}`, '--target', target]);
});

/** Parts of dist/ with a step of their own. */
const PARTS = ['cjs', 'console'];
transpile('src', 'dist', (name) => !PARTS.includes(name.split('/')[0]));
chmodSync('dist/cli/main.js', 0o755);
// Not where an image is built, whose context has no tests.
if (existsSync('test')) {
  for (const name of ['bench', 'data', 'test']) transpile(name, `build/${name}`);
  // Where programs in build/ find the packages of test/judges.
  linkTo('../test/judges/node_modules', 'build/node_modules');
}

const BINARIES = { KERNEL: 'dist/kernel.wasm', INDEX: 'data/index.bin', REACH: 'data/reach.bin' };
await step('binaries', Object.values(BINARIES), ['dist/hexcodes/library/embedded.js'], () => {
  const lines = Object.entries(BINARIES).map(
    ([name, path]) => `export const ${name} = '${readFileSync(path).toString('base64')}';\n`,
  );
  writeFileSync('dist/hexcodes/library/embedded.js', lines.join(''));
});

const API_PAGES = ['document', 'stream-document', 'pages'].map((name) => `dist/server/api/${name}.js`);
const API_INPUTS = [
  ...API_PAGES.flatMap((page) => [...closureOf(page)]),
  'src/server/api/recorded-answers.json',
  'docs',
  'tools/packages/documents.mjs',
];
const API_OUTPUTS = [
  'dist/openapi.json',
  'dist/asyncapi.json',
  'dist/documents.json',
  'dist/server/routes/documents.js',
];
await step('api', API_INPUTS, API_OUTPUTS, async () => {
  const { openApiDocument } = await import(pathToFileURL('dist/server/api/document.js'));
  const { asyncApiDocument } = await import(pathToFileURL('dist/server/api/stream-document.js'));
  const document = JSON.stringify(openApiDocument());
  await buildDocuments();
  const streamDocument = JSON.stringify(asyncApiDocument());
  writeFileSync('dist/openapi.json', document);
  writeFileSync('dist/asyncapi.json', streamDocument);
  const texts = { OPENAPI: document, ASYNCAPI: streamDocument };
  const lines = Object.entries(texts).map(
    ([name, text]) => `export const ${name} = ${JSON.stringify(text)};\n`,
  );
  writeFileSync('dist/server/routes/documents.js', lines.join(''));
});

/** The viewer of the page /docs: the file that browsers load, without the packages that it is made of. */
const VIEWER = 'node_modules/@scalar/fastify-api-reference/dist/js/standalone.js';
await step('viewer', [VIEWER], ['dist/viewer/viewer.js.br', 'dist/viewer/viewer.js.gz'], () => {
  const bytes = readFileSync(VIEWER);
  // Level 11 takes 6.4 s of CPU in place of 0.5, and saves a tenth of the bytes.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  mkdirSync('dist/viewer', { recursive: true });
  writeFileSync('dist/viewer/viewer.js.br', brotliCompressSync(bytes, { params }));
  writeFileSync('dist/viewer/viewer.js.gz', gzipSync(bytes, { level: 9 }));
});

const CONSOLE_INPUTS = ['console', 'hexcodes', 'tables'];
const CONSOLE_DATA = [...Object.values(CONSOLE_FILES), 'tools/packages/bundle-console.mjs'];
await step(
  'console',
  [...CONSOLE_INPUTS.map((name) => `src/${name}`), ...CONSOLE_DATA],
  ['dist/console/files.json'],
  buildConsole,
);

const LIBRARY_INPUTS = [...Object.values(BINARIES), 'src/hexcodes', 'tools/packages/bundle.mjs'];
await step('pages', LIBRARY_INPUTS, ['src/hexcodes/dist/web/geometry.js'], bundleForPages);

if (!isForTests) {
  const inputs = [...LIBRARY_INPUTS, 'tsconfig.json', 'tools/packages/tsconfig.cjs.json'];
  await step('packages/hexcodes', inputs, ['src/hexcodes/dist/library/hexcodes.js'], async () => {
    rmSync('dist/cjs', { recursive: true, force: true });
    run(TSC, ['-p', 'tools/packages/tsconfig.cjs.json']);
    await bundleLibrary();
  });
  for (const [name, output] of [
    ['server', 'serve.js'],
    ['cli', 'main.js'],
  ]) {
    const programInputs = [
      ...[...Object.values(BINARIES), 'src', 'data/capacity.json'],
      ...['dist/documents.json', 'tools/packages/bundle.mjs'],
    ];
    await step(`packages/${name}`, programInputs, [`src/${name}/dist/${output}`], () => bundleProgram(name));
  }
}
