// Where a key may be used from: web origins and networks of clients.

import { Networks } from '../../config/networks.js';
import type { KeyInfo } from './key-record.js';

/** `https://a.vn`, `http://localhost:3000`, `https://*.a.vn`; no path, no slash at the end. */
const ORIGIN = /^(https?:\/\/)(\*\.)?([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/;

/** The networks of a key are compiled when the first request with it comes. */
const networksOf = new WeakMap<KeyInfo, Networks>();

export function isOrigin(text: string): boolean {
  const match = ORIGIN.exec(text);
  if (match === null) return false;
  const [, scheme = '', , host = '', port = ''] = match;
  return URL.canParse(scheme + host + port) && new URL(scheme + host + port).origin === scheme + host + port;
}

/**
 * Why a request may not use a key from where it comes, as a sentence; undefined if it may.
 *
 * @param origin the Origin header, '' if there is none
 * @param address of the client, in canonical form; '' if it is not known
 */
export function boundFault(key: KeyInfo, origin: string, address: string): string | undefined {
  if (key.origins.length > 0 && !key.origins.some((allowed) => matches(allowed, origin)))
    return 'this API key is not allowed from this web origin';
  if (key.cidrs.length === 0) return undefined;
  let networks = networksOf.get(key);
  if (networks === undefined) {
    networks = new Networks(key.cidrs);
    networksOf.set(key, networks);
  }
  return address !== '' && networks.has(address)
    ? undefined
    : 'this API key is not allowed from this network address';
}

/** `*.` stands for one or more labels of the host, whatever they are. */
function matches(allowed: string, origin: string): boolean {
  const star = allowed.indexOf('*.');
  if (star === -1) return allowed === origin;
  const scheme = allowed.slice(0, star);
  const rest = allowed.slice(star + 1);
  const labels = origin.slice(scheme.length, -rest.length);
  return origin.startsWith(scheme) && origin.endsWith(rest) && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(labels);
}
