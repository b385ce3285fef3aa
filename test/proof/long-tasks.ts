// `npm run proof -- long-tasks [--size 1000000]`: the longest tasks of the page's main thread while a file is dropped,
// converted, counted by hexagon and looked at, as Chromium reports them (tasks of 50 ms and more).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hexcodes } from '#hexcodes';
import { hasChromium, mapState, openBrowser, openConsole } from '../support/console-page.js';
import { randomFrom } from '../support/open-world.js';
import { ServerProcess } from '../support/server-process.js';
import { optionsOf } from './run-length.js';

const MAX_MS = 100;

export default async function proveLongTasks(args: string[]): Promise<void> {
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
