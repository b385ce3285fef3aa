// Which connections are let in. No response is kept between requests, as uWS frees it with its connection. The filter
// of uWS says that one opens, with its address, and that one closes, without it. So connections are counted in all, and
// bounded by network through their openings.

/** Share of all connections that is open to everybody, and of those up to which networks with a key alone come in. */
const OPEN_SHARE = 1 / 2;
const KEYLESS_SHARE = 3 / 4;
/** A network regains all of its openings in this time, which is about that of uWS for a connection at rest. */
const REFILL_MS = 30_000;
/** How long a network counts as one with a key after a request that showed one. */
const KNOWN_MS = 600_000;
/** At least as many networks are remembered, the ones that were seen last, and at most twice as many. */
const NETWORKS = 50_000;

/** The network of a peer: a text that is the same for all its addresses, of which one peer may have a /64 of IPv6. */
export function networkOf(address: Uint8Array): string {
  if (address.length !== 16) return address.join('.');
  const isMapped =
    address.subarray(0, 10).every((byte) => byte === 0) && address[10] === 255 && address[11] === 255;
  return isMapped ? address.subarray(12).join('.') : `${address.subarray(0, 8).join('.')}/64`;
}

export interface AdmissionLimits {
  /** Open connections at a time, WebSockets included. */
  readonly maxConnections: number;
  /** Connections that a network may open at once while the service is crowded. */
  readonly perNetwork: number;
  /** Addresses whose openings are not bounded, in four or sixteen bytes. */
  readonly isExempt: (address: Uint8Array) => boolean;
}

/** Why a connection is closed as it opens: all are taken, or its network has had its share. */
export type Refusal = 'crowd' | 'share';

interface Network {
  /** Openings that are left. */
  left: number;
  filledMs: number;
  /** Until when the network counts as one with a key; 0: not at all. */
  knownUntilMs: number;
}

export class Admission {
  /** Open connections, WebSockets included. */
  open = 0;
  #networks = new Map<string, Network>();
  /** Networks that were not seen since `#networks` was begun. */
  #olderNetworks = new Map<string, Network>();

  constructor(
    private readonly limits: AdmissionLimits,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** More than OPEN_SHARE of all are open: connections without a key are closed with their next answer. */
  get isCrowded(): boolean {
    return this.open > this.limits.maxConnections * OPEN_SHARE;
  }

  /** Counts a connection that opens. @returns why it must be closed, or undefined */
  opened(address: Uint8Array): Refusal | undefined {
    this.open++;
    const { maxConnections, isExempt } = this.limits;
    if (this.open > maxConnections) return 'crowd';
    if (!this.isCrowded || isExempt(address)) return undefined;
    const network = this.#network(networkOf(address));
    const isReserved = this.open > maxConnections * KEYLESS_SHARE;
    if (isReserved && network.knownUntilMs <= this.nowMs()) return 'crowd';
    if (network.left < 1) return 'share';
    network.left--;
    return undefined;
  }

  /** Counts a connection that closes. */
  closed(): void {
    this.open--;
  }

  /** A request of the network has shown a valid key: it has one opening more, and those that are reserved. */
  keyShown(address: Uint8Array): void {
    if (this.limits.isExempt(address)) return;
    const network = this.#network(networkOf(address));
    network.left = Math.min(this.limits.perNetwork, network.left + 1);
    network.knownUntilMs = this.nowMs() + KNOWN_MS;
  }

  /** Finds a network, or adds it, with the openings that it has by now. */
  #network(name: string): Network {
    const nowMs = this.nowMs();
    const { perNetwork } = this.limits;
    let network = this.#networks.get(name);
    if (network === undefined) {
      network = this.#olderNetworks.get(name) ?? { left: perNetwork, filledMs: nowMs, knownUntilMs: 0 };
      if (this.#networks.size >= NETWORKS) {
        this.#olderNetworks = this.#networks;
        this.#networks = new Map();
      }
      this.#networks.set(name, network);
    }
    network.left = Math.min(perNetwork, network.left + ((nowMs - network.filledMs) / REFILL_MS) * perNetwork);
    network.filledMs = nowMs;
    return network;
  }
}
