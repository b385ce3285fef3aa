// The console in Chromium: how sure the province of a place is, in both languages, and the table of shares.
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { hasChromium } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole();
  let library: Hexcodes;
  beforeAll(async () => {
    library = await Hexcodes.load();
  });

  test.each(['vi-VN', 'en'])(
    '%s: near a border with the province behind it, and far from any',
    async (locale) => {
      const { page, faults } = await served.open({ locale });
      const isVi = locale === 'vi-VN';
      await page.locator('#code').fill('21.0757, 105.9872');
      const { border_m, certainty, neighbour_code } = library.borderOf(21.0757, 105.9872)!;
      const neighbour = ADMIN_UNITS.find(({ code }) => code === neighbour_code)!;
      const fact = page.locator('.facts dd').last();
      const percent = String(100 * certainty!);
      await expect.poll(() => fact.textContent()).toContain(`${neighbour.name} (${neighbour_code})`);
      const words = (await fact.textContent())!;
      expect(words).toContain(
        isVi ? `cách ranh giới tỉnh khoảng ${border_m} m: có thể thuộc` : `about ${border_m} m from`,
      );
      expect(words).toContain(`${isVi ? percent.replace('.', ',') : percent} %`);
      await page.locator('#code').fill('12.6667, 108.05');
      await expect.poll(() => fact.textContent()).toContain(isVi ? 'hơn 5 km' : 'more than 5 km');
      expect(await fact.textContent()).not.toContain('(');

      await page.locator('#how-sure summary').click();
      expect(await page.locator('#how-sure tbody tr').count()).toBe(library.kernel.bands.length);
      const text = await page.locator('#how-sure').textContent();
      expect(text).toContain(library.kernel.meta!.source.date.slice(0, 4));
      expect(text).toContain(isVi ? 'vẫn chỉ đúng ô ấy' : 'still names the same cell');
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );
});
