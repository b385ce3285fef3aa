// The heartbeat of threads and of the disk, and when a process that died is started again.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { RestartDelay } from '#dist/server/lifecycle/supervisor/supervisor.js';
import { DiskWatch, Heartbeat, HeartbeatWatch } from '#dist/server/observe/heartbeat.js';

describe('heartbeat', () => {
  const TICK_MS = 50;
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  function watched() {
    const figures = { hung: 0 };
    const watch = new HeartbeatWatch(() => figures.hung++, TICK_MS);
    ends.push(() => watch.end());
    return { watch, figures, heartbeat: new Heartbeat(watch.begin()) };
  }

  test('a thread that is idle, and one that works and ends its work, is not silent', async () => {
    const { watch, figures, heartbeat } = watched();
    for (let i = 0; i < 6; i++) await heartbeat.during(() => sleep(100));
    await expect(heartbeat.during(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await sleep(600);
    expect([watch.silentS, figures.hung]).toEqual([undefined, 0]);
  });

  test('work that never ends is silence, then a thread that hangs, said once; another one is not blamed', async () => {
    const { watch, figures, heartbeat } = watched();
    heartbeat.beat();
    void heartbeat.during(() => new Promise(() => {}));
    await expect.poll(() => watch.silentS).toBeGreaterThanOrEqual(0.5);
    await expect.poll(() => figures.hung).toBe(1);
    await sleep(300);
    expect(figures.hung).toBe(1);
    new Heartbeat(watch.begin());
    expect(watch.silentS).toBeUndefined();
    heartbeat.beat();
    await sleep(700);
    expect([watch.silentS, figures.hung]).toEqual([undefined, 1]);
  });

  test('a thread that loads its modules is silent, but has longer until it hangs', async () => {
    const figures = { hung: 0 };
    const watch = new HeartbeatWatch(() => figures.hung++, TICK_MS);
    ends.push(() => watch.end());
    watch.begin();
    await expect.poll(() => watch.silentS).toBeGreaterThanOrEqual(25 * (TICK_MS / 1000));
    expect(figures.hung).toBe(0);
    await expect.poll(() => figures.hung).toBe(1);
  });

  test('a disk that does not answer is a warning, until it does', async () => {
    let answer = (): void => {};
    const disk = new DiskWatch('.', (_, done) => (answer = done), TICK_MS);
    ends.push(() => disk.close());
    expect(disk.warning).toBeUndefined();
    await expect.poll(() => disk.warning).toMatch(/disk .* has not answered for [\d.]+ s/);
    answer();
    await expect.poll(() => disk.warning, { interval: 5 }).toBeUndefined();
  });
});

// When a process of the supervisor that died is started again.

test('at once the first time, then later each time, and at once again after a minute of life', () => {
  const delay = new RestartDelay();
  expect([1, 2, 3, 4, 5, 6, 7, 8].map(() => delay.nextMs(100))).toEqual([
    0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ]);
  expect(delay.nextMs(60_000)).toBe(0);
  expect(delay.nextMs(59_999)).toBe(1000);
});
