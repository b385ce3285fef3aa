// The rivals of benches: packages of others, which-polygon on the shipped boundaries, frameworks of HTTP.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import whichPolygon from 'which-polygon';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { ProvinceBorders } from '#dist/hexcodes/geometry/province-borders.js';

// Packages of others that one bench alone compares with. They are installed by the bench, into a folder of its own
// below build/, and are not packages of this project.

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

// The rival for containment: which-polygon on the shipped boundaries, one feature a province.

/** The code of the province at a position in degrees, null outside. */
export type ProvinceAt = (latDeg: number, lngDeg: number) => string | null;

/** @param index bytes of a boundary index */
export function shippedPolygons(index: Uint8Array): ProvinceAt {
  const borders = new ProvinceBorders(index);
  const features = ADMIN_UNITS.map(({ code }, admin) => ({
    type: 'Feature' as const,
    properties: { code },
    geometry: borders.ofAdmin(admin),
  }));
  const query = whichPolygon<{ code: string }>({ type: 'FeatureCollection', features });
  return (latDeg, lngDeg) => query([lngDeg, latDeg])?.code ?? null;
}

// The packages that the bench of naive services installs.

export const FRAMEWORKS = { fastify: '5.12.8', hono: '4.13.19', '@hono/node-server': '2.1.9' } as const;

export const NAIVE_SERVERS = ['fastify', 'hono', 'node:http', 'uWS'] as const;
export type NaiveServer = (typeof NAIVE_SERVERS)[number];
