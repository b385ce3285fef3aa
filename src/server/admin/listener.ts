// How the admin port of a supervisor listens and closes.
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adminServer } from '../../config/admin-server.js';
import { listenSentence } from '../listen-fault.js';

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
  const server = adminServer(host, names, answer);
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
