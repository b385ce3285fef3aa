// The AsyncAPI 3 document of the stream, made at build time; build.mjs writes it to dist/asyncapi.json. docs/stream.md
// describes each byte of the binary frames.

import { VERSION } from '../../hexcodes/version.js';
import { MAX_FRAME_BYTES, MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';
import { BODIES } from './bodies.js';

/** Codes of a close frame, why it is sent, and what to do. docs/reference/http.md has the table, too. */
export const CLOSE_CODES: readonly (readonly [number, string])[] = [
  [1000, 'The client has closed, with all its answers.'],
  [
    1001,
    'Nothing to answer, and no frame for 10 minutes, or a ping without a pong for 70 s. Connect again when there is something to send.',
  ],
  [
    1003,
    'A text frame on the binary subprotocol, or a binary one on JSON. A defect of the client: do not connect again.',
  ],
  [1009, 'A frame of more than `max_frame_bytes`. A defect of the client.'],
  [1011, 'A defect of the service. Connect again.'],
  [1012, 'The service stops. Frames that it accepted are answered; later ones are not. Connect again.'],
  [1013, 'No waiting answer was taken for 30 s, or too many bytes are buffered. Read, and connect again.'],
  [
    4001,
    'The key was revoked, disabled or replaced, has expired, or no longer allows this client. Do not connect again.',
  ],
  [
    4002,
    'The quota of the key does not cover a frame: frames before it are answered, it and later ones are not. Connect again when the day or the month is over.',
  ],
  [4003, 'The window was exceeded. A defect of the client.'],
];

const ref = (path: string): object => ({ $ref: `#/${path}` });
const count = { type: 'integer', minimum: 0 };
const seq = { type: 'integer', description: 'Of the client, repeated in the answer; at most 15 digits' };

/** Members that frames share with the bodies of batches. */
function batchMembers(name: string): object {
  const { properties } = BODIES[name] as { properties: object };
  return properties;
}

const jsonRequest = (op: 'encode' | 'decode'): object => ({
  type: 'object',
  required: ['seq', 'op', op === 'encode' ? 'points' : 'hexcodes'],
  properties: {
    seq,
    op: { const: op },
    ...batchMembers(op === 'encode' ? 'EncodeBatchRequest' : 'DecodeBatchRequest'),
  },
});

const jsonAnswer = {
  type: 'object',
  required: ['seq', 'status'],
  properties: {
    seq: { anyOf: [seq, { type: 'null' }] },
    status: { enum: ['OK', 'INVALID_REQUEST', 'OVER_QUERY_LIMIT', 'UNAVAILABLE'] },
    summary: ref('components/schemas/Summary'),
    results: {
      type: 'array',
      items: { anyOf: [ref('components/schemas/EncodeResult'), ref('components/schemas/DecodeResult')] },
    },
    message: { type: 'string' },
  },
};

const ready = {
  type: 'object',
  required: ['type', 'format', 'max_frame_bytes', 'max_points', 'window', 'window_bytes'],
  properties: {
    type: { const: 'ready' },
    format: { const: 1 },
    max_frame_bytes: { ...count, examples: [MAX_FRAME_BYTES] },
    max_points: { ...count, examples: [MAX_FRAME_POINTS] },
    window: { ...count, description: 'Frames that may be unanswered' },
    window_bytes: { ...count, description: 'Bytes of frames that may be unanswered' },
  },
};

const binary = (what: string): object => ({
  contentType: 'application/octet-stream',
  summary: `${what}: a header of 16 bytes and its records, little-endian; docs/stream.md has every byte`,
  payload: { type: 'string', format: 'binary' },
});

/** The document as an object that JSON.stringify writes. */
export function asyncApiDocument(): object {
  const messages = {
    ready: { contentType: 'application/json', summary: 'The first message of the server', payload: ready },
    encodeFrame: {
      contentType: 'application/json',
      summary: 'Positions, on hexcodes.v1.json',
      payload: jsonRequest('encode'),
    },
    decodeFrame: {
      contentType: 'application/json',
      summary: 'Codes, on hexcodes.v1.json',
      payload: jsonRequest('decode'),
    },
    answerFrame: {
      contentType: 'application/json',
      summary: 'The answer to one frame, in the order of the frames',
      payload: jsonAnswer,
    },
    binaryFrame: binary('Positions or codes, on hexcodes.v1.binary'),
    binaryAnswer: binary('The answer to one binary frame'),
  };
  const inChannel = (names: readonly string[]): object[] =>
    names.map((name) => ref(`channels/stream/messages/${name}`));
  const { Code, AdminCode, Fault, Summary, EncodeResult, DecodeResult, Point, CodeItem, ItemId } = BODIES;
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Hexcodes stream',
      version: VERSION,
      description: `One answer for each frame, in their order. A client offers hexcodes.v1.binary or hexcodes.v1.json, waits for the ready message, and keeps to its window. The server closes with:\n\n${CLOSE_CODES.map(([code, why]) => `- ${code}: ${why}`).join('\n')}`,
      license: { name: 'Apache-2.0' },
    },
    servers: {
      here: {
        host: '127.0.0.1:8080',
        protocol: 'ws',
        security: [ref('components/securitySchemes/header'), ref('components/securitySchemes/query')],
      },
    },
    channels: {
      stream: {
        address: '/v1/hexcodes/stream',
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, ref(`components/messages/${name}`)]),
        ),
        bindings: {
          ws: {
            method: 'GET',
            headers: {
              type: 'object',
              properties: { 'Sec-WebSocket-Protocol': { enum: ['hexcodes.v1.binary', 'hexcodes.v1.json'] } },
            },
          },
        },
      },
    },
    operations: {
      beReady: {
        action: 'send',
        channel: ref('channels/stream'),
        summary: 'The server says its limits',
        messages: inChannel(['ready']),
      },
      convert: {
        action: 'receive',
        channel: ref('channels/stream'),
        summary: 'The server takes frames',
        messages: inChannel(['encodeFrame', 'decodeFrame', 'binaryFrame']),
        reply: {
          channel: ref('channels/stream'),
          messages: inChannel(['answerFrame', 'binaryAnswer']),
        },
      },
    },
    components: {
      messages,
      schemas: { Code, AdminCode, Fault, Summary, EncodeResult, DecodeResult, Point, CodeItem, ItemId },
      securitySchemes: {
        header: { type: 'httpApiKey', in: 'header', name: 'X-API-Key' },
        query: {
          type: 'httpApiKey',
          in: 'query',
          name: 'apikey',
          description: 'For browsers, whose WebSocket sends no headers',
        },
      },
    },
  };
}
