// The callbacks of a WebSocket route as uWS wants them: what a peer brings in a turn of the event loop is counted, and
// exceptions end at one hook.

import type { Exchange } from './exchange.js';
import { SocketTurn, type Turns } from './limits.js';
import type { UwsBehaviour, UwsWebSocket } from './load-uws.js';

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

export interface SocketHooks {
  socketThrown(error: unknown): void;
  flooded(): void;
}

/** @param closed called when a WebSocket is closed, before the route knows */
export function socketBehaviour<T extends SocketData, N>(
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
