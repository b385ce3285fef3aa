// `npm run proof -- drive`: the fleet of the console's page at 10 reports a second, in Chromium with WebGL in software:
// points a second, window and latency as the page shows them near the end of 15 s, the longest task of the page's main
// thread, and whether the page shows the points that the service counted for its key.
import type { Browser, Page } from 'playwright-core';
import { mapState, openBrowser, openConsole } from '../support/console-page.js';
import { ServerProcess } from '../support/server-process.js';

const FLEETS = [1000, 10_000, 100_000];
const REPORTS = 10;
/** The map has come to the city by then. */
const ARRIVED_MS = 4000;
const SEEN_AFTER_MS = 8000;

export default async function drive(): Promise<void> {
  const browser = await openBrowser();
  try {
    for (const vehicles of FLEETS) if (!(await isRight(browser, vehicles))) process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

async function isRight(browser: Browser, vehicles: number): Promise<boolean> {
  const server = await ServerProcess.start({ isQuiet: true });
  const { page, faults, close } = await openConsole(browser, server.port);
  try {
    await mapState(page);
    await page.click('#tab-fleet');
    await page.evaluate(() => {
      const seen = window as unknown as { longestMs: number };
      seen.longestMs = 0;
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.longestMs = Math.max(seen.longestMs, duration);
      }).observe({ type: 'longtask' });
    });
    await page.fill('#fleet-key', server.key);
    await page.selectOption('#fleet-vehicles', String(vehicles));
    await page.selectOption('#fleet-reports', String(REPORTS));
    await page.selectOption('#fleet-seconds', '15');
    await page.click('#fleet-start');
    await page.waitForTimeout(ARRIVED_MS);
    const arrivingMs = await longest(page);
    await page.waitForTimeout(SEEN_AFTER_MS);
    const longestMs = await longest(page);
    const shown = (id: string): Promise<string | null> => page.locator(`#fleet-${id}`).textContent();
    const [rate, changes, window, latency] = await Promise.all(
      ['rate', 'changes', 'window', 'latency'].map(shown),
    );
    await page.waitForFunction(() =>
      document.getElementById('fleet-status')?.textContent?.startsWith('Stopped'),
    );
    const answered = Number((await shown('status'))?.replaceAll(',', '').match(/\d+/)?.[0]);
    const usage = await fetch(`${server.base}/usage`, { headers: { 'X-API-Key': server.key } });
    const counted = Number(/"points":(\d+)/.exec(await usage.text())?.[1]);
    console.log(
      `${vehicles} vehicles: ${rate} points/s, ${changes} codes changed, ${window} of 16 frames unanswered, latency ${latency} ms; ` +
        `longest task of the page ${longestMs.toFixed(0)} ms (${arrivingMs.toFixed(0)} while the map moves there); ${answered} points shown, ${counted} counted`,
    );
    return answered === counted && faults.length === 0;
  } finally {
    await close();
    await server.kill();
  }
}

/** The longest task since the last call. */
function longest(page: Page): Promise<number> {
  return page.evaluate(() => {
    const seen = window as unknown as { longestMs: number };
    const { longestMs } = seen;
    seen.longestMs = 0;
    return longestMs;
  });
}
