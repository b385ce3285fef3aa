// The adapter over uWebSockets.js: routes, the port, and what must hold for every request; README explains why.
// Handlers get an Exchange and cannot end the process: exceptions are caught, onAborted is set for a handler that
// answers later, and a handler that does neither is answered 500 (README U6).

import { CorkHolder } from './answers/streamed-answer.js';
import { BodylessAnswers } from './answers/whole-answer.js';
import { Exchange, type ExchangeContext, type ExchangeHooks, type ExchangeLimits } from './exchange.js';
import {
  Admission,
  type AdmissionLimits,
  Budget,
  type Refusal,
  SocketTurn,
  Turns,
  UNLIMITED,
} from './limits.js';
import {
  type ListenSocket,
  loadUws,
  type UpgradeContext,
  type Uws,
  type UwsApp,
  type UwsBehaviour,
  type UwsBuild,
  type UwsMethod,
  type UwsRequest,
  type UwsResponse,
  type UwsWebSocket,
} from './load-uws.js';
import { RefusedBodies } from './request-body.js';
import { RequestHead, readHeaders, TARGET_LIMIT_BYTES } from './request-head.js';

// The callbacks of a WebSocket route as uWS wants them: what a peer brings in a turn of the event loop is counted, and
// exceptions end at one hook.

/** The user data of each WebSocket. */
export interface SocketData {
  /** Set when the socket opens. */
  turn: SocketTurn | undefined;
}

export interface WebSocketRoute<T extends SocketData, N = unknown> {
  readonly maxPayloadBytes: number;
  readonly maxBackpressureBytes: number;
  /** 0 or 8 to 960; anything else ends the process (README U7). */
  readonly idleTimeoutSeconds: number;
  /** Must accept the upgrade or answer the request before it returns. */
  upgrade(x: Exchange<N>): void;
  open(ws: UwsWebSocket<T>): void;
  /** `isTurnSpent`: this socket has had its share of the turn of the event loop; the answer must wait for another. */
  message(ws: UwsWebSocket<T>, message: ArrayBuffer, isBinary: boolean, isTurnSpent: boolean): void;
  /** An answer to `ping`, or a pong that was not asked for. */
  pong(ws: UwsWebSocket<T>): void;
  drain(ws: UwsWebSocket<T>): void;
  close(ws: UwsWebSocket<T>, code: number): void;
}

interface SocketHooks {
  socketThrown(error: unknown): void;
  flooded(): void;
}

/** @param closed called when a WebSocket is closed, before the route knows */
function socketBehaviour<T extends SocketData, N>(
  route: WebSocketRoute<T, N>,
  turns: Turns,
  hooks: SocketHooks,
  closed: () => void,
): Omit<UwsBehaviour<T>, 'upgrade' | 'compression'> {
  // An exception in a WebSocket callback would otherwise be an uncaught exception of the process.
  const guarded = (ws: UwsWebSocket<T>, work: () => void): void => {
    try {
      work();
    } catch (error) {
      hooks.socketThrown(error);
      ws.close();
    }
  };
  // Without a close frame: after `end` uWS would go on reading what the peer sends, and tell nobody (README U28).
  const closeFlood = (ws: UwsWebSocket<T>): void => {
    ws.close();
    hooks.flooded();
  };
  const countControlFrame = (ws: UwsWebSocket<T>, content: ArrayBuffer): boolean => {
    const isFlood = ws.getUserData().turn!.take(content.byteLength) === 'close the socket';
    if (isFlood) closeFlood(ws);
    return !isFlood;
  };
  return {
    maxPayloadLength: route.maxPayloadBytes,
    maxBackpressure: route.maxBackpressureBytes,
    idleTimeout: route.idleTimeoutSeconds,
    maxLifetime: 0,
    closeOnBackpressureLimit: true,
    sendPingsAutomatically: true,
    open: (ws) => {
      // uWS never counts the end of a connection that became a WebSocket.
      turns.countConnection(-1);
      ws.getUserData().turn = new SocketTurn(turns);
      guarded(ws, () => route.open(ws));
    },
    message: (ws, message, isBinary) => {
      const due = ws.getUserData().turn!.take(message.byteLength);
      if (due === 'close the socket') closeFlood(ws);
      else guarded(ws, () => route.message(ws, message, isBinary, due === 'answer in a later turn'));
    },
    // uWS answers pings itself.
    ping: (ws, content) => void countControlFrame(ws, content),
    pong: (ws, content) => {
      if (countControlFrame(ws, content)) guarded(ws, () => route.pong(ws));
    },
    drain: (ws) => guarded(ws, () => route.drain(ws)),
    close: (ws, code) => {
      closed();
      try {
        route.close(ws, code);
      } catch (error) {
        hooks.socketThrown(error);
      }
    },
  };
}

/** The ports on which an adapter listens. */
class Listeners {
  readonly #sockets: ListenSocket[] = [];

  constructor(
    private readonly uws: Uws,
    private readonly app: UwsApp,
  ) {}

  /**
   * Resolves to the number of the port (0: any free one); rejects, without a reason, if it cannot. Not `exclusive`:
   * other processes may listen on it as well (README U5).
   */
  open(host: string, port: number, exclusive: boolean): Promise<number> {
    const options = exclusive ? this.uws.LIBUS_LISTEN_EXCLUSIVE_PORT : 0;
    return new Promise((resolve, reject) => {
      this.app.listen(host, port, options, (socket) => {
        if (socket === false) {
          reject(new Error(`cannot listen on ${host}:${port}`));
          return;
        }
        this.#sockets.push(socket);
        resolve(this.uws.us_socket_local_port(socket));
      });
    });
  }

  closeAll(): void {
    for (const socket of this.#sockets.splice(0)) this.uws.us_listen_socket_close(socket);
  }
}

let isPausePrimed = false;

/**
 * Call it with the first request of the process, before anything is written to it: makes sure that a socket which is
 * paused later is read again after `resume` (README U27).
 */
function primePause(res: UwsResponse): void {
  if (isPausePrimed) return;
  isPausePrimed = true;
  res.pause();
  res.resume();
}

/** Deadline of a refusal, which is sent in the next turn of the event loop. */
const REFUSAL_DEADLINE_MS = 1000;
const TOO_MANY = 'too many requests came at once; send this one again';

/** `N`: see Exchange. */
export interface AdapterHooks<N> extends ExchangeHooks<Exchange<N>> {
  /** The notes of a new request. */
  notes(): N;
  /** Answers a request that no handler is called for; `close`: and closes the connection. */
  refused(x: Exchange<N>, status: 400 | 414 | 417 | 503, message: string, close: boolean): void;
  /** A WebSocket callback threw. The adapter then closes that socket. */
  socketThrown(error: unknown): void;
  /**
   * More requests came in one turn of the event loop than may, and one is refused; or more frames, and the socket is
   * closed.
   */
  flooded(): void;
  /** A connection was closed as it opened. */
  crowded(reason: Refusal): void;
}

type AdapterLimits = ExchangeLimits & AdmissionLimits;

const NO_LIMITS: AdapterLimits = {
  budget: new Budget(UNLIMITED),
  maxPastStopBytes: Number.POSITIVE_INFINITY,
  bodyTimeoutMs: 120_000,
  maxConnections: Number.POSITIVE_INFINITY,
  perNetwork: Number.POSITIVE_INFINITY,
  isExempt: () => true,
};

export class Adapter<N = unknown> {
  readonly #app: UwsApp;
  readonly #context: ExchangeContext<Exchange<N>>;
  #requests = 0;
  readonly #listeners: Listeners;

  private constructor(
    private readonly uws: Uws,
    /** The package that serves. */
    readonly build: UwsBuild,
    private readonly hooks: AdapterHooks<N>,
    limits: AdapterLimits,
  ) {
    this.#app = uws.App();
    this.#listeners = new Listeners(uws, this.#app);
    this.#context = {
      hooks,
      pending: new Set(),
      corkHolder: new CorkHolder(),
      turns: new Turns(),
      bodylessAnswers: new BodylessAnswers(),
      refusedBodies: new RefusedBodies(),
      admission: new Admission(limits),
      ...limits,
      isClosing: false,
    };
    this.#app.filter((res, change) => this.#countConnection(res, change));
  }

  static async load<N>(hooks: AdapterHooks<N>, limits = NO_LIMITS): Promise<Adapter<N>> {
    const { uws, build } = await loadUws();
    return new Adapter(uws, build, hooks, limits);
  }

  /** Requests whose handlers have returned and whose answers are not complete. */
  get pending(): ReadonlySet<Exchange<N>> {
    return this.#context.pending;
  }

  /** Refused requests that are answered, and whose bodies still come. */
  get refusedBodyCount(): number {
    return this.#context.refusedBodies.count;
  }

  /** Requests whose heads were read so far. */
  get requestCount(): number {
    return this.#requests;
  }

  /** Open connections, WebSockets included. */
  get connectionCount(): number {
    return this.#context.admission.open;
  }

  /**
   * Adds a route. Patterns: `/a/:b`, `/*`. Of several that match, uWS takes one of the request's method before one of
   * 'any', then the one whose segments are literal.
   */
  route(method: UwsMethod, pattern: string, handler: (x: Exchange<N>) => void): void {
    const literal = /[:*]/.test(pattern) ? undefined : pattern;
    const methodName = method === 'any' ? undefined : method === 'del' ? 'DELETE' : method.toUpperCase();
    this.#app[method](pattern, (res, req) => {
      const path = literal ?? req.getUrl();
      const ofRequest = methodName ?? req.getMethod().toUpperCase();
      const query = req.getQuery() ?? '';
      this.#run(res, req, new RequestHead(req, ofRequest, pattern, path, query), handler);
    });
  }

  /** Adds a WebSocket route. Requests that ask for no upgrade go to the other routes of the same pattern. */
  websocket<T extends SocketData>(pattern: string, route: WebSocketRoute<T, N>): void {
    this.#app.ws<T>(pattern, {
      ...socketBehaviour(route, this.#context.turns, this.hooks, () => this.#context.admission.closed()),
      compression: this.uws.DISABLED,
      upgrade: (res: UwsResponse, req: UwsRequest, context: UpgradeContext) => {
        const query = req.getQuery() ?? '';
        const head = new RequestHead(req, 'GET', pattern, req.getUrl(), query);
        this.#run(res, req, head, (x) => route.upgrade(x), context);
      },
    });
  }

  /** Called for every connection that opens (1) or closes (-1); not for the end of one that became a WebSocket. */
  #countConnection(res: UwsResponse, change: number): void {
    const { turns, admission } = this.#context;
    turns.countConnection(change);
    if (change < 0) {
      admission.closed();
      return;
    }
    // A response is usable in the callback that shows it, and not kept (README U39).
    const refusal = admission.opened(new Uint8Array(res.getRemoteAddress()));
    if (refusal === undefined) return;
    res.close();
    this.hooks.crowded(refusal);
  }

  #run(
    res: UwsResponse,
    req: UwsRequest,
    head: RequestHead,
    handler: (x: Exchange<N>) => void,
    upgrade?: UpgradeContext,
  ): void {
    this.#requests++;
    const x = new Exchange<N>(res, head, this.#context, this.hooks.notes(), upgrade);
    primePause(res);
    const { turns, admission } = this.#context;
    const { wantsKeys } = admission;
    if (wantsKeys) x.keepPeerAddress();
    try {
      const fault = readHeaders(req, head);
      // A request without a body that is answered at once needs no callback; each costs.
      if (head.bodySizeBytes !== 0) x.attach();
      if (!turns.takeRequest()) {
        this.hooks.flooded();
        this.#refuseLater(x, 503, TOO_MANY, false);
      } else if (fault !== undefined) this.#refuseLater(x, 400, fault, true);
      else if (head.targetBytes > TARGET_LIMIT_BYTES) {
        this.hooks.refused(x, 414, `the request target exceeds ${TARGET_LIMIT_BYTES} bytes`, false);
      } else if (head.expectation === '' || this.#meetsExpectation(x, upgrade !== undefined)) handler(x);
    } catch (error) {
      this.hooks.thrown(x, error);
    } finally {
      x.leaveFirstTick();
      if (wantsKeys && x.keyId !== '') admission.keyShown(x.peerAddress);
    }
  }

  /** Sends the interim answer that the client waits for. False if it expects something else, and is answered. */
  #meetsExpectation(x: Exchange<N>, isUpgrade: boolean): boolean {
    const { expected, bodySizeBytes } = x.head;
    // Whether the body comes after all cannot be known: curl sends the request again in its place.
    if (expected === 'unknown')
      this.hooks.refused(x, 417, 'Expect may only be 100-continue', bodySizeBytes !== 0);
    else if (expected === 'continue' && !isUpgrade) x.sendContinue();
    return expected !== 'unknown';
  }

  /**
   * Refuses a request in the next turn of the event loop. If an ambiguous one were answered at once, uWS would read
   * what follows its headers as the next request and answer that too; an unanswered request makes uWS close the
   * connection instead (README U11, U12). So it does with a peer that brings one request after the other, but not with
   * one that brings one.
   */
  #refuseLater(x: Exchange<N>, status: 400 | 503, fault: string, close: boolean): void {
    x.deadline(REFUSAL_DEADLINE_MS);
    setImmediate(() => x.guard(() => this.hooks.refused(x, status, fault, close)));
  }

  /**
   * Listens on the port (0: any free one), and on one more if it is given. Resolves to the first one's number; rejects
   * if a port is in use. Not `exclusive`: other processes may listen on the same ports.
   */
  async listen(host: string, port: number, exclusive = true, ownPort?: number): Promise<number> {
    const takenPort = await this.#listeners.open(host, port, exclusive);
    if (ownPort !== undefined) await this.#listeners.open(host, ownPort, exclusive);
    // Not earlier: one of the two ports of its connection could otherwise be the port asked for.
    await this.#context.corkHolder.open(this.uws);
    return takenPort;
  }

  /** Lets `work` call the routes over a port of 127.0.0.1 that is closed again; such requests are not counted. */
  async rehearse<T>(work: (port: number) => Promise<T>): Promise<T> {
    const listeners = new Listeners(this.uws, this.#app);
    try {
      return await work(await listeners.open('127.0.0.1', 0, true));
    } finally {
      listeners.closeAll();
      this.#requests = 0;
    }
  }

  /** Every later answer closes its connection, or tells its client to. */
  closeAfterAnswers(): void {
    this.#context.isClosing = true;
  }

  /** Stops accepting connections; every later answer closes its connection. */
  stopListening(): void {
    this.closeAfterAnswers();
    this.#listeners.closeAll();
  }

  /** Closes every connection at once. */
  close(): void {
    this.stopListening();
    this.#app.close();
    this.#context.corkHolder.close();
  }
}
