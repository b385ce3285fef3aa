// A server on node:http for an admin port, of the service or of a supervisor: how it listens and how it closes.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenSentence } from '../listen-fault.js';
import { misdirection } from './host-check.js';

export interface AdminListener {
  readonly port: number;
  /** Open connections are closed, too. */
  close(): Promise<void>;
}

/**
 * Rejects with a sentence if it cannot listen there.
 * @param names that the port is asked by, beside those that nobody else can have
 */
export async function openListener(
  host: string,
  port: number,
  names: readonly string[],
  answer: RequestListener,
): Promise<AdminListener> {
  const isMisdirected = misdirection(host, names);
  const server = createServer((request, response) => {
    if (!isMisdirected(request, response)) answer(request, response);
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
