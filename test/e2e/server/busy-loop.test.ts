// /livez and /readyz of a service whose event loop hangs: answered all the same, and 503 when it has hung for
// five seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { ServeCommand } from '../../support/serve-command.js';

let service: ServeCommand | undefined;
afterEach(() => service?.remove());

const BLOCKER = pathToFileURL('test/fixtures/block-event-loop.mjs').href;

test('probes are answered while the event loop stands still, and say so after five seconds', async () => {
  service = new ServeCommand([], { NODE_OPTIONS: `--import ${BLOCKER}` });
  await service.base();
  const admin = await service.adminBase();
  const ask = async (path: string): Promise<[number, string]> => {
    const answer = await fetch(`${admin}${path}`);
    return [answer.status, await answer.text()];
  };
  expect(await ask('/readyz')).toEqual([200, 'ready\n']);
  expect(await ask('/livez')).toEqual([200, 'alive\n']);
  service.child.kill('SIGUSR2');
  const seen = new Set<string>();
  let isMetricsAnswered = false;
  void fetch(`${admin}/metrics`).then(
    () => (isMetricsAnswered = true),
    () => {},
  );
  // The loop answers nothing now; the probes do.
  while (!seen.has('503')) {
    const [status, text] = await ask('/readyz');
    seen.add(String(status));
    if (status === 200) {
      expect(isMetricsAnswered).toBe(false);
    } else {
      expect(text).toMatch(/^not ready\nreason: the event loop has not run for \d+ s\n$/);
      const [alive, why] = await ask('/livez');
      expect([alive, why]).toEqual([503, expect.stringMatching(/^not alive\nreason: the event loop/)]);
    }
    await sleep(100);
  }
  expect([...seen]).toEqual(['200', '503']);
  for (let status = 503; status !== 200; [status] = await ask('/readyz')) await sleep(100);
  expect((await ask('/livez'))[0]).toBe(200);
});
