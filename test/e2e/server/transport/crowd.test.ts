// Crowds of peers without a key, whose requests uWS refuses behind the handler, or that are odd in any other way: the
// service outlives them and the rest that its connections may have. The long way is `npm run proof -- crowd`.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Crowd } from '../../../support/crowd.js';
import { freedMemory } from '../../../support/freed-memory.js';
import { randomFrom } from '../../../support/open-world.js';
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

const KEY = 'one_key_0123456789abcdef';
const CROWD_MS = Number(process.env.CROWD_MS ?? 20_000);

test.skipIf(freedMemory === undefined).each([
  ['crowded all the time', ['--max-connections', '80', '--max-keyless-per-address', '15']],
  ['crowded at times', ['--max-connections', '200']],
  ['never crowded', []],
])(
  'a service that is %s outlives crowds, by an allocator that overwrites freed memory (needs a C compiler)',
  async (_, args) => {
    const command = new ServeCommand([...args, '--log-level', 'info'], {
      ...freedMemory,
      HEXCODES_API_KEYS: `one:${KEY}`,
      HEXCODES_LOG_REQUESTS_PER_SECOND: '1',
    });
    onTestFinished(async () => void (await command.stop()));
    const port = Number(new URL(await command.base()).port);
    const seed = Number(process.env.CROWD_SEED ?? 1);
    const from = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
    const crowd = new Crowd({ port, key: KEY, random: randomFrom(seed), atOnce: 60, from });
    onTestFinished(() => crowd.end());
    const endMs = performance.now() + CROWD_MS;
    await crowd.run(() => performance.now() < endMs && !command.hasEnded);
    await Promise.race([sleep(2 * REST_MS), command.exit]);
    const said = `${command.child.signalCode} after ${crowd.requests} requests, seed ${seed}: ${command.err}`;
    expect(command.hasEnded, said).toBe(false);
    const headers = { 'X-API-Key': KEY };
    expect((await fetch(`http://127.0.0.1:${port}/v1/meta`, { headers })).status).toBe(200);
    expect(command.lines('a handler threw')).toEqual([]);
    crowd.end();
    // Each that opened has closed: the calls of the filter come in pairs.
    const metrics = `${await command.adminBase()}/metrics`;
    let open: string | undefined;
    do open = /^hexcodes_connections (.*)$/m.exec(await (await fetch(metrics)).text())?.[1];
    while (Number(open) > 1 && !command.hasEnded && (await sleep(200, true)));
    expect(Number(open)).toBeLessThanOrEqual(1);
  },
);
