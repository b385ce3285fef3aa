// The pictures that the page ships: the icon of phones, and what chats show with a link, 1200 by 630 pixels.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { mapState, openConsole } from './console-page.js';

export async function shippedPictures(browser: Browser, port: number): Promise<void> {
  const page = await browser.newPage();
  const html = async (width: number, height: number, body: string, name: string): Promise<void> => {
    await page.setViewportSize({ width, height });
    await page.setContent(`<!doctype html><style>body { margin: 0 }</style>${body}`);
    await page.screenshot({ path: join('src/console', name) });
  };
  // Phones round the corners themselves.
  const icon = readFileSync('src/console/icon.svg', 'utf8');
  await html(512, 512, icon.replace(' rx="14"', ''), 'icon.png');
  const { page: map, close } = await openConsole(browser, port, {
    viewport: { width: 1104, height: 690 },
    locale: 'vi',
  });
  await mapState(map);
  await map.waitForTimeout(4000);
  await map.evaluate(() => {
    for (const control of document.querySelectorAll('.map-buttons, .scale')) control.remove();
  });
  const shot = (await map.locator('#map').screenshot()).toString('base64');
  await close();
  const parts = [
    ['HN', 'tỉnh', '#0b6e5f'],
    ['6GHP4', 'ô', '#1d5fa8'],
    ['83RF', 'ô nhỏ', '#7c3aa8'],
    ['R', 'kiểm tra', '#9a3412'],
  ].map(([symbols, words, color]) => `<span style="border-color: ${color}"><b>${symbols}</b>${words}</span>`);
  await html(
    1200,
    630,
    `<style>
      body { font: 34px/1.35 system-ui, sans-serif; color: #17211f; display: flex; height: 630px; background: #fff }
      div { width: 600px; padding: 64px 40px 0 60px; box-sizing: border-box }
      h1 { font-size: 54px; margin: 0 0 40px; display: flex; gap: 20px; align-items: center }
      h1 svg { width: 76px; height: 76px }
      p { display: flex; gap: 14px; margin: 48px 0 }
      span { border-bottom: 8px solid; padding-bottom: 8px; font-size: 24px; color: #55625f }
      b { font: 700 50px ui-monospace, "DejaVu Sans Mono", monospace; color: #17211f; display: block }
      img { width: 600px; height: 630px; object-fit: cover; object-position: 60% }
    </style>
    <div><h1>${icon}Hexcodes</h1>Mã vị trí cho mọi ngôi nhà<br>ở Việt Nam<p>${parts.join('')}</p>Gõ sai là biết ngay,<br>không cần mạng</div>
    <img src="data:image/png;base64,${shot}">`,
    'share.png',
  );
  await page.close();
}
