// How the admin port of a supervisor listens and closes.
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { adminServer } from '../../config/admin-server.js';

// Addresses on which the service cannot listen, as sentences. uWebSockets.js says only that it failed; node:net, which
// tries the same address, says why.

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** User of the port: words of a sentence, and the flags that change it. */
  readonly use: 'the service' | 'the admin port';
}

const FLAGS = {
  'the service': ['--port', '--host'],
  'the admin port': ['--admin-port', '--admin-host'],
} as const;

/** Where Prometheus listens unless it is told otherwise, and the admin port too. */
const PROMETHEUS_PORT = 9090;

/** Reasons by the codes of errors, and whether another port or another host is the remedy. */
const REASONS: Readonly<Record<string, readonly [reason: string, wayOut: 'port' | 'host']>> = {
  EADDRINUSE: ['the port is in use', 'port'],
  EACCES: ['not permitted: ports below 1024 need a privilege', 'port'],
  EADDRNOTAVAIL: ['this machine has no such address', 'host'],
  ENOTFOUND: ['no host of this name is known', 'host'],
  EAI_AGAIN: ['no host of this name is known', 'host'],
  EAFNOSUPPORT: ['this machine has no addresses of this kind', 'host'],
};

/** @param error that says why, if there is one */
export function listenSentence({ host, port, use }: ListenAddress, error?: NodeJS.ErrnoException): string {
  const [reason, wayOut] = REASONS[error?.code ?? ''] ?? [
    error?.message ?? 'uWebSockets.js gives no reason',
    'port',
  ];
  const [portFlag, hostFlag] = FLAGS[use];
  const shown = host.includes(':') ? `[${host}]` : host;
  const isOfPrometheus = use === 'the admin port' && port === PROMETHEUS_PORT && error?.code === 'EADDRINUSE';
  const remedy = isOfPrometheus
    ? `Prometheus itself listens on ${port}: ${portFlag} 9091, or another`
    : `${wayOut === 'port' ? portFlag : hostFlag} names another`;
  return `cannot listen on ${shown}:${port} for ${use}: ${reason} (${remedy})`;
}

/** Tries an address for a moment. @returns why it cannot be listened on; undefined if it can */
export function tryAddress({ host, port }: ListenAddress): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

export interface AdminListener {
  readonly port: number;
  /** Open connections are closed, too. */
  close(): Promise<void>;
}

/**
 * Rejects with a sentence if it cannot listen there.
 * @param names host names of the port, besides those that nobody else can have
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
