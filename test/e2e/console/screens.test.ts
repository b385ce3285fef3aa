// Every screen of the page: languages, sizes, phones, touch, forced colours.

import type { CDPSession, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { consoleModule } from '../../support/console-module.js';
import {
  axeOf,
  type ConsolePage,
  ENDS,
  hasChromium,
  mapState,
  SCREENS,
  screenFaults,
  turnTo,
} from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

const CODE = 'HN-6GHP4-83RFR';

const OTHER = 'HCM-GXC6M-QHR2P';

/** WCAG 2.2 asks for 24 px; fingers get what Apple and Google tell their own to keep to. */
const MIN_PX = 24;

const MIN_TOUCHED_PX = 44;

/** Needed next, with every place. */
const NEXT = ['#place-code', '#copy-code', '#directions summary'];

const TABLE = `id,lat,lng\n1,21.0288,105.8525\n2,10.7725,106.698\n3,48.8584,2.2945\n`;

const PLACES: Readonly<Record<string, string>> = { en: 'Place', vi: 'Vị trí' };

describe.skipIf(!hasChromium)('needs Chromium: tasks', () => {
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

    test.each(hasWebgl ? ENDS : SCREENS)('$width × $height', async (screen) => {
      await turnTo(session, screen);
      const { page, faults } = opened;
      const found: string[] = [];
      let looks = 0;
      // A theme changes colours, never a size.
      for (const [theme, language] of [
        ['light', 'en'],
        ['dark', 'vi'],
      ] as const) {
        // With WebGL one of both for each screen, as a canvas alone differs.
        if (hasWebgl && screen.isTouched === (language === 'vi')) continue;
        if ((await page.getAttribute('html', 'data-theme')) !== theme) await press(page, '#theme');
        if ((await page.getAttribute('html', 'lang')) !== language) await press(page, '#language');
        await doTasks(page, language, async (task, inSight = []) => {
          // Names on the map are drawn with the next picture.
          await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
          const minPx = screen.isTouched ? MIN_TOUCHED_PX : MIN_PX;
          looks++;
          for (const fault of await page.evaluate(screenFaults, { minPx, inSight }))
            found.push(`${theme} ${language}, ${task}: ${fault}`);
          if (task !== 'a position') return;
          const isPhone = await page.locator('#sheet-edge').isVisible();
          const share = (await page.locator('#map').boundingBox())!.height / screen.height;
          if (share < (isPhone ? 0.25 : 0.4)) found.push(`${theme} ${language}: the map has ${share}`);
        });
        if (!hasWebgl && ENDS.includes(screen))
          for (const [rule, nodes] of (await axeOf(page)).violations)
            found.push(`${theme}: axe ${rule} ${nodes.join(' ')}`);
      }
      // Nine tasks in each theme.
      expect(looks).toBe(9 * (hasWebgl ? 1 : 2));
      expect(found).toEqual([]);
      expect(faults).toEqual([]);
    });

    // The page has no map, so WebGL makes no difference.
    if (hasWebgl) return;
    test('the list of documents', async () => {
      const { page, faults } = opened;
      await page.goto(`${served.address}docs/documents`);
      const found: string[] = [];
      for (const screen of SCREENS) {
        await turnTo(session, screen);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const at = `${screen.width} ${colorScheme}`;
          const rules = { minPx: MIN_PX, inSight: ['h1'] };
          for (const fault of await page.evaluate(screenFaults, rules)) found.push(`${at}: ${fault}`);
        }
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
  await page.waitForFunction(() => Number(document.getElementById('map')?.dataset.counts) > 0);
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

describe.skipIf(!hasChromium)('needs Chromium: phones', () => {
  const served = new ServedConsole(false);
  let opened: ConsolePage;
  beforeAll(async () => {
    // The first of the links below is one that the page begins with.
    const permissions = ['clipboard-read', 'clipboard-write'];
    opened = await served.open({ permissions }, '#HN-6GHP4-83RFV');
    await mapState(opened.page);
  });

  const isInSight = (page: Page, selector: string): Promise<boolean> =>
    page.locator(selector).evaluate((node) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && right > left;
    });

  test.each([
    ['#HN-6GHP4-83RFV', undefined],
    ['#HN-6GHP4-83RFR&fbclid=abc', CODE],
    ['#HCM-6GHP4-83RFR', undefined],
    ['#21.0288,105.8525', CODE],
  ])('the link %s', async (hash, code) => {
    const { page } = opened;
    await page.goto(served.address + hash);
    if (code === undefined) {
      await page.locator('.suggestion').first().waitFor();
      expect(await page.locator('.suggestion .code').allTextContents()).toContain(CODE);
      expect(await page.locator('#box-answer').textContent()).toContain('near ');
      expect(await page.locator('#code').inputValue()).toBe(hash.slice(1));
    } else await expect.poll(() => page.locator('#place-code').textContent()).toBe(code);
  });

  test('the way on: directions, a link of ours, names, Back, recent codes', async () => {
    const { page, faults } = opened;
    await page.locator('#code').fill(`Địa chỉ: ${CODE} nhé anh`);
    expect(await page.locator('#place-code').textContent()).toBe(CODE);
    expect(await page.locator('#place-near').textContent()).toContain('near Hoàn Kiếm');
    await page.locator('#directions summary').click();
    expect(await page.locator('#directions-app').getAttribute('href')).toBe(
      `geo:21.028798,105.852465?q=21.028798,105.852465(${CODE})`,
    );
    // A place that is passed by is not kept, nor a step of the history.
    await page.waitForTimeout(1700);
    await page.locator('#code').fill(`https://codes.example/#${OTHER}&fbclid=abc`);
    expect(await page.locator('#place-code').textContent()).toBe(OTHER);
    await page.waitForTimeout(1700);
    await page.goBack();
    await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
    await page.locator('#code').fill('Hà Nội');
    await page.locator('.suggestion').first().waitFor();
    expect(await page.locator('#place-code').count()).toBe(0);
    expect(await page.locator('#recent .code').allTextContents()).toEqual([OTHER, CODE]);
    await page.locator('#recent .remove').first().click();
    expect(await page.locator('#recent .code').allTextContents()).toEqual([CODE]);
    await page.locator('#remove-recent').click();
    expect(await page.locator('#recent').count()).toBe(0);
    await page.locator('.suggestion').first().click();
    const name = await page.locator('#place-code').textContent();
    // A province is not a house: its code is as coarse as it is wide.
    expect(name).toMatch(/^HN-[0-9A-Z]{2,4}$/);
    expect(faults).toEqual([]);
  });

  test('the map names towns, slides names of provinces into view, and has codes in its hexagons', async () => {
    const { page } = opened;
    await page.goto(`${served.address}#${OTHER}`);
    const labels = (): Promise<string[]> => page.locator('.label').allTextContents();
    await expect
      .poll(async () => Number(await page.locator('#map').getAttribute('data-codes')))
      .toBeGreaterThan(3);
    await expect.poll(labels).toContain('TP. Hồ Chí Minh');
    for (let i = 0; i < 9; i++) await page.locator('.map-buttons button').nth(1).click();
    await expect.poll(labels).toContain('Quận 1');
    expect(await page.locator('#scale').textContent()).toMatch(/^[125]0* (?:k?m)$/);
    await page.locator('.map-buttons button').nth(2).click();
    await expect.poll(labels).toContain('Cà Mau');
    await page.mouse.move(900, 500);
    expect(await page.locator('#credit').textContent()).toContain('GeoNames');
  });

  test.each([
    ['12 Hàng Khay, Hoàn Kiếm, Hà Nội', 'no streets or house numbers', 'Hoàn Kiếm'],
    ['QVH3+GX Hội An', 'Plus Code', 'Hội An'],
    ['https://maps.app.goo.gl/abcDEF123', 'No position stands in this link', undefined],
    ['///tiền.giấy.bút', 'what3words', undefined],
    ['0912 345 678', 'telephone number', undefined],
  ])('%s: said what it is, and the way on', async (text, words, town) => {
    const { page } = opened;
    await page.locator('#code').fill(text);
    await page.locator('#code').press('Enter');
    await expect.poll(() => page.locator('#box-answer').textContent()).toContain(words);
    if (town !== undefined) {
      await page.locator('.suggestion', { hasText: town }).first().click();
      expect(await page.locator('#place-near').textContent()).toContain(town);
    }
  });

  test('arrows choose among suggestions, × clears the box, and the clipboard is pasted', async () => {
    const { page, faults } = opened;
    await page.setViewportSize({ width: 360, height: 740 });
    const box = page.locator('#code');
    await box.fill('Tân');
    const rows = page.locator('.suggestion');
    await rows.first().waitFor();
    const state = (): Promise<(string | null)[]> =>
      Promise.all(['aria-expanded', 'aria-activedescendant'].map((name) => box.getAttribute(name)));
    const count = await rows.count();
    expect(count).toBeGreaterThan(2);
    expect(await state()).toEqual(['true', null]);
    // Down to the last, behind which the box comes again, and up from it.
    const marked: (string | null)[] = [];
    for (let i = 0; i <= count; i++) {
      await box.press('ArrowDown');
      marked.push((await state())[1]!);
    }
    expect(marked).toEqual([...Array.from({ length: count }, (_, i) => `suggestion-${i}`), null]);
    await box.press('ArrowUp');
    await box.press('ArrowUp');
    const wanted = rows.nth(count - 2);
    expect(await wanted.getAttribute('aria-selected')).toBe('true');
    expect((await axeOf(page)).violations).toEqual([]);
    const name = await wanted.locator('.code').textContent();
    await box.press('Enter');
    await page.locator('#place-code').waitFor();
    expect(await box.inputValue()).toBe(name);
    expect(await state()).toEqual(['false', null]);
    await box.fill('Tân');
    await box.press('Escape');
    expect(await rows.count()).toBe(0);
    await page.locator('#clear').click();
    expect(await box.inputValue()).toBe('');
    expect(await page.locator('#clear').isVisible()).toBe(false);
    await page.evaluate((text) => navigator.clipboard.writeText(text), `Mã nhà: ${CODE} nhé`);
    await page.locator('#paste').click();
    await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
    expect(faults).toEqual([]);
  });

  test('360 × 740: the sheet has three heights, by finger and by keys; a panel has 240 px at the middle one', async () => {
    const { page, faults } = await served.open(
      { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
      `#${CODE}`,
    );
    await mapState(page);
    const edge = page.locator('#sheet-edge');
    const map = async (): Promise<number> => (await page.locator('#map').boundingBox())!.height;
    const panel = (): Promise<number> =>
      page.locator('.panel:visible').evaluate((node) => innerHeight - node.getBoundingClientRect().top);
    expect(await panel()).toBeGreaterThanOrEqual(240);
    const middle = await map();
    const dragTo = async (y: number): Promise<void> => {
      const box = (await edge.boundingBox())!;
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2, y, { steps: 4 });
      await page.mouse.up();
    };
    await dragTo(690);
    expect(await edge.getAttribute('aria-valuenow')).toBe('0');
    expect(await map()).toBeGreaterThan(740 * 0.6);
    expect(await isInSight(page, '#place-code')).toBe(true);
    await dragTo(110);
    expect(await edge.getAttribute('aria-valuenow')).toBe('2');
    expect(await panel()).toBeGreaterThan(400);
    await edge.focus();
    await page.keyboard.press('ArrowDown');
    expect(await map()).toBe(middle);
    expect((await axeOf(page)).violations).toEqual([]);
    // Its actions are one row, and an open menu pushes nothing aside.
    const tops = (): Promise<number[]> =>
      page
        .locator('.place-bar .actions > *')
        .evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect().top));
    expect(new Set(await tops()).size).toBe(1);
    const before = await panel();
    await page.locator('#directions summary').click();
    expect(await panel()).toBe(before);
    await page.locator('#more-copies summary').click();
    expect(await page.locator('details.menu[open]').count()).toBe(1);
    await page.locator('#place-code').click();
    expect(await page.locator('details.menu[open]').count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test.each([
    [390, 844, ''],
    [360, 740, `#${CODE}`],
    [1280, 800, `#${CODE}`],
  ])('%i × %i %s: what loads moves nothing', async (width, height, hash) => {
    const { page } = await served.open({ viewport: { width, height } }, hash);
    await mapState(page);
    const shifted = await page.evaluate(
      () =>
        new Promise<number>((done) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries() as unknown as { value: number }[]) sum += entry.value;
          }).observe({ type: 'layout-shift', buffered: true });
          setTimeout(() => done(sum), 1500);
        }),
    );
    expect(shifted).toBeLessThan(0.05);
    await page.context().close();
  });

  test('Back leads through the codes that were typed, letter by letter, and each has its title', async () => {
    const { page, faults } = await served.open({ locale: 'vi' });
    const box = page.locator('#code');
    const titles: string[] = [await page.title()];
    // Each further digit of a position names another cell; so may a part of a code.
    for (const typed of [CODE, '16.0544, 108.2022', 'HUE-6HQ64-HH9J6', OTHER]) {
      await box.fill('');
      await box.pressSequentially(typed);
      titles.push(await page.title());
    }
    expect(titles[0]).toBe('Hexcodes: mã vị trí cho mọi ngôi nhà ở Việt Nam');
    expect(titles[1]).toBe(`${CODE}, gần Hoàn Kiếm · Hexcodes`);
    expect(titles[2]).toMatch(/^DNG-[0-9A-Z]{5}-[0-9A-Z]{5}, gần Đà Nẵng/);
    expect(new Set(titles).size).toBe(5);
    // A text that names no place yet hides the code, and leaves the address.
    await box.fill('HN-6GHP4-83RF');
    expect(await page.locator('#place-code').count()).toBe(0);
    expect(new URL(page.url()).hash).toBe(`#${OTHER}`);
    for (const title of titles.slice(0, -1).reverse()) {
      await page.goBack();
      await expect.poll(() => page.title()).toBe(title);
    }
    expect(await box.inputValue()).toBe('');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('two tabs have one list of recent codes, and what is removed in one does not come back', async () => {
    const { page } = await served.open({}, `#${CODE}`);
    const other = await page.context().newPage();
    await other.goto(page.url().replace(/#.*/, ''));
    const codes = (): Promise<string[]> => other.locator('#recent .code').allTextContents();
    await expect.poll(codes).toEqual([CODE]);
    await other.locator('#remove-recent').click();
    await page.locator('#code').fill(OTHER);
    await expect.poll(codes).toEqual([OTHER]);
    await page.context().close();
  });
});

/** The share of each colour of a picture. */
function sharesIn(page: Page, picture: string): Promise<Record<string, number>> {
  return page.evaluate(async (encoded) => {
    const bytes = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')!;
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const counts = new Map<number, number>();
    for (let i = 0; i < data.length; i += 4) {
      const rgb = (data[i]! << 16) | (data[i + 1]! << 8) | data[i + 2]!;
      counts.set(rgb, (counts.get(rgb) ?? 0) + 1);
    }
    return Object.fromEntries(
      [...counts].map(([rgb, count]) => [`#${rgb.toString(16).padStart(6, '0')}`, (4 * count) / data.length]),
    );
  }, picture);
}

describe.skipIf(!hasChromium).each([true, false])('needs Chromium: the map, WebGL: %s', (hasWebgl) => {
  const served = new ServedConsole(hasWebgl);
  let opened: ConsolePage;
  beforeAll(async () => {
    opened = await served.open();
    expect(await mapState(opened.page)).toBe(hasWebgl ? 'webgl' : 'flat');
  });

  test.each(['light', 'dark'] as const)(
    '%s: land, sea and coast are seen in the colours of the palette',
    async (colorScheme) => {
      const { paletteOf } =
        await consoleModule<typeof import('../../../src/console/map/palette.js')>('map/palette.ts');
      const { sea, land, coast, provinces } = paletteOf(colorScheme === 'dark');
      const { page, faults } = opened;
      await page.emulateMedia({ colorScheme });
      const isShown = async (): Promise<boolean[]> => {
        const shares = await sharesIn(page, (await page.locator('#map').screenshot()).toString('base64'));
        const ours = provinces.reduce((sum, color) => sum + (shares[color] ?? 0), 0);
        return [shares[sea]! > 0.15, shares[land]! > 0.15, shares[coast]! > 0.0005, ours > 0.02];
      };
      await expect.poll(isShown).toEqual([true, true, true, true]);
      expect(faults).toEqual([]);
    },
  );

  test('a look-up ends with its surroundings in view, an inset shows where; no name touches another', async () => {
    const { page, faults } = opened;
    await page.goto(`${served.address}#${CODE}`);
    const resolution = async (): Promise<number> =>
      Number(await page.locator('#map').getAttribute('data-grid'));
    await expect.poll(resolution).toBe(13);
    await expect.poll(() => page.locator('.inset').isVisible()).toBe(true);
    // A hexagon of this size has a code in two lines, and its neighbours theirs.
    await expect
      .poll(async () => Number(await page.locator('#map').getAttribute('data-codes')))
      .toBeGreaterThan(20);
    for (let i = 0; i < 9; i++) {
      await page.locator('.map-buttons button').nth(1).click();
      await page.waitForTimeout(400);
      const boxes = await page.locator('.label').evaluateAll((nodes) =>
        nodes.map((node) => {
          const { left, right, top, bottom } = node.getBoundingClientRect();
          return { text: node.textContent, left, right, top, bottom };
        }),
      );
      const touching = boxes.flatMap((a, at) =>
        boxes
          .slice(at + 1)
          .filter((b) => a.left < b.right + 3 && b.left < a.right + 3 && a.top < b.bottom && b.top < a.bottom)
          .map((b) => `${a.text} ${b.text}`),
      );
      expect(touching).toEqual([]);
    }
    await page.locator('.map-buttons button').nth(2).click();
    await expect.poll(() => page.locator('.inset').isVisible()).toBe(false);
    expect(faults).toEqual([]);
  });
});

describe('forced colours', () => {
  const CONTROLS = 'a[href], button, input:not([type=file]), select, textarea, summary, [role=tab], progress';

  const TABLE = 'id,lat,lng\n1,21.0288,105.8525\n2,48.8584,2.2945\n';

  /** A control with the share of its pixels that stand out by 3 to 1 from the colour that most of them have. */
  interface Seen {
    readonly name: string;
    readonly share: number;
  }

  /** The controls by one picture, taken again where the page has moved meanwhile: a panel that comes pushes others. */
  async function seenIn(page: Page): Promise<Seen[]> {
    for (;;) {
      const before = await page.evaluate(edgesOf, CONTROLS);
      const picture = (await page.screenshot({ animations: 'disabled', caret: 'hide' })).toString('base64');
      const seen = await seenBy(page, picture);
      if ((await page.evaluate(edgesOf, CONTROLS)) === before) return seen;
    }
  }

  function edgesOf(selector: string): string {
    const edges = [...document.querySelectorAll(selector)].map((node) => {
      const { left, top, width, height } = node.getBoundingClientRect();
      return [left, top, width, height];
    });
    return JSON.stringify(edges);
  }

  function seenBy(page: Page, picture: string): Promise<Seen[]> {
    return page.evaluate(
      async ([encoded, selector]) => {
        const bytes = Uint8Array.from(atob(encoded!), (letter) => letter.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')!;
        context.drawImage(bitmap, 0, 0);
        const luminance = (rgb: number): number => {
          const part = (value: number): number => {
            const s = value / 255;
            return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
          };
          return 0.2126 * part(rgb >> 16) + 0.7152 * part((rgb >> 8) & 255) + 0.0722 * part(rgb & 255);
        };
        const found: { name: string; share: number }[] = [];
        for (const node of document.querySelectorAll<HTMLElement>(selector!)) {
          const { left, top, width, height } = node.getBoundingClientRect();
          const hit = document.elementFromPoint(left + width / 2, top + height / 2);
          if (
            width < 1 ||
            !node.checkVisibility() ||
            hit === null ||
            !(node.contains(hit) || hit.contains(node))
          )
            continue;
          const { data } = context.getImageData(left, top, Math.ceil(width), Math.ceil(height));
          const counts = new Map<number, number>();
          for (let i = 0; i < data.length; i += 4) {
            const rgb = (data[i]! << 16) | (data[i + 1]! << 8) | data[i + 2]!;
            counts.set(rgb, (counts.get(rgb) ?? 0) + 1);
          }
          const [ground = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
          const under = luminance(ground);
          let out = 0;
          for (const [rgb, count] of counts) {
            const over = luminance(rgb);
            if ((Math.max(under, over) + 0.05) / (Math.min(under, over) + 0.05) >= 3) out += count;
          }
          const name =
            node.id || `${node.localName} ${(node.textContent || node.ariaLabel || '').trim().slice(0, 20)}`;
          found.push({ name, share: out / (data.length / 4) });
        }
        return found;
      },
      [picture, CONTROLS],
    );
  }

  const WHAT_SHOWS_A_CHOICE = [
    'border-bottom-color',
    'border-bottom-width',
    'outline-style',
    'outline-color',
    'background-color',
    'color',
    'font-weight',
    'text-decoration-line',
  ];

  /** Texts and frames have more: the least are the strokes of `+` in 44 px. */
  const MIN_SHARE = 0.01;

  describe.skipIf(!hasChromium)('needs Chromium: forced colours', () => {
    const served = new ServedConsole(false);

    let opened: ConsolePage;
    beforeAll(async () => {
      opened = await served.open({ forcedColors: 'active' });
      await mapState(opened.page);
    });

    test.each(['light', 'dark'] as const)('%s: every control is seen', async (colorScheme) => {
      const { page, faults } = opened;
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(() => matchMedia('(forced-colors: active)').matches)).toBe(true);
      const looked: Seen[] = [];
      const look = async (): Promise<void> => {
        looked.push(...(await seenIn(page)));
      };
      await look();
      await page.fill('#code', 'Hội An');
      await page.waitForSelector('.suggestion');
      await look();
      await page.fill('#code', 'HN-6GHP4-83RFR');
      await page.locator('#place-code').waitFor();
      for (const fold of ['ladder', 'neighbors']) await page.click(`#${fold} summary`);
      await look();
      await page.locator('#ladder').scrollIntoViewIfNeeded();
      await look();
      for (const fold of ['ladder', 'neighbors']) await page.click(`#${fold} summary`);
      await page.click('#tab-file');
      await page
        .locator('#file-input')
        .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(TABLE) });
      await page.locator('#file-download').waitFor();
      await look();
      await page.locator('.by-province').scrollIntoViewIfNeeded();
      await look();
      await page.click('#tab-take-away');
      await page.locator('#print-sheet').waitFor();
      await look();
      await page.click('#tab-fleet');
      await page.locator('#fleet-start').waitFor();
      await look();
      expect(looked.length).toBeGreaterThan(60);
      expect(looked.filter(({ share }) => share < MIN_SHARE)).toEqual([]);
      // Contrast is judged by pixels: axe-core takes colours of the style that are not shown.
      const rules = (await axeOf(page)).violations.filter(([rule]) => rule !== 'color-contrast');
      expect(rules).toEqual([]);
      expect(faults).toEqual([]);
      await page.click('#tab-place');
    });

    test('a chosen button looks different from its neighbours', async () => {
      const { page } = opened;
      await page.click('#ladder summary');
      const looks = (selector: string): Promise<string[]> =>
        page.locator(selector).evaluateAll(
          (nodes, properties) =>
            nodes.map((node) => {
              const style = getComputedStyle(node);
              return properties.map((name) => style.getPropertyValue(name)).join();
            }),
          WHAT_SHOWS_A_CHOICE,
        );
      for (const [chosen, others] of [
        ['[role=tab][aria-selected=true]', '[role=tab][aria-selected=false]'],
        ['.codes button[aria-current]', '.codes button:not([aria-current])'],
      ] as const) {
        const [own, ...more] = await looks(chosen);
        expect([chosen, own === undefined, more]).toEqual([chosen, false, []]);
        expect([others, new Set(await looks(others)).has(own!)]).toEqual([others, false]);
      }
    });
  });
});
