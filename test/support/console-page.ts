// The console in Debian's Chromium, for tests, proofs and pictures: pages that note every request to another host,
// every message of the policy and every error.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasChromium = existsSync(CHROMIUM);

/**
 * Software WebGL 2, as there is no graphics card where tests run. The page around the map is put together without it,
 * which would be more work for WebGL in software than the map is at rest.
 */
const WITH_WEBGL = [
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--disable-gpu-compositing',
];

/**
 * Two pages of Chromium's own after the address bar, which each window would load and draw: more CPU than a window has
 * otherwise. Of several --disable-features the last counts, so those of Playwright come first.
 */
const WITHOUT_FEATURES = [
  'AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,PaintHolding',
  'ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,OptimizationHints',
  'NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch',
  'WebUIOmniboxPopup,WebUIOmniboxAimPopup',
];

/** @param hasWebGl false: the map cannot be drawn */
export async function openBrowser(hasWebGl = true): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      `--disable-features=${WITHOUT_FEATURES.join(',')}`,
      ...(hasWebGl ? WITH_WEBGL : ['--disable-3d-apis']),
    ],
  });
  // WebGL in software is slow on a loaded machine.
  browser.on('context', (context) => context.setDefaultTimeout(120_000));
  return browser;
}

export interface ConsolePage {
  readonly page: Page;
  /** Errors, and requests to other hosts. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** @param hash of the address, as `#HN-6GHP4-83RFR` */
export async function openConsole(
  browser: Browser,
  port: number,
  options: BrowserContextOptions = {},
  hash = '',
): Promise<ConsolePage> {
  const origin = `http://127.0.0.1:${port}`;
  const context = await browser.newContext({
    locale: 'en',
    viewport: { width: 960, height: 640 },
    // A service worker would load every file once more in each test.
    serviceWorkers: 'block',
    // WebGL in software draws each picture of a flight: only tests of flights have them.
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith(`blob:${origin}/`) && !url.startsWith('data:'))
      faults.push(url);
  });
  await page.goto(`${origin}/${hash}`);
  return { page, faults, close: () => context.close() };
}

/** Marks in a page, for `addInitScript`, when it has tabs, its first map, and the map that stays. */
export function markFirsts(): void {
  const watched = { box: '#tabs [role=tab]', first: '#map[data-first]', state: '#map[data-state]' };
  new MutationObserver(() => {
    for (const [name, selector] of Object.entries(watched))
      if (performance.getEntriesByName(name).length === 0 && document.querySelector(selector) !== null)
        performance.mark(name);
  }).observe(document, { subtree: true, attributes: true, childList: true });
}

/** Resolves to how the map is drawn, `webgl` or `flat`, once it is. */
export async function mapState(page: Page): Promise<string | null> {
  const map = page.locator('#map[data-state]');
  await map.waitFor();
  return map.getAttribute('data-state');
}

const AXE = (): string => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The findings of axe-core, as rules and the elements that break them; and how many rules hold. */
export async function axeOf(page: Page): Promise<{ violations: [string, string[]][]; passes: number }> {
  // Past the policy of the page, which forbids scripts of others.
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: AXE() });
  const { result } = await session.send('Runtime.evaluate', {
    expression: "axe.run({ resultTypes: ['violations'] }).then((found) => JSON.stringify(found))",
    awaitPromise: true,
  });
  const { violations, passes } = JSON.parse(result.value as string) as AxeResults;
  return {
    violations: violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]),
    passes: passes.length,
  };
}

/** Drops a file on the page. */
export async function dropFile(page: Page, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([fileName, content]) => {
      const made = new DataTransfer();
      made.items.add(new File([content!], fileName!));
      return made;
    },
    [name, text],
  );
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
}

/** The bytes of the file that a click downloads, and its name. */
export async function downloaded(page: Page, selector: string): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(selector)]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/** Pixels of the map that are nearly of a colour. */
export async function pixelsOf(page: Page, wanted: readonly number[]): Promise<number> {
  const png = (await page.locator('#map').screenshot()).toString('base64');
  return page.evaluate(
    async ([data, color]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d')!;
      context.drawImage(image, 0, 0);
      const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
      let found = 0;
      for (let at = 0; at < bytes.length; at += 4)
        if ((color as number[]).every((part, i) => Math.abs(bytes[at + i]! - part) <= 3)) found++;
      return found;
    },
    [png, wanted] as const,
  );
}
