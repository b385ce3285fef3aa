// `npm run proof -- bundlers`: the packed library and client in bundles of the bundlers themselves, which are installed
// into a temporary folder: esbuild and webpack for Node and for pages, the build and the development server of three
// versions of Vite, Next. Pages run in a browser (Debian's chromium, or CHROMIUM=path), under a CSP too.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { freePort } from '../support/network.js';
import { type Packed, packInto } from '../support/packages.js';

const PACKAGES = {
  esbuild: '0.28.2',
  webpack: '5.112.2',
  vite6: 'npm:vite@6.4.6',
  vite7: 'npm:vite@7.3.8',
  vite8: 'npm:vite@8.3.8',
  next: '16.4.6',
  react: '19.2.0',
  'react-dom': '19.2.0',
};

const EXPECTED = 'HN-6GHP4-83RFR 6 function';
const BODY = `
async function answer() {
  const hexcodes = await Hexcodes.load();
  const { hexcodes: code } = hexcodes.encode(21.0288, 105.8525);
  return [code, neighbors(hexcodes, code).length, typeof HexcodesClient].join(' ');
}`;
const IMPORTS = `
import { Hexcodes } from 'hexcodes';
import { neighbors } from 'hexcodes/geometry';
import { HexcodesClient } from 'hexcodes/client';
`;
const REQUIRES = `
const { Hexcodes } = require('hexcodes');
const { neighbors } = require('hexcodes/geometry');
const { HexcodesClient } = require('hexcodes/client');
`;
const IN_NODE = `${BODY}\nanswer().then(console.log);\n`;
const IN_PAGE = `${BODY}\nanswer().catch(String).then((text) => (document.title = text));\n`;
const PAGE = '<!doctype html><meta charset="utf-8"><script type="module" src="./page.js"></script>\n';
const CSP = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

/** Runs in the folder, where the bundlers are installed: `node build.mjs BUNDLER …`. */
const BUILD = `
const [bundler, ...args] = process.argv.slice(2);
const [source, outFolder, platform, format] = args;
if (bundler === 'esbuild') {
  const { build } = await import('esbuild');
  await build({ entryPoints: [source], outdir: outFolder, bundle: true, platform, format, logLevel: 'error' });
} else if (bundler === 'webpack') {
  const { default: webpack } = await import('webpack');
  const { resolve, basename } = await import('node:path');
  const config = {
    mode: 'production',
    target: platform === 'node' ? 'node' : 'web',
    entry: resolve(source),
    output: { path: resolve(outFolder), filename: basename(source).replace(/[mc]js$/, 'js') },
    performance: false,
  };
  await new Promise((done, fail) => webpack(config, (error, stats) => {
    if (error || stats.hasErrors()) fail(error ?? new Error(stats.toString()));
    else done();
  }));
} else {
  const { build, createServer } = await import(bundler);
  const config = { root: source, configFile: false, logLevel: 'error', build: { outDir: outFolder, target: 'es2022' } };
  if (platform !== 'dev') await build(config);
  else {
    const server = await createServer({ ...config, server: { port: 0, host: '127.0.0.1' } });
    await server.listen();
    console.log(server.httpServer.address().port);
  }
}
`;

export default async function bundlers(): Promise<void> {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    throw new Error(`no browser at ${executablePath}: install chromium, or name one with CHROMIUM=path`);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-bundlers-'));
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-background-networking'],
  });
  try {
    await install(folder);
    forNode(folder);
    await forPages(folder, browser);
    await inNext(folder, browser);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bundlers, and the library from its tarball, without any package of others. */
async function install(folder: string): Promise<void> {
  const [{ file }] = (await packInto(folder, ['hexcodes'])) as [Packed];
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({
      private: true,
      type: 'module',
      dependencies: { ...PACKAGES, hexcodes: `file:${file}` },
    }),
  );
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent'], { cwd: folder, stdio: 'inherit' });
  writeFileSync(join(folder, 'build.mjs'), BUILD);
  writeFileSync(join(folder, 'imports.mjs'), IMPORTS + IN_NODE);
  writeFileSync(join(folder, 'requires.cjs'), REQUIRES + IN_NODE);
  mkdirSync(join(folder, 'page'));
  writeFileSync(join(folder, 'page', 'index.html'), PAGE);
  writeFileSync(join(folder, 'page', 'page.js'), IMPORTS + IN_PAGE);
}

function check(name: string, answer: string, expected = EXPECTED): void {
  const isRight = answer.trim() === expected;
  console.log(`${name}: ${isRight ? 'right' : `WRONG: ${answer}`}`);
  if (!isRight) process.exitCode = 1;
}

function bundle(folder: string, ...args: string[]): void {
  execFileSync(process.execPath, ['build.mjs', ...args], { cwd: folder, stdio: 'inherit' });
}

/** Bundles run in a folder of their own, where no package and no file of one is near. */
function forNode(folder: string): void {
  const ways = [
    ['esbuild', 'imports.mjs', 'cjs'],
    ['esbuild', 'requires.cjs', 'cjs'],
    ['webpack', 'imports.mjs', 'cjs'],
    ['webpack', 'requires.cjs', 'cjs'],
  ] as const;
  for (const [bundler, source, format] of ways) {
    const alone = mkdtempSync(join(tmpdir(), 'hexcodes-bundle-'));
    bundle(folder, bundler, source, alone, 'node', format);
    writeFileSync(join(alone, 'package.json'), '{"type": "commonjs"}');
    const run = join(alone, source.replace(/[mc]js$/, 'js'));
    const name = `${bundler} ${versionOf(folder, bundler)} for Node, ${source}`;
    check(name, execFileSync(process.execPath, [run], { cwd: alone, encoding: 'utf8' }));
    rmSync(alone, { recursive: true });
  }
}

function versionOf(folder: string, name: string): string {
  const file = join(folder, 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

async function forPages(folder: string, browser: Browser): Promise<void> {
  for (const bundler of ['esbuild', 'webpack', 'vite6', 'vite7', 'vite8']) {
    const isVite = bundler.startsWith('vite');
    const out = join(folder, `out-${bundler}`);
    bundle(folder, bundler, isVite ? 'page' : 'page/page.js', out, 'browser', 'esm');
    if (!isVite) cpSync(join(folder, 'page', 'index.html'), join(out, 'index.html'));
    const name = `${bundler} ${versionOf(folder, bundler)}, a page`;
    await served(out, CSP, async (url) => check(name, await titleOf(browser, url)));
    if (isVite) await inDevelopment(folder, bundler, browser);
  }
  const strict = CSP.replace(" 'wasm-unsafe-eval'", '');
  await served(join(folder, 'out-vite8'), strict, async (url) => {
    const title = await titleOf(browser, url);
    console.log(`a CSP without 'wasm-unsafe-eval': ${title}`);
    if (!/^HexcodesError: .*Content Security Policy/s.test(title)) process.exitCode = 1;
  });
}

async function inDevelopment(folder: string, bundler: string, browser: Browser): Promise<void> {
  const child = spawn(process.execPath, ['build.mjs', bundler, 'page', 'unused', 'dev'], { cwd: folder });
  child.stderr.pipe(process.stderr);
  try {
    const port = await firstLine(child.stdout);
    const title = await titleOf(browser, `http://127.0.0.1:${port}/`);
    check(`${bundler} ${versionOf(folder, bundler)}, development server`, title);
  } finally {
    child.kill('SIGKILL');
  }
}

const APP = {
  'app/layout.js': `export default function Layout({ children }) { return <html><body>{children}</body></html>; }\n`,
  'app/page.js': `${IMPORTS}import Client from './client.js';${BODY}
export const dynamic = 'force-dynamic';
export default async function Page() { return <main><p id="server">{await answer()}</p><Client /></main>; }\n`,
  'app/client.js': `'use client';\nimport { useEffect } from 'react';${IMPORTS}${BODY}
export default function Client() {
  useEffect(() => { answer().catch(String).then((text) => (document.title = text)); }, []);
  return null;
}\n`,
};

async function inNext(folder: string, browser: Browser): Promise<void> {
  mkdirSync(join(folder, 'app'));
  for (const [path, text] of Object.entries(APP)) writeFileSync(join(folder, path), text);
  const next = join(folder, 'node_modules', 'next', 'dist', 'bin', 'next');
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' };
  for (const flag of ['--turbopack', '--webpack']) {
    execFileSync(process.execPath, [next, 'build', flag], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const port = await freePort();
    const child = spawn(process.execPath, [next, 'start', '-p', String(port), '-H', '127.0.0.1'], {
      cwd: folder,
      env,
    });
    try {
      await until(child.stdout, /Ready/);
      const url = `http://127.0.0.1:${port}/`;
      const name = `next ${PACKAGES.next} ${flag}`;
      const html = await (await fetch(url)).text();
      check(`${name}, on the server`, /<p id="server">([^<]*)</.exec(html)?.[1] ?? html);
      check(`${name}, in the page`, await titleOf(browser, url));
    } finally {
      child.kill('SIGKILL');
      rmSync(join(folder, '.next'), { recursive: true, force: true });
    }
  }
}

/** The title that the program of a page sets. */
async function titleOf(browser: Browser, url: string): Promise<string> {
  const page = await browser.newPage();
  try {
    await page.goto(url);
    await page.waitForFunction('document.title !== ""', undefined, { timeout: 60_000 });
    return await page.title();
  } finally {
    await page.close();
  }
}

const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };

async function served(folder: string, csp: string, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    const path = join(folder, request.url === '/' ? 'index.html' : (request.url ?? ''));
    response.setHeader('Content-Security-Policy', csp);
    if (!existsSync(path)) response.writeHead(404).end();
    else
      response
        .setHeader('Content-Type', TYPES[extname(path)] ?? 'application/octet-stream')
        .end(readFileSync(path));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  return (await until(stream, /\n/)).trim();
}

/** The text of a stream up to where it matches. */
async function until(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const part of stream) {
    text += part;
    if (pattern.test(text)) return text;
  }
  throw new Error(`ended after ${JSON.stringify(text)}`);
}
