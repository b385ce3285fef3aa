// The page of the console with the names of its files filled in: for the service, and for a folder of plain files
// (`npm run demo`).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { HexcodesData } from '../../hexcodes/library/hexcodes.js';
import { VERSION } from '../../hexcodes/version.js';
import type { BasemapInfo } from './basemap-archive.js';

// Reads dist/console/, which the build makes: the page at `/`, its service worker, and the files that they ask for,
// each as it is and compressed twice.

/** A file under /assets/. Its name holds a hash of its content. */
export interface ConsoleFile {
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

/** The picture of the page that chats show with its links: a full address where that of the service is known. */
export function pictureAddress(publicUrl = ''): string {
  const { roles } = JSON.parse(textOf('files.json')) as Pick<ConsoleFiles, 'roles'>;
  return `${publicUrl}/assets/${roles.share}`;
}

/** @param data the boundaries of this service, which the page is to use, too */
export function readConsoleFiles(data: Pick<HexcodesData, 'index' | 'reach'>): ConsoleFiles {
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

/** The operator's map under the hexagons. */
export interface Basemap {
  /** Address of raster tiles, with {z}, {x} and {y}, of a style of MapLibre, or of an archive of this service. */
  readonly url: string;
  /** Who made the map, as it is to be shown; plain text. */
  readonly attribution: string;
  /** Contents of the service's own archive; null: the map is another host's. */
  readonly archive: BasemapInfo | null;
}

/** As src/console/shipped.ts reads them. */
interface PageSettings {
  readonly version: string;
  readonly hasService: boolean;
  readonly hasPathLinks: boolean;
  readonly files: Readonly<Record<string, string>>;
  readonly basemap: Basemap | null;
}

interface FilledPage {
  readonly html: string;
  readonly serviceWorker: string;
  /** Content-Security-Policy. */
  readonly policy: string;
}

/** Choices of those who fill a page. */
interface PageOptions {
  readonly basemap?: Basemap | undefined;
  /** Links of the page have the code in their path. Default: false. */
  readonly hasPathLinks?: boolean;
  /** Origin of the service, for the address of the picture; undefined: it begins with a slash. */
  readonly publicUrl?: string | undefined;
  /** False: it is a plain file, in a folder that may lie anywhere on its host. */
  readonly hasService: boolean;
}

/** Parts that lead to the API, which a plain file has not. */
const OF_SERVICE = /<!--service-->(.*?)<!--\/service-->/gs;

export function fillPage(
  { page, serviceWorker, files, roles, imports }: ConsoleFiles,
  { basemap, hasService, hasPathLinks = false, publicUrl = '' }: PageOptions,
): FilledPage {
  const root = hasService ? '/' : './';
  const pathOf = (name: string): string => `${root}assets/${name}`;
  const paths = Object.fromEntries(
    Object.entries(roles).map(([role, name]) => [role, pathOf(name)] as const),
  );
  const settings: PageSettings = {
    version: VERSION,
    hasService,
    hasPathLinks,
    files: paths,
    basemap: basemap ?? null,
  };
  const policy = policyWith(hostOf(basemap));
  const preloads = [
    ...imports.map((name) => `<link rel="modulepreload" href="${pathOf(name)}">`),
    ...['kernel', 'index', 'reach'].map(
      (role) => `<link rel="preload" as="fetch" crossorigin href="${paths[role]}">`,
    ),
  ];
  const values: Readonly<Record<string, string>> = {
    ...paths,
    share: `${publicUrl}${paths.share}`,
    // Headers of a file server are not ours to set.
    policy: hasService
      ? ''
      : `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<meta name="referrer" content="no-referrer">`,
    preloads: preloads.join('\n'),
    settings: inAttribute(JSON.stringify(settings)),
  };
  const html = page
    .replace(OF_SERVICE, hasService ? '$1' : '')
    .replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
  const names = files.map(({ name }) => name);
  const version = createHash('sha256').update(html).update(names.join()).digest('hex').slice(0, 12);
  // The picture is for chats.
  const shell = {
    version,
    paths: [root, ...names.filter((name) => name !== roles.share).map(pathOf)],
  };
  return {
    html,
    serviceWorker: `const SHELL = ${JSON.stringify(shell)};\n${serviceWorker}`,
    policy: `${policy}; ${NO_FRAME}`,
  };
}

const inAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** " https://tiles.example" of a basemap elsewhere, or nothing. */
function hostOf(basemap: Basemap | undefined): string {
  return basemap === undefined || basemap.archive !== null ? '' : ` ${new URL(basemap.url).origin}`;
}

/** Has no meaning in a page itself, where browsers complain of it. */
const NO_FRAME = "frame-ancestors 'none'";

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
  ].join('; ');
}
