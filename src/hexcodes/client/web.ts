// hexcodes/client for browsers, and for every platform with a WebSocket of its own.
import { HexcodesClient as Client } from './client.js';
import type { ClientOptions } from './options.js';
import { standardSocketOpener, type WebSocketConstructor } from './stream/socket.js';

export * from './public.js';

export class HexcodesClient extends Client {
  /** @throws HexcodesClientError BAD_ARGUMENT for a `baseUrl` that is not an address */
  constructor(options: ClientOptions) {
    const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor };
    const fetch = options?.fetch ?? globalThis.fetch;
    // Over HTTP/1.1 browsers send a body only when it is complete.
    super(options, {
      openSocket: WebSocket && standardSocketOpener(WebSocket, fetch),
      streamsBodies: false,
    });
  }
}
