// Which Host headers the admin ports answer. A page of a stranger can make a browser of this network ask an admin port
// under a name of the stranger's own (DNS rebinding), and read the answer. Such a name is one of the public DNS:
// addresses, names without a dot and names that the public DNS does not have are safe, and others have to be named by
// the operator.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';

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
export function isHostAllowed(host: string | undefined, names: readonly string[]): boolean {
  // Only old clients send none; no browser does.
  if (host === undefined) return true;
  const name = (/^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1] ?? host.replace(/:\d*$/, ''))
    .toLowerCase()
    .replace(/\.$/, '');
  if (isIP(name) !== 0 || /^[a-z0-9_-]+$/.test(name)) return true;
  return names.includes(name) || PRIVATE_NAMES.some((end) => name.endsWith(`.${end}`));
}
