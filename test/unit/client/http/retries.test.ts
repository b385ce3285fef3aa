// The pauses between the tries of a call: each twice as long as the one before, less some chance, and never shorter
// than the service asks for.
import { afterEach, expect, test, vi } from 'vitest';
import { HttpCalls } from '#dist/hexcodes/client/http/calls.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Pauses in ms of a call that is answered with 503. @param chance of Math.random */
async function pausesOf(chance: number, headers: Record<string, string> = {}): Promise<number[]> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.spyOn(Math, 'random').mockReturnValue(chance);
  const tries: number[] = [];
  const calls = new HttpCalls({
    baseUrl: new URL('http://127.0.0.1:1/'),
    apiKey: undefined,
    timeoutMs: 3_600_000,
    retries: 4,
    fetch: async () => {
      tries.push(performance.now());
      const body = { status: 'ERROR', error: { code: 'UNAVAILABLE', message: 'later' } };
      return new Response(JSON.stringify(body), { status: 503, headers });
    },
  });
  const failed = calls.get('v1/x', undefined).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(await failed).toMatchObject({ code: 'UNAVAILABLE' });
  return tries.slice(1).map((time, i) => Math.round(time - tries[i]!));
}

test('they double, and chance takes up to half of each', async () => {
  expect(await pausesOf(0)).toEqual([50, 100, 200, 400]);
  vi.useRealTimers();
  expect(await pausesOf(1)).toEqual([100, 200, 400, 800]);
});

test('Retry-After is waited for, up to 10 s', async () => {
  expect(await pausesOf(0, { 'retry-after': '2' })).toEqual([2000, 2000, 2000, 2000]);
  vi.useRealTimers();
  expect(await pausesOf(0, { 'retry-after': '3600' })).toEqual([10_000, 10_000, 10_000, 10_000]);
});
