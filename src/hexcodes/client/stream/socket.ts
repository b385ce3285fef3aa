// The socket of the stream as an interface, and its implementation with the standard WebSocket (browsers, Node 22,
// Deno, undici). The standard hides why an upgrade was refused, so a plain GET of the same URL then asks for the error.

import { errorOfFetch, HexcodesClientError, unreachable } from '../errors.js';
import { type Bytes, textIn } from './frames.js';

export const BINARY_SUBPROTOCOL = 'hexcodes.v1.binary';

export interface SocketEvents {
  /** The upgrade was rejected or never happened. No other event follows. */
  refused(error: HexcodesClientError): void;
  text(data: string): void;
  binary(data: Uint8Array): void;
  closed(code: number, reason: string): void;
}

export interface StreamSocket {
  send(frame: Bytes): void;
  /** Begins the closing handshake; `closed` follows. */
  close(code: number): void;
  /** Ends the connection at once; no event follows. */
  drop(): void;
}

/** `url` is ws: or wss:, without the key. */
export type OpenSocket = (url: URL, apiKey: string | undefined, events: SocketEvents) => StreamSocket;

/** The part of the standard WebSocket that the stream uses. */
export interface StandardWebSocket {
  binaryType: string;
  send(data: Bytes): void;
  close(code?: number): void;
  addEventListener(type: string, listener: (event: never) => void): void;
}
export type WebSocketConstructor = new (url: string, protocols: string[]) => StandardWebSocket;

/** The key goes into the query: a standard WebSocket sends no custom headers. */
export function standardSocketOpener(
  WebSocket: WebSocketConstructor,
  fetch: typeof globalThis.fetch,
): OpenSocket {
  return (url, apiKey, events) => {
    const keyed = new URL(url);
    if (apiKey !== undefined) keyed.searchParams.set('apikey', apiKey);
    const socket = new WebSocket(keyed.href, [BINARY_SUBPROTOCOL]);
    let opened = false;
    let dropped = false;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => {
      opened = true;
    });
    socket.addEventListener('message', ({ data }: { data: unknown }) => {
      if (dropped) return;
      if (typeof data === 'string') events.text(data);
      else events.binary(new Uint8Array(data as ArrayBuffer));
    });
    let asked = false;
    const refused = (): void => {
      if (asked) return;
      asked = true;
      void whyRefused(keyed, fetch).then((error) => dropped || events.refused(error));
    };
    // Browsers fire `close` after `error`; undici does not when the upgrade is rejected.
    socket.addEventListener('error', () => opened || refused());
    socket.addEventListener('close', ({ code, reason }: { code: number; reason: string }) => {
      if (!opened) refused();
      else if (!dropped) events.closed(code, reason);
    });
    return {
      send: (frame) => socket.send(frame),
      close: (code) => socket.close(code),
      drop: () => {
        dropped = true;
        socket.close();
      },
    };
  };
}

async function whyRefused(url: URL, fetch: typeof globalThis.fetch): Promise<HexcodesClientError> {
  const plain = new URL(url);
  plain.protocol = url.protocol === 'wss:' ? 'https:' : 'http:';
  try {
    const answer = await fetch(plain, { signal: AbortSignal.timeout(10_000), redirect: 'manual' });
    const text = await textIn(answer);
    // The service answers 426 to a plain GET, so WebSockets are blocked between it and the client.
    if (answer.status !== 426) return errorOfFetch(plain, answer, text);
    return new HexcodesClientError('NETWORK', `${plain.origin} is there, but the WebSocket upgrade failed`);
  } catch (cause) {
    return unreachable(plain, cause);
  }
}
