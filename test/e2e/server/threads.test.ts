// A thread of the service that ends or hangs: readiness says so, another takes its place, and the changes of keys that
// were made meanwhile hold from then on.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { KeyState } from '#dist/server/keys/key-record.js';
import { digestOf } from '#dist/server/keys/secret.js';
import { SqliteStore } from '#dist/server/keys/store/sqlite-store.js';
import { storedKey } from '../../support/keys.js';
import { ServeCommand } from '../../support/serve-command.js';

const FAULTS = pathToFileURL('test/fixtures/thread-fault.mjs').href;
const folder = mkdtempSync(join(tmpdir(), 'hexcodes-threads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let service: ServeCommand | undefined;
afterEach(() => {
  service?.remove();
  service = undefined;
});

/** A service with a store of its own, and two keys in it. */
async function started() {
  const running = new ServeCommand([], {
    NODE_OPTIONS: `--import ${FAULTS}`,
    THREAD_FAULT: join(folder, 'fault'),
    HEXCODES_API_KEYS: '',
    HEXCODES_USAGE_FLUSH_MS: '200',
  });
  service = running;
  const base = await running.base();
  const admin = await running.adminBase();
  const store = async (id: string, state: KeyState): Promise<string> => {
    const dataDir = running.dataDir as string;
    const text = `${id}_0123456789abcdefghij`;
    const open = SqliteStore.open(dataDir);
    const pepper = readFileSync(join(dataDir, 'pepper'), 'utf8').trim();
    await open.put(storedKey(text, { id, state, digestHex: digestOf(text, pepper).toString('hex') }));
    await open.close();
    return text;
  };
  const statusOf = async (key: string) =>
    (await fetch(`${base}/v1/meta?key=${key}`, { headers: { 'X-API-Key': key } })).status;
  const ready = async () => {
    const answer = await fetch(`${admin}/readyz`, { signal: AbortSignal.timeout(2000) });
    return { status: answer.status, text: await answer.text() };
  };
  const fault = (text: string) => writeFileSync(join(folder, 'fault'), text);
  return { running, store, statusOf, ready, fault };
}

test.each([
  ['end', 'has ended'],
  ['hang', 'has not answered for \\d+ s|hangs'],
])('keys %s: not ready until revoked keys are refused again', async (fault, words) => {
  const at = await started();
  const [revoked, kept] = [await at.store('revoked', 'active'), await at.store('kept', 'active')];
  while ((await at.statusOf(kept)) !== 200) await sleep(20);
  expect(await at.statusOf(revoked)).toBe(200);
  at.fault(`keys ${fault}`);
  let page = await at.ready();
  for (; page.status === 200; page = await at.ready()) await sleep(20);
  expect(page.text).toMatch(
    new RegExp(`^not ready\nreason: the thread that follows the key store (${words})`),
  );
  await at.running.line('the key store is not followed: a revoked key may be let in');
  await at.store('revoked', 'revoked');
  const later = await at.store('later', 'active');
  await at.running.line('the key store is followed again');
  while ((await at.ready()).status !== 200) await sleep(20);
  while ((await at.statusOf(revoked)) === 200) await sleep(20);
  while ((await at.statusOf(later)) !== 200) await sleep(20);
  expect(await at.statusOf(kept)).toBe(200);
  const { reason } = at.running.lines('the key store is not followed: a revoked key may be let in')[0] as {
    reason: string;
  };
  expect(reason).toMatch(fault === 'end' ? /has ended; it is started again/ : /hangs; it is started again/);
  expect(await at.running.stop()).toBe(0);
});

test('usage hangs: not ready, and counted all the same once another thread stores it', async () => {
  const at = await started();
  const key = await at.store('counted', 'active');
  while ((await at.statusOf(key)) !== 200) await sleep(20);
  at.fault('usage hang');
  let page = await at.ready();
  for (; page.status === 200; page = await at.ready()) await sleep(50);
  expect(page.text).toMatch(/^not ready\nreason: the thread that stores usage has not answered for \d+ s\n/);
  while ((await at.ready()).status !== 200) await sleep(50);
  expect(await at.running.stop()).toBe(0);
});

test('the admin port hangs or ends: another thread takes it', async () => {
  const at = await started();
  for (const fault of ['end', 'hang']) {
    const count = at.running.lines('a handler of the admin port threw').length;
    at.fault(`admin ${fault}`);
    await at.running.line('a handler of the admin port threw', count + 1);
    for (;;) {
      const page = await at.ready().catch(() => undefined);
      if (page?.status === 200) break;
      await sleep(100);
    }
  }
  expect(await at.running.stop()).toBe(0);
});
