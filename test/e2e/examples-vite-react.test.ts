// examples/vite-react as somebody has it who copies it: its own packages and our tarball, built by Vite, run in
// Chromium beside the real service.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { hasChromium, openBrowser } from '../support/console-page.js';
import { packInto } from '../support/packages.js';
import { startServer, type TestServer } from '../support/server.js';
import { shippedFiles } from '../support/shipped.js';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-vite-react-'));
let server: TestServer | undefined;
let preview: ChildProcess | undefined;
let browser: Browser | undefined;
afterAll(async () => {
  preview?.kill();
  await browser?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const QUIET = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];

/** Why npm cannot install the example; '' where it has. */
async function reasonNotInstalled(): Promise<string> {
  cpSync('examples/vite-react', folder, {
    recursive: true,
    filter: (path) => !/\/(node_modules|dist)$/.test(path),
  });
  const npm = (...args: string[]): string => {
    const done = spawnSync('npm', [...args, ...QUIET], { cwd: folder, encoding: 'utf8', timeout: 240_000 });
    return done.status === 0 ? '' : `npm ${args.join(' ')}: ${done.stderr || done.error}`;
  };
  const fault = npm('ci');
  if (fault !== '') return fault;
  const [packed] = await packInto(folder, ['hexcodes']);
  return npm('install', '--no-save', `./${basename(packed!.file)}`);
}

/** Serves what was built, with the example's own proxy to the service. @returns the address */
function served(): Promise<string> {
  const vite = join('node_modules', 'vite', 'bin', 'vite.js');
  const child = spawn(process.execPath, [vite, 'preview', '--host', '127.0.0.1', '--port', '0'], {
    cwd: folder,
    env: { ...process.env, HEXCODES: server!.base, NO_COLOR: '1' },
  });
  preview = child;
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (text: Buffer) => {
      said += text.toString();
      const address = /http:\/\/127\.0\.0\.1:\d+\//.exec(said)?.[0];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', () => reject(new Error(`vite preview ended: ${said}`)));
  });
}

test.skipIf(!hasChromium)('is built and runs (needs chromium)', { timeout: 600_000 }, async ({ skip }) => {
  const fault = await reasonNotInstalled();
  skip(/ENOTCACHED|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH/.test(fault), `npm has no registry: ${fault}`);
  expect(fault).toBe('');
  const vite = join('node_modules', 'vite', 'bin', 'vite.js');
  const built = spawnSync(process.execPath, [vite, 'build'], { cwd: folder, encoding: 'utf8' });
  expect([built.status, built.stderr]).toEqual([0, '']);

  server = await startServer({}, shippedFiles());
  browser = await openBrowser(false);
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(await served());
  const output = page.locator('output');
  const says = async (text: string): Promise<void> => expect.poll(() => output.textContent()).toBe(text);
  await says('HN-6GHP4-83RFR');
  await page.fill('input >> nth=0', 'hn6ghp4 83rfr');
  await says('21.028798, 105.852465');
  await page.fill('input >> nth=0', '48.8584, 2.2945');
  await says('OUTSIDE_COVERAGE');

  await page.click('button');
  await expect.poll(() => page.locator('[role=alert]').textContent()).toContain('API key');
  await page.fill('input[type=password]', server.key);
  await page.click('button');
  await expect
    .poll(() => page.locator('li').allTextContents())
    .toEqual(['Hà Nội: HN-6GHP4-83R5M', expect.stringMatching(/^Huế: HUE-/), 'Paris: OUTSIDE_COVERAGE']);
  expect(faults).toEqual([]);
});
