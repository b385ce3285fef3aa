// `npm run proof -- console [--size N]`: rows of CSV converted in the console's page (Debian's chromium, or
// CHROMIUM=path), five times without the map, with it drawn without WebGL, and with WebGL in software; and the longest
// task of the page's main thread meanwhile.
// The answer has to have the bytes that the command writes. First the time to the answer of the box for codes, from a
// cold cache.
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { CliFolder } from '../support/cli.js';
import { mapState, openBrowser, openConsole } from '../support/console-page.js';
import { randomFrom } from '../support/open-world.js';
import { ServerProcess } from '../support/server-process.js';

const ROUNDS = 5;
const SEED = 21;
const MAX_TASK_MS = 100;
const MAX_COLD_MS = 2000;
/** As the element of the map says how it is drawn. */
const MAPS = ['no map', 'flat', 'webgl'] as const;
const CODE = 'HN-6GHP4-83RFR';

interface Round {
  readonly longestMs: number;
  readonly wallMs: number;
  readonly sha256: string;
}

export default async function consoleProof(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { size: { type: 'string', default: '1000000' } } });
  const rows = Number(values.size);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-console-'));
  const command = new CliFolder();
  const server = await ServerProcess.start({ isQuiet: true });
  const browser = await openBrowser(false);
  const withWebgl = await openBrowser(true);
  try {
    const coldMs: number[] = [];
    for (let i = 0; i < ROUNDS; i++) coldMs.push(await firstAnswer(browser, server.port));
    console.log(`box for codes from a cold cache: ${coldMs.map((ms) => ms.toFixed(0)).join(', ')} ms`);
    if (median(coldMs) > MAX_COLD_MS) process.exitCode = 1;

    const random = randomFrom(SEED);
    const lines = ['id,lat,lng'];
    for (let i = 0; i < rows; i++)
      lines.push(`${i},${(8.5 + random() * 14.8).toFixed(6)},${(102.2 + random() * 7.2).toFixed(6)}`);
    const file = join(folder, 'rows.csv');
    writeFileSync(file, `${lines.join('\n')}\n`);
    await command.run(['encode', file, '-o', 'expected.csv']);
    const expected = await sha256Of(command.file('expected.csv'));
    for (const map of MAPS) {
      console.log(`${map}:`);
      const rounds: Round[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        const round = await convert(map === 'webgl' ? withWebgl : browser, server.port, file, rows, map);
        rounds.push(round);
        const { longestMs, wallMs, sha256 } = round;
        const bytes = sha256 === expected ? 'the bytes of the command' : 'OTHER BYTES';
        console.log(
          `${rows} rows in ${wallMs.toFixed(0)} ms; longest task ${longestMs.toFixed(0)} ms; ${bytes}`,
        );
      }
      const longestMs = median(rounds.map((round) => round.longestMs));
      const wallMs = median(rounds.map((round) => round.wallMs));
      console.log(`medians of ${ROUNDS}: ${wallMs.toFixed(0)} ms, longest task ${longestMs.toFixed(0)} ms`);
      const isTooLong = longestMs > MAX_TASK_MS;
      if (isTooLong || rounds.some(({ sha256 }) => sha256 !== expected)) process.exitCode = 1;
    }
  } finally {
    await browser.close();
    await withWebgl.close();
    await server.kill();
    command.remove();
    rmSync(folder, { recursive: true });
  }
}

/** From the opening of the page, which has nothing in its cache, to the answer for a code that is typed at once. */
async function firstAnswer(browser: Browser, port: number): Promise<number> {
  const startedMs = performance.now();
  const { page, close } = await openConsole(browser, port);
  try {
    await page.fill('#code', CODE);
    await page.press('#code', 'Enter');
    await page.waitForSelector('#place-code');
    const answeredMs = performance.now();
    const code = await page.locator('#place-code').textContent();
    if (code !== CODE) throw new Error(`the page answers ${code}`);
    return answeredMs - startedMs;
  } finally {
    await close();
  }
}

async function convert(
  browser: Browser,
  port: number,
  file: string,
  rows: number,
  map: (typeof MAPS)[number],
): Promise<Round> {
  const { page, close } = await openConsole(browser, port);
  try {
    if (map === 'no map') {
      // Without its worker the map is not drawn, and the page says so.
      await page.route('**/assets/mapWorker-*', (route) => route.abort());
      await page.reload();
    }
    if (map === 'no map') await page.waitForSelector('#retry');
    else if ((await mapState(page)) !== map) throw new Error(`the map is not ${map}`);
    await page.click('#tab-file');
    // Tasks of 50 ms and more are told of; what the page did before is not meant.
    await page.evaluate(() => {
      const seen = window as unknown as { longestMs: number };
      seen.longestMs = 0;
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.longestMs = Math.max(seen.longestMs, duration);
      }).observe({ type: 'longtask' });
    });
    const startedMs = performance.now();
    await page.locator('#file-input').setInputFiles(file);
    await page.waitForSelector('#file-download', { timeout: 600_000 });
    const wallMs = performance.now() - startedMs;
    const said = await page.locator('#file-status').textContent();
    if (said !== `Done: ${rows.toLocaleString('en')} rows.`) throw new Error(`the page says ${said}`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#file-download')]);
    const sha256 = await sha256Of(await download.path());
    const longestMs = await page.evaluate(() => (window as unknown as { longestMs: number }).longestMs);
    return { longestMs, wallMs, sha256 };
  } finally {
    await close();
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
