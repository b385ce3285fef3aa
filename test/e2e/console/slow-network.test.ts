// The page over a network of 400 kbit/s with answers after 400 ms, as Chromium makes one: a code that is typed before
// the scripts have come is answered while the library of the map is still on its way, then the map stands. Where the
// network stops behind the first map, codes are still made, and a panel says that it is on its way.
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, MAP_MS, mapState, openBrowser, openConsole } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

const CODE = 'HN-6GHP4-83RFR';
const SLOW = { latency: 400, bytesPerSecond: 400_000 / 8 };
const HANGING = { latency: 600_000, bytesPerSecond: 1 };

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole();
  let flat: Browser;
  beforeAll(async () => {
    flat = await openBrowser(false);
  });
  afterAll(async () => {
    await flat?.close();
  });

  const limit = async (session: CDPSession, { latency, bytesPerSecond }: typeof SLOW): Promise<void> => {
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
  };
  const codeIn = (page: Page): Promise<string | null> =>
    page.locator('#place-code').textContent({ timeout: MAP_MS });

  test('the first visit: a code before the map, then the map', async () => {
    const { page, faults, close } = await served.open();
    const session = await page.context().newCDPSession(page);
    await limit(session, SLOW);
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    await page.reload({ waitUntil: 'commit' });
    await page.fill('#code', CODE, { timeout: MAP_MS });
    expect(await codeIn(page)).toBe(CODE);
    expect(await page.locator('#map[data-state]').count()).toBe(0);
    expect(new URL(page.url()).hash).toBe(`#${CODE}`);
    expect(await mapState(page)).toBe('webgl');
    expect(await codeIn(page)).toBe(CODE);
    expect(faults).toEqual([]);
    await close();
  });

  test('a network that hangs behind the first map', async () => {
    const { page, faults, close } = await openConsole(flat, served.port);
    expect(await mapState(page)).toBe('flat');
    await limit(await page.context().newCDPSession(page), HANGING);
    await page.click('#tab-file');
    expect(await page.locator('#panel-file [role=status]').textContent()).toBe('Loading…');
    expect(await page.locator('#file-input').count()).toBe(0);
    await page.fill('#code', CODE);
    expect(await codeIn(page)).toBe(CODE);
    expect(faults).toEqual([]);
    await close();
  });

  test('a panel that could not come comes with the network', async () => {
    const { page, close } = await openConsole(flat, served.port);
    await mapState(page);
    await page.context().setOffline(true);
    await page.click('#tab-file');
    await page.locator('.toast.is-shown').waitFor();
    expect(await page.locator('#panel-file').textContent()).toBe('');
    await page.context().setOffline(false);
    await page.click('#tab-place');
    await page.click('#tab-file');
    await page.locator('#file-input').waitFor({ state: 'attached' });
    expect(await page.locator('#panel-file [role=status]').first().textContent()).toBe('');
    await close();
  });
});
