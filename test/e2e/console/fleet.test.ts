// The fleet over the stream of the real server: figures are those that the service counts for the key, 0 when the
// service is gone; it ends by itself; a wrong key is refused in words.
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { axeOf, hasChromium, mapState, openBrowser, openConsole } from '../../support/console-page.js';
import { ServerProcess } from '../../support/server-process.js';
import { sharedOf } from '../../support/shared.js';

const VEHICLES = 1000;

/** Starts the fleet with a key, for longer than a busy machine needs to look at it. */
async function drive(page: Page, key: string, seconds: '15' | '60' = '60'): Promise<void> {
  await page.click('#tab-fleet');
  await page.fill('#fleet-key', key);
  await page.selectOption('#fleet-vehicles', String(VEHICLES));
  await page.selectOption('#fleet-seconds', seconds);
  await page.click('#fleet-start');
}

const numberIn = async (page: Page, id: string): Promise<number> =>
  Number((await page.locator(id).textContent())?.replaceAll(',', ''));
const codesIn = (page: Page): Promise<string[]> => page.locator('#fleet-codes code').allTextContents();

/** Positions that were answered, when it has stopped. */
async function answeredIn(page: Page): Promise<number> {
  const status = page.locator('#fleet-status');
  await expect.poll(() => status.textContent()).toMatch(/^Stopped\. /);
  return Number((await status.textContent())?.replaceAll(',', '').match(/\d+/)?.[0]);
}

async function pointsOfKey(server: ServerProcess): Promise<number> {
  const answer = await fetch(`${server.base}/usage`, { headers: { 'X-API-Key': server.key } });
  const body = JSON.stringify(await answer.json());
  return Number(/"points":(\d+)/.exec(body)?.[1]);
}

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const browser = sharedOf(
    () => openBrowser(false),
    (made) => made.close(),
  );

  test('it drives, shows the answers, and ends by itself', async () => {
    const server = await ServerProcess.start({ isQuiet: true });
    onTestFinished(() => server.kill());

    const { page, faults, close } = await openConsole(browser, server.port);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    expect(await mapState(page)).toBe('flat');
    // All of it comes when it is used.
    expect(asked.filter((path) => /fleet/i.test(path))).toEqual([]);
    await drive(page, server.key);
    await expect.poll(() => numberIn(page, '#fleet-rate')).toBeGreaterThan(0);
    expect(asked.filter((path) => /fleet/i.test(path))).toHaveLength(2);
    expect(await page.getAttribute('#map', 'data-points')).toBe(String(VEHICLES));
    const before = await codesIn(page);
    expect(before.every((code) => /^HN-/.test(code))).toBe(true);
    await expect.poll(() => codesIn(page)).not.toEqual(before);
    await expect.poll(() => numberIn(page, '#fleet-changes')).toBeGreaterThan(0);
    expect(await page.locator('#fleet-latency').textContent()).toMatch(/^[\d.,]+ · [\d.,]+$/);
    expect((await axeOf(page)).violations).toEqual([]);
    await page.press('#fleet-stop', 'Enter');
    const answered = await answeredIn(page);
    await drive(page, server.key, '15');
    const byItself = await answeredIn(page);
    for (const points of [answered, byItself]) expect([points % VEHICLES, points > 0]).toEqual([0, true]);
    expect(await pointsOfKey(server)).toBe(answered + byItself);
    expect(await page.locator('#fleet-start').isVisible()).toBe(true);
    expect(faults).toEqual([]);
    await close();
  });

  test('with the service stopped it shows 0; a wrong key is refused in words', async () => {
    const server = await ServerProcess.start({ isQuiet: true });
    const { page, close } = await openConsole(browser, server.port);
    await mapState(page);
    await drive(page, 'no_such_key_0123456789');
    const status = (): Promise<string | null> => page.locator('#fleet-status').textContent();
    await expect.poll(status).toBe('The service refuses this key: check it. It needs the scope bulk.');
    // In Vietnamese nothing of it is English.
    await page.click('#language');
    await drive(page, 'no_such_key_0123456789');
    await expect.poll(status).toBe('Máy chủ không nhận khóa này: hãy kiểm tra lại; khóa phải có quyền bulk.');
    await page.click('#language');
    expect(await page.locator('#fleet-start').isVisible()).toBe(true);
    await drive(page, server.key);
    await expect.poll(() => numberIn(page, '#fleet-rate')).toBeGreaterThan(0);
    await server.kill();
    await expect.poll(() => numberIn(page, '#fleet-rate')).toBe(0);
    await expect.poll(() => page.locator('#fleet-status').textContent()).toMatch(/is lost/);
    expect(await numberIn(page, '#fleet-window')).toBe(0);
    expect(await numberIn(page, '#fleet-changes')).toBe(0);
    await page.press('#fleet-stop', 'Enter');
    await expect.poll(() => page.locator('#fleet-status').textContent()).toMatch(/^Stopped\. /);
    expect(await page.locator('#fleet-start:focus').count()).toBe(1);
    await close();
  });

  test('without the land, on which it would drive, it says so and may be started again', async () => {
    const server = await ServerProcess.start({ isQuiet: true });
    onTestFinished(() => server.kill());

    const { page, close } = await openConsole(browser, server.port);
    await mapState(page);
    await page.context().route(/land-/, (route) => route.fulfill({ status: 503, body: '' }));
    await drive(page, server.key);
    await expect
      .poll(() => page.locator('#fleet-status').textContent())
      .toBe('The data could not be loaded.');
    expect(await page.locator('#fleet-start').isVisible()).toBe(true);
    await close();
  });

  test('it stops in a hidden page, and speaks the other language after a switch', async () => {
    const server = await ServerProcess.start({ isQuiet: true });
    onTestFinished(() => server.kill());

    const { page, close } = await openConsole(browser, server.port);
    await mapState(page);
    await drive(page, server.key);
    await expect.poll(() => numberIn(page, '#fleet-rate')).toBeGreaterThan(0);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await expect.poll(() => page.locator('#fleet-status').textContent()).toMatch(/^Stopped\. /);
    await page.click('#switches button:first-child');
    expect(await page.locator('#fleet-seconds option').allTextContents()).toEqual(['15 giây', '60 giây']);
    expect(await page.locator('#fleet-cost').textContent()).toBe(
      'Dùng tối đa 300.000 điểm trong hạn mức của khóa.',
    );
    expect(await page.locator('.meter span').first().textContent()).toBe('Điểm mỗi giây');
    await close();
  });
});
