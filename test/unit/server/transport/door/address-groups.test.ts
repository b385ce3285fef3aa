// Networks of peers, and which of them has the most connections.
import { expect, test } from 'vitest';
import { AddressGroups, networkOf } from '#dist/server/transport/door/address-groups.js';
import { randomFrom } from '../../../../support/open-world.js';

const v6 = (text: string): Uint8Array => {
  const bytes = new Uint8Array(16);
  for (const [at, group] of text.split(':').entries())
    new DataView(bytes.buffer).setUint16(2 * at, Number.parseInt(group, 16));
  return bytes;
};

test('an IPv4 address is a network, mapped or not; of IPv6 it is the /64', () => {
  expect(networkOf(Uint8Array.of(192, 0, 2, 1))).toBe('192.0.2.1');
  expect(networkOf(v6('0:0:0:0:0:ffff:c000:0201'))).toBe('192.0.2.1');
  expect(networkOf(v6('2001:db8:0:1:0:0:0:1'))).toBe(networkOf(v6('2001:db8:0:1:ffff:2:3:4')));
  expect(networkOf(v6('2001:db8:0:1:0:0:0:1'))).not.toBe(networkOf(v6('2001:db8:0:2:0:0:0:1')));
});

test('the largest group is known after any number of changes', () => {
  const seed = 31;
  const random = randomFrom(seed);
  const groups = new AddressGroups<number>();
  const due = new Map<string, Set<number>>();
  for (let step = 0; step < 20_000; step++) {
    const network = `n${Math.floor(random() ** 2 * 20)}`;
    const member = Math.floor(random() * 30);
    const members = due.get(network) ?? new Set();
    due.set(network, members);
    if (random() < 0.55) {
      groups.add(network, member, random() < 0.5);
      members.add(member);
    } else {
      groups.delete(network, member);
      members.delete(member);
    }
    const sizes = [...due.values()].map(({ size }) => size);
    const most = Math.max(0, ...sizes);
    if ((groups.largest?.size ?? 0) !== most || groups.size !== sizes.reduce((sum, size) => sum + size, 0))
      expect.fail(`seed ${seed}, step ${step}`);
  }
});
