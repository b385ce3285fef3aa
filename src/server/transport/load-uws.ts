// Decides which build of uWebSockets.js serves: the newest that loads on this machine, or the one that HEXCODES_UWS
// names. The packages are imported nowhere else, and only dynamically: a build reads the size of the header block from
// the environment once, while it loads.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

// The interface of uWebSockets.js as far as we use it, declared here because its own types are wrong (README U2).

export interface UwsResponse {
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  /** False on backpressure: uWS holds what the socket did not take. */
  write(bytes: string | Uint8Array): boolean;
  end(body?: string | Uint8Array, closeConnection?: boolean): UwsResponse;
  endWithoutBody(reportedSizeBytes?: number, closeConnection?: boolean): UwsResponse;
  /**
   * [all of `bytes` taken, whole answer complete]. After backpressure, goes on at `getWriteOffset()` from onWritable.
   */
  tryEnd(bytes: string | Uint8Array, totalSizeBytes: number): [boolean, boolean];
  /** Bytes of the body that `tryEnd` has taken so far. */
  getWriteOffset(): number;
  close(): UwsResponse;
  pause(): void;
  resume(): void;
  onWritable(handler: (offsetBytes: number) => boolean): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  cork(work: () => void): UwsResponse;
  /** Four bytes or sixteen. Like the rest of the response, it must not be read after `onAborted`. */
  getRemoteAddress(): ArrayBuffer;
  upgrade<T>(userData: T, key: string, protocol: string, extensions: string, context: UpgradeContext): void;
}

export interface UwsRequest {
  getHeader(lowerCaseName: string): string;
  getParameter(index: number): string | undefined;
  getUrl(): string;
  getMethod(): string;
  /** Undefined if the target has no query. With a name: not used, see README U15. */
  getQuery(name?: string): string | undefined;
  forEach(visit: (lowerCaseName: string, value: string) => void): void;
}

/** Opaque: the upgrade callback receives it and hands it to `upgrade`. */
export type UpgradeContext = object;
export type ListenSocket = object;

export interface UwsWebSocket<T> {
  /** 1: the socket has taken everything; 0: uWS holds a part; 2: dropped, as uWS holds too much already. */
  send(message: string | ArrayBufferView | ArrayBuffer, isBinary: boolean, compress?: boolean): 0 | 1 | 2;
  getBufferedAmount(): number;
  getUserData(): T;
  cork(work: () => void): UwsWebSocket<T>;
  ping(): 0 | 1 | 2;
  end(code?: number, reason?: string): void;
  close(): void;
}

export interface UwsBehaviour<T> {
  maxPayloadLength: number;
  idleTimeout: number;
  maxLifetime: number;
  maxBackpressure: number;
  closeOnBackpressureLimit: boolean;
  sendPingsAutomatically: boolean;
  compression: number;
  upgrade(res: UwsResponse, req: UwsRequest, context: UpgradeContext): void;
  open(ws: UwsWebSocket<T>): void;
  /** The message is detached when the callback returns (README U9). */
  message(ws: UwsWebSocket<T>, message: ArrayBuffer, isBinary: boolean): void;
  drain(ws: UwsWebSocket<T>): void;
  ping?(ws: UwsWebSocket<T>, message: ArrayBuffer): void;
  pong?(ws: UwsWebSocket<T>, message: ArrayBuffer): void;
  close(ws: UwsWebSocket<T>, code: number, reason: ArrayBuffer): void;
}

type Handler = (res: UwsResponse, req: UwsRequest) => void;
export type UwsMethod = 'get' | 'post' | 'head' | 'options' | 'put' | 'del' | 'patch' | 'any';

export type UwsApp = Record<UwsMethod, (pattern: string, handler: Handler) => UwsApp> & {
  ws<T>(pattern: string, behaviour: UwsBehaviour<T>): UwsApp;
  /** Called with 1 for a connection that opens, and -1 for one that closes. */
  filter(counted: (res: UwsResponse, change: number) => void): UwsApp;
  listen(host: string, port: number, options: number, done: (socket: ListenSocket | false) => void): UwsApp;
  close(): UwsApp;
};

export interface Uws {
  App(): UwsApp;
  us_listen_socket_close(socket: ListenSocket): void;
  us_socket_local_port(socket: ListenSocket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  readonly DISABLED: number;
}

/**
 * The packages that are tried, in this order. The first name is also that of the official package: where it is
 * installed instead, it serves.
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
 * @throws Error with a sentence for people that names each package tried, why it did not load, and the remedy
 */
export function loadUws(forced = process.env.HEXCODES_UWS): Promise<LoadedUws> {
  loaded ??= loadFirst(forced);
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
 * leaves an unhandled rejection, which would end the process although the import itself is caught.
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

/** The line of an error that says why a build did not load: after uWS's own sentence comes the loader's. */
function reasonOf(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error))
    .split('\n')
    .filter((line) => line !== '');
  const loaderLine = lines.find((line) => /GLIBC|Cannot find|not found|Failed|ERR_/.test(line));
  return (loaderLine ?? lines[0] ?? 'it did not load').trim();
}

/** The build for older C libraries, on Node 20 and 22; the clone has it, users of hexcodes-server install it. */
const OLDER_BUILD = 'uws-pack@20.0.8';

/** The C library that the newest build is linked against. */
const NEWEST_GLIBC = '2.38';

function glibcHere(): string | undefined {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime;
}

/**
 * Why no build loads here, and the remedies.
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
    return `the build of uWebSockets.js that HEXCODES_UWS names does not load on Node ${nodeVersion}, ${process.platform}-${process.arch} (${tried}). Name another, or leave out HEXCODES_UWS`;
  const needs = `there are builds of uWebSockets.js for glibc (not for Alpine) and Node 20, 22 and 24, which needs glibc ${NEWEST_GLIBC} or newer`;
  const isOldLibrary = failures.some((failure) => failure.includes('GLIBC_'));
  const why = isOldLibrary
    ? `on this system, whose C library is glibc ${glibc}: the build of uWebSockets.js that comes with hexcodes-server needs glibc ${NEWEST_GLIBC} or newer (Debian 13, Ubuntu 24.04)`
    : `here (${process.platform}-${process.arch}): ${needs}`;
  const isOtherNode = !/^2[02]\./.test(nodeVersion) && glibc !== undefined;
  const older = isOldLibrary ? ` with ${OLDER_BUILD}` : '';
  const wayOut = isOtherNode
    ? ` Node 22 can${older}: npx -p node@22 hexcodes serve.`
    : isOldLibrary
      ? ` An older build serves here: npm install ${OLDER_BUILD} beside hexcodes-server.`
      : '';
  return `Node ${nodeVersion} cannot run the web server ${why}.${wayOut} Codes and files need no such build. Other ways are in docs/transport.md. Tried: ${tried}`;
}
