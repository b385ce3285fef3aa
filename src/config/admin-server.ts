// The HTTP server of every admin port: of the service, its supervisor and the workers. It requires no key, so the
// memory and work of a peer are limited in advance: one call at a time on a connection, concurrent calls,
// connections, and the host names that it answers.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';

/** Most connections: beyond it the longest idle one is closed, so that a probe always gets in. */
export const MAX_CONNECTIONS = 256;
/** Most unanswered calls, probes not counted. Others are answered 503. */
export const MAX_CALLS = 32;
/** Time after which a peer that sends or reads nothing is cut off. */
const SILENT_MS = 30_000;
const HEAD_MS = 10_000;
const REQUEST_MS = 20_000;
const CHECK_MS = 5000;
/** Longer than the interval of usual scrapers, which reuse a connection. */
const KEEP_ALIVE_MS = 75_000;
/** Probes of orchestrators: answered whatever number of calls is under way. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz']);

// Host headers that the admin ports answer. A hostile page can make a browser of this network call an admin port
// under a name of its own (DNS rebinding), and read the answer. Its name is in the public DNS: addresses, names
// without a dot and names outside the public DNS are safe, and others must be named by the operator.

/** Top-level names that are not in the public DNS. */
const PRIVATE_NAMES = ['localhost', 'local', 'internal', 'lan', 'svc', 'test', 'home.arpa'];

const MISDIRECTED =
  'this name of the admin port is not known: ask by its address, or name it in HEXCODES_ADMIN_NAMES';
const BUSY = `the admin port has ${MAX_CALLS} calls under way, the most it takes: ask again later`;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The X-Request-Id of a request if it is one, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** The body of an error, in the form of the service's. */
export function faultBody(status: string, code: string, message: string, requestId: string): string {
  return `${JSON.stringify({ status, message, request_id: requestId, error: { code, message, param: null } })}\n`;
}

/** @param names further accepted names, in lower case */
function isHostAllowed(host: string | undefined, names: readonly string[]): boolean {
  // Only old clients send none; no browser does.
  if (host === undefined) return true;
  const name = (/^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1] ?? host.replace(/:\d*$/, ''))
    .toLowerCase()
    .replace(/\.$/, '');
  if (isIP(name) !== 0 || /^[a-z0-9_-]+$/.test(name)) return true;
  return names.includes(name) || PRIVATE_NAMES.some((end) => name.endsWith(`.${end}`));
}

/** The path of a request, without its query. */
export const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split('?', 1)[0] as string;

/**
 * An HTTP server that does not listen yet.
 * @param host that it will listen on
 * @param names public host names of the port
 * @param answer called with one request at a time of each connection, and with MAX_CALLS in total besides probes
 */
export function adminServer(
  host: string,
  names: readonly string[],
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const known = [...names, host].map((name) => name.toLowerCase());
  /** Least recently used first; true: a call is under way. */
  const connections = new Map<Socket, boolean>();
  let calls = 0;

  const use = (socket: Socket, isBusy: boolean): void => {
    connections.delete(socket);
    connections.set(socket, isBusy);
  };

  const server = createServer({ connectionsCheckingInterval: CHECK_MS }, (request, response) => {
    const { socket } = request;
    // An absolute target names the host, too (RFC 9112, 3.2.2).
    const [, authority, target = ''] = /^https?:\/\/([^/?]*)(.*)$/is.exec(request.url ?? '') ?? [];
    if (authority !== undefined) {
      request.headers.host = authority;
      request.url = target.startsWith('/') ? target : `/${target}`;
    }
    // No known client pipelines here, and every queued request would take memory.
    if (connections.get(socket) !== false) {
      socket.destroy();
      return;
    }
    use(socket, true);
    const isProbe = PROBES.has(pathOf(request));
    if (!isProbe) calls++;
    response.once('close', () => {
      if (!isProbe) calls--;
      if (connections.has(socket)) use(socket, false);
    });
    if (!isHostAllowed(request.headers.host, known))
      refuse(request, response, 421, ['INVALID_REQUEST', 'request_invalid', MISDIRECTED]);
    else if (calls > MAX_CALLS && !isProbe)
      refuse(request, response, 503, ['UNAVAILABLE', 'unavailable', BUSY]);
    else answer(request, response);
  });
  server.on('connection', (socket) => {
    connections.set(socket, false);
    socket.once('close', () => connections.delete(socket));
    if (connections.size <= MAX_CONNECTIONS) return;
    for (const [oldest, isBusy] of connections) {
      if (isBusy) continue;
      connections.delete(oldest);
      oldest.destroy();
      return;
    }
  });
  server.headersTimeout = HEAD_MS;
  server.requestTimeout = REQUEST_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.setTimeout(SILENT_MS);
  return server;
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  httpStatus: number,
  [status, code, message]: readonly [status: string, code: string, message: string],
): void {
  const requestId = requestIdOf(request);
  response.writeHead(httpStatus, {
    'Content-Type': 'application/json',
    'X-Request-Id': requestId,
    Connection: 'close',
    ...(httpStatus === 503 ? { 'Retry-After': '1' } : {}),
  });
  response.end(faultBody(status, code, message, requestId));
}

/** Work that several callers request at once, done once for all of them. */
export class SharedWork<T> {
  readonly #running = new Map<string, Promise<T>>();

  /** The current work of that name, or else `start`'s. */
  of(name: string, start: () => Promise<T>): Promise<T> {
    const running = this.#running.get(name);
    if (running !== undefined) return running;
    const started = start().finally(() => this.#running.delete(name));
    this.#running.set(name, started);
    return started;
  }
}
