// The address of the client as the log has it, behind proxies that are trusted, and without any.
import { expect, test } from 'vitest';
import { call } from '../../../support/http-calls.js';
import type { TestServer } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';

const behind = sharedServer({ trustedProxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8:aaaa::/48'] });
const plain = sharedServer();

let calls = 0;
async function clientOf(server: TestServer, forwardedFor: string): Promise<unknown> {
  const id = `call-${++calls}`;
  await call(server, '/v1/meta', { headers: { 'X-Request-Id': id, 'X-Forwarded-For': forwardedFor } });
  const line = server
    .log()
    .split('\n')
    .find((text) => text.includes(`"${id}"`))!;
  return (JSON.parse(line) as { client?: string }).client;
}

test.each([
  ['no header', '', '127.0.0.1'],
  ['one proxy', '203.0.113.9', '203.0.113.9'],
  ['two proxies', '203.0.113.9, 10.0.0.2', '203.0.113.9'],
  ['a client that adds an entry itself', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
  ['a client that calls itself a proxy', '1.1.1.1,10.9.9.9,203.0.113.9,10.0.0.2', '203.0.113.9'],
  ['proxies only', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['IPv6', '2001:db8:bbbb::7, 2001:db8:aaaa::1', '2001:db8:bbbb::7'],
  ['IPv4 written as IPv6', '::ffff:203.0.113.9, ::ffff:10.0.0.2', '203.0.113.9'],
  ['IPv6 in long form', '2001:DB8:BBBB:0:0:0:0:7', '2001:db8:bbbb::7'],
  ['a port', '203.0.113.9:5123', '203.0.113.9'],
  ['IPv6 and a port', '[2001:db8:bbbb::7]:5123', '2001:db8:bbbb::7'],
  ['brackets only', '[2001:db8:bbbb::7]', '2001:db8:bbbb::7'],
  ['an entry that is none', '203.0.113.9, unknown', '127.0.0.1'],
  ['an entry that is none before a proxy', 'unknown, 10.0.0.2', '10.0.0.2'],
  ['an address of one machine', 'fe80::1%eth0', '127.0.0.1'],
  ['a leading zero', '192.0.2.01', '127.0.0.1'],
  ['three numbers', '192.0.2', '127.0.0.1'],
  ['an empty entry', '203.0.113.9,', '127.0.0.1'],
  ['an empty entry at the left', ',10.0.0.2', '10.0.0.2'],
  ['32 hops and no more', Array.from({ length: 100 }, (_, i) => `10.0.0.${i}`).join(','), '10.0.0.68'],
])('%s', async (_, forwardedFor, client) => {
  expect(await clientOf(behind, forwardedFor)).toBe(client);
  expect(await clientOf(plain, forwardedFor)).toBe('127.0.0.1');
});
