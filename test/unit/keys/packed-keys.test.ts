// Keys that go between threads come out as they went in, whatever they have in common.
import { expect, test } from 'vitest';
import type { StoredKey } from '#dist/server/keys/key-record.js';
import { packKeys, unpackKeys } from '#dist/server/keys/packed-keys.js';
import { storedKey } from '../../support/keys.js';

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
