// The one adapter over uWebSockets.js (with uws.ts, exchange.ts and chunked.ts beside it). What it holds, so that no
// handler has to:
//  - every route goes through one wrapper: onAborted first, the handler in try/catch, and an answer even if the handler
//    returns without one; otherwise the binary aborts the whole process;
//  - one pass over the headers finds what the binary lets through and intermediaries disagree about (a second
//    Content-Length or Host, an empty Content-Length, a Transfer-Encoding other than chunked): 400 and close;
//  - targets over 8 KiB are refused, request ids are taken or made, CR LF never reaches a header;
//  - the port is taken exclusively unless asked otherwise; stopping closes the listener, lets pending answers finish with
//    `Connection: close`, then closes what is left.
//
// Handlers get an Exchange. For bulk: streamBody with pause and resume on the way in, startChunked on the way out.
// For WebSockets: websocket() with an upgrade handler that answers like any other or calls acceptUpgrade.
import { CorkHolder } from './cork-holder.js';
import { Exchange, type ExchangeContext, type ExchangeHooks } from './exchange.js';
import { readHeaders } from './headers.js';
import { loadUws, type UwsBuild } from './load-uws.js';
import {
  type ListenSocket,
  primeReading,
  type UpgradeContext,
  type Uws,
  type UwsApp,
  type UwsBehaviour,
  type UwsMethod,
  type UwsRequest,
  type UwsResponse,
  type UwsWebSocket,
} from './uws.js';

/** Bytes of path and query together. */
export const TARGET_LIMIT_BYTES = 8192;

const REFUSAL_DEADLINE_MS = 1000;

export interface AdapterHooks extends ExchangeHooks {
  /** The adapter refuses a request before any handler: 400 or 414; `close` ends the connection with the answer. */
  refused(x: Exchange, status: 400 | 414, message: string, close: boolean): void;
  /** A WebSocket callback threw; the adapter closes that socket. */
  socketThrown(error: unknown): void;
}

export interface WebSocketRoute<T> {
  readonly maxPayloadBytes: number;
  readonly maxBackpressureBytes: number;
  /** 0 or 8 to 960. */
  readonly idleTimeoutSeconds: number;
  /** Answers with x.send(…) or accepts with x.acceptUpgrade(userData, protocol); in its first tick. */
  upgrade(x: Exchange): void;
  open(ws: UwsWebSocket<T>): void;
  message(ws: UwsWebSocket<T>, message: ArrayBuffer, isBinary: boolean): void;
  drain(ws: UwsWebSocket<T>): void;
  close(ws: UwsWebSocket<T>, code: number): void;
}

export class Adapter {
  readonly #uws: Uws;
  readonly #app: UwsApp;
  readonly #hooks: AdapterHooks;
  readonly #context: ExchangeContext;
  #listener: ListenSocket | undefined;

  private constructor(
    uws: Uws,
    /** The package that serves. */
    readonly build: UwsBuild,
    hooks: AdapterHooks,
  ) {
    this.#uws = uws;
    this.#app = uws.App();
    this.#hooks = hooks;
    this.#context = { hooks, pending: new Set(), corkHolder: new CorkHolder(), isClosing: false };
  }

  static async load(hooks: AdapterHooks): Promise<Adapter> {
    const { uws, build } = await loadUws();
    return new Adapter(uws, build, hooks);
  }

  /** Answers not complete yet, of exchanges that outlived their first tick. */
  get pendingCount(): number {
    return this.#context.pending.size;
  }

  /**
   * Adds a route. Patterns as the binary has them: `/a/:b`, `/*`; literal segments win, and all routes of the method come
   * before those of `any`.
   */
  route(method: UwsMethod, pattern: string, handler: (x: Exchange) => void): void {
    const literal = /[:*]/.test(pattern) ? undefined : pattern;
    const word = method === 'any' ? undefined : method === 'del' ? 'DELETE' : method.toUpperCase();
    this.#app[method](pattern, (res, req) => {
      const path = literal ?? req.getUrl();
      const x = new Exchange(
        res,
        req,
        this.#context,
        word ?? req.getMethod().toUpperCase(),
        pattern,
        path,
        req.getQuery() ?? '',
      );
      this.#run(res, req, x, handler);
    });
  }

  /** Adds a WebSocket route; requests without a handshake go on to the routes of the same pattern. */
  websocket<T>(pattern: string, route: WebSocketRoute<T>): void {
    // A throw in a WebSocket callback would end the process as one in a route does.
    const guarded = (ws: UwsWebSocket<T>, work: () => void): void => {
      try {
        work();
      } catch (error) {
        this.#hooks.socketThrown(error);
        ws.close();
      }
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
      open: (ws) => guarded(ws, () => route.open(ws)),
      message: (ws, message, isBinary) => guarded(ws, () => route.message(ws, message, isBinary)),
      drain: (ws) => guarded(ws, () => route.drain(ws)),
      close: (ws, code) => {
        try {
          route.close(ws, code);
        } catch (error) {
          this.#hooks.socketThrown(error);
        }
      },
    };
    this.#app.ws(pattern, behaviour);
  }

  #run(res: UwsResponse, req: UwsRequest, x: Exchange, handler: (x: Exchange) => void): void {
    res.onAborted(() => x.gone());
    primeReading(res);
    try {
      const fault = readHeaders(req, x);
      if (fault !== undefined) this.#refuseLater(x, fault);
      else if (targetSize(x) > TARGET_LIMIT_BYTES) {
        this.#hooks.refused(x, 414, `the request target exceeds ${TARGET_LIMIT_BYTES} bytes`, false);
      } else handler(x);
    } catch (error) {
      this.#hooks.thrown(x, error);
    }
    x.leaveFirstTick();
  }

  /**
   * Refuses a request whose end is in doubt, after this turn of the event loop. Answered at once, the binary would take
   * what follows in the same bytes for the next request and answer that too; while an answer is owed it closes instead.
   */
  #refuseLater(x: Exchange, fault: string): void {
    x.deadline(REFUSAL_DEADLINE_MS);
    setImmediate(() => x.guard(() => this.#hooks.refused(x, 400, fault, true)));
  }

  /** Takes the port (0: any free one) and resolves to its number; rejects when it is taken. */
  async listen(host: string, port: number, exclusive = true): Promise<number> {
    const taken = await this.#takePort(host, port, exclusive ? this.#uws.LIBUS_LISTEN_EXCLUSIVE_PORT : 0);
    // Not before: its connection has two ports of its own, and one of them could be this one.
    await this.#context.corkHolder.open(this.#uws);
    return taken;
  }

  #takePort(host: string, port: number, options: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, options, (socket) => {
        if (socket === false) {
          reject(
            new Error(`cannot listen on ${host}:${port}: the port is in use or the address is not ours`),
          );
          return;
        }
        this.#listener = socket;
        resolve(this.#uws.us_socket_local_port(socket));
      });
    });
  }

  /** Takes no new connections; answers from now on close theirs. */
  stopListening(): void {
    this.#context.isClosing = true;
    if (this.#listener !== undefined) this.#uws.us_listen_socket_close(this.#listener);
    this.#listener = undefined;
  }

  /** Ends every connection at once. */
  close(): void {
    this.stopListening();
    this.#app.close();
    this.#context.corkHolder.close();
  }
}

function targetSize(x: Exchange): number {
  return x.path.length + (x.rawQuery === '' ? 0 : 1 + x.rawQuery.length);
}
