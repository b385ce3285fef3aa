// `npm run proof -- first-map [--runs 5]`: when the box of the page answers and when its first map is drawn, over
// 400 kbit/s with 400 ms of latency and a quarter of the CPU, as Chromium emulates both; and the bytes until then.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hexcodes } from '#hexcodes';
import { hasChromium, mapState, markFirsts, openBrowser, openConsole } from '../support/console-page.js';
import { randomFrom } from '../support/open-world.js';
import { ServerProcess } from '../support/server-process.js';
import { optionsOf } from './run-length.js';

const NETWORK = { latency: 400, downloadThroughput: 400_000 / 8, uploadThroughput: 400_000 / 8 };
const CPU_SLOWER = 4;
const AIM_MS = 8000;
const PLACE = '#HN-6GHP4-83RFR';

export async function proveFirstMap(args: string[]): Promise<void> {
  const values = optionsOf(args, { runs: '5' });
  if (!hasChromium) throw new Error('no browser: install chromium, or name one with CHROMIUM=path');
  const server = await ServerProcess.start({ isQuiet: true });
  const browser = await openBrowser();
  for (const hash of ['', PLACE]) {
    const runs: { box: number; first: number; state: number; bytes: number }[] = [];
    for (let run = 0; run < Number(values.runs); run++) {
      // Each has a cache of its own.
      const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
      const page = await context.newPage();
      await page.addInitScript(markFirsts);
      const session = await context.newCDPSession(page);
      await session.send('Network.enable');
      await session.send('Network.emulateNetworkConditions', { offline: false, ...NETWORK });
      await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWER });
      let bytes = 0;
      session.on('Network.loadingFinished', ({ encodedDataLength }) => {
        bytes += encodedDataLength;
      });
      await page.goto(`http://127.0.0.1:${server.port}/${hash}`, { waitUntil: 'commit' });
      await page.waitForSelector('#map[data-first]');
      const firstBytes = bytes;
      await mapState(page);
      const [box, first, state] = await page.evaluate(() =>
        ['box', 'first', 'state'].map((name) => performance.getEntriesByName(name)[0]!.startTime),
      );
      runs.push({ box: box!, first: first!, state: state!, bytes: firstBytes });
      await context.close();
    }
    const median = (of: keyof (typeof runs)[number]): number =>
      runs.map((run) => run[of]).sort((a, b) => a - b)[Math.floor(runs.length / 2)]!;
    const seconds = (of: 'box' | 'first' | 'state'): string => `${(median(of) / 1000).toFixed(1)} s`;
    console.log(
      `first-map: ${hash || 'no place'}: the box answers after ${seconds('box')}, the first map stands after ${seconds('first')} and ${Math.round(median('bytes') / 1000)} KB, that of WebGL after ${seconds('state')} (medians of ${runs.length})`,
    );
    if (median('first') > AIM_MS) {
      console.log(`first-map: later than ${AIM_MS / 1000} s`);
      process.exitCode = 1;
    }
  }
  await browser.close();
  await server.kill();
}

// `npm run proof -- long-tasks [--size 1000000]`: the longest tasks of the page's main thread while a file is dropped,
// converted, counted by hexagon and looked at, as Chromium reports them (tasks of 50 ms and more).

const MAX_MS = 100;

export async function proveLongTasks(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '1000000' });
  const size = Number(values.size);
  if (!hasChromium) throw new Error('no browser: install chromium, or name one with CHROMIUM=path');
  const random = randomFrom(3);
  const library = await Hexcodes.load();
  const towns: [number, number][] = [];
  while (towns.length < 400) {
    const [lat, lng] = [20 + random() * 2, 104.8 + random() * 2];
    if (library.adminCodeOf(lat, lng) !== null) towns.push([lat, lng]);
  }
  const lines = ['id,lat,lng'];
  for (let i = 0; i < size; i++) {
    const [lat, lng] = towns[Math.floor(random() ** 2 * towns.length)]!;
    const near = (): number => (random() + random() + random() - 1.5) * 0.2;
    lines.push(`${i},${(lat + near()).toFixed(6)},${(lng + near()).toFixed(6)}`);
  }
  // Read from the disk, as the page of a visitor does: Playwright would hand bytes through the page's own thread.
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-long-tasks-'));
  const file = join(folder, 'many.csv');
  writeFileSync(file, `${lines.join('\n')}\n`);
  const server = await ServerProcess.start({ isQuiet: true });
  const over: string[] = [];
  for (const hasWebgl of [true, false]) {
    const browser = await openBrowser(hasWebgl);
    const { page } = await openConsole(browser, server.port);
    await mapState(page);
    await page.click('#tab-file');
    await page.waitForSelector('#file-input', { state: 'attached' });
    await page.evaluate(() => {
      const tasks: { name: string; ms: number }[] = [];
      Object.assign(globalThis, { tasks, step: '' });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries())
          tasks.push({ name: (globalThis as unknown as { step: string }).step, ms: duration });
      }).observe({ type: 'longtask' });
    });
    const step = (name: string): Promise<void> =>
      page.evaluate((now) => void Object.assign(globalThis, { step: now }), name);
    const hexagons = (): Promise<string | null> => page.getAttribute('#map', 'data-counts');
    const steps: [string, () => Promise<unknown>][] = [
      [
        'file, counts',
        async () => {
          await page.locator('#file-input').setInputFiles(file);
          await page.waitForFunction(() => Number(document.getElementById('map')?.dataset.counts) > 0, null, {
            timeout: 300_000,
          });
          await page.waitForTimeout(3000);
        },
      ],
      [
        'near',
        async () => {
          for (let i = 0; i < 4; i++) {
            await page.click('.map-buttons button');
            await page.waitForTimeout(1500);
          }
        },
      ],
      [
        'a hexagon',
        async () => {
          await page.locator('#map canvas').first().focus();
          await page.keyboard.press('Enter');
          await page.waitForTimeout(3000);
        },
      ],
      [
        'all points',
        () =>
          page
            .click('.layers summary')
            .then(() => page.click('#layer-points'))
            .then(() => page.waitForTimeout(3000)),
      ],
      ['clear', () => page.click('#clear-points').then(() => page.waitForTimeout(2000))],
    ];
    for (const [name, run] of steps) {
      await step(name);
      const before = await hexagons();
      await run();
      const tasks = await page.evaluate(
        (now) =>
          (globalThis as unknown as { tasks: { name: string; ms: number }[] }).tasks.filter(
            (each) => each.name === now,
          ),
        name,
      );
      const longest = Math.max(0, ...tasks.map(({ ms }) => ms));
      const map = hasWebgl ? 'WebGL' : 'flat';
      console.log(
        `long-tasks: ${map}, ${name}: ${tasks.length} tasks of 50 ms and more, longest ${Math.round(longest)} ms (${before} to ${await hexagons()} hexagons)`,
      );
      if (longest > MAX_MS) over.push(`${map}, ${name}`);
    }
    await browser.close();
  }
  await server.kill();
  rmSync(folder, { recursive: true });
  if (over.length > 0) {
    console.log(`long-tasks: over ${MAX_MS} ms: ${over.join('; ')}`);
    process.exitCode = 1;
  }
}
