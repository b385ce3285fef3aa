// IP addresses and networks of both versions. An IPv4 address written as IPv6 (::ffff:192.0.2.1) counts as IPv4.
import { BlockList, isIP, SocketAddress } from 'node:net';

interface Network {
  readonly address: string;
  readonly prefixBits: number;
  readonly family: 'ipv4' | 'ipv6';
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/** The address in its shortest form; undefined if the text is not one. */
export function canonicalAddress(text: string): string | undefined {
  const version = isIP(text);
  if (version === 4) return text;
  // A zone (fe80::1%eth0) means something on one machine only.
  if (version !== 6 || text.includes('%')) return undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  return MAPPED.exec(address)?.[1] ?? address;
}

/** `192.0.2.0/24`, `2001:db8::/32`, or one address; undefined for any other text. */
function parseNetwork(text: string): Network | undefined {
  const [, given = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = canonicalAddress(given);
  if (address === undefined) return undefined;
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  const maxBits = family === 'ipv4' ? 32 : 128;
  // The prefix of a mapped address counts from the start of the IPv6 form.
  const mappedBits = family === 'ipv4' && isIP(given) === 6 ? 96 : 0;
  const prefixBits = prefix === undefined ? maxBits : Number(prefix) - mappedBits;
  return prefixBits >= 0 && prefixBits <= maxBits ? { address, prefixBits, family } : undefined;
}

export const isNetwork = (text: string): boolean => parseNetwork(text) !== undefined;

export class Networks {
  /** One list of both kinds would find every IPv4 address in `::/0`, by its mapped form. */
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  /** Texts that are not a network are ignored. */
  constructor(texts: readonly string[]) {
    for (const network of texts.map(parseNetwork)) {
      if (network === undefined) continue;
      this.#lists[network.family].addSubnet(network.address, network.prefixBits, network.family);
    }
  }

  /** @param address in canonical form */
  has(address: string): boolean {
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    return this.#lists[family].check(address, family);
  }
}
