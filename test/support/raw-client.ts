// A client of raw bytes, on a connection that stays open until one of both closes it.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RawClient {
  readonly socket: Socket;
  /** All that has come. */
  readonly text: () => string;
  readonly closed: Promise<unknown>;
}

/** @param from the address of the client, of 127.0.0.0/8 */
export function rawClient(port: number, from = '127.0.0.1'): Promise<RawClient> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    let text = '';
    socket.on('data', (bytes) => (text += bytes));
    socket.on('error', () => {});
    const closed = new Promise((over) => socket.once('close', over));
    socket.once('connect', () => resolve({ socket, text: () => text, closed }));
    socket.once('close', () => resolve({ socket, text: () => text, closed }));
  });
}

/**
 * Sends pieces with pauses. Resolves to what comes back when the end of an answer has come, or the connection is
 * closed.
 */
export async function askRaw(
  client: RawClient,
  pieces: readonly string[],
  until = /}\s*$|\n0\r\n\r\n$/,
): Promise<string> {
  const before = client.text().length;
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) await sleep(20);
    client.socket.write(piece);
  }
  while (!until.test(client.text().slice(before)) && !client.socket.destroyed) await sleep(5);
  return client.text().slice(before);
}
