// The console in Debian's Chromium, for tests, proofs and pictures: pages that note every request to another host,
// every message of the policy and every error.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import {
  type Browser,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core';

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
export async function pixelsOf(page: Page, wanted: readonly number[], tolerance = 3): Promise<number> {
  const png = (await page.locator('#map').screenshot()).toString('base64');
  return page.evaluate(
    async ([data, color, most]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d')!;
      context.drawImage(image, 0, 0);
      const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
      let found = 0;
      for (let at = 0; at < bytes.length; at += 4)
        if ((color as number[]).every((part, i) => Math.abs(bytes[at + i]! - part) <= most)) found++;
      return found;
    },
    [png, wanted, tolerance] as const,
  );
}

export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly isTouched: boolean;
  /** Pixels of the device for each of the page: 2 is a window zoomed to 200 %. */
  readonly ratio: number;
}

/** One for each branch of the style sheets. The first and the last are seen with a map of WebGL, too. */
export const SCREENS: readonly Screen[] = [
  { width: 1440, height: 900, isTouched: false, ratio: 1 },
  { width: 1280, height: 720, isTouched: false, ratio: 1 },
  { width: 640, height: 360, isTouched: false, ratio: 2 },
  { width: 740, height: 360, isTouched: true, ratio: 1 },
  { width: 390, height: 844, isTouched: true, ratio: 1 },
  { width: 320, height: 640, isTouched: true, ratio: 1 },
];
export const ENDS = [SCREENS[0]!, SCREENS.at(-1)!];

/** The screen of another device, without a new page. */
export async function turnTo(
  session: CDPSession,
  { width, height, isTouched, ratio }: Screen,
): Promise<void> {
  const metrics = { width, height, deviceScaleFactor: ratio, mobile: isTouched };
  await session.send('Emulation.setDeviceMetricsOverride', metrics);
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: isTouched, maxTouchPoints: 1 });
}

// Faults that a person would find with a page as it is on the screen, by the boxes of its elements: cut off, one over
// the other, too small for a finger. Runs in the page.

interface ScreenRules {
  /** The least width and height of what one clicks or touches, CSS pixels. */
  readonly minPx: number;
  /** Selectors of elements of which a part has to be in sight without scrolling. */
  readonly inSight: readonly string[];
}

/** One line for each fault. Has to stand alone, as it is sent to the page. */
export function screenFaults({ minPx, inSight }: ScreenRules): string[] {
  const faults: string[] = [];
  const root = document.documentElement;
  const wider = root.scrollWidth - root.clientWidth;
  if (wider > 0) faults.push(`the page is ${wider} px too wide`);

  /** A page that is read from top to bottom. */
  const isLong = getComputedStyle(document.body).overflowY !== 'hidden';

  type Box = { left: number; right: number; top: number; bottom: number };
  const common = (a: Box, b: Box): Box => ({
    left: Math.max(a.left, b.left),
    right: Math.min(a.right, b.right),
    top: Math.max(a.top, b.top),
    bottom: Math.min(a.bottom, b.bottom),
  });
  const isArea = ({ left, right, top, bottom }: Box, minSide = 1.5): boolean =>
    right - left > minSide && bottom - top > minSide;
  const nameOf = (node: Element): string =>
    node.id === '' ? `${node.localName} "${(node.textContent ?? '').trim().slice(0, 24)}"` : `#${node.id}`;
  const scrolls = (node: Element, axis: 'overflowX' | 'overflowY'): boolean =>
    /auto|scroll/.test(getComputedStyle(node)[axis]);
  const above = (node: Element, is: (each: Element) => boolean): Element | undefined => {
    for (let each = node.parentElement; each !== null; each = each.parentElement) if (is(each)) return each;
    return undefined;
  };
  const screen: Box = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  /** The part that is on the screen now. */
  const seen = (node: Element): Box => {
    let box: Box = node.getBoundingClientRect();
    for (let each = node.parentElement; each !== null && each !== document.body; each = each.parentElement)
      if (getComputedStyle(each).overflow !== 'visible') box = common(box, each.getBoundingClientRect());
    return common(box, screen);
  };
  // Nothing below an open dialog can be reached.
  const dialog = document.querySelector('dialog[open]') ?? document.body;
  const shown = (selector: string): HTMLElement[] =>
    [...dialog.querySelectorAll<HTMLElement>(selector)].filter(
      (node) =>
        node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
        node.closest('.hidden-hint') === null &&
        getComputedStyle(node).clipPath === 'none',
    );

  // An open menu lies over what is below it.
  const menu = document.querySelector('.menu[open] .menu-list');
  const isBelowMenu = (node: Element): boolean =>
    menu !== null &&
    !menu.contains(node) &&
    isArea(common(menu.getBoundingClientRect(), node.getBoundingClientRect()));

  const controls = shown('a[href], button, input, select, textarea, summary');
  for (const node of controls) {
    const box = node.getBoundingClientRect();
    const name = nameOf(node);
    const isInText = getComputedStyle(node).display === 'inline' && node.localName === 'a';
    const least = Math.min(box.width, box.height);
    if (least < minPx - 0.5 && !isInText) faults.push(`${name} is only ${least.toFixed(1)} px`);
    const column = above(node, (each) => getComputedStyle(each).overflowX !== 'visible');
    const { left, right } = column?.getBoundingClientRect() ?? screen;
    const canScroll = column !== undefined && scrolls(column, 'overflowX') && column.clientHeight < 400;
    if (!canScroll && (box.left < left - 1 || box.right > right + 1))
      faults.push(`${name} is cut off: ${box.left.toFixed()} to ${box.right.toFixed()} px`);
    const isMoved = isLong || above(node, (each) => scrolls(each, 'overflowY')) !== undefined;
    if (!isMoved && (box.top < -1 || box.bottom > innerHeight + 1))
      faults.push(`${name} is off the screen: ${box.top.toFixed()} to ${box.bottom.toFixed()} px`);
    if (/button|summary/.test(node.localName) && node.scrollWidth > node.clientWidth + 1)
      faults.push(`the words of ${name} do not fit`);
    const part = seen(node);
    if (!isArea(part, 6)) continue;
    for (const [across, down] of [
      [0.5, 0.5],
      [0.25, 0.25],
      [0.75, 0.25],
      [0.25, 0.75],
      [0.75, 0.75],
    ] as const) {
      const x = part.left + across * (part.right - part.left);
      const y = part.top + down * (part.bottom - part.top);
      const hit = document.elementFromPoint(x, y);
      if (hit === null || hit.contains(node) || node.contains(hit) || isInText || isBelowMenu(node)) continue;
      faults.push(`${name} is covered by ${nameOf(hit)}`);
      break;
    }
  }

  // Words over words: elements that have text of their own.
  const words = shown('*').filter(
    (node) =>
      node.closest('svg, .maplibregl-canvas-container, option, .toast') === null &&
      !isBelowMenu(node) &&
      [...node.childNodes].some(
        ({ nodeType, data }: Node & { data?: string }) => nodeType === 3 && data?.trim(),
      ),
  );
  const boxes = words.map((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return common(range.getBoundingClientRect(), seen(node));
  });
  words.forEach((node, i) => {
    if (/hidden|clip/.test(getComputedStyle(node).overflowX) && node.scrollWidth > node.clientWidth + 1)
      faults.push(`the words of ${nameOf(node)} are cut off`);
    for (let other = i + 1; other < words.length; other++) {
      const isInside = node.contains(words[other]!) || words[other]!.contains(node);
      if (!isInside && isArea(common(boxes[i]!, boxes[other]!), 2))
        faults.push(`${nameOf(node)} and ${nameOf(words[other]!)} lie over one another`);
    }
  });

  // Names on the map: whole, and not below what is on it.
  const map = document.getElementById('map')?.getBoundingClientRect();
  const onMap = dialog === document.body && map !== undefined ? shown('.label') : [];
  for (const node of onMap) {
    const box = node.getBoundingClientRect();
    if (box.left < map!.left - 1 || box.right > map!.right + 1)
      faults.push(`the name ${nameOf(node)} is cut off by the edge of the map`);
    for (const button of document.querySelectorAll(
      '.map-buttons, .map-note, .scale, .credit, .inset:not([hidden]), .legend:not([hidden]), .layers summary',
    ))
      if (isArea(common(box, button.getBoundingClientRect()), 2))
        faults.push(`the name ${nameOf(node)} is below ${button.className}`);
  }

  for (const selector of inSight) {
    const [node] = shown(selector);
    if (node === undefined || !isArea(seen(node), 12)) faults.push(`${selector} is not in sight`);
  }
  return [...new Set(faults)];
}
