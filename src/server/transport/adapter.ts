// The adapter over uWebSockets.js: routes, the port, and what must hold for every request; README explains why. Handlers are
// given an Exchange and cannot end the process: onAborted is set before a handler runs, exceptions are caught, and if a
// handler returns without an answer, the adapter answers 500 (README U6).
import { Budget, UNLIMITED } from '../budget/budget.js';
import { BodylessAnswers } from './answers/whole-answer.js';
import { CorkHolder } from './cork-holder.js';
import { Exchange } from './exchange.js';
import type { ExchangeContext, ExchangeHooks, ExchangeLimits } from './exchange-context.js';
import { readHeaders } from './headers.js';
import { Listeners } from './listeners.js';
import { loadUws, type UwsBuild } from './load-uws.js';
import { TARGET_LIMIT_BYTES } from './request-head.js';
import { SocketTurn, Turns } from './turns.js';
import {
  primePause,
  type UpgradeContext,
  type Uws,
  type UwsApp,
  type UwsBehaviour,
  type UwsMethod,
  type UwsRequest,
  type UwsResponse,
  type UwsWebSocket,
} from './uws.js';

/** Of a refusal, which is sent in the next turn of the event loop. */
const REFUSAL_DEADLINE_MS = 1000;

export interface AdapterHooks extends ExchangeHooks<Exchange> {
  /** Answers a request that no handler is called for; `close`: and closes the connection. */
  refused(x: Exchange, status: 400 | 414, message: string, close: boolean): void;
  /** A WebSocket callback threw. The adapter then closes that socket. */
  socketThrown(error: unknown): void;
  /** A connection brought more requests or frames in one turn of the event loop than it may, and was closed. */
  flooded(): void;
  /** A connection came that is one too many for the process, and was closed. */
  crowded(): void;
}

/** The user data of each WebSocket. */
export interface SocketData {
  /** Set when the socket opens. */
  turn: SocketTurn | undefined;
}

export interface AdapterLimits extends ExchangeLimits {
  /** Open connections at a time, WebSockets included. */
  readonly maxConnections: number;
}

const NO_LIMITS: AdapterLimits = {
  budget: new Budget(UNLIMITED),
  maxPastStopBytes: Number.POSITIVE_INFINITY,
  bodyTimeoutMs: 120_000,
  maxConnections: Number.POSITIVE_INFINITY,
};

export interface WebSocketRoute<T extends SocketData> {
  readonly maxPayloadBytes: number;
  readonly maxBackpressureBytes: number;
  /** 0 or 8 to 960; anything else ends the process (README U7). */
  readonly idleTimeoutSeconds: number;
  /** Must accept the upgrade or answer the request before it returns. */
  upgrade(x: Exchange): void;
  open(ws: UwsWebSocket<T>): void;
  /** `isTurnSpent`: this socket has had its share of the turn of the event loop; the answer must wait for another. */
  message(ws: UwsWebSocket<T>, message: ArrayBuffer, isBinary: boolean, isTurnSpent: boolean): void;
  /** An answer to `ping`, or a pong that was not asked for. */
  pong(ws: UwsWebSocket<T>): void;
  drain(ws: UwsWebSocket<T>): void;
  close(ws: UwsWebSocket<T>, code: number): void;
}

export class Adapter {
  readonly #uws: Uws;
  readonly #app: UwsApp;
  readonly #hooks: AdapterHooks;
  readonly #context: ExchangeContext<Exchange>;
  readonly #maxConnections: number;
  #connections = 0;
  #requests = 0;
  readonly #listeners: Listeners;

  private constructor(
    uws: Uws,
    /** The package that serves. */
    readonly build: UwsBuild,
    hooks: AdapterHooks,
    { maxConnections, ...limits }: AdapterLimits,
  ) {
    this.#uws = uws;
    this.#app = uws.App();
    this.#listeners = new Listeners(uws, this.#app);
    this.#hooks = hooks;
    this.#maxConnections = maxConnections;
    this.#context = {
      hooks,
      pending: new Set(),
      corkHolder: new CorkHolder(),
      turns: new Turns(),
      bodylessAnswers: new BodylessAnswers(),
      ...limits,
      isClosing: false,
    };
    this.#app.filter((res, change) => this.#countConnection(res, change));
  }

  static async load(hooks: AdapterHooks, limits = NO_LIMITS): Promise<Adapter> {
    const { uws, build } = await loadUws();
    return new Adapter(uws, build, hooks, limits);
  }

  /** Requests whose handlers have returned and whose answers are not complete. */
  get pending(): ReadonlySet<Exchange> {
    return this.#context.pending;
  }

  /** Requests whose heads were read so far. */
  get requestCount(): number {
    return this.#requests;
  }

  /** Open connections, WebSockets included. */
  get connectionCount(): number {
    return this.#connections;
  }

  /**
   * Adds a route. Patterns: `/a/:b`, `/*`. Of several that match, uWS takes one of the request's method before one of
   * 'any', then the one whose segments are literal.
   */
  route(method: UwsMethod, pattern: string, handler: (x: Exchange) => void): void {
    const literal = /[:*]/.test(pattern) ? undefined : pattern;
    const methodName = method === 'any' ? undefined : method === 'del' ? 'DELETE' : method.toUpperCase();
    this.#app[method](pattern, (res, req) => {
      if (this.#isFlood(res)) return;
      const path = literal ?? req.getUrl();
      const x = new Exchange(
        res,
        req,
        this.#context,
        methodName ?? req.getMethod().toUpperCase(),
        pattern,
        path,
        req.getQuery() ?? '',
      );
      this.#run(res, req, x, handler);
    });
  }

  /** Adds a WebSocket route. Requests that ask for no upgrade go to the other routes of the same pattern. */
  websocket<T extends SocketData>(pattern: string, route: WebSocketRoute<T>): void {
    // An exception in a WebSocket callback would otherwise be an uncaught exception of the process.
    const guarded = (ws: UwsWebSocket<T>, work: () => void): void => {
      try {
        work();
      } catch (error) {
        this.#hooks.socketThrown(error);
        ws.close();
      }
    };
    // Without a close frame: after `end` uWS would go on reading what the peer sends, and tell nobody (README U28).
    const closeFlood = (ws: UwsWebSocket<T>): void => {
      ws.close();
      this.#hooks.flooded();
    };
    const countControlFrame = (ws: UwsWebSocket<T>, content: ArrayBuffer): boolean => {
      const isFlood = ws.getUserData().turn!.take(content.byteLength) === 'close the socket';
      if (isFlood) closeFlood(ws);
      return !isFlood;
    };
    const behaviour: UwsBehaviour<T> = {
      maxPayloadLength: route.maxPayloadBytes,
      maxBackpressure: route.maxBackpressureBytes,
      idleTimeout: route.idleTimeoutSeconds,
      maxLifetime: 0,
      closeOnBackpressureLimit: true,
      sendPingsAutomatically: true,
      compression: this.#uws.DISABLED,
      upgrade: (res: UwsResponse, req: UwsRequest, context: UpgradeContext) => {
        if (this.#isFlood(res)) return;
        const x = new Exchange(
          res,
          req,
          this.#context,
          'GET',
          pattern,
          req.getUrl(),
          req.getQuery() ?? '',
          context,
        );
        this.#run(res, req, x, route.upgrade.bind(route));
      },
      open: (ws) => {
        // uWS never counts the end of a connection that became a WebSocket.
        this.#context.turns.countConnection(-1);
        ws.getUserData().turn = new SocketTurn(this.#context.turns);
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
        this.#connections--;
        try {
          route.close(ws, code);
        } catch (error) {
          this.#hooks.socketThrown(error);
        }
      },
    };
    this.#app.ws(pattern, behaviour);
  }

  /** Called for every connection that opens (1) or closes (-1); not for the end of one that became a WebSocket. */
  #countConnection(res: UwsResponse, change: number): void {
    this.#context.turns.countConnection(change);
    this.#connections += change;
    if (change < 0 || this.#connections <= this.#maxConnections) return;
    res.close();
    this.#hooks.crowded();
  }

  /** Counts the request; closes its connection if it is one too many in this turn of the event loop. */
  #isFlood(res: UwsResponse): boolean {
    if (this.#context.turns.takeRequest()) return false;
    res.onAborted(() => {});
    res.close();
    this.#hooks.flooded();
    return true;
  }

  #run(res: UwsResponse, req: UwsRequest, x: Exchange, handler: (x: Exchange) => void): void {
    this.#requests++;
    res.onAborted(() => x.gone());
    primePause(res);
    try {
      const fault = readHeaders(req, x);
      if (fault !== undefined) this.#refuseLater(x, fault);
      else if (x.targetBytes > TARGET_LIMIT_BYTES) {
        this.#hooks.refused(x, 414, `the request target exceeds ${TARGET_LIMIT_BYTES} bytes`, false);
      } else handler(x);
    } catch (error) {
      this.#hooks.thrown(x, error);
    }
    x.leaveFirstTick();
  }

  /**
   * Refuses an ambiguous request in the next turn of the event loop. If it were answered at once, uWS would read what
   * follows its headers as the next request and answer that too; an unanswered request makes uWS close the connection
   * instead (README U11, U12).
   */
  #refuseLater(x: Exchange, fault: string): void {
    x.deadline(REFUSAL_DEADLINE_MS);
    setImmediate(() => x.guard(() => this.#hooks.refused(x, 400, fault, true)));
  }

  /**
   * Listens on the port (0: any free one), and on one more if it is given. Resolves to the first one's number; rejects if a
   * port is in use. Not `exclusive`: other processes may listen on the same ports.
   */
  async listen(host: string, port: number, exclusive = true, ownPort?: number): Promise<number> {
    const takenPort = await this.#listeners.open(host, port, exclusive);
    if (ownPort !== undefined) await this.#listeners.open(host, ownPort, exclusive);
    // Not earlier: one of the two ports of its connection could otherwise be the port asked for.
    await this.#context.corkHolder.open(this.#uws);
    return takenPort;
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
