// `npm run screenshots [-- FOLDER]`: pictures of the console in Debian's Chromium, for people to look at. Those that
// the README shows are written to docs/pictures/, the icon and the picture of previews to src/console/, the others to
// FOLDER (var/screenshots). `-- FOLDER sizes` takes the main views alone, at each size, light and dark, in both
// languages.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { Hexcodes } from '#hexcodes';
import { hasChromium, mapState, openBrowser, openConsole } from './console-page.js';
import { randomFrom } from './open-world.js';
import { ServerProcess } from './server-process.js';

// The pictures that the page ships: the icon of phones, and what chats show with a link, 1200 by 630 pixels.
async function shippedPictures(browser: Browser, port: number): Promise<void> {
  const page = await browser.newPage();
  const html = async (width: number, height: number, body: string, name: string): Promise<void> => {
    await page.setViewportSize({ width, height });
    await page.setContent(`<!doctype html><style>body { margin: 0 }</style>${body}`);
    await page.screenshot({ path: join('src/console', name) });
  };
  // Phones round the corners themselves.
  const icon = readFileSync('src/console/icon.svg', 'utf8');
  await html(512, 512, icon.replace(' rx="14"', ''), 'icon.png');
  const { page: map, close } = await openConsole(browser, port, {
    viewport: { width: 1104, height: 690 },
    locale: 'vi',
  });
  await mapState(map);
  await map.waitForTimeout(4000);
  await map.evaluate(() => {
    for (const control of document.querySelectorAll('.map-buttons, .scale')) control.remove();
  });
  const shot = (await map.locator('#map').screenshot()).toString('base64');
  await close();
  const parts = [
    ['HN', 'tỉnh', '#0b6e5f'],
    ['6GHP4', 'ô', '#1d5fa8'],
    ['83RF', 'ô nhỏ', '#7c3aa8'],
    ['R', 'kiểm tra', '#9a3412'],
  ].map(([symbols, words, color]) => `<span style="border-color: ${color}"><b>${symbols}</b>${words}</span>`);
  await html(
    1200,
    630,
    `<style>
      body { font: 34px/1.35 system-ui, sans-serif; color: #17211f; display: flex; height: 630px; background: #fff }
      div { width: 600px; padding: 64px 40px 0 60px; box-sizing: border-box }
      h1 { font-size: 54px; margin: 0 0 40px; display: flex; gap: 20px; align-items: center }
      h1 svg { width: 76px; height: 76px }
      p { display: flex; gap: 14px; margin: 48px 0 }
      span { border-bottom: 8px solid; padding-bottom: 8px; font-size: 24px; color: #55625f }
      b { font: 700 50px ui-monospace, "DejaVu Sans Mono", monospace; color: #17211f; display: block }
      img { width: 600px; height: 630px; object-fit: cover; object-position: 60% }
    </style>
    <div><h1>${icon}Hexcodes</h1>Mã vị trí cho mọi ngôi nhà<br>ở Việt Nam<p>${parts.join('')}</p>Gõ sai là biết ngay,<br>không cần mạng</div>
    <img src="data:image/png;base64,${shot}">`,
    'share.png',
  );
  await page.close();
}

const CODE = '#HN-6GHP4-83RFR';
const KEPT = 'docs/pictures';
const POINTS = 50_000;

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

const SIZES = [
  [360, 740],
  [390, 844],
  [768, 1024],
  [1280, 800],
  [1920, 1080],
] as const;

/** First view, place, counts of a file, fleet and plate: one page for each size, theme and language. */
async function everySize(): Promise<void> {
  for (const [width, height] of SIZES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const locale of ['vi', 'en']) {
        const isPhone = width < 500;
        const { page, faults, close } = await openConsole(withMap, server.port, {
          viewport: { width, height },
          colorScheme,
          locale,
          ...(isPhone ? { hasTouch: true, isMobile: true } : {}),
        });
        await mapState(page);
        const take = async (view: string, restMs = 3500): Promise<void> => {
          await page.waitForTimeout(restMs);
          const path = join(folder, `${width}-${view}-${locale}-${colorScheme}.png`);
          await page.screenshot({ path });
          console.log([path, ...faults].join('\n  '));
        };
        await take('first', 500);
        await page.fill('#code', CODE.slice(1));
        await take('place');
        await page.click('#tab-take-away');
        await page.fill('#doorplate-line', 'Nhà Lan & Minh, 12 Hàng Khay');
        await page.click('#print-doorplate');
        await take('plate', 500);
        await page.keyboard.press('Escape');
        await convert(page);
        await take('file', 5000);
        await page.click('#clear-points');
        await drive(page);
        await take('fleet', 500);
        await close();
      }
    }
  }
}

if (process.argv[3] === 'sizes') {
  await everySize();
  await Promise.all([withMap.close(), withoutWebgl.close(), server.kill()]);
  process.exit();
}

await shippedPictures(withMap, server.port);
await picture(join(folder, 'place.png'), wide, CODE);
await picture(join(KEPT, 'console-counts.png'), { viewport: { width: 1200, height: 720 } }, '', (page) =>
  convert(page),
);
await picture(join(folder, 'dark-file.png'), { ...wide, colorScheme: 'dark' }, '', (page) => convert(page));
await picture(join(folder, 'rows.png'), wide, '', async (page) => {
  await convert(page);
  await page.waitForTimeout(4000);
  await page.locator('#map canvas').first().focus();
  await page.keyboard.press('Enter');
});
await picture(join(folder, 'fleet.png'), wide, '', (page) => drive(page));
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
await picture(join(folder, 'zones.png'), wide, '#HN-6GHP4-7PK', async (page) => {
  await page.click('#tab-zones');
  await drawZones(page);
});
await picture(join(folder, 'zones-file.png'), { ...wide, colorScheme: 'dark' }, '', async (page) => {
  await page.click('#tab-zones');
  await drawZones(page);
  await page.selectOption('#zone-size', '6');
  await convert(page);
});
await picture(
  join(folder, 'narrow-zones.png'),
  { viewport: { width: 320, height: 640 }, locale: 'vi', hasTouch: true, isMobile: true },
  '#HN-6GHP4-7PK',
  async (page) => {
    await page.click('#tab-zones');
    await drawZones(page);
    await page.click('#zone-draw');
    await pressMap(page, [
      [0.3, 0.3],
      [0.6, 0.4],
    ]);
  },
);
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

async function pressMap(
  page: Page,
  parts: readonly (readonly [across: number, down: number])[],
): Promise<void> {
  for (const [across, down] of parts) {
    const { x, y, width, height } = (await page.locator('#map').boundingBox())!;
    await page.mouse.click(x + across * width, y + down * height);
  }
}

/** Draws two zones beside each other. */
async function drawZones(page: Page): Promise<void> {
  // The map glides to the place.
  await page.waitForTimeout(2000);
  for (const left of [0.2, 0.55]) {
    await page.click('#zone-draw');
    await pressMap(page, [
      [left, 0.25],
      [left + 0.25, 0.3],
      [left + 0.3, 0.7],
      [left - 0.05, 0.75],
    ]);
    await page.click('#zone-end');
  }
}

/** Converts points around many towns, a few of them abroad. */
async function convert(page: Page): Promise<void> {
  const random = randomFrom(7);
  const isIn = ([lat, lng]: readonly [number, number]): boolean => library.adminCodeOf(lat, lng) !== null;
  const anywhere = (): readonly [number, number] => [8.6 + random() * 14.6, 102.3 + random() * 7];
  const towns = [
    [21.03, 105.84],
    [10.78, 106.69],
    ...Array.from({ length: 900 }, anywhere).filter(isIn),
  ] as const;
  const near = (): number => (random() + random() + random() - 1.5) * 0.2;
  const rows = Array.from({ length: POINTS }, (_, i) => {
    // Most are in few towns, as everywhere.
    const [lat, lng] = towns[Math.floor(random() ** 3 * towns.length)]!;
    return `${i},${(lat + near()).toFixed(6)},${(lng + near()).toFixed(6)}`;
  });
  await page.click('#tab-file');
  const buffer = Buffer.from(`id,lat,lng\n${rows.join('\n')}\n`);
  await page.locator('#file-input').setInputFiles({ name: 'places.csv', mimeType: 'text/csv', buffer });
  await page.waitForSelector('#file-download');
  await page.waitForFunction(() => Number(document.getElementById('map')?.dataset.counts) > 0);
}
