// A server on node:http for an admin port, of the service or of a supervisor: how it listens and how it closes.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { listenSentence } from '../listen-fault.js';

// Which Host headers the admin ports answer. A page of a stranger can make a browser of this network ask an admin port
// under a name of the stranger's own (DNS rebinding), and read the answer. Such a name is one of the public DNS:
// addresses, names without a dot and names that the public DNS does not have are safe, and others have to be named by
// the operator.

/** Top-level names that are not in the public DNS. */
const PRIVATE_NAMES = ['localhost', 'local', 'internal', 'lan', 'svc', 'test', 'home.arpa'];

const MISDIRECTED =
  'this name of the admin port is not known: ask by its address, or name it in HEXCODES_ADMIN_NAMES\n';

/** A check of requests by their Host header: answers those that are not let in, with 421, and is then true. */
export function misdirection(
  host: string,
  names: readonly string[],
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const known = [...names, host].map((name) => name.toLowerCase());
  return (request, response) => {
    if (isHostAllowed(request.headers.host, known)) return false;
    response.writeHead(421, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
    response.end(MISDIRECTED);
    return true;
  };
}

/** @param names further names that are let in, in lower case */
function isHostAllowed(host: string | undefined, names: readonly string[]): boolean {
  // Only old clients send none; no browser does.
  if (host === undefined) return true;
  const name = (/^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1] ?? host.replace(/:\d*$/, ''))
    .toLowerCase()
    .replace(/\.$/, '');
  if (isIP(name) !== 0 || /^[a-z0-9_-]+$/.test(name)) return true;
  return names.includes(name) || PRIVATE_NAMES.some((end) => name.endsWith(`.${end}`));
}

export interface AdminListener {
  readonly port: number;
  /** Open connections are closed, too. */
  close(): Promise<void>;
}

/**
 * Rejects with a sentence if it cannot listen there.
 * @param names that the port is asked by, beside those that nobody else can have
 */
export async function openListener(
  host: string,
  port: number,
  names: readonly string[],
  answer: RequestListener,
): Promise<AdminListener> {
  const isMisdirected = misdirection(host, names);
  const server = createServer((request, response) => {
    if (!isMisdirected(request, response)) answer(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(new Error(listenSentence({ host, port, use: 'the admin port' }, error)));
    });
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
