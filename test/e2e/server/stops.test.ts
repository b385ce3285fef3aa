// SIGTERM under load, and the lame-duck time before it. The large twin is `npm run proof -- stops`.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { stopUnderPlainClients } from '../../support/load/plain-stops.js';
import { stopUnderLoad } from '../../support/load/stop-under-load.js';
import { COMMAND_KEY, ServeCommand } from '../../support/serve-command.js';

let service: ServeCommand | undefined;
afterEach(() => service?.remove());

test('SIGTERM under load: every request that was read and every frame that was taken is answered', async () => {
  for (const args of [[], ['--drain-ms', '200'], ['--processes', '2']]) {
    expect((await stopUnderLoad(args)).faults).toEqual([]);
  }
});

test('stops with the default --drain-ms: no call of clients that ask on is reset', async () => {
  const lost: string[] = [];
  for (const afterMs of [400, 555, 710]) {
    const result = await stopUnderPlainClients(afterMs);
    expect(result.answered).toBeGreaterThan(0);
    lost.push(...result.lost);
  }
  expect(lost).toEqual([]);
});

test('--drain-ms: /readyz says 503 and why while requests and new connections are served, until a second signal', async () => {
  // Longer than three calls take on any machine; a second signal ends it.
  service = new ServeCommand(['--drain-ms', '60000']);
  const base = await service.base();
  const admin = await service.adminBase();
  const call = (): Promise<Response> =>
    fetch(`${base}/v1/hexcodes/decode?hexcodes=HN-2J`, { headers: { 'X-API-Key': COMMAND_KEY } });
  const before = await call();
  expect(before.headers.get('connection')).not.toBe('close');
  await before.arrayBuffer();
  const exit = service.stop();
  await service.line('stopping');
  const readyz = await fetch(`${admin}/readyz`);
  expect(readyz.status).toBe(503);
  expect(await readyz.text()).toBe('not ready\nreason: the service is stopping\n');
  for (let i = 0; i < 3; i++) {
    const answer = await call();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('connection')).toBe('close');
    await answer.arrayBuffer();
    await sleep(20);
  }
  void service.stop();
  expect(await exit).toBe(1);
});

test('--drain-ms: after that time the port is closed, and the service ends with 0', async () => {
  service = new ServeCommand(['--drain-ms', '100']);
  const base = await service.base();
  expect(await service.stop()).toBe(0);
  await expect(fetch(`${base}/v1/meta`)).rejects.toThrow();
});
