// `hexcodes top` against a real service, through a pipe and in a terminal.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';
import { startServer, type TestServer } from '../../support/server.js';

const folder = new CliFolder();
const MAIN = resolve('dist/cli/main.js');
let server: TestServer;
let address: string;

beforeAll(async () => {
  server = await startServer();
  address = `127.0.0.1:${server.adminPort}`;
  const headers = { 'X-API-Key': server.key };
  await fetch(`${server.base}/v1/hexcodes/encode?lat=10.5&lng=106.5`, { headers });
});
afterAll(async () => {
  folder.remove();
  await server.stop();
});

test('--once shows one view as plain text', async () => {
  const { code, stdout, stderr } = await folder.run(['top', address, '--once']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain(` on ${address}, ready, up `);
  expect(stdout).toMatch(/^\/v1\/hexcodes\/encode +0\/s +- +- +0\/s +0\/s$/m);
  expect(stdout).toMatch(/^KEY +REQUESTS +POINTS$/m);
  expect(stdout).not.toContain('\u001b');
});

test('without a terminal views follow one another until the reader leaves', async () => {
  const child = spawn(process.execPath, [MAIN, 'top', address]);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.split('requests  ').length > 2) child.stdout.destroy();
  });
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(0);
  expect(text.split(', ready, up ').length).toBeGreaterThanOrEqual(3);
});

test('in a terminal it draws a screen, and q gives the terminal back', async () => {
  const command = `${process.execPath} ${MAIN} top ${address}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...process.env, TERM: 'xterm' } });
  let isAsked = false;
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (!isAsked && text.includes('ROUTE')) {
      isAsked = true;
      child.stdin.write('q');
    }
  });
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(0);
  expect(text.startsWith('\u001b[?1049h')).toBe(true);
  expect(text.trimEnd().endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
});

test('what is no admin port is named, with a way out', async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  await new Promise((closed) => listener.close(closed));
  const away = await folder.run(['top', `127.0.0.1:${port}`, '--once']);
  expect([away.code, away.stderr]).toEqual([
    1,
    `hexcodes: 127.0.0.1:${port} cannot be reached (ECONNREFUSED)\nname the admin port of the service: hexcodes top http://HOST:9090\n`,
  ]);
  const other = await folder.run(['top', `127.0.0.1:${server.port}`, '--once']);
  expect([other.code, other.stderr]).toEqual([
    1,
    `hexcodes: 127.0.0.1:${server.port} answers 404: it is no admin port of hexcodes serve\n`,
  ]);
});
