// A peer asks for the end of its connection and resets it while its requests are worked on: uWS closes it inside of the
// handler. A response that was used after that would be freed memory.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { freedMemory } from '../../../support/freed-memory.js';
import { ServeCommand } from '../../../support/serve-command.js';

const KEY = 'one_key_0123456789abcdef';
const ROUNDS = 300;
/** Requests that keep the server busy while the reset arrives. */
const AHEAD = 80;

test.each(['close', 'upgrade'])(
  'a service outlives peers that are gone when an answer with `Connection: %s` closes them',
  async (connection) => {
    const command = new ServeCommand(['--log-level', 'error'], {
      HEXCODES_API_KEYS: `one:${KEY}`,
      ...freedMemory,
    });
    onTestFinished(async () => void (await command.stop()));
    const port = Number(new URL(await command.base()).port);
    const open = async (): Promise<Socket> => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.on('error', () => {});
      socket.resume();
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      return socket;
    };
    const request = (lines: string): string => `GET /v1/meta HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
    for (let round = 0; round < ROUNDS && !command.hasEnded; round++) {
      const key = round % 2 === 0 ? `X-API-Key: ${KEY}\r\n` : '';
      const gone = await open();
      gone.write(request(key).repeat(AHEAD) + request(`${key}Connection: ${connection}\r\n`));
      // Busy, since a timer is too coarse: the reset has to arrive between the reading and the last answer.
      for (const end = performance.now() + (round % 30) / 10; performance.now() < end; );
      gone.resetAndDestroy();
      await sleep(1);
      if (round % 10 !== 9) continue;
      const others = await Promise.all(Array.from({ length: 6 }, open));
      for (const other of others)
        other.write(
          'POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n{"points"',
        );
      await sleep(10);
      for (const other of others) other.destroy();
    }
    expect(command.hasEnded, command.err).toBe(false);
  },
  120_000,
);
