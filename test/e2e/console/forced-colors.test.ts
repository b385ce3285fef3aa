// The page in the colours that a person forces on all pages: each control in sight is seen, by its pixels, and a chosen
// tab and a chosen code look otherwise than those beside them.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeOf, hasChromium, mapState } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

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

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole(false);

  test.each(['light', 'dark'] as const)('%s: every control is seen', async (colorScheme) => {
    const { page, faults, close } = await served.open({ forcedColors: 'active', colorScheme });
    await mapState(page);
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
    await close();
  });

  test('what is chosen looks otherwise than what is beside it', async () => {
    const { page, close } = await served.open({ forcedColors: 'active' }, '#HN-6GHP4-83RFR');
    await mapState(page);
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
    await close();
  });
});
