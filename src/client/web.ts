// hexcodes/client for browsers, and for every platform with a WebSocket of its own.
import { HexcodesClient as Client, type ClientOptions } from './client.js';
import { standardSocketOpener, type WebSocketConstructor } from './socket.js';

export type {
  BatchAnswer,
  BatchPoint,
  CallOptions,
  ClientOptions,
  DecodeAnswer,
  DecodeBatchResult,
  EncodeAnswer,
  EncodeBatchResult,
  EncodeStreamOptions,
  StreamOptions,
} from './client.js';
export { type ClientErrorCode, HexcodesClientError } from './errors.js';
export type { DecodedPositions, EncodedCells, EncodedTexts, PointStatus } from './frames.js';
export type { StandardWebSocket, WebSocketConstructor } from './socket.js';
export type { HexcodesStream } from './stream.js';

export class HexcodesClient extends Client {
  constructor(options: ClientOptions) {
    const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor };
    const fetch = options.fetch ?? globalThis.fetch;
    super(options, WebSocket && standardSocketOpener(WebSocket, (input, init) => fetch(input, init)));
  }
}
