// hexcodes/client for Node: the stream opens its sockets with `ws`.
import { HexcodesClient as Client, type ClientOptions } from './client.js';
import { openNodeSocket } from './socket-node.js';

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
    super(options, openNodeSocket);
  }
}
