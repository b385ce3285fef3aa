// The connections that have not shown a valid key: how long they may rest, how many of one network there may be, and
// which of them makes way at the limit. uWS does not say which connection a request came by, but the callback of a kept
// connection is called right behind the handler of its request (README U39). Where it is not, the connections of that
// network that may have brought the request are let go: they are not closed from here until they speak again.
import type { UwsResponse } from '../uws.js';
import { type AddressGroup, AddressGroups, networkOf } from './address-groups.js';

type Receiver = (chunk: ArrayBuffer, isLast: boolean) => void;

interface KeylessListener {
  /** A request without a body, or the first bytes of a body, have come, in the same callback of uWS as the request. */
  spoke(connection: KeylessConnection, chunk: ArrayBuffer, isLast: boolean): void;
  /** The connection is closed; its response must not be touched again. */
  closed(connection: KeylessConnection): void;
}

/**
 * One connection that has not shown a valid key yet. uWS has one callback of each kind for a connection, which the
 * owner of the response may set at any time and the end of an answer clears. So the response that uWS shows when the
 * connection opens is kept, and its callbacks say what becomes of the connection between requests (README U39).
 */
class KeylessConnection {
  /** The door's clock when the connection opened, or last had a request or the end of an answer. */
  lastTick = 0;
  /**
   * Bytes of its last answer's body, which uWS keeps until its next request begins (README U39); 0 before the first.
   */
  lastAnswerBytes = 0;
  /** A request of it is not answered completely. */
  isBusy = false;
  /** Takes the rest of a body. */
  receiver: Receiver | undefined;
  readonly #onData: Receiver;
  readonly #onAborted: () => void;

  constructor(
    readonly res: UwsResponse,
    readonly network: string,
    listener: KeylessListener,
  ) {
    this.#onData = (chunk, isLast) => {
      const { receiver } = this;
      if (receiver === undefined) {
        listener.spoke(this, chunk, isLast);
        return;
      }
      if (isLast) this.receiver = undefined;
      receiver(chunk, isLast);
    };
    this.#onAborted = () => listener.closed(this);
  }

  /** To be called when it opens, and when an answer is complete. */
  awaitClose(): void {
    this.res.onAborted(this.#onAborted);
  }

  /** To be called when an answer is complete. */
  noteAnswer(): void {
    this.lastAnswerBytes = this.res.getWriteOffset();
  }

  /**
   * A request has begun that nothing else was said of. To be asked at rest only, and if there was an answer with a
   * body.
   */
  get hasNewRequest(): boolean {
    return this.res.getWriteOffset() !== this.lastAnswerBytes;
  }

  /** To be called outside of `spoke`, after which uWS forgets the callback if the body has ended. */
  awaitRequest(): void {
    this.res.onData(this.#onData);
  }
}

export interface DoorLimits {
  /** Connections of one network that have not shown a valid key; those of the last second may be more. */
  readonly perNetwork: number;
  /** Addresses that nothing of this holds for, in canonical form. */
  readonly isExempt: (address: Uint8Array) => boolean;
  /** How long such a connection may rest, in ticks. */
  readonly idleTicks?: number;
  /** Length of a tick. The clock stops while the event loop hangs: a peer may have sent what is not read yet. */
  readonly tickMs?: number;
}

/** Why a connection was closed: it rested too long, its network has too many, or another had to come in. */
export type EvictionReason = 'idle' | 'share' | 'limit';

/** A request, as far as the door needs it. */
export interface Visit {
  /** 'over' only when the rest of its body is not read any more, either. */
  readonly visitState: 'open' | 'answering' | 'over';
  /** It has shown a valid key. */
  readonly hasValidKey: boolean;
  /**
   * uWS may report nothing behind its handler, though its connection is kept: of a chunked body, and one of no bytes.
   */
  readonly isEndUnseen: boolean;
  /** The connection was closed while its answer was written. */
  readonly isClosedInside: boolean;
  readonly peerAddress: Uint8Array;
  /** Takes its body; undefined if it wants none. */
  readonly receive: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;
  /** Whether `receive` was called by uWS itself. */
  readonly hasReceived: boolean;
  /** Makes `receive` the callback of uWS again. */
  takeBody(): void;
  /** Called when the answer is complete, or the connection closed. */
  onLeave: ((isComplete: boolean) => void) | undefined;
}

const TICK_MS = 500;
const IDLE_TICKS = 10;
/** Older ones of a network above its share are closed. */
const FRESH_TICKS = 2;
/** Most connections of one network that a request may let go; one that would let go more is not answered. */
const MOST_LET_GO = 8;

export class Door {
  readonly #groups = new AddressGroups<KeylessConnection>();
  /** Those at rest, the longest first. */
  readonly #idle = new Set<KeylessConnection>();
  readonly #idleTicks: number;
  readonly #timer: NodeJS.Timeout;
  #tick = 0;
  /** Handled, and not known which connection it came by. */
  #visit: Visit | undefined;
  /** Its callback for the next request is to be set, once uWS has left the one that ran. */
  #toAwait: KeylessConnection | undefined;
  #isSettleDue = false;
  #closes = 0;

  /**
   * @param evicted called for each connection that is closed from here: it rested too long, or others have to come in
   */
  constructor(
    private readonly limits: DoorLimits,
    private readonly evicted: (reason: EvictionReason) => void,
  ) {
    this.#idleTicks = limits.idleTicks ?? IDLE_TICKS;
    this.#timer = setInterval(() => this.#sweep(), limits.tickMs ?? TICK_MS);
    this.#timer.unref();
  }

  /** Connections that have not shown a valid key, as far as they are kept. */
  get size(): number {
    return this.#groups.size;
  }

  /** Connections of any kind that were closed so far. */
  get closes(): number {
    return this.#closes;
  }

  /** A connection was opened. To be called in the callback of uWS that says so. */
  opened(res: UwsResponse): void {
    this.#settle();
    const address = new Uint8Array(res.getRemoteAddress());
    if (this.limits.isExempt(address)) return;
    const connection = new KeylessConnection(res, networkOf(address), this);
    connection.awaitClose();
    connection.awaitRequest();
    this.#rest(connection, false);
    this.#closeSurplus(connection.network);
  }

  /** Closes a connection to make way for another. False if all have shown a valid key. */
  makeWay(): boolean {
    this.#settle();
    const group = this.#groups.largest;
    if (group === undefined) return false;
    this.#evict(this.#firstToGo(group), 'limit');
    return true;
  }

  /** A request is about to be handled. */
  beforeHandler(): void {
    this.#settle();
  }

  /**
   * The peer has reset its connection, which therefore has no address any more: the door could not tell it from others.
   */
  isLost(visit: Visit): boolean {
    return this.#groups.size > 0 && visit.peerAddress.length === 0;
  }

  /** Whether a request without a key, if it were answered, would make the door lose sight of many connections. */
  mayHide(visit: Visit): boolean {
    return visit.isEndUnseen && this.isCrowded(visit.peerAddress);
  }

  /** Whether the request must not be answered. */
  mustClose(visit: Visit): boolean {
    return !visit.hasValidKey && this.mayHide(visit);
  }

  /** Whether many connections of the network of this address are in sight. */
  isCrowded(address: Uint8Array): boolean {
    if (this.#groups.size <= MOST_LET_GO) return false;
    return (this.#groups.of(networkOf(address))?.size ?? 0) > MOST_LET_GO;
  }

  /**
   * One of the connections of this network becomes a WebSocket at once: none of those at rest is touched from here any
   * more.
   */
  forget(address: Uint8Array): void {
    this.#settle();
    if (this.#groups.size === 0) return;
    for (const connection of this.#atRest(networkOf(address))) this.#remove(connection);
  }

  /** The handler of a request has returned. */
  afterHandler(visit: Visit): void {
    this.#visit = visit;
    // The memory of a connection that is closed by now is freed after this callback of uWS.
    if (visit.isClosedInside) this.#settle();
    else if (visit.isEndUnseen && visit.visitState === 'over') this.#settleSoon();
    if (this.#groups.size === 0) return;
    if (visit.isEndUnseen)
      visit.onLeave = () => {
        if (this.#visit === visit) this.#settle();
      };
    if (visit.receive === undefined) return;
    const group = this.#groups.of(networkOf(visit.peerAddress));
    if (group === undefined) return;
    // If the request came by one of these, the first bytes of its body go to that one, and else to the request itself.
    for (const connection of group.members) if (!connection.isBusy) connection.awaitRequest();
    this.#settleSoon();
  }

  /** A connection of any kind is closed. */
  countClose(): void {
    this.#closes++;
  }

  spoke(connection: KeylessConnection, chunk: ArrayBuffer, isLast: boolean): void {
    const visit = this.#visit;
    this.#visit = undefined;
    // Never so: a request was handled in this callback.
    if (visit === undefined) return;
    const { receive } = visit;
    if (!isLast) connection.receiver = receive ?? (() => {});
    if (visit.visitState === 'over') {
      // uWS has stopped its timeout for an idle connection, as for a request that waits for its answer (README U39).
      connection.res.resume();
      if (visit.hasValidKey) this.#remove(connection);
      else this.#answered(connection, isLast);
    } else if (visit.hasValidKey) this.#remove(connection);
    else {
      this.#work(connection);
      visit.onLeave = (isComplete) => {
        if (isComplete) this.#answered(connection, true);
        else this.closed(connection);
      };
    }
    receive?.(chunk, isLast);
  }

  closed(connection: KeylessConnection): void {
    if (this.#toAwait === connection) this.#toAwait = undefined;
    this.#remove(connection);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** An answer to it is complete. */
  #answered(connection: KeylessConnection, isBodyOver: boolean): void {
    connection.awaitClose();
    connection.noteAnswer();
    this.#rest(connection, true);
    if (isBodyOver) {
      this.#awaitPending();
      this.#toAwait = connection;
    } else {
      connection.receiver = (_, isLast) => {
        if (!isLast) return;
        this.#awaitPending();
        this.#toAwait = connection;
        this.#settleSoon();
      };
    }
    this.#settleSoon();
  }

  #rest(connection: KeylessConnection, hasAsked: boolean): void {
    connection.lastTick = this.#tick;
    connection.isBusy = false;
    this.#groups.add(connection.network, connection, hasAsked);
    this.#idle.delete(connection);
    this.#idle.add(connection);
  }

  #work(connection: KeylessConnection): void {
    connection.lastTick = this.#tick;
    connection.isBusy = true;
    this.#groups.add(connection.network, connection, true);
    this.#idle.delete(connection);
  }

  #remove(connection: KeylessConnection): void {
    this.#groups.delete(connection.network, connection);
    this.#idle.delete(connection);
  }

  #evict(connection: KeylessConnection, reason: EvictionReason): void {
    this.#remove(connection);
    connection.res.close();
    this.evicted(reason);
  }

  #settleSoon(): void {
    if (this.#isSettleDue) return;
    this.#isSettleDue = true;
    setImmediate(() => {
      this.#isSettleDue = false;
      this.#settle();
    });
  }

  #awaitPending(): void {
    this.#toAwait?.awaitRequest();
    this.#toAwait = undefined;
  }

  /** The callbacks of uWS that belong to the last request are over. */
  #settle(): void {
    this.#awaitPending();
    const visit = this.#visit;
    if (visit === undefined) return;
    this.#visit = undefined;
    if (visit.hasReceived || !(visit.isEndUnseen || visit.isClosedInside)) return;
    if (visit.receive !== undefined && visit.visitState !== 'over') visit.takeBody();
    if (this.#groups.size === 0) return;
    const { peerAddress } = visit;
    // One without an address may be any of them. `isLost` keeps those out; if one came in, a response that is kept
    // after its end would end the process.
    const groups = peerAddress.length === 0 ? this.#groups.all : [this.#groups.of(networkOf(peerAddress))];
    for (const group of groups) if (group !== undefined) this.#letGo(group, visit.visitState === 'open');
  }

  /**
   * Lets go the connections that a request may have come by whose connection is not known.
   * @param isUnanswered nothing of its answer is written, so the last answer of a connection tells whether it was this
   *   one
   */
  #letGo(group: AddressGroup<KeylessConnection>, isUnanswered: boolean): void {
    const isTold = (connection: KeylessConnection): boolean => isUnanswered && connection.lastAnswerBytes > 0;
    const atRest = this.#atRest(group.network);
    const found = atRest.find((connection) => isTold(connection) && connection.hasNewRequest);
    const gone = found === undefined ? atRest.filter((connection) => !isTold(connection)) : [found];
    for (const connection of gone) this.#remove(connection);
  }

  #atRest(network: string): KeylessConnection[] {
    return this.#groups.of(network)?.members.filter(({ isBusy }) => !isBusy) ?? [];
  }

  /** Closes the connections of a network above its share, but for those of the last second. */
  #closeSurplus(network: string): void {
    const group = this.#groups.of(network);
    while (group !== undefined && group.size > this.limits.perNetwork) {
      const next = this.#firstToGo(group);
      if (!this.#isStale(next)) return;
      this.#evict(next, 'share');
    }
  }

  /** Who has had no time to ask stays before those that have asked without a key. */
  #firstToGo({ silent, asked }: AddressGroup<KeylessConnection>): KeylessConnection {
    const oldestSilent = silent.values().next().value;
    const oldestAsked = asked.values().next().value;
    if (oldestAsked === undefined || (oldestSilent !== undefined && this.#isStale(oldestSilent)))
      return oldestSilent as KeylessConnection;
    return oldestAsked;
  }

  #isStale(connection: KeylessConnection): boolean {
    return this.#tick - connection.lastTick >= FRESH_TICKS;
  }

  #sweep(): void {
    this.#settle();
    this.#tick++;
    for (const connection of this.#idle) {
      if (this.#tick - connection.lastTick < this.#idleTicks) break;
      this.#evict(connection, 'idle');
    }
    const crowded = this.#groups.largest;
    if (crowded !== undefined) this.#closeSurplus(crowded.network);
  }
}
