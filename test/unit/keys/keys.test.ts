// Keys in memory: who is let in, bounds, settings, masking, and the form in which they are packed.

import { timingSafeEqual } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { holdsKey, MIN_KEY_LENGTH, maskKeyTexts } from '#dist/config/mask.js';
import { canonicalAddress, isNetwork, Networks } from '#dist/config/networks.js';
import {
  boundFault,
  isOrigin,
  type KeyInfo,
  keyInfoOf,
  type StoredKey,
} from '#dist/server/keys/key-record.js';
import { KeyRing } from '#dist/server/keys/key-ring.js';
import { keyJson, readKeySettings } from '#dist/server/keys/manage/key-input.js';
import { packKeys, unpackKeys } from '#dist/server/keys/packed-keys.js';
import { digestOf, makeKeyText } from '#dist/server/keys/secret.js';
import { PEPPER, storedKey } from '../../support/keys.js';

// The keys in memory: what is remembered, what every other text costs, and when a key or a text of one ends.
describe('who is let in', () => {
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
      for (const text of [
        '',
        'unknown',
        'Good',
        'good ',
        digestHex('good'),
        'ended',
        'revoked',
        'both',
        'old',
      ])
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
});

// Networks, addresses and web origins, and the keys that are bound to them.
describe('bounds', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', undefined],
    ['192.0.2.01', undefined],
    ['192.0.2', undefined],
    ['', undefined],
  ])('address %j is %j', (text, address) => {
    expect(canonicalAddress(text)).toBe(address);
  });

  test('networks of both versions', () => {
    for (const text of [
      '10.0.0.0/8',
      '0.0.0.0/0',
      '192.0.2.1',
      '2001:db8::/32',
      '::/0',
      '::1',
      '::ffff:10.0.0.0/104',
    ])
      expect(isNetwork(text), text).toBe(true);
    for (const text of [
      '',
      '10.0.0.0/33',
      '10.0.0/8',
      '::/129',
      '::ffff:10.0.0.0/8',
      '10.0.0.0/',
      'a/8',
      '10.0.0.0/8/8',
    ])
      expect(isNetwork(text), text).toBe(false);
    const networks = new Networks(['10.0.0.0/8', '2001:db8::/32', '::ffff:192.0.2.0/120']);
    for (const address of ['10.255.0.1', '2001:db8:ffff::1', '192.0.2.7'])
      expect(networks.has(address), address).toBe(true);
    for (const address of ['11.0.0.1', '2001:db9::1', '192.0.3.7', '::1'])
      expect(networks.has(address), address).toBe(false);
  });

  test.each([
    ['https://a.vn', true],
    ['http://localhost:3000', true],
    ['http://127.0.0.1:8080', true],
    ['http://[::1]:8080', true],
    ['https://*.a.vn', true],
    ['https://a.vn/', false],
    ['https://a.vn:443', false],
    ['https://A.vn', false],
    ['a.vn', false],
    ['*', false],
    ['null', false],
    ['https://a.*.vn', false],
    ['https://*.', false],
  ])('origin %j: %j', (text, isRight) => {
    expect(isOrigin(text)).toBe(isRight);
  });

  const bound = (origins: string[], cidrs: string[]): KeyInfo =>
    keyInfoOf(storedKey('', { origins, cidrs }), 1);

  test('a key bound to origins is let in from these only, and not without one', () => {
    const key = bound(['https://a.vn', 'https://*.b.vn'], []);
    for (const origin of ['https://a.vn', 'https://x.b.vn', 'https://x.y.b.vn'])
      expect(boundFault(key, origin, '192.0.2.1'), origin).toBeUndefined();
    for (const origin of [
      '',
      'null',
      'http://a.vn',
      'https://a.vn.evil.vn',
      'https://b.vn',
      'https://.b.vn',
      'https://evil/.b.vn',
      'https://x.b.vn:81',
      'https://xb.vn',
    ])
      expect(boundFault(key, origin, '192.0.2.1'), origin).toContain('web origin');
  });

  test('a key bound to networks is let in from these only, and not from an address that is not known', () => {
    const key = bound([], ['192.0.2.0/24']);
    expect(boundFault(key, '', '192.0.2.1')).toBeUndefined();
    expect(boundFault(key, '', '192.0.3.1')).toContain('network address');
    expect(boundFault(key, '', '')).toContain('network address');
  });
});

// Limits of a key as they are typed: numbers from 0 to the greatest, whole ones but for rates.
describe('settings', () => {
  const BASE = { name: 'a', scopes: [], expiresMs: undefined, origins: [], cidrs: [], limits: {} };
  const MEMBERS = {
    points_per_second: 'pointsPerSecond',
    requests_per_second: 'requestsPerSecond',
    points_per_day: 'pointsPerDay',
    points_per_month: 'pointsPerMonth',
  } as const;
  const NAMES = Object.keys(MEMBERS) as (keyof typeof MEMBERS)[];

  test('every limit is a number in its range, or is named', () => {
    const values = fc.oneof(
      fc.constantFrom<unknown>(
        0,
        -0,
        -1,
        1e15,
        1e15 + 2,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        '5',
        true,
        0.5,
        -0.5,
        null,
      ),
      fc.double({ noNaN: false }),
      fc.integer(),
    );
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), values, (name, value) => {
        const isRate = name.endsWith('_per_second');
        const isGood =
          value === null ||
          (typeof value === 'number' && value >= 0 && value <= 1e15 && (isRate || Number.isInteger(value)));
        let fault: string | undefined;
        let limits: unknown;
        try {
          ({ limits } = readKeySettings({ limits: { [name]: value } }, BASE, 0));
        } catch (error) {
          fault = JSON.stringify((error as { faults?: unknown }).faults);
        }
        const expected = value === null ? {} : { [MEMBERS[name]]: value };
        if (isGood) expect([fault, limits]).toEqual([undefined, expected]);
        else expect(fault).toContain(`limits.${name}`);
      }),
    );
  });

  test('a key has the limits in JSON that it has, by the names that are read', () => {
    const limits = { points_per_second: 1.5, requests_per_second: 2, points_per_day: 3, points_per_month: 0 };
    for (const names of [NAMES, NAMES.slice(1, 3), []]) {
      const given = Object.fromEntries(names.map((name) => [name, limits[name]]));
      const stored = Object.fromEntries(names.map((name) => [MEMBERS[name], limits[name]]));
      expect(keyJson(storedKey('a_0123456789abcdefghij', { limits: stored })).limits).toEqual(given);
    }
  });
});

// Keys in other texts are found and masked, whatever is around them.
describe('masking', () => {
  test('keys of our form are masked, as often as they occur, in any case, and cut short', () => {
    const key = makeKeyText();
    const masked = maskKeyTexts(`a ${key}, ${key.toUpperCase()}; "${key.slice(0, 20)}" z`);
    expect(masked).toBe('a hxk_…, hxk_…; "hxk_…" z');
    expect(maskKeyTexts('hxk_ and HN-6GHP4-83RFR stay')).toBe('hxk_ and HN-6GHP4-83RFR stay');
  });

  test('a text holds a key of our form, or the one presented if it is long enough to be one', () => {
    expect(holdsKey(`id.${makeKeyText()}`)).toBe(true);
    expect(holdsKey('call-environment_key-0123', [undefined, 'environment_key-0123'])).toBe(true);
    const shortest = 'k'.repeat(MIN_KEY_LENGTH);
    expect(holdsKey(`a ${shortest}`, [shortest])).toBe(true);
    expect(holdsKey(`a ${shortest}`, [shortest.slice(1)])).toBe(false);
    expect(holdsKey('call-1', ['call-1'])).toBe(false);
    expect(holdsKey('call-1', ['', null])).toBe(false);
  });
});

// Keys that go between threads come out as they went in, whatever they have in common.
describe('packed keys', () => {
  const NO_LIMITS = {};
  const usual = (n: number): StoredKey => ({
    ...storedKey(`text ${n}`, { id: `k${n}`, name: `Xe "${n}"`, createdMs: 1_700_000_000_000 + n }),
    limits: NO_LIMITS,
  });
  const keys: StoredKey[] = [
    usual(1),
    usual(2),
    storedKey('odd', {
      ...{ id: 'odd', state: 'disabled', scopes: ['encode'], expiresMs: 4_102_444_800_000, generation: 3 },
      ...{ origins: ['https://a.vn'], cidrs: ['10.0.0.0/8'], limits: { pointsPerDay: 5 } },
      ...{ formerDigestHex: storedKey('old').digestHex, formerUntilMs: 1_800_000_000_000 },
    }),
    usual(3),
    storedKey('used', { id: 'used', lastUsedMs: 1_700_000_000_001 }),
  ];

  test('all fields come back but the time of the last use', () => {
    const unpacked = unpackKeys(structuredClone(packKeys(keys)));
    expect(unpacked).toEqual(keys.map((key) => ({ ...key, lastUsedMs: undefined })));
    expect(unpackKeys(packKeys([]))).toEqual([]);
  });

  test('what keys have in common is one object', () => {
    const [first, second, , third] = unpackKeys(structuredClone(packKeys(keys)));
    expect(second!.scopes).toBe(first!.scopes);
    expect(third!.limits).toBe(first!.limits);
    expect(packKeys(keys).shared).toHaveLength(2);
  });

  test('keys that differ in one field only come out as they went in', () => {
    const base = usual(1);
    const others: Partial<StoredKey>[] = [
      ...[{ state: 'revoked' as const }, { scopes: ['encode' as const] }, { expiresMs: 1 }],
      ...[{ origins: ['https://a.vn'] }, { cidrs: ['10.0.0.0/8'] }, { limits: { pointsPerDay: 1 } }],
      ...[{ generation: 2 }, { formerDigestHex: storedKey('x').digestHex }, { formerUntilMs: 5 }],
    ];
    for (const other of others) {
      const pair = [base, { ...base, id: 'k2', ...other }, { ...base, id: 'k3' }];
      expect(unpackKeys(packKeys(pair)), JSON.stringify(other)).toEqual(pair);
    }
  });
});
