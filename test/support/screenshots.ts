// `npm run screenshots [-- FOLDER]`: pictures of the console in Debian's Chromium, for people to look at. Those that
// the README shows are written to docs/pictures/, the others to FOLDER (var/screenshots).
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { hasChromium, mapState, openBrowser, openConsole } from './console-page.js';
import { randomFrom } from './open-world.js';
import { ServerProcess } from './server-process.js';

const CODE = '#HN-6GHP4-83RFR';
const KEPT = 'docs/pictures';
const POINTS = 8000;

const folder = process.argv[2] ?? 'var/screenshots';
if (!hasChromium) throw new Error('no browser: install chromium, or name one with CHROMIUM=path');
for (const each of [folder, KEPT]) mkdirSync(each, { recursive: true });
const server = await ServerProcess.start({ isQuiet: true });
const library = await Hexcodes.load();
const withMap = await openBrowser();
const withoutWebgl = await openBrowser(false);

/** Opens the console, does `work`, and takes a picture. */
async function picture(
  path: string,
  options: BrowserContextOptions,
  hash: string,
  work: (page: Page) => Promise<void> = async () => {},
  browser = withMap,
): Promise<void> {
  const { page, faults, close } = await openConsole(browser, server.port, options, hash);
  await mapState(page);
  await work(page);
  // The map glides to the place, and draws what is new there.
  await page.waitForTimeout(4000);
  await page.screenshot({ path });
  await close();
  console.log([path, ...faults].join('\n  '));
}

const wide = { viewport: { width: 960, height: 620 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

await picture(join(KEPT, 'console.png'), wide, CODE);
await picture(join(folder, 'dark-file.png'), { ...wide, colorScheme: 'dark' }, '', (page) => convert(page));
await picture(join(KEPT, 'console-fleet.png'), wide, '', (page) => drive(page));
await picture(join(folder, 'phone-fleet.png'), { ...phone, locale: 'vi' }, '', (page) => drive(page));
await picture(
  join(folder, 'narrow-fleet.png'),
  { viewport: { width: 320, height: 640 }, locale: 'vi' },
  '',
  async (page) => {
    await page.click('#tab-fleet');
  },
);
await picture(join(folder, 'vietnamese.png'), { ...wide, locale: 'vi' }, '');
await picture(join(folder, 'phone.png'), { ...phone, locale: 'vi' }, CODE);
await picture(join(folder, 'phone-file.png'), phone, '', (page) => convert(page));
await picture(join(folder, 'wrong-code.png'), wide, '', async (page) => {
  await page.fill('#code', 'HN-6GHP4-B3RFR');
  await page.press('#code', 'Enter');
});
await picture(join(folder, 'take-away.png'), wide, CODE, async (page) => {
  await page.click('#tab-take-away');
});
for (const what of ['sheet', 'doorplate']) {
  await picture(
    join(folder, `${what}.png`),
    { viewport: { width: 1000, height: 1250 } },
    CODE,
    async (page) => {
      await page.click('#tab-take-away');
      await page.fill('#doorplate-line', 'Nhà Lan & Minh, 12 Hàng Khay');
      await page.click(`#print-${what}`);
    },
  );
}
await picture(join(folder, 'no-webgl.png'), wide, CODE, undefined, withoutWebgl);
await picture(join(folder, 'no-webgl-file.png'), wide, '', (page) => convert(page), withoutWebgl);

await withMap.close();
await withoutWebgl.close();
await server.kill();

/** Lets vehicles drive, until they are drawn. */
async function drive(page: Page): Promise<void> {
  await page.click('#tab-fleet');
  await page.fill('#fleet-key', server.key);
  await page.selectOption('#fleet-vehicles', '10000');
  await page.selectOption('#fleet-reports', '10');
  await page.selectOption('#fleet-city', 'Thành phố Hồ Chí Minh');
  await page.click('#fleet-start');
  await page.waitForFunction(() => document.getElementById('map')?.dataset.points === '10000');
  await page.waitForTimeout(8000);
}

/** Converts points around many towns, a few of them abroad. */
async function convert(page: Page): Promise<void> {
  const random = randomFrom(7);
  const isIn = ([lat, lng]: readonly [number, number]): boolean => library.adminCodeOf(lat, lng) !== null;
  const anywhere = (): readonly [number, number] => [8.6 + random() * 14.6, 102.3 + random() * 7];
  const towns = Array.from({ length: 900 }, anywhere).filter(isIn);
  const near = (): number => (random() + random() + random() - 1.5) * 0.2;
  const rows = Array.from({ length: POINTS }, (_, i) => {
    const [lat, lng] = towns[Math.floor(random() * towns.length)]!;
    return `${i},${(lat + near()).toFixed(6)},${(lng + near()).toFixed(6)}`;
  });
  await page.click('#tab-file');
  const buffer = Buffer.from(`id,lat,lng\n${rows.join('\n')}\n`);
  await page.locator('#file-input').setInputFiles({ name: 'places.csv', mimeType: 'text/csv', buffer });
  await page.waitForSelector('#file-download');
}
