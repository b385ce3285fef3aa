// What the stream needs of a WebSocket, and how the standard WebSocket (browsers, Node 22, Deno, undici) gives
// it. Such a WebSocket hides why an upgrade was refused, so the same address is then asked once by plain HTTP.
import { errorOfAnswer, HexcodesClientError } from './errors.js';

export const BINARY_SUBPROTOCOL = 'hexcodes.v1.binary';

export interface SocketEvents {
  /** The upgrade was refused or never happened. Nothing else follows. */
  refused(error: HexcodesClientError): void;
  text(data: string): void;
  binary(data: Uint8Array): void;
  closed(code: number, reason: string): void;
}

export interface StreamSocket {
  send(frame: Uint8Array<ArrayBuffer>): void;
  /** Says goodbye; `closed` follows. */
  close(code: number): void;
  /** Lets go at once; nothing follows. */
  drop(): void;
}

/** `url` is ws: or wss:, without the key. */
export type OpenSocket = (url: URL, apiKey: string | undefined, events: SocketEvents) => StreamSocket;

/** The part of the standard WebSocket that is used. */
export interface StandardWebSocket {
  binaryType: string;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  addEventListener(type: string, listener: (event: never) => void): void;
}
export type WebSocketConstructor = new (url: string, protocols: string[]) => StandardWebSocket;

/** A browser's WebSocket cannot carry headers: the key goes into the query. */
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
    // Browsers let a close follow an error; undici does not when the upgrade is refused.
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
    const answer = await fetch(plain, { signal: AbortSignal.timeout(10_000) });
    const body = await answer.text();
    // 426 is what a plain GET gets when all is well, so something between us does not let WebSockets pass.
    if (answer.status !== 426) return errorOfAnswer(answer.status, body, answer.headers.get('retry-after'));
    return new HexcodesClientError('NETWORK', 'the WebSocket upgrade failed although the service is there');
  } catch (cause) {
    return new HexcodesClientError('NETWORK', 'the service cannot be reached', { cause });
  }
}
