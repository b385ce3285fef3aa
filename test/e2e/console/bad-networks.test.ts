// The page where the network is bad: with a full copy kept, it opens behind a network that hangs, a proxy that answers
// 502, and a portal that sends one elsewhere; and data that does not come is asked for again.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consoleCases } from '../../support/console-cases.js';
import { hasChromium, MAP_MS, mapState, openConsole } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

type Fault = 'none' | 'hangs' | '502' | 'portal' | 'page of a portal' | 'no index';

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole(false);
  let proxy: Server;
  let port: number;
  let fault: Fault = 'none';

  const forward = (from: IncomingMessage, to: ServerResponse): void => {
    const { method = 'GET', url = '/', headers } = from;
    const onward = request({ host: '127.0.0.1', port: served.port, method, path: url, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(to);
    });
    onward.on('error', () => to.destroy());
    from.pipe(onward);
  };
  const answer = (from: IncomingMessage, to: ServerResponse): void => {
    if (fault === 'hangs') return;
    if (fault === '502') to.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
    else if (fault === 'portal') to.writeHead(302, { location: '/login' }).end();
    else if (fault === 'page of a portal')
      to.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Mời đăng nhập Wi-Fi</h1>');
    else if (fault === 'no index' && /\/index-\w+\.bin/.test(from.url ?? '')) to.destroy();
    else forward(from, to);
  };

  beforeAll(async () => {
    proxy = createServer(answer);
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    port = (proxy.address() as AddressInfo).port;
  });
  afterAll(async () => {
    proxy?.closeAllConnections();
    proxy?.close();
  });

  test('with a copy kept it opens behind each of them', async () => {
    fault = 'none';
    const { page } = await openConsole(served.browser, port, { serviceWorkers: 'allow' });
    await mapState(page);
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    const cases = consoleCases('network');
    expect(cases).toHaveLength(4);
    for (const [each, code] of cases) {
      fault = each as Fault;
      await page.goto('about:blank');
      await page.goto(`http://127.0.0.1:${port}/#${code}`);
      await expect.poll(() => page.locator('#place-code').textContent(), { timeout: MAP_MS }).toBe(code);
      expect(await mapState(page)).toBe('flat');
    }
    fault = 'none';
    await page.context().close();
  });

  test('boundaries that do not come are asked for again, then there is a button', async () => {
    fault = 'no index';
    const { page } = await openConsole(served.browser, port);
    await page.locator('#retry').waitFor({ timeout: MAP_MS });
    fault = 'none';
    await page.locator('#retry').click();
    expect(await mapState(page)).toBe('flat');
    await page.context().close();
  });
});
