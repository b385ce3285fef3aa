// Openings of networks, and connections in all.
import { expect, test } from 'vitest';
import { Admission, networkOf } from '#dist/server/transport/admission.js';

const ipv4 = (last: number): Uint8Array => Uint8Array.of(192, 0, 2, last);

function admission(
  maxConnections: number,
  perNetwork: number,
  isExempt: (address: Uint8Array) => boolean = () => false,
) {
  const clock = { nowMs: 0 };
  return { clock, door: new Admission({ maxConnections, perNetwork, isExempt }, () => clock.nowMs) };
}
/** Opens connections; those that are refused close again, as uWS says. @returns how many stay */
function open(door: Admission, count: number, address: Uint8Array): number {
  let stay = 0;
  for (let n = 0; n < count; n++) {
    if (door.opened(address) === undefined) stay++;
    else door.closed();
  }
  return stay;
}

test.each([
  [[192, 0, 2, 1], '192.0.2.1'],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1], '192.0.2.1'],
  [[32, 1, 13, 184, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9], '32.1.13.184.0.0.0.1/64'],
  [[], ''],
])('the network of %j is %s', (address, network) => {
  expect(networkOf(Uint8Array.from(address))).toBe(network);
});

test('up to half of all connections, one network may have any number', () => {
  const { door } = admission(1000, 10);
  expect(open(door, 500, ipv4(1))).toBe(500);
  expect(door.isCrowded).toBe(false);
});

test('beyond half, a network has its openings, and gets them back within half a minute', () => {
  const { door, clock } = admission(1000, 30);
  expect(open(door, 600, ipv4(1))).toBe(530);
  expect(open(door, 100, ipv4(2))).toBe(30);
  expect(door.isCrowded).toBe(true);
  clock.nowMs += 10_000;
  expect([open(door, 100, ipv4(1)), open(door, 100, ipv4(2))]).toEqual([10, 10]);
  clock.nowMs += 1e6;
  expect(open(door, 100, ipv4(2))).toBe(30);
});

test('a request with a key gives its opening back: a network of keyed callers is not bounded by callers one by one', () => {
  const { door } = admission(1000, 10);
  open(door, 501, ipv4(1));
  for (let call = 0; call < 200; call++) {
    expect(door.opened(ipv4(2)), `call ${call}`).toBeUndefined();
    door.keyShown(ipv4(2));
    if (call % 2 === 0) door.closed();
  }
});

test('the last quarter is for networks that have shown a key in the last ten minutes', () => {
  const { door, clock } = admission(1000, 1000);
  door.keyShown(ipv4(9));
  expect(open(door, 1000, ipv4(1))).toBe(750);
  expect(door.opened(ipv4(2))).toBe('crowd');
  door.closed();
  expect(open(door, 100, ipv4(9))).toBe(100);
  clock.nowMs += 599_000;
  expect(open(door, 1, ipv4(9))).toBe(1);
  clock.nowMs += 2000;
  expect(open(door, 1, ipv4(9))).toBe(0);
});

test('the limit of all holds for each, also for proxies, which have no other', () => {
  const { door } = admission(1000, 1, (address) => address[3] === 7);
  expect(open(door, 2000, ipv4(7))).toBe(1000);
  door.keyShown(ipv4(9));
  expect(door.opened(ipv4(9))).toBe('crowd');
});

test('networks that are remembered are bounded, and those seen last stay', () => {
  const { door } = admission(1000, 1);
  open(door, 501, ipv4(1));
  door.keyShown(ipv4(2));
  for (let n = 0; n < 250_000; n++) {
    if (n % 40_000 === 0) door.keyShown(ipv4(2));
    open(door, 1, Uint8Array.of(10, n >> 16, (n >> 8) & 255, n & 255));
  }
  expect(open(door, 1, ipv4(2))).toBe(1);
});
