// `npm run proof -- first-map [--runs 5]`: when the box of the page answers and when its first map is drawn, over
// 400 kbit/s with 400 ms of latency and a quarter of the CPU, as Chromium emulates both; and the bytes until then.
import { hasChromium, mapState, markFirsts, openBrowser } from '../support/console-page.js';
import { ServerProcess } from '../support/server-process.js';
import { optionsOf } from './run-length.js';

const NETWORK = { latency: 400, downloadThroughput: 400_000 / 8, uploadThroughput: 400_000 / 8 };
const CPU_SLOWER = 4;
const AIM_MS = 8000;
const PLACE = '#HN-6GHP4-83RFR';

export default async function proveFirstMap(args: string[]): Promise<void> {
  const values = optionsOf(args, { runs: '5' });
  if (!hasChromium) throw new Error('no browser: install chromium, or name one with CHROMIUM=path');
  const server = await ServerProcess.start({ isQuiet: true });
  const browser = await openBrowser();
  for (const hash of ['', PLACE]) {
    const runs: { box: number; first: number; state: number; bytes: number }[] = [];
    for (let run = 0; run < Number(values.runs); run++) {
      // Each has a cache of its own.
      const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
      const page = await context.newPage();
      await page.addInitScript(markFirsts);
      const session = await context.newCDPSession(page);
      await session.send('Network.enable');
      await session.send('Network.emulateNetworkConditions', { offline: false, ...NETWORK });
      await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWER });
      let bytes = 0;
      session.on('Network.loadingFinished', ({ encodedDataLength }) => {
        bytes += encodedDataLength;
      });
      await page.goto(`http://127.0.0.1:${server.port}/${hash}`, { waitUntil: 'commit' });
      await page.waitForSelector('#map[data-first]');
      const firstBytes = bytes;
      await mapState(page);
      const [box, first, state] = await page.evaluate(() =>
        ['box', 'first', 'state'].map((name) => performance.getEntriesByName(name)[0]!.startTime),
      );
      runs.push({ box: box!, first: first!, state: state!, bytes: firstBytes });
      await context.close();
    }
    const median = (of: keyof (typeof runs)[number]): number =>
      runs.map((run) => run[of]).sort((a, b) => a - b)[Math.floor(runs.length / 2)]!;
    const seconds = (of: 'box' | 'first' | 'state'): string => `${(median(of) / 1000).toFixed(1)} s`;
    console.log(
      `first-map: ${hash || 'no place'}: the box answers after ${seconds('box')}, the first map stands after ${seconds('first')} and ${Math.round(median('bytes') / 1000)} KB, that of WebGL after ${seconds('state')} (medians of ${runs.length})`,
    );
    if (median('first') > AIM_MS) {
      console.log(`first-map: later than ${AIM_MS / 1000} s`);
      process.exitCode = 1;
    }
  }
  await browser.close();
  await server.kill();
}
