// Heads of requests: the address of the client, and the context of a trace.
import { describe, expect, test } from 'vitest';
import { Networks } from '#dist/config/networks.js';
import { addressText, clientAddress } from '#dist/server/client-address.js';
import { readTraceparent, readTracestate } from '#dist/server/observe/request-log.js';

// The client's address behind trusted proxies.
describe('the address of the client', () => {
  const trusted = new Networks(['10.0.0.0/8', '2001:db8:aaaa::/48', '127.0.0.1']);
  const clientOf = (peer: string, forwardedFor = ''): string => clientAddress(peer, forwardedFor, trusted);

  test('without trusted proxies it is the peer, whatever the header says', () => {
    expect(clientAddress('192.0.2.1', '203.0.113.9', undefined)).toBe('192.0.2.1');
    expect(clientOf('192.0.2.1', '203.0.113.9')).toBe('192.0.2.1');
    expect(clientOf('10.0.0.1')).toBe('10.0.0.1');
  });

  test.each([
    ['one proxy', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['two proxies', '10.0.0.1', '203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['a client that adds an entry itself', '10.0.0.1', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    [
      'a client that calls itself a proxy',
      '10.0.0.1',
      '1.1.1.1,10.9.9.9,203.0.113.9,10.0.0.2',
      '203.0.113.9',
    ],
    ['proxies only', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['IPv6', '2001:db8:aaaa::1', '2001:db8:bbbb::7', '2001:db8:bbbb::7'],
    ['IPv4 written as IPv6', '10.0.0.1', '::ffff:203.0.113.9, ::ffff:10.0.0.2', '203.0.113.9'],
    ['IPv6 in long form', '10.0.0.1', '2001:DB8:BBBB:0:0:0:0:7', '2001:db8:bbbb::7'],
    ['a port', '10.0.0.1', '203.0.113.9:5123', '203.0.113.9'],
    ['IPv6 and a port', '10.0.0.1', '[2001:db8:bbbb::7]:5123', '2001:db8:bbbb::7'],
    ['brackets only', '10.0.0.1', '[2001:db8:bbbb::7]', '2001:db8:bbbb::7'],
    ['an entry that is none', '10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
    ['an entry that is none before a proxy', '10.0.0.1', 'unknown, 10.0.0.2', '10.0.0.2'],
    ['an address of one machine', '10.0.0.1', 'fe80::1%eth0', '10.0.0.1'],
    ['a leading zero', '10.0.0.1', '192.0.2.01', '10.0.0.1'],
    ['three numbers', '10.0.0.1', '192.0.2', '10.0.0.1'],
    ['an empty entry', '10.0.0.1', '203.0.113.9,', '10.0.0.1'],
    ['an empty entry at the left', '10.0.0.1', ',10.0.0.2', '10.0.0.2'],
  ])('%s', (_, peer, forwardedFor, client) => {
    expect(clientOf(peer, forwardedFor)).toBe(client);
  });

  test('for keys that are bound to networks, an entry that is no address leaves the client unknown', () => {
    const certain = (forwardedFor: string) => clientAddress('10.0.0.1', forwardedFor, trusted, true);
    for (const list of ['unknown', '203.0.113.9, unknown', 'unknown, 10.0.0.2', '203.0.113.9,'])
      expect(certain(list), list).toBe('');
    expect([certain(''), certain('unknown, 203.0.113.9')]).toEqual(['10.0.0.1', '203.0.113.9']);
  });

  test('a list of trusted addresses without end is read for 32 hops', () => {
    const list = Array.from({ length: 100 }, (_, i) => `10.0.0.${i}`).join(',');
    expect(clientOf('10.0.1.1', list)).toBe('10.0.0.68');
  });

  test('what a socket shows is an address of four or sixteen bytes', () => {
    expect(addressText(Uint8Array.of(192, 0, 2, 1))).toBe('192.0.2.1');
    const mapped = [...new Array(10).fill(0), 255, 255, 192, 0, 2, 1];
    expect(addressText(Uint8Array.from(mapped))).toBe('192.0.2.1');
    expect(addressText(Uint8Array.of(32, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))).toBe(
      '2001:db8::7',
    );
    expect(addressText(new Uint8Array(0))).toBe('');
  });
});

// W3C Trace Context, read as the standard says; the cases are those of its sections 3.2 and 3.3.
describe('the context of a trace', () => {
  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
  const PARENT = '00f067aa0ba902b7';

  test.each([
    [`00-${TRACE}-${PARENT}-01`, true],
    [`00-${TRACE}-${PARENT}-00`, false],
    [`00-${TRACE}-${PARENT}-03`, true],
    [`cc-${TRACE}-${PARENT}-01`, true],
    [`cc-${TRACE}-${PARENT}-01-what-the-future-will-be-like`, true],
  ])('%s is read', (text, isSampled) => {
    expect(readTraceparent(text)).toEqual({ traceId: TRACE, parentId: PARENT, isSampled });
  });

  test.each([
    '',
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE}-${PARENT}-01-`,
    `00-${TRACE}-${PARENT}-01-more`,
    `cc-${TRACE}-${PARENT}-01.what`,
    `ff-${TRACE}-${PARENT}-01`,
    `0-${TRACE}-${PARENT}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-0g`,
    ` 00-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01,00-${TRACE}-${PARENT}-01`,
  ])('%j counts as absent', (text) => {
    expect(readTraceparent(text)).toBeUndefined();
  });

  test.each([
    ['', ''],
    ['foo=1', 'foo=1'],
    ['foo=1,bar=2', 'foo=1,bar=2'],
    [' foo=1 ,\t bar=2,', 'foo=1,bar=2'],
    ['fw529a3039@dt=Ff AxoJM', 'fw529a3039@dt=Ff AxoJM'],
    ['foo@=1', ''],
    ['Foo=1', ''],
    ['foo =1', ''],
    ['foo=1,foo=2', ''],
    ['foo', ''],
    ['foo=bar=baz', ''],
    [`foo=${'x'.repeat(256)}`, `foo=${'x'.repeat(256)}`],
    [`foo=${'x'.repeat(257)}`, ''],
    [
      Array.from({ length: 32 }, (_, i) => `a${i}=1`).join(','),
      Array.from({ length: 32 }, (_, i) => `a${i}=1`).join(','),
    ],
    [Array.from({ length: 33 }, (_, i) => `a${i}=1`).join(','), ''],
    [`a=${'x'.repeat(250)},b=${'x'.repeat(250)},c=${'x'.repeat(10)}`, ''],
  ])('the tracestate %j is read as %j', (text, read) => {
    expect(readTracestate(text)).toBe(read);
  });
});
