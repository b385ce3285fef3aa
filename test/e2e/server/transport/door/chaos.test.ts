// Peers that do anything at any moment, beside limits that close connections all the time: the transport keeps the
// responses of connections, and one that were used after its end would end the process. So the service is a process of
// its own here.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { randomFrom } from '../../../../support/open-world.js';
import { handshake } from '../../../../support/raw-websocket.js';
import { ServeCommand } from '../../../../support/serve-command.js';

const KEY = 'one_key_0123456789abcdef';
const CONNECTIONS = 2000;
const AT_ONCE = 120;
const KINDS = 16;
const PORTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];

const auth = (isKeyed: boolean): string => (isKeyed ? `X-API-Key: ${KEY}\r\n` : '');
const BODY = '{"points":[{"lat":21,"lng":105.8}]}';

/** Requests of every kind that the door tells apart, each with or without a key. */
function requestOf(kind: number, isKeyed: boolean): string {
  const head = `HTTP/1.1\r\nHost: a\r\n${auth(isKeyed)}`;
  const batch = `POST /v1/hexcodes/encode/batch ${head}Content-Type: application/json\r\n`;
  const bulk = `POST /v1/hexcodes/encode/bulk ${head}Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n`;
  return [
    `GET /v1/hexcodes/encode?lat=21&lng=105.8 ${head}\r\n`,
    `GET / ${head}\r\n`,
    `GET /openapi.json ${head}\r\n`,
    `HEAD /v1/meta ${head}\r\n`,
    `OPTIONS /v1/meta ${head}\r\n`,
    `${batch}Content-Length: ${BODY.length}\r\n\r\n${BODY}`,
    `${batch}Content-Length: 0\r\n\r\n`,
    `${batch}Content-Length: 5000000\r\n\r\n${BODY}`,
    `${bulk}8\r\nlat,lng\n\r\n8\r\n21,105.8\r\n0\r\n\r\n`,
    bulk,
    `GET /v1/meta HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
    `GET / HTTP/1.0\r\n\r\n`,
    `POST / ${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc`,
    isKeyed ? handshake(KEY) : handshake('wrong'),
    `GET /v1/meta ${head}Connection: close\r\n\r\n`,
    `GET /v1/meta ${head}\r\n`.repeat(40),
  ][kind % KINDS] as string;
}

test.each([
  ['closes connections all the time', '80', '15'],
  ['knows all connections', '5000', '5000'],
  ['closes those of crowded addresses', '5000', '50'],
])(
  'a service that %s outlives peers that do anything',
  async (_, most, mostKeyless) => {
    const seed = Number(process.env.CHAOS_SEED ?? 31);
    const random = randomFrom(seed);
    const pick = (below: number): number => Math.floor(random() * below);
    const command = new ServeCommand(
      ['--max-connections', most, '--max-keyless-per-address', mostKeyless, '--log-level', 'error'],
      // Memory that is freed is overwritten, so that its use is seen.
      { HEXCODES_API_KEYS: `one:${KEY}`, MALLOC_PERTURB_: '165' },
    );
    onTestFinished(async () => void (await command.stop()));
    const port = Number(new URL(await command.base()).port);

    const one = async (): Promise<void> => {
      const localAddress = PORTS[pick(PORTS.length)] as string;
      const socket: Socket = connect({ port, host: '127.0.0.1', localAddress });
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('error', () => {});
      if (random() < 0.8) socket.resume();
      const requests = Array.from({ length: pick(5) }, () => requestOf(pick(KINDS), random() < 0.4)).join('');
      const parts = 1 + pick(4);
      for (let at = 0; at < requests.length; ) {
        const size = parts === 1 ? requests.length : 1 + pick(requests.length);
        socket.write(requests.slice(at, at + size));
        at += size;
        if (random() < 0.5) await sleep(pick(30));
      }
      await Promise.race([closed, sleep(pick(4) === 0 ? 1500 : pick(60))]);
      if (random() < 0.5) socket.destroy();
      else socket.resetAndDestroy();
    };
    let started = 0;
    const worker = async (): Promise<void> => {
      while (started++ < Number(process.env.CHAOS_CONNECTIONS ?? CONNECTIONS) && !command.hasEnded)
        await one();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(command.hasEnded, `seed ${seed}: ${command.err}`).toBe(false);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/meta`, { headers: { 'X-API-Key': KEY } });
    expect(answer.status).toBe(200);
  },
  300_000,
);
