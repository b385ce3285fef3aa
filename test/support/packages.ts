// The published packages as others get them: packed, and installed by npm from their tarballs into an empty folder.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface Packed {
  readonly file: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

interface Locked {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Makes the tarballs of packages that are built. @returns each with its absolute path and its files */
export async function packInto(folder: string, names: readonly string[]): Promise<Packed[]> {
  const path = new URL(`file://${process.cwd()}/tools/packages/pack.mjs`).href;
  const { pack } = (await import(/* @vite-ignore */ path)) as {
    pack(name: string, target: string): Packed;
  };
  return names.map((name) => pack(name, folder));
}

/**
 * Installs tarballs into an empty folder, with the versions of this checkout's lock file: nothing is asked of a
 * registry that `npm ci` has not fetched before. Scripts are not run.
 */
export function installFrom(folder: string, tarballs: readonly string[]): void {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const locked: Record<string, unknown> = {};
  const take = (name: string, by: string): void => {
    // As Node looks: in the folder of the package that asks, then in those around it.
    const around = by
      .split('/node_modules/')
      .map((_, i, parts) => parts.slice(0, parts.length - i).join('/node_modules/'));
    const path = [
      ...around.filter((each) => each !== '').map((each) => `${each}/node_modules/${name}`),
      `node_modules/${name}`,
    ].find((each) => packages[each] !== undefined);
    if (path === undefined) return;
    const entry = packages[path];
    if (entry === undefined || locked[path] !== undefined) return;
    const { dev: _, ...rest } = entry as Locked & { dev?: boolean };
    locked[path] = rest;
    for (const needed of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
      take(needed, path);
  };
  const dependencies: Record<string, string> = {};
  for (const file of tarballs) {
    const manifest = JSON.parse(
      execFileSync('tar', ['xzOf', file, 'package/package.json'], { encoding: 'utf8' }),
    ) as Locked & { name: string };
    dependencies[manifest.name] = `file:${file}`;
    locked[`node_modules/${manifest.name}`] = { ...manifest, resolved: `file:${file}` };
    for (const needed of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }))
      take(needed, '');
  }
  const root = { name: 'empty', version: '1.0.0', dependencies };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...root, private: true }));
  const lock = { name: 'empty', version: '1.0.0', lockfileVersion: 3, requires: true };
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...lock, packages: { '': root, ...locked } }),
  );
  execFileSync('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** Every file below a folder; links are not followed. */
export function filesBelow(path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(path, entry.name)) : entry.isFile() ? [join(path, entry.name)] : [],
  );
}

export function bytesBelow(path: string): number {
  return filesBelow(path).reduce((sum, file) => sum + statSync(file).size, 0);
}

/** The packages that are installed in a folder, without those of scopes that begin with `own`. */
export function packagesIn(folder: string): string[] {
  return readdirSync(join(folder, 'node_modules'))
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@')
        ? readdirSync(join(folder, 'node_modules', name)).map((each) => `${name}/${each}`)
        : [name],
    )
    .map((name) => (name.startsWith('@') ? name : basename(name)));
}
