// The tasks of the page on every size of screen, light and dark, in both languages, with and without WebGL: nothing is
// cut off, too small or over something else, and what one needs next is in sight. One page for each way of drawing is
// taken through all of them, as a reload costs more than the tasks; clicks do not wait for a still picture.
import type { CDPSession, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { axeOf, type ConsolePage, hasChromium, mapState } from '../../support/console-page.js';
import { screenFaults } from '../../support/screen-faults.js';
import { ServedConsole } from '../../support/served-console.js';

const CODE = 'HN-6GHP4-83RFR';
const OTHER = 'HCM-GXC6M-QHR2P';

interface Screen {
  readonly width: number;
  readonly height: number;
  readonly isTouched: boolean;
  /** Pixels of the device for each of the page: 2 is a window zoomed to 200 %. */
  readonly ratio: number;
}

const SCREENS: readonly Screen[] = [
  { width: 1440, height: 900, isTouched: false, ratio: 1 },
  { width: 1280, height: 720, isTouched: false, ratio: 1 },
  { width: 640, height: 360, isTouched: false, ratio: 2 },
  { width: 740, height: 360, isTouched: true, ratio: 1 },
  { width: 390, height: 844, isTouched: true, ratio: 1 },
  { width: 360, height: 640, isTouched: true, ratio: 1 },
  { width: 320, height: 640, isTouched: true, ratio: 1 },
];
/** WCAG 2.2 asks for 24 px; fingers get what Apple and Google tell their own to keep to. */
const MIN_PX = 24;
const MIN_TOUCHED_PX = 44;
/** Needed next, with every place. */
const NEXT = ['#place-code', '#copy-code', '#directions summary'];
const TABLE = `id,lat,lng\n1,21.0288,105.8525\n2,10.7725,106.698\n3,48.8584,2.2945\n`;

const PLACES: Readonly<Record<string, string>> = { en: 'Place', vi: 'Vị trí' };

describe.skipIf(!hasChromium)('needs Chromium', () => {
  describe.each([false, true])('WebGL: %s', (hasWebgl) => {
    const served = new ServedConsole(hasWebgl);
    let opened: ConsolePage;
    let session: CDPSession;
    beforeAll(async () => {
      opened = await served.open({
        permissions: ['clipboard-read', 'clipboard-write'],
        reducedMotion: 'reduce',
        colorScheme: 'light',
      });
      session = await opened.page.context().newCDPSession(opened.page);
      expect(await mapState(opened.page)).toBe(hasWebgl ? 'webgl' : 'flat');
    });

    /** The screen of another device, without a new page. */
    async function turnTo({ width, height, isTouched, ratio }: Screen): Promise<void> {
      await session.send('Emulation.setDeviceMetricsOverride', {
        width,
        height,
        deviceScaleFactor: ratio,
        mobile: isTouched,
      });
      await session.send('Emulation.setTouchEmulationEnabled', { enabled: isTouched, maxTouchPoints: 1 });
    }

    test.each(SCREENS)('$width × $height', async (screen) => {
      await turnTo(screen);
      const { page, faults } = opened;
      const found: string[] = [];
      let looks = 0;
      for (const theme of ['light', 'dark']) {
        if ((await page.getAttribute('html', 'data-theme')) !== theme) await press(page, '#theme');
        for (const language of ['en', 'vi']) {
          if ((await page.getAttribute('html', 'lang')) !== language) await press(page, '#language');
          await doTasks(page, language, async (task, inSight = []) => {
            // Names on the map are drawn with the next picture.
            await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
            const leastPx = screen.isTouched ? MIN_TOUCHED_PX : MIN_PX;
            looks++;
            for (const fault of await page.evaluate(screenFaults, { leastPx, inSight }))
              found.push(`${theme} ${language}, ${task}: ${fault}`);
          });
        }
        if (!hasWebgl)
          for (const [rule, nodes] of (await axeOf(page)).violations)
            found.push(`${theme}: axe ${rule} ${nodes.join(' ')}`);
      }
      // Nine tasks in each theme and language.
      expect(looks).toBe(9 * 4);
      expect(found).toEqual([]);
      expect(faults).toEqual([]);
    });

    // The page has no map, so WebGL makes no difference.
    if (hasWebgl) return;
    test('the page of the API', async () => {
      const { page, faults } = opened;
      await page.goto(`${served.address}docs`);
      const found: string[] = [];
      for (const screen of SCREENS) {
        await turnTo(screen);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const at = `${screen.width} ${colorScheme}`;
          const rules = { leastPx: MIN_PX, inSight: ['h1'] };
          for (const fault of await page.evaluate(screenFaults, rules)) found.push(`${at}: ${fault}`);
        }
        const isEnd = screen === SCREENS[0] || screen === SCREENS.at(-1);
        for (const [rule, nodes] of isEnd ? (await axeOf(page)).violations : [])
          found.push(`${screen.width}: axe ${rule} ${nodes.join(' ')}`);
      }
      expect(found).toEqual([]);
      expect(faults).toEqual([]);
    });
  });
});

const press = (page: Page, selector: string): Promise<void> =>
  page.locator(selector).evaluate((node: HTMLElement) => node.click());

type Look = (task: string, inSight?: readonly string[]) => Promise<void>;

/** The tasks, one after the other; `look` is called where the screen has to be right. */
async function doTasks(page: Page, language: string, look: Look): Promise<void> {
  const text = (selector: string): Promise<string | null> => page.locator(selector).textContent();
  await press(page, '#tab-place');
  expect(await text('#tab-place')).toBe(PLACES[language]);
  await page.fill('#code', 'Hội An');
  await page.waitForSelector('.suggestion');
  await look('names', ['.suggestion']);
  await page.fill('#code', '21.0288, 105.8525');
  expect(await text('#place-code')).toBe(CODE);
  await look('a position', NEXT);
  await press(page, '#copy-code');
  await page.waitForSelector('.toast.is-shown');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(CODE);
  await page.evaluate(() => document.getElementById('toast')?.classList.remove('is-shown'));
  await press(page, '#directions summary');
  await page.locator('#directions-osm').evaluate((node) => node.scrollIntoView({ block: 'nearest' }));
  await look('directions', ['#directions-osm']);
  await press(page, '#directions summary');
  await page.fill('#code', `Địa chỉ: ${OTHER} nhé anh`);
  expect(await text('#place-code')).toBe(OTHER);
  await look('a message', NEXT);
  for (const fold of ['how-sure', 'spell', 'ladder', 'neighbors']) await press(page, `#${fold} summary`);
  await page.waitForSelector('#copy-spelling');
  await look('all of a place');
  for (const fold of ['how-sure', 'spell', 'ladder', 'neighbors']) await press(page, `#${fold} summary`);
  await press(page, '#tab-file');
  const file = { name: 'shops.csv', mimeType: 'text/csv', buffer: Buffer.from(TABLE) };
  await page.locator('#file-input').setInputFiles(file);
  await page.waitForSelector('#file-download');
  await look('a file', ['#file-download']);
  await press(page, '#tab-take-away');
  await look('to take away');
  await press(page, '#print-sheet');
  await look('the sheet', ['.preview .strong']);
  await page.keyboard.press('Escape');
  await press(page, '#tab-fleet');
  await page.waitForSelector('#fleet-start');
  await look('the fleet');
}
