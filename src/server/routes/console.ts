// GET /, /service-worker.js and /assets/{name}: the console, the page that shows codes on a map. It needs no key: it
// converts by itself, and calls nothing of the service.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { ServeConfig } from '../../config/config.js';
import type { HexcodesData } from '../../hexcodes/library/hexcodes.js';
import { VERSION } from '../../hexcodes/version.js';
import type { Exchange } from '../exchange.js';
import { entityTag, sendTagged } from '../freshness.js';
import { encodingFor } from '../media-types.js';
import { fail, type Route } from '../router.js';

// Reads dist/console/, which the build makes: the page at `/`, its service worker, and the files that they ask for,
// each as it is and compressed twice.

/** A file under /assets/. Its name holds a hash of its content. */
interface ConsoleFile {
  readonly name: string;
  /** Media type. */
  readonly type: string;
  readonly plain: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}

interface ConsoleFiles {
  /** HTML with {{places}} for names of files. */
  readonly page: string;
  /** The script of the service worker. */
  readonly serviceWorker: string;
  readonly files: readonly ConsoleFile[];
  /** Names by their part in the page: `page`, `style`, `kernel`, `index`, … */
  readonly roles: Readonly<Record<string, string>>;
  /** Names of the scripts that the script of the page imports at once. */
  readonly imports: readonly string[];
}

const FOLDER = new URL('../../console/', import.meta.url);

/** @param data the boundaries of this service, which the page is to use, too */
function readConsoleFiles(data: Pick<HexcodesData, 'index' | 'reach'>): ConsoleFiles {
  const list = JSON.parse(textOf('files.json')) as Pick<ConsoleFiles, 'roles' | 'imports'> & {
    files: Readonly<Record<string, string>>;
  };
  const roles: Record<string, string> = { ...list.roles };
  const own: ConsoleFile[] = [];
  for (const role of ['index', 'reach'] as const) {
    const shipped = roles[role] as string;
    if (Buffer.compare(bytesOf(`assets/${shipped}`), data[role]) === 0) continue;
    const file = compressed(role, list.files[shipped] as string, data[role]);
    roles[role] = file.name;
    own.push(file);
  }
  const names = Object.keys(list.files).filter(
    (name) => !Object.values(list.roles).includes(name) || Object.values(roles).includes(name),
  );
  const shipped = names.map(
    (name): ConsoleFile => ({
      name,
      type: list.files[name] as string,
      plain: bytesOf(`assets/${name}`),
      br: bytesOf(`assets/${name}.br`),
      gzip: bytesOf(`assets/${name}.gz`),
    }),
  );
  return {
    page: textOf('page.html'),
    serviceWorker: textOf('service-worker.js'),
    files: [...shipped, ...own],
    roles,
    imports: list.imports,
  };
}

const bytesOf = (name: string): Uint8Array => readFileSync(new URL(name, FOLDER));
const textOf = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** A file of the user's own: compressed at the start of the service, so at a level that takes milliseconds. */
function compressed(role: string, type: string, plain: Uint8Array): ConsoleFile {
  const hash = createHash('sha256').update(plain).digest('hex').slice(0, 12);
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  return { name: `${role}-${hash}.bin`, type, plain, br, gzip: gzipSync(plain) };
}

/** A map of the operator's under the hexagons. */
interface Basemap {
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

interface FilledPage {
  readonly html: string;
  readonly serviceWorker: string;
  /** Content-Security-Policy. */
  readonly policy: string;
}

function fillPage(
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

const HTML_TYPE = 'text/html; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
/** A name is never given to other bytes, so a browser need not ask again. */
const FOR_EVER = 'Cache-Control: public, max-age=31536000, immutable';
const ASK_AGAIN = 'Cache-Control: no-cache';
const NOSNIFF = 'X-Content-Type-Options: nosniff';

interface ConsoleDeps {
  readonly config: ServeConfig;
  /** The boundaries of this service. */
  readonly files: HexcodesData;
}

export function consoleRoutes({ config: { tilesUrl, tilesAttribution }, files }: ConsoleDeps): Route[] {
  // The map under the hexagons that the operator has set.
  const basemap: Basemap | undefined =
    tilesUrl === undefined ? undefined : { url: tilesUrl, attribution: tilesAttribution };
  const shipped = readConsoleFiles(files);
  const { html, serviceWorker, policy } = fillPage(shipped, basemap);
  const guard = [`Content-Security-Policy: ${policy}`, NOSNIFF, 'Referrer-Policy: no-referrer', ASK_AGAIN];
  const pageLines = [
    ...guard,
    'X-Frame-Options: DENY',
    'Cross-Origin-Opener-Policy: same-origin',
    'Permissions-Policy: geolocation=(self), camera=(), microphone=()',
  ];
  const byName = new Map(shipped.files.map((file) => [file.name, file]));
  return [
    textRoute('/', HTML_TYPE, html, pageLines),
    textRoute('/service-worker.js', SCRIPT_TYPE, serviceWorker, guard),
    {
      path: '/assets/:name',
      methods: ['GET'],
      access: 'open',
      handle: (x) => {
        const file = byName.get(x.head.parameter(0));
        if (file === undefined)
          fail(x, 404, 'there is no such file; the page at / names those of this version');
        else sendFile(x, file);
      },
    },
  ];
}

function textRoute(path: string, type: string, text: string, lines: readonly string[]): Route {
  const body = Buffer.from(text);
  const tag = entityTag(body);
  const headerLines = linesOf([`ETag: ${tag}`, ...lines]);
  return {
    path,
    methods: ['GET'],
    access: 'open',
    handle: (x) => sendTagged(x, tag, type, () => body, headerLines),
  };
}

function sendFile(x: Exchange, { name, type, plain, br, gzip }: ConsoleFile): void {
  const encoding = encodingFor(x.head.header('accept-encoding'));
  const tag = encoding === 'plain' ? `"${name}"` : `"${name}.${encoding}"`;
  const lines = [`ETag: ${tag}`, FOR_EVER, 'Vary: Accept-Encoding', NOSNIFF];
  if (encoding !== 'plain') lines.push(`Content-Encoding: ${encoding}`);
  sendTagged(x, tag, type, () => ({ plain, br, gzip })[encoding], linesOf(lines));
}

const linesOf = (lines: readonly string[]): string => lines.map((line) => `\r\n${line}`).join('');
