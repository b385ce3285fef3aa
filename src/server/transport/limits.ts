// Limits of peers: admitted connections, work done for them in one turn of the event loop, and bytes held for them.

import { readFileSync } from 'node:fs';

// Errors that say how they are answered, for the code that catches what a handler throws.

/** The answer to an error that is not a defect of this program, if no answer has begun. */
export interface ErrorAnswer {
  readonly status: number;
  /** Default: the message of the error. */
  readonly message?: string;
  readonly retryAfterSec?: number;
  /** The connection is closed after it. */
  readonly close: boolean;
  /** Line of the log; undefined: there is one already, or none is needed. */
  readonly logged?: string;
}

/** Line of the log where an answer ends before it is complete, or is replaced by an error. */
export const CUT_OFF = 'an answer was cut off';

/** An error that says how it is answered. */
export class AnsweredError extends Error {
  constructor(
    message: string,
    readonly answer: ErrorAnswer,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

// uWS frees a response with its connection, so no response is kept between requests. The filter of uWS reports that a
// connection opens, with its address, and that one closes, without it. Therefore connections are counted in total,
// and limited by network at their opening.

/** Share of all connections that is open to everybody; beyond it only networks with a key are admitted. */
const OPEN_SHARE = 1 / 2;
const KEYLESS_SHARE = 3 / 4;
/** Time in which a network regains all of its openings, about the timeout of uWS for an idle connection. */
const REFILL_MS = 30_000;
/** Time for which a network counts as having a key after a request that showed one. */
const KNOWN_MS = 600_000;
/** Number of networks that are remembered at least, the most recent ones; at most twice as many are. */
const NETWORKS = 50_000;

/** The network of a peer: a text equal for all addresses that one peer may have, such as a /64 of IPv6. */
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

/** Why a connection is closed as it opens: all are in use, or its network has used its share. */
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
  /** When an opening was last counted against a network. */
  #countedMs = Number.NEGATIVE_INFINITY;
  /** Networks not seen since `#networks` was begun. */
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
    const isReserved = this.open > Math.ceil(maxConnections * KEYLESS_SHARE);
    if (isReserved && network.knownUntilMs <= this.nowMs()) return 'crowd';
    if (network.left < 1) return 'share';
    network.left--;
    this.#countedMs = this.nowMs();
    return undefined;
  }

  /** A key shown now has an effect: an opening that it gives back may have been counted before the crowd went. */
  get wantsKeys(): boolean {
    return this.isCrowded || this.nowMs() - this.#countedMs < REFILL_MS;
  }

  /** Counts a connection that closes. */
  closed(): void {
    this.open--;
  }

  /** A request of the network has shown a valid key: it gets one more opening, and the reserved ones. */
  keyShown(address: Uint8Array): void {
    if (this.limits.isExempt(address)) return;
    const network = this.#network(networkOf(address));
    network.left = Math.min(this.limits.perNetwork, network.left + 1);
    network.knownUntilMs = this.nowMs() + KNOWN_MS;
  }

  /** Finds or adds a network, with its current number of openings. */
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

// uWS reads a socket repeatedly while the peer fills its receive buffer, and runs nothing else meanwhile (README
// U28): the work of one peer in a turn is limited by counting.

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
   * Counts a request. False if it exceeds the limit: its connection must be closed. The count then restarts, so that
   * the next connection of the turn is not closed for this one's requests.
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
 * Frames and bytes of one WebSocket in the current turn. Answers deferred to the next turn keep the window of the
 * peer full, so a peer that respects it stops sending, and the turn ends; any other is closed.
 */
export class SocketTurn {
  #turn = -1;
  #frames = 0;
  #bytes = 0;

  constructor(private readonly turns: Turns) {}

  /** Counts a message, a ping or a pong of `sizeBytes`; returns how it is handled. */
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

// Counts the bytes in memory for peers, and their requests and WebSockets, and rejects what would exceed a limit: of
// one connection, of one key, or of the process. A caller opens an account before it holds bytes, reports every
// change, and closes it; the consequence of a rejection is up to the caller.

// The fair share of one key in shared resources: disk of answers, disk of positions, memory, files.

/**
 * Whether a key may have more. A single key gets at most three quarters: the last quarter is only for keys that hold
 * less than a quarter, so no key shuts the others out.
 * @param held what the key holds
 * @param total what all keys hold
 * @param more what it asks for
 * @param most what all may hold
 */
export function mayTake(held: number, total: number, more: number, most: number): boolean {
  if (total + more > most) return false;
  return held + more <= most / 4 || total + more <= 0.75 * most;
}

export interface BudgetLimits {
  /** Bytes held for one request or WebSocket. */
  readonly connectionBytes: number;
  /** Bytes held for all connections of one key. */
  readonly keyBytes: number;
  /** Bytes held for all connections. */
  readonly processBytes: number;
  /** Requests of one key that are under way at a time. */
  readonly requestsPerKey: number;
  /** Open WebSockets of one key. */
  readonly socketsPerKey: number;
}

export type Limit = keyof BudgetLimits;

export const UNLIMITED: BudgetLimits = {
  connectionBytes: Number.POSITIVE_INFINITY,
  keyBytes: Number.POSITIVE_INFINITY,
  processBytes: Number.POSITIVE_INFINITY,
  requestsPerKey: Number.POSITIVE_INFINITY,
  socketsPerKey: Number.POSITIVE_INFINITY,
};

/** The kinds of accounts. */
export type Holder = 'requests' | 'sockets';

/** A limit is reached. The message says which. */
export class OverBudgetError extends AnsweredError {
  override readonly name = 'OverBudgetError';

  /** The budget has it logged. */
  constructor(message: string) {
    super(message, { status: 503, retryAfterSec: 1, close: true });
  }
}

/** Bytes, requests and WebSockets of one key. */
interface KeyUse {
  readonly keyId: string;
  bytes: number;
  requests: number;
  sockets: number;
}

export class Budget {
  readonly #keys = new Map<string, KeyUse>();
  #bytes = 0;

  /** @param refused called with the key, the reason and the limit of everything that is refused */
  constructor(
    readonly limits: BudgetLimits,
    private readonly refused: (keyId: string, reason: string, limit: Limit) => void = () => {},
  ) {}

  /**
   * Opens an account of a key.
   * @throws OverBudgetError if the key has as many requests or WebSockets as it may have
   */
  open(keyId: string, holder: Holder): Account {
    const use = this.#keys.get(keyId) ?? { keyId, bytes: 0, requests: 0, sockets: 0 };
    const most = holder === 'requests' ? this.limits.requestsPerKey : this.limits.socketsPerKey;
    if (use[holder] >= most) {
      const what = holder === 'requests' ? 'requests under way' : 'open WebSockets';
      const reason = `the key has ${most} ${what}, the most it may have`;
      throw new OverBudgetError(this.refuse(keyId, reason, `${holder}PerKey`));
    }
    use[holder]++;
    this.#keys.set(keyId, use);
    return new Account(this, use, holder);
  }

  /**
   * Adds bytes to an account; negative to remove some. Returns the limit that would be exceeded, if any; then nothing
   * is added.
   */
  take(use: KeyUse, heldBytes: number, moreBytes: number): string | undefined {
    if (moreBytes > 0) {
      const { connectionBytes, keyBytes, processBytes } = this.limits;
      const refuse = (whom: string, limit: 'connectionBytes' | 'keyBytes' | 'processBytes'): string =>
        this.refuse(use.keyId, `the bytes held for ${whom} pass ${this.limits[limit]}`, limit);
      if (heldBytes + moreBytes > connectionBytes) return refuse('one connection', 'connectionBytes');
      if (use.bytes + moreBytes > keyBytes) return refuse('one key', 'keyBytes');
      if (!mayTake(use.bytes, this.#bytes, moreBytes, processBytes))
        return refuse('all connections', 'processBytes');
    }
    use.bytes += moreBytes;
    this.#bytes += moreBytes;
    return undefined;
  }

  /** Closes an account that holds nothing any more. */
  leave(use: KeyUse, holder: Holder): void {
    use[holder]--;
    if (use.requests === 0 && use.sockets === 0) this.#keys.delete(use.keyId);
  }

  /** The sums over all keys now. */
  get figures(): { bytes: number; keys: number; requests: number; sockets: number } {
    const figures = { bytes: this.#bytes, keys: this.#keys.size, requests: 0, sockets: 0 };
    for (const { requests, sockets } of this.#keys.values()) {
      figures.requests += requests;
      figures.sockets += sockets;
    }
    return figures;
  }

  private refuse(keyId: string, reason: string, limit: Limit): string {
    this.refused(keyId, reason, limit);
    return reason;
  }
}

/** The bytes that one request or WebSocket holds. */
export class Account {
  heldBytes = 0;
  #isClosed = false;

  constructor(
    private readonly budget: Budget,
    private readonly use: KeyUse,
    private readonly holder: Holder,
  ) {}

  /**
   * Reports the bytes that are held, or are about to be. An increase may be rejected: then the limit is returned, as
   * a clause for people, and the count stays.
   */
  hold(bytes: number): string | undefined {
    if (this.#isClosed || bytes === this.heldBytes) return undefined;
    const refusal = this.budget.take(this.use, this.heldBytes, bytes - this.heldBytes);
    if (refusal === undefined) this.heldBytes = bytes;
    return refusal;
  }

  /** Nothing is held any more, and nothing will be. */
  close(): void {
    this.hold(0);
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.budget.leave(this.use, this.holder);
  }
}

// The connections that the process can have open: each is a file descriptor, and without a free one uWS accepts
// nobody and spins. So the limit of connections stays below that of the system, and connections without a key make
// way in time.

// The largest receive buffer that the system gives a connection. uWS reads up to 512 KiB at a time and reads the same
// socket again while the peer fills that (README U28), so a smaller maximum makes sure that every peer gets its turn.

const UWS_RECEIVE_BUFFER_BYTES = 512 * 1024;
const SETTING = '/proc/sys/net/ipv4/tcp_rmem';

/** The value that docs/http.md recommends. */
const RECOMMENDED = '4096 131072 400000';

/**
 * @param read gives the setting's text: least, default and greatest size in bytes
 * @returns a sentence for the log where a peer can fill the buffer; undefined where none can, or where the system has
 *   no such setting
 */
export function receiveBufferWarning(
  read = (): string => readFileSync(SETTING, 'latin1'),
): string | undefined {
  let greatestBytes: number;
  try {
    greatestBytes = Number(read().trim().split(/\s+/)[2]);
  } catch {
    return undefined;
  }
  if (!(greatestBytes >= UWS_RECEIVE_BUFFER_BYTES)) return undefined;
  return `for a service on the open internet: net.ipv4.tcp_rmem="${RECOMMENDED}" keeps a fast peer from making others wait (now ${greatestBytes} bytes; docs/operations.md)`;
}

const LIMITS = '/proc/self/limits';
/** Descriptors kept for files, threads, databases, the admin port and spooled answers. */
const OTHERS = 128;
const MIN_CONNECTIONS = 64;
const WAY_OUT = 'raise the limit (ulimit -n, LimitNOFILE= of systemd), or lower --max-connections';

/** The greatest number of open files of this process; infinite where the system does not say. */
function openFilesLimit(): number {
  try {
    return Number(
      /^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS, 'latin1'))?.[1] ?? Number.POSITIVE_INFINITY,
    );
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * @param wanted connections
 * @returns as many of them as there are descriptors for, and a sentence for the log if they are fewer
 * @throws Error with a sentence where there are too few for any service
 */
export function connectionsWithin(
  wanted: number,
  filesLimit = openFilesLimit(),
): { maxConnections: number; warning: string | undefined } {
  if (wanted + OTHERS <= filesLimit) return { maxConnections: wanted, warning: undefined };
  const maxConnections = filesLimit - OTHERS;
  if (maxConnections < Math.min(wanted, MIN_CONNECTIONS)) {
    const least = OTHERS + MIN_CONNECTIONS;
    throw new Error(
      `the process may have ${filesLimit} open files, and the service needs ${least}: ${WAY_OUT}`,
    );
  }
  const warning = `the process may have ${filesLimit} open files, so at most ${maxConnections} connections instead of ${wanted}: ${WAY_OUT}`;
  return { maxConnections, warning };
}

/** Descriptors that are left for everything but connections and answers on disk. */
const KEPT = 64;

/** How many files may be open for answers that wait on disk, beside as many connections as `connectionsWithin` says. */
export function filesBeside(wanted: number, filesLimit = openFilesLimit()): number {
  return filesLimit - Math.min(wanted, filesLimit - OTHERS) - KEPT;
}
