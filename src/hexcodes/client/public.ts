// Everything that hexcodes/client exports besides the client itself: the shapes of its options and answers, its one
// error class, and the types of its stream. The same for Node (node.ts) and browsers (web.ts).

export type * from './answers.js';
export { type ClientErrorCode, type ClientErrorDetails, type Fault, HexcodesClientError } from './errors.js';
export type { BulkAnswer, BulkFormat, BulkOptions, BulkSource } from './http.js';
export type {
  BatchHexcode,
  BatchPoint,
  CallOptions,
  ClientOptions,
  EncodeCallOptions,
  EncodeStreamOptions,
  HexcodesChunk,
  Position,
  StreamOptions,
  SuggestCallOptions,
} from './options.js';
export type { DecodedPositions, EncodedCells, EncodedTexts, PointStatus } from './stream/frames.js';
export type { StandardWebSocket, WebSocketConstructor } from './stream/socket.js';
export type { HexcodesStream } from './stream/stream.js';
