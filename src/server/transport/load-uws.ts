// Decides which build of uWebSockets.js serves: the newest that loads on this machine, or the one that HEXCODES_UWS
// names. The packages are imported nowhere else, and only dynamically: a build reads the size of the header block from
// the environment once, while it loads.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Uws } from './uws.js';

/**
 * The packages that are tried, in this order. The first name is also that of the official package: who installs that
 * one in its place is served by it.
 */
const CANDIDATES = ['uWebSockets.js', 'uws-pack'];

/** Bytes of one header block, request line included; uWS itself answers 431 beyond it. */
export const HEADER_BLOCK_BYTES = 16_384;

/** The package that was loaded. */
export interface UwsBuild {
  /**
   * As the package names itself: `@btc-vision/uwebsockets.js`, `uws-pack`, or `uWebSockets.js` for the official one.
   */
  readonly name: string;
  readonly version: string;
}

export interface LoadedUws {
  readonly uws: Uws;
  readonly build: UwsBuild;
}

let loaded: Promise<LoadedUws> | undefined;

/**
 * Loads the build once a process; later calls get the same.
 * @throws Error with a sentence for people that names each package tried, why it did not load, and the way out
 */
export function loadUws(): Promise<LoadedUws> {
  loaded ??= loadFirst(process.env.HEXCODES_UWS);
  return loaded;
}

async function loadFirst(forced: string | undefined): Promise<LoadedUws> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(HEADER_BLOCK_BYTES);
  const candidates = forced === undefined || forced === '' ? CANDIDATES : [forced];
  const failures: string[] = [];
  for (const candidate of candidates) {
    try {
      return { uws: await load(candidate), build: buildOf(candidate) };
    } catch (error) {
      failures.push(`${candidate}: ${reasonOf(error)}`);
    }
  }
  throw new Error(noBuildSentence(process.versions.node, failures, forced));
}

/**
 * Loads by `require` where the package can be required: on Node 20 a CommonJS module that throws while it is imported
 * leaves an unhandled rejection behind, which would end the process although the import itself is caught.
 */
async function load(candidate: string): Promise<Uws> {
  try {
    return createRequire(import.meta.url)(candidate) as Uws;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED' && code !== 'ERR_REQUIRE_ESM') throw error;
    return (await import(candidate)) as Uws;
  }
}

/** Name and version from the package.json above the module that the candidate resolves to. */
function buildOf(candidate: string): UwsBuild {
  let folder = new URL('.', import.meta.resolve(candidate));
  while (!existsSync(new URL('package.json', folder))) folder = new URL('..', folder);
  const { name, version } = JSON.parse(
    readFileSync(fileURLToPath(new URL('package.json', folder)), 'utf8'),
  ) as UwsBuild;
  return { name, version };
}

/** The line of an error that says why a build did not load: behind uWS's own sentence comes the loader's. */
function reasonOf(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error))
    .split('\n')
    .filter((line) => line !== '');
  const loaderLine = lines.find((line) => /GLIBC|Cannot find|not found|Failed|ERR_/.test(line));
  return (loaderLine ?? lines[0] ?? 'it did not load').trim();
}

/** The C library that the newest build is linked against. */
const NEWEST_GLIBC = '2.38';

function glibcHere(): string | undefined {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime;
}

/**
 * Why no build loads here, and the ways out.
 * @param glibc version of the C library of this system, where it has one
 */
export function noBuildSentence(
  nodeVersion: string,
  failures: readonly string[],
  forced?: string,
  glibc = glibcHere(),
): string {
  const tried = failures.join('; ');
  if (forced !== undefined && forced !== '')
    return `the build of uWebSockets.js that HEXCODES_UWS names does not load on Node ${nodeVersion}, ${process.platform}-${process.arch} (${tried}). Name another, or leave HEXCODES_UWS away`;
  const needs = `there are builds of uWebSockets.js for glibc (not for Alpine) and Node 20, 22 and 24, which needs glibc ${NEWEST_GLIBC} or newer`;
  const isOldLibrary =
    nodeVersion.startsWith('24.') && failures.some((failure) => failure.includes('GLIBC_'));
  const why = isOldLibrary
    ? `on this system, whose C library is glibc ${glibc}: its build of uWebSockets.js needs glibc ${NEWEST_GLIBC} or newer (Debian 13, Ubuntu 24.04)`
    : `here (${process.platform}-${process.arch}): ${needs}`;
  const isOtherNode = !/^2[02]\./.test(nodeVersion) && glibc !== undefined;
  const wayOut = isOtherNode ? ' Node 22 can: npx -p node@22 hexcodes serve.' : '';
  return `Node ${nodeVersion} cannot run the web server ${why}.${wayOut} Codes and files need no such build. Other ways are in docs/transport.md. Tried: ${tried}`;
}
