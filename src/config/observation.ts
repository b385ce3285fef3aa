// Settings: what the service says of its requests, and whom it believes about their clients.
import { isNetwork } from '../networks.js';
import { Fault } from './setting.js';

export const OBSERVATION = {
  /** Addresses of proxies, and networks of them, whose X-Forwarded-For is believed. */
  trustedProxies: {
    variable: 'HEXCODES_TRUSTED_PROXIES',
    flag: '--trusted-proxies',
    argument: '<networks>',
    help: 'proxies whose X-Forwarded-For is believed, as 10.0.0.0/8,192.0.2.7 (none)',
    read: readNetworks,
  },
};

function readNetworks(text: string | undefined): string[] {
  if (text === undefined || text.trim() === '') return [];
  const networks = text.split(',').map((network) => network.trim());
  const wrong = networks.find((network) => !isNetwork(network));
  if (wrong !== undefined) throw new Fault(`names ${JSON.stringify(wrong)}, which is no address or network`);
  return networks;
}
