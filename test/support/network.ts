// Ports that a test must know before anybody listens on them, and programs in a network namespace of their own.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';

// Linux takes the ports of outgoing connections from 32768 on, macOS and Windows from 49152 on: a port that it gave us
// could belong to somebody's connection before the test listens on it.
const FIRST = 12_000;
const LAST = 32_000;

const given = new Set<number>();

/** @returns the first of `count` ports in a row, free on loopback and given to nobody else in this process */
export async function freePort(count = 1): Promise<number> {
  for (;;) {
    const first = FIRST + Math.floor(Math.random() * (LAST - FIRST - count));
    const ports = Array.from({ length: count }, (_, at) => first + at);
    if (ports.some((port) => given.has(port))) continue;
    if (!(await Promise.all(ports.map(isFree))).every(Boolean)) continue;
    for (const port of ports) given.add(port);
    return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!isListening) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/** An HTTP server on a port of loopback that the system chooses. */
export async function listening(listener: RequestListener) {
  const server = createHttpServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await once(server.close(), 'close');
  };
  return { port, base: `http://127.0.0.1:${port}`, close };
}

// Runs a program in a network namespace of its own, with the receive buffers of its sockets as they are wanted.

/** Maximum below 512 KiB: no peer can fill the buffer of uWS, so every socket gets its turn. */
export const SMALL_RMEM = '4096 131072 400000';

/** Whether this process may make namespaces: as root, on Linux. */
export function canHaveNamespaces(): boolean {
  return spawnSync('unshare', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
}

/**
 * @param net `small`: net.ipv4.tcp_rmem is SMALL_RMEM; `system`: as the system makes it
 * @param command program and arguments, which get the input and outputs of this process
 * @returns exit status of the program
 */
export function runInNamespace(net: string, command: readonly string[]): number | null {
  const rmem = net === 'small' ? `echo '${SMALL_RMEM}' > /proc/sys/net/ipv4/tcp_rmem && ` : '';
  const script = `ip link set lo up && ${rmem}exec "$@"`;
  return spawnSync('unshare', ['-n', 'sh', '-c', script, 'sh', ...command], { stdio: 'inherit' }).status;
}
