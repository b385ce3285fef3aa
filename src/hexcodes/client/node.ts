// hexcodes/client for Node: the stream opens its sockets with `ws`.
import { HexcodesClient as Client } from './client.js';
import type { ClientOptions } from './options.js';
import { openNodeSocket } from './stream/socket-node.js';

export * from './public.js';

export class HexcodesClient extends Client {
  /** @throws HexcodesClientError BAD_ARGUMENT for a `baseUrl` that is no address */
  constructor(options: ClientOptions) {
    super(options, { openSocket: openNodeSocket, streamsBodies: true });
  }
}
