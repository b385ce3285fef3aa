// A crowd of peers without a key whose requests uWS refuses behind the handler: the service outlives them, and their
// connections.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ServeCommand } from '../../../support/serve-command.js';

const LENGTHS = ['1e3', '0x10', '+5', '5.5', '99999999999999999999', '1e-3', '5 5', '', '1_0', '٥'];
const AT_ONCE = 20;
const REQUESTS = 3000;
/** Longer than the service keeps a connection that rests. */
const REST_MS = 6500;

/** Sends one request over a connection of its own; resolves when that is closed. */
function ask(port: number, request: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    const timer = setTimeout(() => socket.destroy(), 300);
    socket.resume().on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

test('a crowd whose lengths are no numbers of bytes does not end the service', async () => {
  const command = new ServeCommand(['--max-keyless-per-address', '500', '--log-level', 'error']);
  onTestFinished(async () => void (await command.stop()));
  const port = Number(new URL(await command.base()).port);
  let sent = 0;
  const peer = async (): Promise<void> => {
    while (sent < REQUESTS && !command.hasEnded) {
      const length = LENGTHS[sent++ % LENGTHS.length];
      await ask(port, `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, peer));
  await Promise.race([sleep(REST_MS), command.exit]);
  expect(command.hasEnded, `${command.child.signalCode} after ${sent} requests`).toBe(false);
});
