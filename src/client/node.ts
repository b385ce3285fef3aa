// hexcodes/client for Node: the stream opens its sockets with `ws`.
import { HexcodesClient as Client } from './client.js';
import type { ClientOptions } from './public.js';
import { openNodeSocket } from './socket-node.js';

export * from './public.js';

export class HexcodesClient extends Client {
  constructor(options: ClientOptions) {
    super(options, openNodeSocket);
  }
}
