// One version: that of the code, of every workspace and what it needs of the others, of the lock file, and of the files
// that name a tarball or an image of a release.

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERSION } from '#dist/hexcodes/version.js';

interface Manifest {
  readonly name?: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const jsonOf = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const paths = ['package.json', ...readdirSync('src').map((name) => `src/${name}/package.json`)];
const manifests: readonly Manifest[] = paths.map(jsonOf);
const names = new Set(manifests.map(({ name }) => name));

/** The versions that a manifest gives itself and the workspaces that it needs. */
function versionsOf({ version, dependencies, peerDependencies }: Manifest): string[] {
  const needed = Object.entries({ ...dependencies, ...peerDependencies });
  return [version, ...needed.filter(([name]) => names.has(name)).map(([, range]) => range)];
}

test('VERSION is that of each package.json, and of what workspaces need of each other', () => {
  expect(manifests.length).toBeGreaterThan(9);
  expect(new Set(manifests.flatMap(versionsOf))).toEqual(new Set([VERSION]));
});

test('the lock file has it', () => {
  const { version, packages } = jsonOf('package-lock.json') as {
    version: string;
    packages: Readonly<Record<string, Manifest>>;
  };
  const own = paths.map((path) => packages[path.replace(/\/?package\.json$/, '')] as Manifest);
  expect(new Set([version, ...own.flatMap(versionsOf)])).toEqual(new Set([VERSION]));
});

test.each(['src/cli/README.md', 'src/server/README.md', 'docs/operations.md'])(
  '%s names tarballs of it',
  (path) => {
    const named = [...readFileSync(path, 'utf8').matchAll(/hexcodes[\w-]*-(\d+\.\d+\.\d+)\.tgz/g)];
    expect(new Set(named.map(([, version]) => version))).toEqual(new Set([VERSION]));
  },
);

test('the files for Kubernetes name its image', () => {
  const text = readFileSync('deploy/kubernetes/overlays/postgres/kustomization.yaml', 'utf8');
  expect(/newTag: (\S+)/.exec(text)?.[1]).toBe(VERSION);
});
