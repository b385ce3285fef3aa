// Networks, addresses and web origins, and the keys that are bound to them.
import { expect, test } from 'vitest';
import { canonicalAddress, isNetwork, Networks } from '#dist/config/networks.js';
import { boundFault, isOrigin, type KeyInfo, keyInfoOf } from '#dist/server/keys/key-record.js';
import { storedKey } from '../../support/keys.js';

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
