// Keys: changed by the command in a process of its own while the server runs; the answers to each state; no key text in
// files or logs.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendRaw, startServer, type TestServer } from '../../support/server.js';

const run = promisify(execFile);
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** `hexcodes keys …` as another process. */
async function keys(...args: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
  try {
    const done = await run(process.execPath, [
      'dist/cli/main.js',
      'keys',
      ...args,
      '--data-dir',
      server.dataDir,
    ]);
    return { ...done, code: 0 };
  } catch (error) {
    return error as { stdout: string; stderr: string; code: number };
  }
}
const statusOf = async (key: string) =>
  (await fetch(`${server.base}/v1/meta`, { headers: { 'X-API-Key': key } })).status;

/** Waits until the server has seen a change. */
async function becomes(key: string, status: number): Promise<void> {
  for (let tries = 0; tries < 200 && (await statusOf(key)) !== status; tries++) await sleep(25);
  expect(await statusOf(key)).toBe(status);
}

test('a running server sees keys made, disabled and revoked by another process', async () => {
  const made = await keys('create', '--name', 'fleet', '--show');
  const key = made.stdout.trim();
  expect(key).toMatch(/^hxk_[A-Za-z0-9_-]{43}$/);
  await becomes(key, 200);

  const line = (await keys('list')).stdout.split('\n').find((l) => l.endsWith('\tfleet')) ?? '';
  const [id = '', state] = line.split('\t');
  expect(state).toBe('active');
  expect(made.stderr).toContain(id);

  await keys('disable', id);
  await becomes(key, 403);
  const disabled = await fetch(`${server.base}/v1/meta?apikey=${key}`);
  expect(await disabled.json()).toMatchObject({ status: 'REQUEST_DENIED' });
  await keys('revoke', id);
  await becomes(key, 401);
  expect((await keys('list')).stdout).toContain(`${id}\trevoked`);
  expect(await statusOf(server.key)).toBe(200);
});

test('a revoked key stays revoked; unknown ids are refused, and so is a pipe without --show', async () => {
  const { stderr } = await keys('create', '--name', 'gone', '--show');
  const id = /made key (\w+)/.exec(stderr)?.[1] ?? '';
  expect((await keys('revoke', id)).code).toBe(0);
  for (const args of [
    ['disable', id],
    ['disable', 'nobody'],
    ['revoke', 'nobody'],
    ['create', '--name', 'x'],
  ]) {
    const { code, stderr: why } = await keys(...args);
    expect(code, args.join(' ')).toBe(args[0] === 'create' ? 2 : 1);
    expect(why).toMatch(/^hexcodes: /);
  }
  expect((await keys('list')).stdout).not.toContain('\tx\n');
});

test('--out writes the key to a new file, readable by its owner only, and shows nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-key-'));
  const out = join(folder, 'key');
  const made = await keys('create', '--name', 'file', '--out', out);
  const key = readFileSync(out, 'utf8').trim();
  expect(made.stdout).toBe('');
  expect(made.stderr).not.toContain(key);
  expect(statSync(out).mode & 0o777).toBe(0o600);
  await becomes(key, 200);
  expect((await keys('create', '--name', 'again', '--out', out)).code).toBe(1);
  expect((await keys('list')).stdout).not.toContain('again');
  rmSync(folder, { recursive: true });
});

const filesIn = (folder: string) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));

test('the data folder is readable by its owner only, and contains no key text but first-key', () => {
  for (const name of readdirSync(server.dataDir)) {
    const path = join(server.dataDir, name);
    expect(statSync(path).mode & 0o077, name).toBe(0);
    if (statSync(path).isFile() && name !== 'first-key')
      expect(readFileSync(path).includes(server.key), name).toBe(false);
  }
  expect(readdirSync(server.dataDir)).toContain('first-key');
  expect(statSync(join(server.dataDir, 'first-key')).mode & 0o777).toBe(0o600);
});

test('a second server on the same folder makes no other first key', async () => {
  const second = await startServer({ dataDir: server.dataDir });
  expect(second.key).toBe(server.key);
  await second.stop();
  expect((await keys('list')).stdout.match(/\tfirst\n/g)).toHaveLength(1);
});

test('keys of the environment are kept in memory only', async () => {
  const secret = 'environment_key-0123456789';
  const own = await startServer({
    apiKeys: [{ name: 'ci', secret }],
    keyPepper: 'pepper of the environment',
  });
  const answer = await fetch(`${own.base}/v1/meta?apikey=${secret}`);
  expect(answer.status).toBe(200);
  expect((await fetch(`${own.base}/v1/meta?apikey=${secret}x`)).status).toBe(401);
  // No first key beside them, no pepper file beside the given pepper, nothing of the secret on disk or in the log.
  const names = filesIn(own.dataDir);
  expect(names.filter((name) => !/^(keys|usage)\.db/.test(name))).toEqual([]);
  for (const name of names) {
    expect(readFileSync(join(own.dataDir, name)).includes(secret)).toBe(false);
  }
  expect(own.log()).not.toContain(secret);
  await own.stop();
});

test('no log line contains a key, wherever the request has it', async () => {
  const { key } = server;
  const foreign = 'hxk_foreign_key_that_is_not_known_0123456789';
  for (const k of [key, foreign]) {
    for (const path of [
      `/v1/hexcodes/encode?lat=x&apikey=${k}`,
      `/v1/hexcodes/encode?lat=21&lng=105&apikey=${k}&apikey=other`,
      `/v1/hexcodes/encode&apikey=${k}`,
      `/v1/${k}`,
      `/v1/admin-units/${k}`,
      `/v1/hexcodes/decode?hexcodes=${k}`,
    ]) {
      await fetch(server.base + path, { headers: { 'X-API-Key': k } });
      await fetch(server.base + path, { headers: { 'X-Request-Id': k, 'X-API-Key': k } });
    }
    await fetch(`${server.base}/v1/hexcodes/decode`, { method: 'POST', body: `{"apikey":"${k}"` });
  }
  const log = server.log();
  expect(log.split('\n').length).toBeGreaterThan(14);
  expect(log).not.toContain(key);
  expect(log).not.toContain(foreign);
});

test('a key in a request id or a method goes neither into the log nor into the answer', async () => {
  const { key } = server;
  const secret = 'environment.secret-0123456789';
  const foreign = 'hxk_foreign_key_that_is_not_known_0123456789';
  for (const [path, headers, id] of [
    ['/v1/meta', { 'X-API-Key': key }, key],
    [`/v1/meta?apikey=${key}`, {}, `a.${key}`],
    ['/v1/meta', { 'X-API-Key': key }, foreign],
    [`/v1/nothing?apikey=${secret}`, {}, secret],
    ['/v1/hexcodes/nothing', { 'X-API-Key': key }, foreign],
  ] as const) {
    const answer = await fetch(server.base + path, { headers: { ...headers, 'X-Request-Id': id } });
    expect(answer.headers.get('x-request-id')).toBe('withheld');
    expect(await answer.text()).not.toContain(id);
  }
  const named = await fetch(`${server.base}/v1/hexcodes/${foreign}`, { headers: { 'X-API-Key': key } });
  expect(await named.text()).not.toContain(foreign);
  const received = await sendRaw(
    server.port,
    `${foreign.toUpperCase()} /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n`,
  );
  expect(received).toContain('405');
  const all = (server.log() + received).toLowerCase();
  for (const text of [key, secret, foreign]) expect(all).not.toContain(text.toLowerCase());
});

test('names of keys reach the terminal without control characters', async () => {
  const made = await keys('create', '--name', 'evil\u001b[2J\n00\tactive\u202e', '--show');
  const list = (await keys('list')).stdout;
  for (const text of [made.stderr.trimEnd(), list.replace(/[\n\t]/g, '')]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  }
  expect(list).toContain('\tevil\\u001b[2J\\u000a00\\u0009active\\u202e\n');
});
