// `npm run proof -- demo`: the page as plain files, from `python3 -m http.server` to Chromium (CHROMIUM=path) with an
// empty cache: the time from the link to the first code, over networks of three kinds, and the bytes until then.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../support/console-page.js';

const CODE = 'HN-6GHP4-83RFR';
const ROUNDS = 3;
/** Megabits a second, and milliseconds there and back; 0: as fast as the machine. */
const NETWORKS = [
  [0, 0],
  [1.6, 150],
  [0.4, 400],
] as const;
const BYTES_PER_MEGABIT = 125_000;

export default async function demo(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-demo-'));
  execFileSync(process.execPath, ['tools/packages/demo.mjs', folder], { stdio: 'inherit' });
  const python = spawn('python3', ['-u', '-m', 'http.server', '0', '--bind', '127.0.0.1', '-d', folder], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const browser = await openBrowser();
  try {
    const [greeting] = (await once(python.stdout, 'data')) as [Buffer];
    const address = /http:\/\/[\d.:]+\//.exec(greeting.toString())?.[0] ?? '';
    for (const [megabits, roundTripMs] of NETWORKS) {
      for (let round = 0; round < ROUNDS; round++) {
        const { seconds, bytes } = await firstCode(browser, address, megabits, roundTripMs);
        const network = megabits === 0 ? 'no limit' : `${megabits} Mbit/s, ${roundTripMs} ms`;
        console.log(`${network}: ${seconds.toFixed(1)} s, ${bytes} bytes`);
      }
    }
  } finally {
    await browser.close();
    python.kill();
    rmSync(folder, { recursive: true });
  }
}

async function firstCode(
  browser: Browser,
  address: string,
  megabits: number,
  roundTripMs: number,
): Promise<{ seconds: number; bytes: number }> {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    serviceWorkers: 'block',
  });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    const throughput = megabits === 0 ? -1 : megabits * BYTES_PER_MEGABIT;
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: roundTripMs,
      downloadThroughput: throughput,
      uploadThroughput: throughput,
    });
    let bytes = 0;
    session.on('Network.dataReceived', ({ dataLength }) => {
      bytes += dataLength;
    });
    const startedMs = performance.now();
    await page.goto(`${address}#${CODE}`, { waitUntil: 'commit' });
    await page.waitForFunction((code) => document.getElementById('place-code')?.textContent === code, CODE, {
      timeout: 120_000,
    });
    return { seconds: (performance.now() - startedMs) / 1000, bytes };
  } finally {
    await context.close();
  }
}
