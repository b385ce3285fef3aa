// The clock of the machine is moved by an hour and back, over midnight, by Debian's faketime: answers go on, no quota
// is given twice and no usage is lost, log and readiness say it.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { SqliteUsage } from '#dist/server/usage/store/sqlite-usage.js';
import { COMMAND_KEY, ServeCommand } from '../../support/serve-command.js';

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const isInstalled = existsSync(LIBRARY);
const folder = mkdtempSync(join(tmpdir(), 'hexcodes-clock-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Seconds from now to the next half past eleven in the evening in Viet Nam. */
function toLateEvening(): number {
  const seconds = Math.floor(Date.now() / 1000) % DAY_SECONDS;
  return (16.5 * HOUR_SECONDS - seconds + DAY_SECONDS) % DAY_SECONDS;
}

test.skipIf(!isInstalled)(
  `the clock an hour forward, over midnight, and back${isInstalled ? '' : ' (skipped: faketime is not installed)'}`,
  async () => {
    const file = join(folder, 'offset');
    const setClock = (seconds: number): void => writeFileSync(file, `+${seconds}`);
    const evening = toLateEvening();
    setClock(evening);
    const dataDir = join(folder, 'data');
    const service = new ServeCommand(['--default-points-per-day', '20', '--usage-flush-ms', '100'], {
      HEXCODES_DATA_DIR: dataDir,
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    });
    try {
      const base = await service.base();
      const admin = await service.adminBase();
      const headers = { 'X-API-Key': COMMAND_KEY };
      const encode = async (): Promise<number> =>
        (await fetch(`${base}/v1/hexcodes/encode?lat=21.03&lng=105.85`, { headers })).status;
      const statuses = async (count: number): Promise<number[]> => {
        const all: number[] = [];
        for (let i = 0; i < count; i++) all.push(await encode());
        return all;
      };
      const moved = 'the clock of the machine was moved, or the machine slept';
      expect(new Set(await statuses(15))).toEqual(new Set([200]));

      setClock(evening + HOUR_SECONDS);
      expect(await service.line(moved)).toMatchObject({ moved_seconds: HOUR_SECONDS });
      // A busy service is answered for by its last page, which is 50 ms old or more.
      await expect
        .poll(async () => (await fetch(`${admin}/readyz`)).text())
        .toBe('ready\nwarning: the clock of the machine was moved by 3600 s, or the machine slept\n');
      // Another day.
      expect(await statuses(21)).toEqual([...Array.from({ length: 20 }, () => 200), 429]);

      setClock(evening);
      expect(await service.line(moved, 2)).toMatchObject({ moved_seconds: -HOUR_SECONDS });
      // The day that has begun goes on, and so does all that needs no points.
      expect(await encode()).toBe(429);
      expect((await fetch(`${base}/v1/meta`, { headers })).status).toBe(200);
      await sleep(200);
      expect(await service.stop()).toBe(0);
    } finally {
      service.remove();
    }
    const store = SqliteUsage.open(dataDir);
    const points = { ok: 0, refused: 0 };
    for await (const row of store.rows(0, Number.MAX_SAFE_INTEGER))
      points[row.outcome as keyof typeof points] += row.points;
    await store.close();
    expect(points).toEqual({ ok: 35, refused: 2 });
  },
  60_000,
);
