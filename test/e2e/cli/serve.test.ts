// `hexcodes serve` as a process: configuration, start-up, ports, signals, and a log that cannot be written.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { OPEN_INDEX } from '../../support/open-world.js';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-command-'));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly exit: Promise<number | null>;
}

function hexcodes(args: string[], env: Record<string, string> = {}, command = process.execPath): Running {
  const base = {
    ...{ PATH: process.env.PATH ?? '', HEXCODES_DATA_DIR: folder, HEXCODES_ADMIN_PORT: '0' },
    // Nobody has to notice the end before it.
    HEXCODES_DRAIN_MS: '0',
  };
  const child = spawn(command, args, { env: { ...base, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let out = '';
  let err = '';
  child.stdout.on('data', (bytes) => (out += bytes));
  child.stderr.on('data', (bytes) => (err += bytes));
  const exit = once(child, 'close').then(([code]) => code as number | null);
  return { child, out: () => out, err: () => err, exit };
}
const serve = (args: string[] = ['--port', '0'], env: Record<string, string> = {}) =>
  hexcodes(['dist/cli/main.js', 'serve', ...args], env);

/** Waits for the start-up lines. @returns the base address */
async function baseOf(running: Running): Promise<string> {
  for (;;) {
    const base = /answers on (http:\/\/\S+)/.exec(running.err())?.[1];
    if (base !== undefined) return base;
    if (running.child.exitCode !== null) throw new Error(running.err());
    await sleep(10);
  }
}

test('wrong configuration: all faults at once, exit 1, no secret in the message', async () => {
  const running = serve(['--port', '70000', '--log-level', 'loud'], {
    HEXCODES_ADMIN_PORT: 'x',
    HEXCODES_HOST: '',
    HEXCODES_INDEX: join(folder, 'nowhere.bin'),
    HEXCODES_API_KEYS: 'good:0123456789abcdef,bad:short-secret',
    HEXCODES_KEY_PEPPER: 'short-pepper',
  });
  expect(await running.exit).toBe(2);
  const faults = running.err().trim().split('\n');
  expect(faults.map((line) => line.split(' ')[1]).sort()).toEqual([
    '--log-level',
    '--port',
    'HEXCODES_ADMIN_PORT',
    'HEXCODES_API_KEYS',
    'HEXCODES_HOST',
    'HEXCODES_INDEX',
    'HEXCODES_KEY_PEPPER',
  ]);
  expect(running.err()).not.toMatch(/short-secret|short-pepper|0123456789abcdef/);
});

test('a signal with the first line of the log, or before it, stops the service as any other', async () => {
  for (const [n, signal] of (['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGTERM'] as const).entries()) {
    const running = serve();
    const isDue = (): boolean => (n === 0 ? running.out() !== '' : running.out().includes('"listening"'));
    running.child.stdout?.on('data', () => {
      if (isDue()) running.child.kill(signal);
      if (isDue()) running.child.stdout?.removeAllListeners('data');
    });
    expect([signal, await running.exit]).toEqual([signal, 0]);
  }
});

test('a file that is not an index, unknown flags and commands: a sentence and a failure', async () => {
  for (const [args, word] of [
    [['--index', 'package.json'], 'index'],
    [['--prot', '1'], '--prot'],
  ] as const) {
    const running = serve([...args]);
    expect(await running.exit).toBeGreaterThan(0);
    expect(running.err()).toContain(word);
    expect(running.err()).not.toContain('    at ');
  }
  expect(await hexcodes(['dist/cli/main.js', 'serv']).exit).toBeGreaterThan(0);
});

test('an index of the user is used, and /v1/meta shows its notice', async () => {
  const index = join(folder, 'own.bin');
  writeFileSync(index, OPEN_INDEX);
  const running = serve(['--port', '0'], { HEXCODES_INDEX: index });
  const base = await baseOf(running);
  const key = readFileSync(join(folder, 'first-key'), 'utf8').trim();
  const meta = await (await fetch(`${base}/v1/meta?apikey=${key}`)).json();
  expect(meta.boundary_data).toMatchObject({ notice: 'made up', source: 'made up' });
  running.child.kill('SIGTERM');
  expect(await running.exit).toBe(0);
});

test('a data folder that cannot be used: a sentence and exit 1', async () => {
  const running = serve(['--port', '0', '--data-dir', 'package.json']);
  expect(await running.exit).toBe(1);
  expect(running.err()).toBe('hexcodes: the data folder package.json is a file, not a folder\n');
});

test('a person at a terminal gets the page, the documents, a first call and the key', async (context) => {
  const dataDir = join(folder, 'of-a-person');
  const line = `${process.execPath} dist/cli/main.js serve --port 0 --data-dir ${dataDir}`;
  const running = hexcodes(['-qec', line, '/dev/null'], {}, 'script');
  running.child.on('error', () => context.skip());
  while (!running.out().includes('Ctrl-C ends it.')) await sleep(20);
  const base = /answers on (http:\S+)/.exec(running.out())![1]!;
  const key = readFileSync(join(dataDir, 'first-key'), 'utf8').trim();
  for (const part of [`${base}/\r`, `${base}/docs`, `cat ${join(dataDir, 'first-key')}`, `key is ${key}`])
    expect(running.out()).toContain(part);
  running.child.kill('SIGTERM');
  await running.exit;
});

test('start-up prints a curl line that works in any folder, with the key in a header; no key goes to pipes or logs; SIGTERM and SIGINT stop cleanly', async () => {
  const dataDir = join(folder, "Bà Trưng's data");
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const running = serve(['--port', '0', '--data-dir', dataDir]);
    const base = await baseOf(running);
    while (!/curl .*\n/.test(running.err())) await sleep(5);
    const key = readFileSync(join(dataDir, 'first-key'), 'utf8').trim();
    const line = /curl .*/.exec(running.err())![0];
    expect(line).toContain(`'${base}/v1/`);
    expect(line).toContain('-H "X-API-Key: ');
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: tmpdir() });
    expect(JSON.parse(stdout)).toMatchObject({ hexcodes: 'HN-6GHP4-83RFR', admin_code: 'HN', status: 'OK' });
    running.child.kill(signal);
    expect(await running.exit).toBe(0);
    expect(running.out() + running.err()).not.toContain(key);
    for (const line of running.out().trim().split('\n')) JSON.parse(line);
    expect(running.out()).toContain('"stopped"');
    await expect(fetch(base)).rejects.toThrow();
  }
});

test('a port in use, also the admin port: a message and exit 1', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as { port: number };
  const other = createServer().listen(0, '127.0.0.2');
  await once(other, 'listening');
  const { port: otherPort } = other.address() as { port: number };
  const taken = serve(['--port', String(port)]);
  expect(await taken.exit).toBe(1);
  const inUse = `cannot listen on 127.0.0.1:${port} for the service: the port is in use (--port names another)`;
  expect(taken.err()).toBe(`hexcodes: ${inUse}\n`);
  const bothTaken = serve(['--port', String(port), '--admin-host', '127.0.0.2'], {
    HEXCODES_ADMIN_PORT: String(otherPort),
  });
  expect(await bothTaken.exit).toBe(1);
  expect(bothTaken.err()).toBe(
    `hexcodes: ${inUse}\ncannot listen on 127.0.0.2:${otherPort} for the admin port: the port is in use (--admin-port names another)\n`,
  );
  const adminTaken = serve(['--port', '0', '--admin-port', String(port)]);
  expect(await adminTaken.exit).toBe(1);
  expect(adminTaken.err()).toContain('admin port');
  // Prometheus itself listens there. Anyone who has it already is as good.
  const prometheus = createServer().on('error', () => {});
  await new Promise((done) =>
    prometheus.once('error', done).listen(9090, '127.0.0.1', () => done(undefined)),
  );
  const usual = serve(['--port', '0', '--admin-port', '9090']);
  expect(await usual.exit).toBe(1);
  expect(usual.err()).toContain('Prometheus itself listens on 9090: --admin-port 9091, or another');
  prometheus.close();
  holder.close();
  other.close();

  // A second server must not share the port (SO_REUSEPORT).
  const first = serve();
  const { port: own } = new URL(await baseOf(first));
  const second = serve(['--port', own]);
  expect(await second.exit).toBe(1);
  expect(second.err()).toContain('in use');
  first.child.kill('SIGTERM');
  expect(await first.exit).toBe(0);
});

test.each([
  [
    ['--host', '192.0.2.1', '--port', '8080'],
    '192.0.2.1:8080 for the service: this machine has no such address (--host',
  ],
  [
    ['--host', 'nowhere.invalid', '--port', '0'],
    'nowhere.invalid:0 for the service: no host of this name is known (--host',
  ],
])('an address that cannot be: %j', async (args, message) => {
  const running = serve(args);
  expect(await running.exit).toBe(1);
  expect(running.err()).toContain(message);
});

test('a stop waits for answers under way; a second signal exits at once', async () => {
  for (const signals of [1, 2]) {
    const running = serve(['--port', '0', '--grace-ms', signals === 1 ? '500' : '60000']);
    const { port } = new URL(await baseOf(running));
    const key = readFileSync(join(folder, 'first-key'), 'utf8').trim();
    const socket = connect(Number(port), '127.0.0.1');
    let received = '';
    socket.on('data', (bytes) => (received += bytes));
    socket.on('error', () => {});
    const head = `POST /v1/hexcodes/decode HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n`;
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"hexcodes"`);
    await sleep(100);
    running.child.kill('SIGTERM');
    while (!running.out().includes('"stopping"')) await sleep(5);
    if (signals === 1) {
      socket.write(':"HN-2J"}');
      expect(await running.exit).toBe(0);
      expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n/);
      expect(received).toMatch(/\r\nConnection: close\r\n/i);
    } else {
      running.child.kill('SIGTERM');
      expect(await running.exit).toBe(1);
    }
    socket.destroy();
  }
});

test('npm start becomes the server process: a signal to it ends the server', async () => {
  const running = hexcodes(['start', '--', '--port', '0'], { HOME: process.env.HOME ?? '' }, 'npm');
  const base = await baseOf(running);
  running.child.kill('SIGTERM');
  await running.exit;
  for (let tries = 0; tries < 100; tries++) {
    if (
      !(await fetch(base).then(
        () => true,
        () => false,
      ))
    )
      return;
    await sleep(20);
  }
  throw new Error('the server outlived npm start');
});

test('help names every setting and needs neither server nor data', async () => {
  const running = hexcodes(['dist/cli/main.js', 'serve', '--help']);
  expect(await running.exit).toBe(0);
  // bus.ts has the settings of `hexcodes worker`.
  const files = readdirSync('src/config', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && file !== 'bus.ts',
  );
  const sources = files.map((file) => readFileSync(join('src/config', file), 'utf8'));
  const variables = sources.join().match(/(?<=variable: ')\w+/g) ?? [];
  expect(variables).toContain('HEXCODES_API_KEYS');
  for (const variable of variables) expect(running.out()).toContain(variable);
  expect(existsSync('dist/cli/main.js')).toBe(true);
});

// `hexcodes serve` over a log that cannot be written: requests are answered, the signals end the process, and lines
// that were dropped are counted. The disk that is full is a tmpfs in a mount namespace, which only root can make.

describe('a log that cannot be written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-log-'));
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  const SERVE = ['dist/cli/main.js', 'serve', '--port', '0', '--grace-ms', '3000'];
  // A line for each request, however many there are.
  const ENV = {
    PATH: process.env.PATH ?? '',
    HEXCODES_DATA_DIR: folder,
    HEXCODES_ADMIN_PORT: '0',
    HEXCODES_LOG_REQUESTS_PER_SECOND: '1000000',
  };

  interface Running {
    readonly child: ChildProcess;
    readonly port: number;
    readonly exit: Promise<number | string | null>;
  }

  /** Starts the service with its log on `stdout`, and waits until it answers. */
  async function start(stdout: number | 'pipe', command = process.execPath, args = SERVE): Promise<Running> {
    const child = spawn(command, args, { env: ENV, stdio: ['ignore', stdout, 'pipe'] });
    children.push(child);
    const exit = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string | null);
    let err = '';
    child.stderr?.on('data', (bytes) => (err += bytes));
    for (;;) {
      const port = /answers on http:\/\/[^:]+:(\d+)/.exec(err)?.[1];
      if (port !== undefined) return { child, port: Number(port), exit };
      if (child.exitCode !== null) throw new Error(err);
      await sleep(10);
    }
  }

  /** Sends requests without a key, each of which is refused and logged. @returns how many were answered */
  async function refuse(port: number, count: number): Promise<number> {
    const socket = connect(port, '127.0.0.1');
    let answered = 0;
    let received = '';
    let sent = 0;
    const send = (): void => {
      const some = Math.min(count - sent, 200);
      sent += some;
      socket.write('GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(some));
    };
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
      const now = received.split('HTTP/1.1 401 ').length - 1;
      if (answered + now < sent) return;
      answered += now;
      received = '';
      if (sent < count) send();
      else socket.destroy();
    });
    send();
    await once(socket, 'close');
    return answered;
  }

  /** SIGTERM must be enough. @returns the exit code */
  async function stop({ child, exit }: Running): Promise<number | string | null> {
    child.kill('SIGTERM');
    return exit;
  }

  test('a log that no write succeeds on: requests are answered, SIGTERM ends the process', async () => {
    const full = openSync('/dev/full', 'w');
    const running = await start(full);
    closeSync(full);
    expect(await refuse(running.port, 400)).toBe(400);
    expect(await stop(running)).toBe(0);
  });

  test('a reader that stands still: memory is bounded, and the lines dropped are counted when it reads again', async () => {
    const running = await start('pipe');
    const { stdout } = running.child;
    // Each line has some 180 bytes; a pipe holds 64 KiB, the service 1 MiB.
    const count = 10_000;
    expect(await refuse(running.port, count)).toBe(count);
    let log = '';
    stdout?.on('data', (bytes) => (log += bytes));
    const closed = once(stdout as NodeJS.ReadableStream, 'close');
    while (!log.includes('log lines were dropped')) await sleep(10);
    expect(await refuse(running.port, 1)).toBe(1);
    expect(await stop(running)).toBe(0);
    await closed;
    const lines = log.trim().split('\n');
    const dropped = lines.map((line) => (JSON.parse(line).dropped_lines as number | undefined) ?? 0);
    // The drops may be reported in several lines.
    const droppedCount = dropped.reduce((sum, some) => sum + some, 0);
    expect(lines.filter((line) => line.includes('"answered"')).length + droppedCount).toBe(count + 1);
    expect(droppedCount).toBeGreaterThan(1000);
  });

  test('a reader that stands still: SIGTERM ends the process, and so does a second signal', async () => {
    for (const signals of [1, 2]) {
      const running = await start('pipe');
      expect(await refuse(running.port, 8000)).toBe(8000);
      running.child.kill('SIGTERM');
      if (signals === 2) running.child.kill('SIGTERM');
      expect([0, 1]).toContain(await running.exit);
    }
  });

  test('a reader that went away: requests are answered, SIGTERM ends the process', async () => {
    const running = await start('pipe');
    running.child.stdout?.destroy();
    expect(await refuse(running.port, 400)).toBe(400);
    expect(await stop(running)).toBe(0);
  });

  test('SIGHUP drains as SIGTERM does', async () => {
    const running = await start('pipe');
    let log = '';
    running.child.stdout?.on('data', (bytes) => (log += bytes));
    running.child.kill('SIGHUP');
    expect(await running.exit).toBe(0);
    expect(log).toContain('"stopped"');
  });

  test('standard error on a full disk does not end the start', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, SERVE, { env: ENV, stdio: ['ignore', 'pipe', full] });
    closeSync(full);
    children.push(child);
    const exit = once(child, 'exit');
    let log = '';
    child.stdout?.on('data', (bytes) => (log += bytes));
    while (!log.includes('"listening"') && child.exitCode === null) await sleep(10);
    const { port } = JSON.parse(log.split('\n').find((line) => line.includes('"listening"')) as string);
    expect(await refuse(port, 5)).toBe(5);
    child.kill('SIGTERM');
    expect((await exit)[0]).toBe(0);
  });

  /** Runs a command in namespaces of its own. */
  const UNSHARE = 'unshare';
  const canMount = spawnSync(UNSHARE, ['-m', 'true']).status === 0;

  describe.skipIf(!canMount)('a full disk (needs root)', () => {
    test('lines are dropped, and counted once there is room again', async () => {
      const disk = mkdtempSync(join(folder, 'disk-'));
      const script = [
        `mount -t tmpfs -o size=64k none ${disk}`,
        `head -c 32768 /dev/zero > ${disk}/ballast`,
        `exec "$0" "$@" > ${disk}/log`,
      ].join(' && ');
      const running = await start('pipe', UNSHARE, ['-m', 'sh', '-c', script, process.execPath, ...SERVE]);
      // Another mount namespace is seen through its process.
      const seen = join(`/proc/${running.child.pid}/root`, disk);
      expect(await refuse(running.port, 10_000)).toBe(10_000);
      expect(readFileSync(join(seen, 'log')).length).toBe(32_768);
      rmSync(join(seen, 'ballast'));
      while (readFileSync(join(seen, 'log')).length <= 32_768) await sleep(20);
      expect(await refuse(running.port, 5)).toBe(5);
      expect(await stop(running)).toBe(0);
    });
  });
});
