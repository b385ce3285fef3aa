// `hexcodes serve` over a log that cannot be written: requests are answered, the signals end the process, and lines
// that were dropped are counted. The disk that is full is a tmpfs in a mount namespace, which only root can make.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';

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
