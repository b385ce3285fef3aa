// The files of a release, and the tree of the image, which has workspaces in place of the links to them.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownFolder } from '../support/shared.js';

const folder = ownFolder('release');
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

test('npm run release makes three tarballs, the kernel without SIMD, a bill of materials, and sums that hold', () => {
  const target = join(folder, 'release');
  execFileSync(process.execPath, ['tools/packages/release.mjs', '--to', target], { stdio: 'pipe' });
  const tarballs = ['hexcodes', 'hexcodes-cli', 'hexcodes-server'].map((name) => `${name}-${version}.tgz`);
  const files = [...tarballs, `hexcodes-${version}.cdx.json`, `hexcodes-kernel-scalar-${version}.wasm`];
  expect(readdirSync(target).sort()).toEqual([...files, 'SHA256SUMS'].sort());
  const sums = readFileSync(join(target, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  const sumOf = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(target, name)))
      .digest('hex');
  // As `sha256sum -c` reads it.
  expect(sums.sort()).toEqual(files.map((name) => `${sumOf(name)}  ${name}`).sort());
  const bom = JSON.parse(readFileSync(join(target, `hexcodes-${version}.cdx.json`), 'utf8'));
  expect([bom.metadata.component.name, bom.metadata.component.version]).toEqual(['hexcodes', version]);
  const refs = new Set([bom.metadata.component, ...bom.components].map((each) => each['bom-ref']));
  const named = bom.dependencies.flatMap(({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => [
    ref,
    ...dependsOn,
  ]);
  expect(named.filter((ref: string) => !refs.has(ref))).toEqual([]);
});

test('the tree of the image starts where no src is', async () => {
  const tree = join(folder, 'image');
  // As the Dockerfile does it, with links to the packages of others.
  for (const name of readdirSync('src')) {
    for (const part of ['package.json', 'bin', 'dist']) {
      const from = join('src', name, part);
      if (existsSync(from)) cpSync(from, join(tree, from), { recursive: true });
    }
  }
  mkdirSync(tree, { recursive: true });
  execFileSync(process.execPath, ['tools/link-packages.mjs', '.', tree]);
  execFileSync(process.execPath, [resolve('deploy/docker/unlink-workspaces.mjs')], { cwd: tree });
  rmSync(join(tree, 'src'), { recursive: true });
  for (const name of ['hexcodes-cli', 'hexcodes-server'])
    expect(lstatSync(join(tree, 'node_modules', name)).isDirectory()).toBe(true);
  expect(existsSync(join(tree, 'node_modules/@hexcodes'))).toBe(false);

  const [, entry = ''] = /^ENTRYPOINT \["node", "([^"]+)"\]$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  const args = [entry, 'serve', '--port', '0', '--admin-port', '0', '--data-dir', join(folder, 'var')];
  const child = spawn(process.execPath, args, { cwd: tree, stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));

  const [text] = (await once(child.stderr, 'data')) as [Buffer];
  const address = /answers on (http:\S+)/.exec(String(text))?.[1];
  const page = await fetch(`${address}/`);
  expect(page.status).toBe(200);
});

test('the context of the image has every file that its build and its image read', () => {
  const kept = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const has = (path: string): boolean => kept.some((each) => path === each || path.startsWith(`${each}/`));
  const read = ['build.mjs', 'tools/packages/bundle.mjs'];
  for (const script of ['build.mjs', 'tools/packages/bundle-console.mjs', 'tools/packages/bundle.mjs']) {
    const text = readFileSync(script, 'utf8');
    for (const [path] of text.matchAll(/\bdata\/[\w-]+\.(?:bin|json)\b/g)) read.push(path);
    // A path in parts is none that this test could read.
    expect(text).not.toMatch(/\bdata\/\$\{/);
  }
  const copied = readFileSync('Dockerfile', 'utf8').matchAll(/^COPY --from=build (.+) \S+$/gm);
  for (const [, paths = ''] of copied) {
    const sources = paths.split(' ').map((path) => path.replace('/build/', ''));
    read.push(...sources.filter((path) => path !== 'node_modules'));
  }
  expect(read).toEqual(expect.arrayContaining(['data/rivers.bin', 'data/licences', 'NOTICE']));
  expect(read.filter((path) => !has(path))).toEqual([]);
});
