// Parts of the image that need no image: its health check, and what its file says of the packages.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-image-files-'));
let status = 200;
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url!);
  response.writeHead(status).end('{}');
});
let port = 0;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** @param words of the command line of the image's first process @returns exit code of the check */
async function check(words: string[], env: Record<string, string> = {}): Promise<number> {
  const file = join(folder, 'cmdline');
  writeFileSync(file, words.map((word) => `${word}\0`).join(''));
  const child = spawn('bash', ['deploy/docker/healthy.sh', file], {
    env: { PATH: process.env.PATH, ...env },
    stdio: 'ignore',
  });
  const [code] = (await once(child, 'exit')) as [number];
  return code;
}

describe('health check', () => {
  const serve = ['node', 'hexcodes.js', 'serve'];

  test('finds the port in flags, in the environment, in the file, in this order', async () => {
    const right = join(folder, 'right.env');
    writeFileSync(right, `# settings\nHEXCODES_PORT=1\nHEXCODES_ADMIN_PORT = ${port}`);
    const wrong = join(folder, 'wrong.env');
    writeFileSync(wrong, 'HEXCODES_ADMIN_PORT=1\n');
    const at = String(port);
    expect(await check([...serve, '--admin-port', at], { HEXCODES_ADMIN_PORT: '1' })).toBe(0);
    expect(await check([...serve, `--admin-port=${at}`])).toBe(0);
    expect(await check([...serve, '--config', wrong], { HEXCODES_ADMIN_PORT: at })).toBe(0);
    expect(await check(serve, { HEXCODES_CONFIG: right })).toBe(0);
    expect(await check([...serve, '--config', right], { HEXCODES_CONFIG: wrong })).toBe(0);
    expect(await check([...serve, `--config=${wrong}`])).toBe(1);
    expect(new Set(asked)).toEqual(new Set(['/readyz']));
  });

  test('fails where the service is not ready, or not there', async () => {
    status = 503;
    expect(await check(serve, { HEXCODES_ADMIN_PORT: String(port) })).toBe(1);
    status = 200;
    expect(await check([...serve, '--admin-port', '1'])).toBe(1);
  });

  test('a worker is asked where it has an admin port, and is healthy without', async () => {
    const worker = ['node', 'hexcodes.js', 'worker'];
    expect(await check([...worker, '--admin-port', String(port)])).toBe(0);
    expect(await check([...worker, '--admin-port', '1'])).toBe(1);
    // As the worker itself does not read it.
    expect(await check(worker, { HEXCODES_ADMIN_PORT: '1' })).toBe(0);
  });
});

test('the layer of packages comes from manifests and nothing else', async () => {
  const root = join(folder, 'layer');
  for (const file of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'src/cli/package.json',
    'src/cli/main.ts',
    'x.bin',
  ]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), '{}');
  }
  const child = spawn(process.execPath, ['deploy/docker/keep-manifests.mjs', root]);
  expect(await once(child, 'exit')).toEqual([0, null]);
  const left = readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  expect(left.map(({ name }) => name).sort()).toEqual(
    ['.npmrc', 'package-lock.json', 'package.json', 'package.json'].sort(),
  );
});

test('the image names the licences of the package', () => {
  const { license } = JSON.parse(readFileSync('package.json', 'utf8')) as { license: string };
  expect(readFileSync('Dockerfile', 'utf8')).toContain(`image.licenses="${license}"`);
});
