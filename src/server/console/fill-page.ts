// The page at `/` and its service worker with the names of the files that belong to them, and the policy that the
// browser holds the page to.
import { createHash } from 'node:crypto';
import { VERSION } from '../../hexcodes/version.js';
import type { ConsoleFiles } from './read-files.js';

/** A map of the operator's under the hexagons. */
export interface Basemap {
  /** Address of raster tiles, with {z}, {x} and {y}, or of a style of MapLibre. */
  readonly url: string;
  /** Who made the map, as it is to be shown; plain text. */
  readonly attribution: string;
}

/** As src/console/shipped.ts reads them. */
interface PageSettings {
  readonly version: string;
  readonly files: Readonly<Record<string, string>>;
  readonly basemap: Basemap | null;
}

export interface FilledPage {
  readonly html: string;
  readonly serviceWorker: string;
  /** Content-Security-Policy. */
  readonly policy: string;
}

export function fillPage(
  { page, serviceWorker, files, roles, imports }: ConsoleFiles,
  basemap?: Basemap,
): FilledPage {
  const paths = Object.fromEntries(
    Object.entries(roles).map(([role, name]) => [role, `/assets/${name}`] as const),
  );
  const settings: PageSettings = { version: VERSION, files: paths, basemap: basemap ?? null };
  const preloads = [
    ...imports.map((name) => `<link rel="modulepreload" href="/assets/${name}">`),
    ...['kernel', 'index', 'reach'].map(
      (role) => `<link rel="preload" as="fetch" crossorigin href="${paths[role]}">`,
    ),
  ];
  const values: Readonly<Record<string, string>> = {
    ...paths,
    preloads: preloads.join('\n'),
    settings: inAttribute(JSON.stringify(settings)),
  };
  const html = page.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
  const names = files.map(({ name }) => name);
  const version = createHash('sha256').update(html).update(names.join()).digest('hex').slice(0, 12);
  const shell = { version, paths: ['/', ...names.map((name) => `/assets/${name}`)] };
  return {
    html,
    serviceWorker: `const SHELL = ${JSON.stringify(shell)};\n${serviceWorker}`,
    policy: policyWith(basemap === undefined ? '' : ` ${new URL(basemap.url).origin}`),
  };
}

const inAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** @param host " https://tiles.example" of a basemap, or nothing */
function policyWith(host: string): string {
  return [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob:${host}`,
    `connect-src 'self'${host}`,
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
