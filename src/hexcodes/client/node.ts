// hexcodes/client for Node: the stream opens its sockets with `ws`.

import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline, Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { createGunzip } from 'node:zlib';
import type { WebSocket as Ws } from 'ws';
import { HexcodesClient as Client } from './client.js';
import { errorOfAnswer, HexcodesClientError, unreachable } from './errors.js';
import type { ClientOptions } from './options.js';
import { BINARY_SUBPROTOCOL, type OpenSocket, type StreamSocket } from './stream/socket.js';

// The stream's socket in Node, made with `ws`: Node 20 has no WebSocket of its own, and Node 22's hides the answer to
// a refused upgrade. The key is sent in a header, which keeps it out of access logs.
const HANDSHAKE_TIMEOUT_MS = 15_000;
/** The service's error bodies are small; a proxy's page may be large and is cut off here. */
const REFUSAL_BODY_BYTES = 65_536;

/** Loads `ws` with the first stream: HTTP calls do not need it. */
const openNodeSocket: OpenSocket = (url, apiKey, events) => {
  let socket: StreamSocket | undefined;
  let dropped = false;
  // The catch() tells bundlers that the package may be absent.
  void import('ws')
    .catch(() => undefined)
    .then((ws) => {
      if (dropped) return;
      if (ws === undefined)
        events.refused(
          new HexcodesClientError('BAD_ARGUMENT', 'streams in Node need the package ws: npm install ws'),
        );
      else socket = openWith(ws.WebSocket, url, apiKey, events);
    })
    .catch((cause) => {
      const message = `the stream's socket cannot be made: ${(cause as Error).message}`;
      events.refused(new HexcodesClientError('BAD_ARGUMENT', message, { cause }));
    });
  return {
    send: (frame) => socket?.send(frame),
    close: (code) => {
      if (socket !== undefined) socket.close(code);
      else {
        dropped = true;
        events.closed(code, '');
      }
    },
    drop: () => {
      dropped = true;
      socket?.drop();
    },
  };
};

function openWith(
  WebSocket: typeof Ws,
  ...[url, apiKey, events]: Parameters<OpenSocket>
): ReturnType<OpenSocket> {
  const socket = new WebSocket(url, [BINARY_SUBPROTOCOL], {
    headers: apiKey === undefined ? {} : { 'X-API-Key': apiKey },
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    perMessageDeflate: false,
    // Answers are binary, and JSON.parse refuses a ready frame that is damaged.
    skipUTF8Validation: true,
  });
  let done = false;
  let opened = false;
  const refuse = (error: HexcodesClientError): void => {
    if (done) return;
    done = true;
    events.refused(error);
  };
  socket.binaryType = 'nodebuffer';
  socket.on('open', () => {
    opened = true;
  });
  socket.on('unexpected-response', (request, answer) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (part: string) => {
      if (text.length < REFUSAL_BODY_BYTES) text += part;
      else request.destroy();
    });
    const finish = (): void => {
      request.destroy();
      refuse(errorOfAnswer({ url, httpStatus: answer.statusCode ?? 0, text, header: headerOf(answer) }));
    };
    answer.on('end', finish);
    answer.on('error', finish);
    answer.on('aborted', finish);
  });
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (done) return;
    if (isBinary) events.binary(data);
    else events.text(data.toString());
  });
  socket.on('error', (cause) => {
    // After the upgrade `close` follows with code 1006 and reports the same failure.
    if (!opened) refuse(unreachable(url, cause));
  });
  socket.on('close', (code, reason) => {
    if (done) return;
    done = true;
    events.closed(code, reason.toString());
  });
  return {
    send: (frame) => socket.send(frame),
    close: (code) => socket.close(code),
    drop: () => {
      done = true;
      socket.terminate();
    },
  };
}

const headerOf =
  ({ headers }: IncomingMessage) =>
  (name: string): string | null =>
    [headers[name]].flat()[0] ?? null;

/** A bulk body or its answer that rests for longer has lost its peer. */
const REST_MS = 300_000;

/**
 * `fetch` as `bulk` needs it. Node's own takes an answer that is cut off for a whole one where it has
 * `Connection: close`, as those to bodies in chunks have, and where it is gzipped.
 */
const fetchWhole = (url: URL, { body, signal, headers, method }: RequestInit): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http;
    const length = body instanceof Blob ? { 'Content-Length': body.size } : {};
    const options = {
      method: method!,
      signal: signal!,
      headers: { ...(headers as Record<string, string>), ...length, 'Accept-Encoding': 'gzip' },
    };
    const sent = request(url, options, (answer) => {
      const isPacked = answer.headers['content-encoding'] === 'gzip';
      const bytes = isPacked ? pipeline(answer, createGunzip(), () => {}) : answer;
      const { statusCode: status } = answer;
      resolve({ status, headers: { get: headerOf(answer) }, body: Readable.toWeb(bytes) });
    });
    sent.setTimeout(REST_MS, () => sent.destroy(new Error(`no byte for ${REST_MS / 1000} s`)));
    sent.on('error', reject);
    // An answer of 101 ends the request without an error.
    sent.on('close', () => reject(new Error('the connection was closed')));
    const source = body instanceof Blob ? body.stream() : body;
    pipeline(Readable.fromWeb(source as NodeStream), sent, (error) => error && reject(error));
  });

export * from './public.js';

export class HexcodesClient extends Client {
  /** @throws HexcodesClientError BAD_ARGUMENT for a `baseUrl` that is not an address */
  constructor(options: ClientOptions) {
    super(options, { openSocket: openNodeSocket, streamsBodies: true, fetchBulk: fetchWhole as never });
  }
}
