// The key store under a running service: replaced, removed, damaged; and a start or a command over a store, a pepper or
// a disk that is not as it should be.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../support/server.js';

const root = mkdtempSync(join(tmpdir(), 'hexcodes-store-'));
afterAll(() => rmSync(root, { recursive: true }));
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(root, 'data-'));
});
const file = (name: string) => join(dir, name);

const MAIN = 'dist/cli/main.js';
/** `hexcodes keys …` on a data folder. */
function keys(args: string[], dataDir = dir) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [MAIN, 'keys', ...args, '--data-dir', dataDir],
    { encoding: 'utf8' },
  );
  return { code: status, stdout, stderr };
}

const statusOf = async (server: TestServer, key: string) =>
  (await fetch(`${server.base}/v1/meta`, { headers: { 'X-API-Key': key } })).status;
async function becomes(server: TestServer, key: string, status: number): Promise<void> {
  for (let tries = 0; tries < 200 && (await statusOf(server, key)) !== status; tries++) await sleep(25);
  expect(await statusOf(server, key)).toBe(status);
}
async function logged(server: TestServer, text: string): Promise<void> {
  for (let tries = 0; tries < 200 && !server.log().includes(text); tries++) await sleep(25);
  expect(server.log()).toContain(text);
}
const readiness = async (server: TestServer) => {
  const answer = await fetch(`http://127.0.0.1:${server.adminPort}/readyz`);
  return `${answer.status} ${await answer.text()}`;
};
const made = (name: string) => keys(['create', '--name', name, '--show']).stdout.trim();

test('a backup moved over the store: its keys hold, and only these', async () => {
  const server = await startServer({ dataDir: dir });
  const old = made('old');
  await becomes(server, old, 200);
  expect(readdirSync(dir).filter((name) => name.startsWith('keys.db'))).toEqual(['keys.db']);
  copyFileSync(file('keys.db'), file('backup.db'));
  const late = made('late');
  await becomes(server, late, 200);
  renameSync(file('backup.db'), file('keys.db'));
  await becomes(server, late, 401);
  expect(await statusOf(server, old)).toBe(200);
  expect(keys(['list']).stdout).not.toContain('late');
  // A change of the replacement holds as well.
  const id = keys(['list']).stdout.match(/^(\w+)\t.*\told$/m)?.[1] as string;
  expect(keys(['revoke', id]).code).toBe(0);
  await becomes(server, old, 401);
  await server.stop();
});

test.each([
  ['removed', () => rmSync(file('keys.db'))],
  ['cut to nothing', () => writeFileSync(file('keys.db'), '')],
  ['overwritten', () => writeFileSync(file('keys.db'), 'garbage'.repeat(5000))],
] as const)(
  'a store that is %s: said once in log and readiness, and the keys read last hold',
  async (_, harm) => {
    const server = await startServer({ dataDir: dir });
    copyFileSync(file('keys.db'), file('backup.db'));
    expect(await readiness(server)).toBe('200 ready\n');
    harm();
    await logged(server, 'the key store cannot be read');
    expect(await readiness(server)).toMatch(/^200 ready\nwarning: .*keys\.db.*\n$/);
    await sleep(700);
    expect(server.log().split('the key store cannot be read')).toHaveLength(2);
    expect(await statusOf(server, server.key)).toBe(200);
    renameSync(file('backup.db'), file('keys.db'));
    await logged(server, 'the key store can be read again');
    expect(await readiness(server)).toBe('200 ready\n');
    expect(await statusOf(server, server.key)).toBe(200);
    await server.stop();
  },
);

test('a damaged store, a lost pepper: the start is refused with a sentence that names the file', async () => {
  const server = await startServer({ dataDir: dir });
  await server.stop();
  const pepper = readFileSync(file('pepper'));
  for (const left of [undefined, '']) {
    rmSync(file('pepper'), { force: true });
    if (left !== undefined) writeFileSync(file('pepper'), left);
    await expect(startServer({ dataDir: dir })).rejects.toThrow(/pepper is (missing|empty), .*backup/);
    expect(keys(['create', '--name', 'x', '--show'])).toMatchObject({ code: 1, stdout: '' });
    if (left === undefined) expect(readdirSync(dir)).not.toContain('pepper');
    else expect(readFileSync(file('pepper'), 'utf8')).toBe('');
  }
  writeFileSync(file('pepper'), pepper);
  writeFileSync(file('keys.db'), 'garbage'.repeat(1000));
  await expect(startServer({ dataDir: dir })).rejects.toThrow(/^\S+keys\.db is damaged, or no key store/);
  const listed = keys(['list']);
  expect(listed.stderr).toMatch(/^hexcodes: \S+keys\.db is damaged/);
  expect(listed.code).toBe(1);
});

test('an empty pepper beside an empty store, as a full disk left it, is made anew', async () => {
  writeFileSync(file('pepper'), '');
  const server = await startServer({ dataDir: dir });
  expect(await statusOf(server, server.key)).toBe(200);
  await server.stop();
});

test('only `keys init` and the service make a store', () => {
  const nowhere = file('nowhere');
  for (const args of [
    ['create', '--name', 'x', '--show'],
    ['list'],
    ['enable', 'x'],
    ['disable', 'x'],
    ['revoke', 'x'],
  ]) {
    const { code, stdout, stderr } = keys(args, nowhere);
    expect(code, args.join(' ')).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('there is no key store in');
  }
  expect(readdirSync(dir)).toEqual([]);
  expect(keys(['init'], nowhere).code).toBe(0);
  expect(readdirSync(nowhere).sort()).toEqual(['keys.db', 'pepper']);
  for (const name of readdirSync(nowhere)) expect(statSync(join(nowhere, name)).mode & 0o777).toBe(0o600);
  const pepper = readFileSync(join(nowhere, 'pepper'), 'utf8');
  expect(keys(['init'], nowhere).code).toBe(0);
  expect(readFileSync(join(nowhere, 'pepper'), 'utf8')).toBe(pepper);
  expect(keys(['list'], nowhere)).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('enable lets a disabled key in again, and no revoked one', async () => {
  const server = await startServer({ dataDir: dir });
  const key = made('fleet');
  const id = keys(['list']).stdout.match(/^(\w+)\t.*\tfleet$/m)?.[1] as string;
  keys(['disable', id]);
  await becomes(server, key, 403);
  expect(keys(['enable', id]).code).toBe(0);
  await becomes(server, key, 200);
  keys(['revoke', id]);
  expect(keys(['enable', id]).code).toBe(1);
  await becomes(server, key, 401);
  await server.stop();
});

test('the first key is offered only while it is let in', async () => {
  const server = await startServer({ dataDir: dir });
  expect(server.key).not.toBe('');
  await server.stop();
  const id = keys(['list']).stdout.split('\t')[0] as string;
  keys(['revoke', id]);
  const again = await startServer({ dataDir: dir });
  expect(again.key).toBe('');
  await again.stop();
});

test('--out that cannot be written leaves neither a file nor a key', () => {
  keys(['init']);
  mkdirSync(file('out'));
  for (const out of [file('out'), join(file('none'), 'key')]) {
    expect(keys(['create', '--name', 'x', '--out', out]).code).toBe(1);
  }
  expect(readdirSync(file('out'))).toEqual([]);
  const there = keys(['create', '--name', 'x', '--out', file('pepper')]);
  expect([there.code, there.stderr]).toEqual([
    1,
    expect.stringContaining(`cannot write ${file('pepper')}: it is there already`),
  ]);
  expect(readdirSync(dir).sort()).toEqual(['keys.db', 'out', 'pepper']);
  expect(keys(['list']).stdout).toBe('');
});

test('a data folder that others can write to: a warning in the log and of the command', async () => {
  chmodSync(dir, 0o777);
  const server = await startServer({ dataDir: dir });
  expect(server.log()).toContain('other users can write to the data folder');
  expect(keys(['list']).stderr).toContain('mode 0777');
  await server.stop();
});

const canMount = spawnSync('sh', ['-c', 'unshare -m true']).status === 0;

/** Runs a script in a mount namespace of its own, with a tmpfs of 256 KB on `$DISK`. */
function onOwnDisk(script: string) {
  const whole = `mount -t tmpfs -o size=256k,mode=700 none "$DISK" || exit 99\n${script}`;
  const env = { ...process.env, DISK: dir, NODE: process.execPath, MAIN };
  return spawnSync('sh', ['-c', 'exec unshare -m sh -c "$0"', whole], { encoding: 'utf8', env });
}

describe.skipIf(!canMount)('disks (needs root)', () => {
  test('a read-only folder: keys can be listed; a change is refused with a sentence', () => {
    const { stdout, stderr } = onOwnDisk(`
      "$NODE" "$MAIN" keys init --data-dir "$DISK" 2>/dev/null
      "$NODE" "$MAIN" keys create --name fleet --show --data-dir "$DISK" >/dev/null 2>&1
      mount -o remount,ro "$DISK"
      "$NODE" "$MAIN" keys list --data-dir "$DISK"
      "$NODE" "$MAIN" keys create --name no --show --data-dir "$DISK"
      echo "exit $?"`);
    expect(stdout).toMatch(/^\w+\tactive\t\S+\tfleet\nexit 1\n$/);
    expect(stderr).toMatch(/^hexcodes: \S+keys\.db cannot be written: it is read-only/);
  });

  // Usage has a warning of its own on a full disk (test/e2e/usage/store.test.ts), which is left out here.
  test('a disk that fills up under a running service: answers go on, log and readiness say so, until there is room', () => {
    const { stdout } = onOwnDisk(`
      "$NODE" "$MAIN" serve --port 0 --admin-port 0 --data-dir "$DISK" >/dev/shm/log.$$ 2>/dev/null &
      server=$!
      wait_for() { for i in $(seq 600); do grep -q "$1" /dev/shm/log.$$ && return; sleep 0.1; done; echo "no $1"; }
      wait_for '"listening"'
      port() { sed -n "s/.*\\"$1\\":\\([0-9]*\\).*/\\1/p" /dev/shm/log.$$ | head -1; }
      ask() { "$NODE" -e '
        const key = require("node:fs").readFileSync(process.env.DISK + "/first-key", "utf8").trim();
        const [port, admin] = process.argv.slice(1);
        Promise.all([
          fetch("http://127.0.0.1:" + port + "/v1/meta", { headers: { "X-API-Key": key } }),
          fetch("http://127.0.0.1:" + admin + "/readyz").then((a) => a.text()),
        ]).then(([a, ready]) => console.log(a.status, ready.split("\\n").filter((line) => line === "ready" || line.includes("keys.db")).join(" | ").replace(/\\(.*/, "")));
      ' "$(port port)" "$(port admin_port)"; }
      head -c 262144 /dev/zero > "$DISK/ballast" 2>/dev/null
      ask >/dev/null
      wait_for 'the key store cannot be written'
      ask
      rm "$DISK/ballast"
      wait_for 'the key store can be written again'
      ask
      kill $server; wait $server; rm /dev/shm/log.$$`);
    expect(stdout.replaceAll(dir, 'DIR')).toMatch(
      /^200 ready \| warning: DIR\/keys\.db cannot be (read or )?written.*\n200 ready\n$/,
    );
  });

  test('a full disk: no empty file is left, the sentence says so, and with room again the start succeeds', () => {
    const { stdout, stderr } = onOwnDisk(`
      head -c 262144 /dev/zero > "$DISK/ballast"
      "$NODE" "$MAIN" serve --port 0 --admin-port 0 --data-dir "$DISK" >/dev/null
      echo "exit $?"
      find "$DISK" -name 'pepper*' -o -name 'first-key*'
      rm "$DISK/ballast"
      "$NODE" "$MAIN" keys init --data-dir "$DISK" 2>/dev/null
      echo "exit $?"
      head -c 262144 /dev/zero > "$DISK/ballast" 2>/dev/null
      "$NODE" "$MAIN" keys create --name no --out "$DISK/key" --data-dir "$DISK"
      echo "exit $?"
      find "$DISK" -name 'key*' -not -name keys.db`);
    expect(stdout).toBe('exit 1\nexit 0\nexit 1\n');
    expect(stderr).not.toContain('[object Object]');
    expect(stderr.match(/^hexcodes: .*full/gm)).toHaveLength(2);
  });
});
