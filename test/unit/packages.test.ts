// Packages and lists: versions, install scripts, and the units of the administration.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS } from '#hexcodes';
import { VERSION } from '../support/shipped.js';

// One version: that of every workspace and what it needs of the others, of the lock file, and of the files that name a
// tarball or an image of a release. The command's own: test/e2e/cli/commands.test.ts.
describe('versions', () => {
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

  test('that of package.json is that of each workspace, and of what workspaces need of each other', () => {
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

  test.each(['src/cli/README.md', 'src/server/README.md', 'deploy/README.md'])(
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
});

// Which packages may run a program when they are installed: none. npm 11 warns of each about which nothing is said.
describe('install scripts', () => {
  interface Locked {
    readonly hasInstallScript?: boolean;
    readonly optional?: boolean;
  }

  test.each(['.', 'test/judges'])('%s: each package with an install script is refused by name', (folder) => {
    const { packages } = JSON.parse(readFileSync(`${folder}/package-lock.json`, 'utf8')) as {
      packages: Readonly<Record<string, Locked>>;
    };
    const { allowScripts = {} } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
      allowScripts?: Readonly<Record<string, boolean>>;
    };
    const withScript = Object.entries(packages)
      .filter(([path, { hasInstallScript }]) => hasInstallScript === true && path.startsWith('node_modules/'))
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
    expect(Object.keys(packages).length).toBeGreaterThan(100);
    const answered = withScript.filter((name) => allowScripts[name] === false);
    // fsevents is for macOS alone, and brings what it would build.
    expect(withScript.filter((name) => name !== 'fsevents')).toEqual(answered);
    expect([...new Set(answered)]).toEqual(Object.keys(allowScripts));
  });
});

// The list of the provinces: 34, made of 63 former ones.
describe('units', () => {
  test('34 distinct codes of two or three letters', () => {
    expect(ADMIN_UNITS).toHaveLength(34);
    expect(new Set(ADMIN_UNITS.map((u) => u.code)).size).toBe(34);
    for (const { code } of ADMIN_UNITS) expect(code).toMatch(/^[A-Z]{2,3}$/);
  });

  test('the 63 former provinces each stand in one row', () => {
    const former = ADMIN_UNITS.flatMap((u) => u.mergedUnits);
    expect(former).toHaveLength(63);
    expect(new Set(former).size).toBe(63);
  });
});
