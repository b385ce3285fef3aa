// The admin port, on plain node:http and without keys, for the machine itself and its orchestrator: /livez answers 200
// as long as the event loop runs, /readyz only while requests are accepted.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readiness } from './life/readiness.js';
import { listenSentence } from './listen-fault.js';

export interface AdminPort {
  readonly port: number;
  close(): Promise<void>;
}

/** Makes a further page: its content type and body. */
export type AdminPage = () => Promise<{ type: string; body: string }> | { type: string; body: string };

/** Rejects with a sentence if it cannot listen there. */
export async function openAdminPort(
  host: string,
  port: number,
  readiness: Readiness,
  pages: Readonly<Record<string, AdminPage>> = {},
): Promise<AdminPort> {
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      answer(response, 405, 'text/plain', 'method not allowed\n');
    } else if (path === '/livez') answer(response, 200, 'text/plain', 'alive\n');
    else if (path === '/readyz') {
      const { status, text } = readiness.page;
      answer(response, status, 'text/plain', text);
    } else if (Object.hasOwn(pages, path)) {
      try {
        const { type, body } = await (pages[path] as AdminPage)();
        answer(response, 200, type, body);
      } catch {
        answer(response, 500, 'text/plain', 'failed\n');
      }
    } else answer(response, 404, 'text/plain', 'not found\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(new Error(listenSentence({ host, port, use: 'the admin port' }, error)));
    });
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' });
  response.end(body);
}
