// The service as a process: refused uploads, its end under load, floods of the admin port, threads that hang, resets.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freedMemory } from '../../support/freed-memory.js';
import { inStore, type MadeKey, makeKey } from '../../support/keys.js';
import { stopUnderLoad, stopUnderPlainClients } from '../../support/load.js';
import {
  EARLY_REFUSALS,
  REFUSALS,
  refusalsOf,
  sendInFlights,
  sendRefusedUpload,
  UPLOAD_CLIENTS,
  waysToSend,
} from '../../support/refused-uploads.js';
import { sendRaw } from '../../support/server.js';
import { COMMAND_KEY, ServeCommand } from '../../support/server-process.js';
import { ownFolder } from '../../support/shared.js';

let service: ServeCommand | undefined;

afterEach(() => service?.remove());

describe('refused uploads', () => {
  const PROGRAMS = { curl: 'curl', 'curl in chunks': 'curl', urllib: 'python3' } as Record<string, string>;

  const MEGABYTES = 12;

  let service: ServeCommand;

  let base = '';

  beforeAll(async () => {
    service = new ServeCommand([]);
    base = await service.base();
  });

  afterAll(() => service.remove());

  describe.each(UPLOAD_CLIENTS)('%s', (client) => {
    const program = PROGRAMS[client];
    const isHere =
      program === undefined || spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
    test.skipIf(!isHere).each(refusalsOf(client))('gets the reason for $name, twice', async (refusal) => {
      const faults: string[] = [];
      for (let time = 0; time < 2; time++) {
        const fault = await sendRefusedUpload(client, base, COMMAND_KEY, refusal, MEGABYTES);
        if (fault !== undefined) faults.push(fault);
      }
      expect(faults).toEqual([]);
    });
  });

  const head = (headers: string): string =>
    `POST /v1/hexcodes/encode/bulk HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nX-API-Key: ${COMMAND_KEY}\r\n${headers}\r\n\r\n`;

  test('a small refused body is skipped, and the request after it in one segment is answered', async () => {
    const { port } = new URL(base);
    const answers = await sendRaw(
      Number(port),
      `${head('Content-Length: 5')}abcde${head('Content-Length: 3')}xyz`,
    );
    expect(answers.match(/HTTP\/1\.1 415/g)).toHaveLength(2);
    expect(answers).toContain('Connection: close');
  });

  test('a client that sends in flights, and reads after the last, gets the reason', async () => {
    const calls = [...waysToSend()].flatMap((way) => EARLY_REFUSALS.map((refusal) => ({ way, refusal })));
    const faults: string[] = [];
    let at = 0;
    await Promise.all(
      Array.from({ length: 24 }, async () => {
        while (at < calls.length) {
          const { way, refusal } = calls[at++]!;
          const fault = await sendInFlights(base, COMMAND_KEY, refusal, way);
          if (fault !== undefined) faults.push(fault);
        }
      }),
    );
    expect(faults).toEqual([]);
    expect(at).toBe(480);
  });

  test('and so does every one of 300 clients at a time, with one key, that close the connection', async () => {
    const way = { connection: 'close', isChunked: false, flightBytes: 7000, flights: 3, gapMs: 300 } as const;
    const refusal = { status: 413 };
    const faults = await Promise.all(
      Array.from({ length: 300 }, () => sendInFlights(base, COMMAND_KEY, refusal, way)),
    );
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });

  test('at most 64 bodies of one key are read on at a time, and none is for long', async () => {
    const { port } = new URL(base);
    const sockets = Array.from({ length: 80 }, () => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      socket.resume();
      socket.write(head('Content-Length: 100000000'));
      return socket;
    });
    await sleep(1500);
    const open = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
    expect(open).toBe(64);
    for (const socket of sockets) socket.destroy();
    // Closed connections have made way for others.
    await sleep(300);
    const fault = await sendRefusedUpload('fetch', base, COMMAND_KEY, REFUSALS[2]!, MEGABYTES);
    expect(fault).toBe(undefined);
  });
});

test('SIGTERM under load: every request that was read and every frame that was taken is answered', async () => {
  for (const args of [[], ['--drain-ms', '200'], ['--processes', '2']]) {
    expect((await stopUnderLoad(args)).faults).toEqual([]);
  }
});

test('stops with the default --drain-ms: no call of clients that ask on is reset', async () => {
  const lost: string[] = [];
  for (const afterMs of [400, 555]) {
    const result = await stopUnderPlainClients(afterMs);
    expect(result.answered).toBeGreaterThan(0);
    lost.push(...result.lost);
  }
  expect(lost).toEqual([]);
});

test('/readyz says 503 and why while no thread of the pool starts, and 200 once one does, without a call', async () => {
  const folder = ownFolder('no-threads');
  const [hook, missing] = [join(folder, 'no-threads.cjs'), join(folder, 'no-memory')];
  writeFileSync(missing, '');
  writeFileSync(
    hook,
    `const threads = require('node:worker_threads');
    const { existsSync } = require('node:fs');
    threads.Worker = class extends threads.Worker {
      constructor(file, options) {
        const fails = /piscina/.test(file) && existsSync(${JSON.stringify(missing)});
        super(fails ? "throw new Error('no memory')" : file, fails ? { ...options, eval: true } : options);
      }
    };
    require('node:module').syncBuiltinESMExports();`,
  );
  service = new ServeCommand([], { NODE_OPTIONS: `--require ${hook}` });
  const [base, admin] = [await service.base(), await service.adminBase()];
  const readyz = async (): Promise<string> => (await fetch(`${admin}/readyz`)).text();
  expect(await readyz()).toBe('not ready\nreason: no thread of the pool starts: no memory\n');
  const bulk = async (): Promise<number> => {
    const body = `lat,lng\n${'21.0288,105.8525\n'.repeat(20_000)}`;
    const headers = { 'X-API-Key': COMMAND_KEY, 'Content-Type': 'text/csv' };
    const answer = await fetch(`${base}/v1/hexcodes/encode/bulk`, { method: 'POST', headers, body });
    await answer.arrayBuffer().catch(() => {});
    return answer.status;
  };
  expect(await bulk()).toBe(503);
  // Longer than two tries that fail.
  for (let i = 0; i < 25; i++) {
    expect(await readyz()).toBe('not ready\nreason: no thread of the pool starts: no memory\n');
    await sleep(100);
  }
  rmSync(missing);
  await expect.poll(readyz, { timeout: 20_000 }).toBe('ready\n');
  expect(await bulk()).toBe(200);
});

test('--drain-ms: /readyz says 503 and why while requests and new connections are served, until a second signal', async () => {
  // Longer than three calls take on any machine; a second signal ends it.
  service = new ServeCommand(['--drain-ms', '60000']);
  const base = await service.base();
  const admin = await service.adminBase();
  const call = (): Promise<Response> =>
    fetch(`${base}/v1/hexcodes/decode?hexcodes=HN-2J`, { headers: { 'X-API-Key': COMMAND_KEY } });
  const before = await call();
  expect(before.headers.get('connection')).not.toBe('close');
  await before.arrayBuffer();
  const exit = service.stop();
  await service.line('stopping');
  const readyz = await fetch(`${admin}/readyz`);
  expect(readyz.status).toBe(503);
  expect(await readyz.text()).toBe('not ready\nreason: the service is stopping\n');
  for (let i = 0; i < 3; i++) {
    const answer = await call();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('connection')).toBe('close');
    await answer.arrayBuffer();
    await sleep(20);
  }
  void service.stop();
  expect(await exit).toBe(1);
});

test('--drain-ms: after that time the port is closed, and the service ends with 0', async () => {
  service = new ServeCommand(['--drain-ms', '100']);
  const base = await service.base();
  expect(await service.stop()).toBe(0);
  await expect(fetch(`${base}/v1/meta`)).rejects.toThrow();
});

describe('floods of the admin port', () => {
  const sockets: Socket[] = [];

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    service?.remove();
  });

  test.each([['1'], ['2']])(
    'pipelined calls of the admin port leave %s processes alive',
    async (processes) => {
      service = new ServeCommand(['--processes', processes]);
      const base = await service.base();
      const admin = await service.adminBase();
      const calls = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(300);
      const closed = Array.from({ length: 40 }, (_, i) => {
        const socket = connect(Number(new URL(admin).port), '127.0.0.1');
        sockets.push(socket);
        socket.on('error', () => {});
        if (i % 2 === 0) socket.pause();
        else socket.resume();
        socket.write(calls);
        return once(socket, 'close');
      });
      await Promise.race(closed);
      const answer = await fetch(`${base}/v1/hexcodes/encode?lat=21.0288&lng=105.8525`, {
        headers: { 'X-API-Key': COMMAND_KEY },
      });
      expect(answer.status).toBe(200);
      for (const socket of sockets) socket.resume();
      await Promise.all(closed);
      for (const path of ['/livez', '/readyz', '/metrics'])
        expect((await fetch(`${admin}${path}`)).status, path).toBe(200);
      expect(service.lines('a process has died')).toEqual([]);
      expect(await service.stop()).toBe(0);
    },
  );
});

const FAULTS = pathToFileURL('test/fixtures/service-faults.mjs').href;

test('probes are answered while the event loop stands still, and say so after five seconds', async () => {
  service = new ServeCommand([], { NODE_OPTIONS: `--import ${FAULTS}` });
  await service.base();
  const admin = await service.adminBase();
  const ask = async (path: string): Promise<[number, string]> => {
    const answer = await fetch(`${admin}${path}`);
    return [answer.status, await answer.text()];
  };
  expect(await ask('/readyz')).toEqual([200, 'ready\n']);
  expect(await ask('/livez')).toEqual([200, 'alive\n']);
  service.child.kill('SIGUSR2');
  const seen = new Set<string>();
  let isMetricsAnswered = false;
  void fetch(`${admin}/metrics`).then(
    () => (isMetricsAnswered = true),
    () => {},
  );
  // The loop answers nothing now; the probes do.
  while (!seen.has('503')) {
    const [status, text] = await ask('/readyz');
    seen.add(String(status));
    if (status === 200) {
      expect(isMetricsAnswered).toBe(false);
    } else {
      expect(text).toMatch(/^not ready\nreason: the event loop has not run for \d+ s\n$/);
      const [alive, why] = await ask('/livez');
      expect([alive, why]).toEqual([503, expect.stringMatching(/^not alive\nreason: the event loop/)]);
    }
    await sleep(100);
  }
  expect([...seen]).toEqual(['200', '503']);
  for (let status = 503; status !== 200; [status] = await ask('/readyz')) await sleep(100);
  expect((await ask('/livez'))[0]).toBe(200);
});

describe('threads', () => {
  const folder = ownFolder('threads');

  afterEach(() => {
    service?.remove();
    service = undefined;
  });

  /** A service with a store of its own, and two keys in it. */
  async function started() {
    const running = new ServeCommand([], {
      NODE_OPTIONS: `--import ${FAULTS}`,
      THREAD_FAULT: join(folder, 'fault'),
      HEXCODES_API_KEYS: '',
      HEXCODES_USAGE_FLUSH_MS: '200',
    });
    service = running;
    const base = await running.base();
    const admin = await running.adminBase();
    const dataDir = running.dataDir as string;
    const made = (): Promise<MadeKey> => makeKey(dataDir);
    const revoke = (id: string): Promise<unknown> =>
      inStore(dataDir, (changer) => changer.setState(id, 'revoked'));
    const statusOf = async (key: string) =>
      (await fetch(`${base}/v1/meta?key=${key}`, { headers: { 'X-API-Key': key } })).status;
    const ready = async () => {
      const answer = await fetch(`${admin}/readyz`, { signal: AbortSignal.timeout(2000) });
      return { status: answer.status, text: await answer.text() };
    };
    const fault = (text: string) => writeFileSync(join(folder, 'fault'), text);
    return { running, made, revoke, statusOf, ready, fault };
  }

  test.each([
    ['end', 'has ended'],
    ['hang', 'has not answered for \\d+ s|hangs'],
  ])('keys %s: not ready until revoked keys are refused again', async (fault, words) => {
    const at = await started();
    const [{ text: revoked, id }, { text: kept }] = [await at.made(), await at.made()];
    while ((await at.statusOf(kept)) !== 200) await sleep(20);
    expect(await at.statusOf(revoked)).toBe(200);
    at.fault(`keys ${fault}`);
    let page = await at.ready();
    for (; page.status === 200; page = await at.ready()) await sleep(20);
    expect(page.text).toMatch(
      new RegExp(`^not ready\nreason: the thread that follows the key store (${words})`),
    );
    await at.running.line('the key store is not followed: a revoked key may be let in');
    await at.revoke(id);
    const { text: later } = await at.made();
    await at.running.line('the key store is followed again');
    while ((await at.ready()).status !== 200) await sleep(20);
    while ((await at.statusOf(revoked)) === 200) await sleep(20);
    while ((await at.statusOf(later)) !== 200) await sleep(20);
    expect(await at.statusOf(kept)).toBe(200);
    const { reason } = at.running.lines('the key store is not followed: a revoked key may be let in')[0] as {
      reason: string;
    };
    expect(reason).toMatch(fault === 'end' ? /has ended; it is started again/ : /hangs; it is started again/);
    expect(await at.running.stop()).toBe(0);
  });

  test('usage hangs: not ready, and counted all the same once another thread stores it', async () => {
    const at = await started();
    const { text: key } = await at.made();
    while ((await at.statusOf(key)) !== 200) await sleep(20);
    at.fault('usage hang');
    let page = await at.ready();
    for (; page.status === 200; page = await at.ready()) await sleep(50);
    expect(page.text).toMatch(
      /^not ready\nreason: the thread that stores usage has not answered for \d+ s\n/,
    );
    while ((await at.ready()).status !== 200) await sleep(50);
    expect(await at.running.stop()).toBe(0);
  });

  test('the admin port hangs or ends: another thread takes it', async () => {
    const at = await started();
    // A thread that has not beaten yet is given two minutes to start: this one has, the one after it may not have.
    await sleep(1000);
    for (const fault of ['hang', 'end']) {
      const count = at.running.lines('a handler of the admin port threw').length;
      at.fault(`admin ${fault}`);
      await at.running.line('a handler of the admin port threw', count + 1);
      for (;;) {
        const page = await at.ready().catch(() => undefined);
        if (page?.status === 200) break;
        await sleep(100);
      }
    }
    expect(await at.running.stop()).toBe(0);
  });
});

const KEY = 'one_key_0123456789abcdef';

const ROUNDS = 120;

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
