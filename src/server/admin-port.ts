// The admin port, on plain node:http, for the machine itself and its orchestrator: a table of routes, each a method, a path
// and a handler. The port asks for no key; a route that needs one checks it itself.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AdminListener, openListener } from './admin/listener.js';

export interface AdminRequest {
  readonly method: string;
  readonly path: string;
  /** The values of the path's `:name` segments, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The address of the peer, as Node writes it; '' if the connection is gone. */
  readonly peerAddress: string;
  /** The values of a header, joined by commas; undefined if absent. */
  header(lowerCaseName: string): string | undefined;
  /** The body; undefined if it has more bytes than the limit. To be called once. */
  body(limitBytes: number): Promise<Buffer | undefined>;
}

export interface AdminAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AdminRoute {
  /** A route for GET answers HEAD too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/livez`, `/admin/v1/keys/:id`: a segment with a colon stands for any one segment. */
  readonly path: string;
  handle(request: AdminRequest): AdminAnswer | Promise<AdminAnswer>;
}

/** A text answer of one line, or of several. */
export function textAnswer(status: number, ...lines: readonly string[]): AdminAnswer {
  return { status, type: 'text/plain; charset=utf-8', body: lines.map((line) => `${line}\n`).join('') };
}

/**
 * Answers the routes; the first whose path matches is taken. Rejects with a sentence if it cannot
 * listen there.
 * @param failed called with what a handler throws, which is answered 500
 */
export async function openAdminPort(
  host: string,
  port: number,
  routes: readonly AdminRoute[],
  failed: (error: unknown) => void = () => {},
): Promise<AdminListener> {
  const table = routes.map((route) => ({ route, segments: route.path.split('/') }));

  const answerOf = async (request: IncomingMessage): Promise<AdminAnswer> => {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
    const segments = path.split('/');
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
    const allowed = new Set<string>();
    for (const { route, segments: pattern } of table) {
      const parameters = parametersOf(pattern, segments);
      if (parameters === undefined) continue;
      if (route.method === method) {
        return route.handle({
          method,
          path,
          parameters,
          query: new URLSearchParams(query),
          peerAddress: request.socket.remoteAddress ?? '',
          header: (name) => headerOf(request, name),
          body: (limitBytes) => bodyOf(request, limitBytes),
        });
      }
      allowed.add(route.method);
    }
    if (allowed.size === 0) return textAnswer(404, 'not found');
    if (allowed.has('GET')) allowed.add('HEAD');
    return { ...textAnswer(405, 'method not allowed'), headers: { Allow: [...allowed].join(', ') } };
  };

  return openListener(host, port, (request, response) => {
    answerOf(request)
      .catch((error: unknown) => {
        failed(error);
        return textAnswer(500, 'failed');
      })
      .then((answer) => send(request, response, answer));
  });
}

/** The values of the pattern's `:name` segments if the path matches it; a segment with broken escapes matches nothing. */
function parametersOf(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [at, expected] of pattern.entries()) {
    const segment = segments[at] as string;
    if (!expected.startsWith(':')) {
      if (segment !== expected) return undefined;
      continue;
    }
    try {
      parameters[expected.slice(1)] = decodeURIComponent(segment);
    } catch {
      return undefined;
    }
  }
  return parameters;
}

function headerOf(request: IncomingMessage, lowerCaseName: string): string | undefined {
  return request.headersDistinct[lowerCaseName]?.join(', ');
}

async function bodyOf(request: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    sizeBytes += (chunk as Buffer).length;
    if (sizeBytes > limitBytes) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function send(request: IncomingMessage, response: ServerResponse, answer: AdminAnswer): void {
  const { status, type, body, headers } = answer;
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...headers,
  });
  response.end(body);
  // Discards the rest of a body that the handler has not read: the next request stands behind it.
  request.resume();
}
