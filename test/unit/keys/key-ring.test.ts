// The keys in memory: what is remembered, what every other text costs, and when a key or a text of one ends.
import { timingSafeEqual } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import type { KeyInfo } from '#dist/server/keys/key-record.js';
import { KeyRing } from '#dist/server/keys/key-ring.js';
import { digestOf } from '#dist/server/keys/secret.js';
import { PEPPER, storedKey } from '../../support/keys.js';

/** A ring that counts hashes and comparisons. */
function countingRing() {
  const counts = { hashes: 0, comparisons: 0 };
  const ring = new KeyRing(PEPPER, {
    digestOf: (text, pepper) => {
      counts.hashes++;
      return digestOf(text, pepper);
    },
    isEqual: (a, b) => {
      counts.comparisons++;
      return timingSafeEqual(a, b);
    },
  });
  const costOf = (text: string): string => {
    counts.hashes = 0;
    counts.comparisons = 0;
    const { kind } = ring.check(text);
    return `${kind} ${counts.hashes}+${counts.comparisons}`;
  };
  return { ring, costOf };
}

const digestHex = (text: string) => digestOf(text, PEPPER).toString('hex');
const allowed = (ring: KeyRing, text: string): KeyInfo => {
  const verdict = ring.check(text);
  if (verdict.kind !== 'allowed') throw new Error(verdict.kind);
  return verdict.key;
};

test('missing, unknown, wrong, expired, revoked and disabled texts take one hash and one comparison, each time', () => {
  const { ring, costOf } = countingRing();
  ring.change([
    storedKey('good'),
    storedKey('ended', { id: 'b', expiresMs: Date.now() - 1 }),
    storedKey('revoked', { id: 'c', state: 'revoked' }),
    storedKey('disabled', { id: 'd', state: 'disabled' }),
    storedKey('both', { id: 'e', state: 'disabled', expiresMs: 1 }),
    storedKey('new', { id: 'f', formerDigestHex: digestHex('old'), formerUntilMs: Date.now() - 1 }),
  ]);
  for (let round = 0; round < 2; round++) {
    for (const text of ['', 'unknown', 'Good', 'good ', digestHex('good'), 'ended', 'revoked', 'both', 'old'])
      expect(costOf(text), text).toBe('denied 1+1');
    expect(costOf('disabled')).toBe('disabled 1+1');
  }
  expect(costOf('good')).toBe('allowed 1+1');
  expect(costOf('good')).toBe('allowed 0+0');
});

test('a change forgets what is remembered; removed keys are unknown', () => {
  const { ring, costOf } = countingRing();
  ring.change([storedKey('text'), storedKey('other', { id: 'b' })]);
  expect([costOf('text'), costOf('text')]).toEqual(['allowed 1+1', 'allowed 0+0']);
  ring.change([storedKey('text', { state: 'disabled' })]);
  expect(costOf('text')).toBe('disabled 1+1');
  ring.change([storedKey('text', { state: 'revoked' })]);
  expect(costOf('text')).toBe('denied 1+1');
  expect(costOf('other')).toBe('allowed 1+1');
  ring.change([], ['b']);
  expect(costOf('other')).toBe('denied 1+1');
  expect(ring.size).toBe(1);
});

test('a text that is taken from a key is unknown at once; both texts of a rotation are the same key', () => {
  const { ring, costOf } = countingRing();
  ring.change([storedKey('one')]);
  const before = allowed(ring, 'one');
  const rotated = { digestHex: digestHex('two'), generation: 2 };
  const untilMs = Date.now() + 60_000;
  ring.change([storedKey('', { ...rotated, formerDigestHex: digestHex('one'), formerUntilMs: untilMs })]);
  expect([allowed(ring, 'one').id, allowed(ring, 'two').id]).toEqual(['a', 'a']);
  expect(ring.current(before)?.generation).toBe(1);
  expect(ring.current(before, undefined, untilMs)).toBeUndefined();
  const after = allowed(ring, 'two');
  ring.tick(untilMs);
  expect(ring.current(after, undefined, untilMs)?.generation).toBe(2);
  ring.change([storedKey('', rotated)]);
  expect(costOf('one')).toBe('denied 1+1');
  expect(ring.current(before)).toBeUndefined();
});

test('what expires is forgotten at the next tick, whichever way the clock is set', () => {
  const { ring, costOf } = countingRing();
  const nowMs = Date.now();
  const calls: string[] = [];
  ring.change([storedKey('text', { expiresMs: nowMs + 60_000 }), storedKey('other', { id: 'b' })]);
  ring.onChange(() => calls.push('changed'));
  ring.tick(nowMs);
  const key = allowed(ring, 'text');
  expect(ring.current(key)).toBe(key);
  ring.tick(nowMs + 1000);
  expect([costOf('text'), calls.length]).toEqual(['allowed 0+0', 0]);
  ring.tick(nowMs + 60_000);
  expect(calls).toEqual(['changed']);
  expect(ring.current(key, undefined, nowMs + 60_000)).toBeUndefined();
  // Set back: the key is judged again, and its end is waited for again.
  ring.tick(nowMs + 10);
  expect(costOf('text')).toBe('allowed 1+1');
  ring.tick(nowMs + 60_000);
  expect(calls).toEqual(['changed', 'changed', 'changed']);
  expect(costOf('other')).toBe('allowed 1+1');
});

test('a text whose key has expired is denied from that moment, before the next tick', () => {
  const { ring, costOf } = countingRing();
  const nowMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
  try {
    ring.change([storedKey('text', { expiresMs: nowMs + 60_000 }), storedKey('other', { id: 'b' })]);
    expect([costOf('text'), costOf('text')]).toEqual(['allowed 1+1', 'allowed 0+0']);
    vi.setSystemTime(nowMs + 59_999);
    expect(costOf('text')).toBe('allowed 0+0');
    vi.setSystemTime(nowMs + 60_000);
    expect(costOf('text')).toBe('denied 1+1');
    expect(costOf('other')).toBe('allowed 1+1');
    ring.tick();
    expect([costOf('other'), costOf('other')]).toEqual(['allowed 1+1', 'allowed 0+0']);
  } finally {
    vi.useRealTimers();
  }
});

test('a key goes on with what it was let in for only while it has the scope', () => {
  const ring = new KeyRing(PEPPER);
  ring.change([storedKey('text')]);
  const key = allowed(ring, 'text');
  expect(ring.current(key, 'bulk')).toBe(key);
  ring.change([storedKey('text', { scopes: ['encode'], limits: { pointsPerDay: 5 } })]);
  expect(ring.current(key, 'bulk')).toBeUndefined();
  expect(ring.current(key, 'encode')?.limits).toEqual({ pointsPerDay: 5 });
  expect(key.limits).toEqual({});
});

test('uses are told once for each key', () => {
  const ring = new KeyRing(PEPPER);
  ring.change([
    storedKey('text'),
    storedKey('other', { id: 'b' }),
    storedKey('no', { id: 'c', state: 'disabled' }),
  ]);
  for (const text of ['text', 'other', 'text', 'no', 'unknown']) ring.check(text);
  expect(ring.takeUses()).toEqual(['a', 'b']);
  expect(ring.takeUses()).toEqual([]);
  ring.check('text');
  ring.change([storedKey('text')]);
  ring.check('text');
  expect(ring.takeUses()).toEqual(['a']);
});
