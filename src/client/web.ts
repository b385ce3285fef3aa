// hexcodes/client for browsers, and for every platform with a WebSocket of its own.
import { HexcodesClient as Client } from './client.js';
import type { ClientOptions } from './public.js';
import { standardSocketOpener, type WebSocketConstructor } from './socket.js';

export * from './public.js';

export class HexcodesClient extends Client {
  constructor(options: ClientOptions) {
    const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor };
    const fetch = options.fetch ?? globalThis.fetch;
    super(options, WebSocket && standardSocketOpener(WebSocket, fetch));
  }
}
