// The key routes of the admin port, over the service's keys and its log.
import { timingSafeEqual } from 'node:crypto';
import { canonicalAddress, Networks } from '../../config/networks.js';
import type { AdminRoute } from '../admin-port.js';
import { clientAddress } from '../client-address.js';
import type { ServerKeys } from '../keys/keys.js';
import type { Logger } from '../log.js';
import { keyRoutes } from './keys.js';

/** Has the token with which the supervisor of several processes calls the admin port of one. */
export const SUPERVISOR_HEADER = 'x-hexcodes-supervisor';

/** @param token the supervisor's, who alone says then for whom it asks; undefined: there is none */
export function keyRoutesOf(
  keys: ServerKeys,
  trustedProxies: readonly string[],
  logger: Logger,
  token?: string,
): AdminRoute[] {
  const trusted = trustedProxies.length === 0 ? undefined : new Networks(trustedProxies);
  return keyRoutes({
    ring: keys.ring,
    call: (call) => keys.call(call),
    clientOf: (request) => {
      const peer = canonicalAddress(request.peerAddress) ?? '';
      const forwarded = request.header('x-forwarded-for') ?? '';
      if (token === undefined) return clientAddress(peer, forwarded, trusted, true);
      if (!isSame(request.header(SUPERVISOR_HEADER) ?? '', token)) return peer;
      return canonicalAddress(forwarded) ?? '';
    },
    changed: (byId, op, keyId) =>
      logger.info({ key_id: byId, op, changed_key_id: keyId }, 'a key was changed'),
  });
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
