// The limits of peers: connections that are let in, and work that is done for them in one turn of the event loop.

// No response is kept between requests, as uWS frees it with its connection. The filter of uWS says that a connection
// opens, with its address, and that one closes, without it. So connections are counted in all, and bounded by network
// through their openings.

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

// uWS reads a socket again and again while the peer fills its receive buffer, and runs nothing else meanwhile (README
// U28): what one peer may do in a turn is bounded by counting.

/** Requests of one turn, of all connections together; uWS does not say which connection a request came by. */
const REQUESTS_PER_TURN = 1000;
/** Further requests of a turn for each open connection: in a long turn uWS may serve each more than once. */
const REQUESTS_PER_CONNECTION = 4;

export class Turns {
  #requests = 0;
  #isOver = true;
  #number = 0;
  #connections = 0;

  /** Id of the current event-loop turn. */
  get number(): number {
    if (this.#isOver) {
      this.#isOver = false;
      setImmediate(() => {
        this.#isOver = true;
        this.#number++;
        this.#requests = 0;
      });
    }
    return this.#number;
  }

  /** Counts every connection that opens (1), closes, or becomes a WebSocket (-1). */
  countConnection(change: number): void {
    this.#connections += change;
  }

  /**
   * Counts a request. False if it is one too many: its connection must be closed. The count then restarts, so that the
   * next connection of the turn is not closed for what this one did.
   */
  takeRequest(): boolean {
    void this.number;
    if (++this.#requests <= REQUESTS_PER_TURN + REQUESTS_PER_CONNECTION * this.#connections) return true;
    this.#requests = 0;
    return false;
  }
}

/** Frames and bytes that one WebSocket may have answered in the turn in which they came. */
const FRAMES_AT_ONCE = 64;
const BYTES_AT_ONCE = 2 * 1024 * 1024;
/**
 * Frames and bytes of a turn that make a socket a flood: it breaks the window of docs/stream.md, or sends pings without
 * end.
 */
const FLOOD_FRAMES = 1000;
const FLOOD_BYTES = 16 * 1024 * 1024;

/**
 * Frames and bytes of one WebSocket in the current turn. Answers that wait for the next turn keep the window of the
 * peer full, so a peer that keeps to it stops sending, and the turn ends; any other is closed.
 */
export class SocketTurn {
  #turn = -1;
  #frames = 0;
  #bytes = 0;

  constructor(private readonly turns: Turns) {}

  /** Counts a message, a ping or a pong of `sizeBytes`, and says how it is handled. */
  take(sizeBytes: number): 'answer now' | 'answer in a later turn' | 'close the socket' {
    const turn = this.turns.number;
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#frames = 0;
      this.#bytes = 0;
    }
    this.#frames++;
    this.#bytes += sizeBytes;
    if (this.#frames <= FRAMES_AT_ONCE && this.#bytes <= BYTES_AT_ONCE) return 'answer now';
    const isFlood = this.#frames > FLOOD_FRAMES || this.#bytes > FLOOD_BYTES;
    return isFlood ? 'close the socket' : 'answer in a later turn';
  }
}
