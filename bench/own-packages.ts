// Packages of others that one bench alone compares with. They are installed by the bench, into a folder of its own
// below build/, and are not packages of this project.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A folder below build/rivals/, made if it is not there. */
export function ownFolder(name: string): string {
  const folder = resolve('build/rivals', name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Runs `make` unless it has succeeded in this folder with the same text. */
export function once(folder: string, text: string, make: () => void): void {
  const stamp = join(folder, '.made');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === text) return;
  make();
  writeFileSync(stamp, text);
}

export class OwnPackages {
  readonly folder: string;

  /** @param versions of the packages, exactly */
  constructor(
    name: string,
    readonly versions: Readonly<Record<string, string>>,
  ) {
    this.folder = ownFolder(name);
    const text = JSON.stringify({ name: `bench-${name}`, private: true, dependencies: versions }, null, 2);
    once(this.folder, text, () => {
      writeFileSync(join(this.folder, 'package.json'), text);
      execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'], {
        cwd: this.folder,
        stdio: 'inherit',
      });
    });
  }

  /** A module of one of the packages. */
  async load<Module>(name: string): Promise<Module> {
    const path = createRequire(join(this.folder, 'package.json')).resolve(name);
    return (await import(pathToFileURL(path).href)) as Module;
  }
}
