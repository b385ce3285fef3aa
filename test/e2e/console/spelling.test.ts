// A code for the telephone: spelt in the language of the page, copied, and read aloud by a voice of the device alone.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeOf, hasChromium, mapState } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

interface Voice {
  readonly lang: string;
  readonly localService: boolean;
}

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole(false);

  /** The page of a device with these voices, which notes what they read. */
  const opened = async (locale: string, voices: readonly Voice[]) => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const shown = await served.open({ locale, permissions });
    await shown.page.addInitScript((given) => {
      const noted = globalThis as unknown as { read: string[] };
      noted.read = [];
      Object.defineProperty(globalThis, 'SpeechSynthesisUtterance', {
        value: class {
          voice: unknown;
          constructor(readonly text: string) {}
        },
      });
      const speak = ({ text, voice }: { text: string; voice: { lang: string } }) =>
        noted.read.push(`${voice.lang}: ${text}`);
      const value = { getVoices: () => given, addEventListener: () => {}, cancel: () => {}, speak };
      Object.defineProperty(globalThis, 'speechSynthesis', { value });
    }, voices);
    await shown.page.goto(`${served.address}#HN-6GHP4-83RFR`);
    await shown.page.reload();
    await mapState(shown.page);
    await shown.page.locator('#spell summary').focus();
    await shown.page.keyboard.press('Enter');
    await shown.page.locator('#copy-spelling').waitFor();
    return shown;
  };
  const readBy = (page: Page): Promise<string[]> =>
    page.evaluate(() => (globalThis as unknown as { read: string[] }).read);

  test('in Vietnamese, by a voice of the device', async () => {
    const voices = [
      { lang: 'vi-VN', localService: false },
      { lang: 'en-US', localService: true },
      { lang: 'vi_VN', localService: true },
    ];
    const { page, faults, close } = await opened('vi-VN', voices);
    expect((await page.locator('#spell ol').allTextContents())[0]).toBe('H HuếN Ninh Bình');
    await page.click('#read-aloud');
    expect(await readBy(page)).toEqual([
      expect.stringMatching(/^vi_VN: H như Huế, N như Ninh Bình; sáu, G như Gia Lai/),
    ]);
    await page.click('#copy-spelling');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^HN-6GHP4-83RFR: H như Huế/);
    expect((await axeOf(page)).violations).toEqual([]);
    await page.click('#language');
    await expect.poll(() => page.locator('#spell ol').first().textContent()).toBe('H HotelN November');
    expect(faults).toEqual([]);
    await close();
  });

  test('without such a voice nothing is sent to another, and the page says so', async () => {
    const { page, faults, close } = await opened('vi-VN', [{ lang: 'vi-VN', localService: false }]);
    expect(await page.locator('#read-aloud').isVisible()).toBe(false);
    expect(await page.locator('#spell p').textContent()).toBe('Thiết bị này không có giọng đọc tiếng Việt.');
    expect(faults).toEqual([]);
    await close();
  });
});
