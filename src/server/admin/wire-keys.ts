// The key routes of the admin port, over the service's keys and its log.
import type { ServerKeys } from '../../keys/keys.js';
import { canonicalAddress, Networks } from '../../networks.js';
import type { AdminRoute } from '../admin-port.js';
import { clientAddress } from '../client-address.js';
import type { Logger } from '../log.js';
import { keyRoutes } from './keys.js';

export function keyRoutesOf(
  keys: ServerKeys,
  trustedProxies: readonly string[],
  logger: Logger,
): AdminRoute[] {
  const trusted = trustedProxies.length === 0 ? undefined : new Networks(trustedProxies);
  return keyRoutes({
    ring: keys.ring,
    call: (call) => keys.call(call),
    clientOf: (request) =>
      clientAddress(
        canonicalAddress(request.peerAddress) ?? '',
        request.header('x-forwarded-for') ?? '',
        trusted,
        true,
      ),
    changed: (byId, op, keyId) =>
      logger.info({ key_id: byId, op, changed_key_id: keyId }, 'a key was changed'),
  });
}
