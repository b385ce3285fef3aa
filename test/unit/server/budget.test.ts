// Bounds of peers: bytes, requests and sockets of keys, files of answers on disk, and who may open a connection.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Spool, SpoolFullError, Spools } from '#dist/server/bulk/spool.js';
import {
  Admission,
  Budget,
  type BudgetLimits,
  mayTake,
  networkOf,
  UNLIMITED,
} from '#dist/server/transport/limits.js';

// The budget: what passes each limit is refused, everything comes back, and nothing is counted below zero.
describe('the budget', () => {
  const LIMITS: BudgetLimits = {
    connectionBytes: 100,
    keyBytes: 150,
    processBytes: 200,
    requestsPerKey: 2,
    socketsPerKey: 3,
  };

  test('bytes past the limit of a connection, a key and the process are refused, and what was held stays', () => {
    const refused: string[] = [];
    const budget = new Budget(LIMITS, (keyId, reason) => refused.push(`${keyId}: ${reason}`));
    const [a, b, c] = [
      budget.open('one', 'requests'),
      budget.open('one', 'sockets'),
      budget.open('two', 'requests'),
    ];
    expect(a.hold(101)).toBe('the bytes held for one connection pass 100');
    expect(a.hold(100)).toBeUndefined();
    expect(b.hold(51)).toBe('the bytes held for one key pass 150');
    expect(b.hold(50)).toBeUndefined();
    expect(c.hold(51)).toBe('the bytes held for all connections pass 200');
    expect(c.hold(50)).toBeUndefined();
    expect([a.heldBytes, b.heldBytes, c.heldBytes, budget.figures.bytes]).toEqual([100, 50, 50, 200]);
    expect(refused).toEqual([
      'one: the bytes held for one connection pass 100',
      'one: the bytes held for one key pass 150',
      'two: the bytes held for all connections pass 200',
    ]);
    // Less than before is never refused; the last quarter is for keys that hold less than one.
    expect(a.hold(1)).toBeUndefined();
    expect(c.hold(100)).toBe('the bytes held for all connections pass 200');
    expect(b.hold(1)).toBeUndefined();
    expect(c.hold(100)).toBeUndefined();
    for (const account of [a, b, c]) account.close();
    expect(budget.figures).toEqual({ bytes: 0, keys: 0, requests: 0, sockets: 0 });
  });

  test.each([
    ['requests', 'sockets'],
    ['sockets', 'requests'],
  ] as const)('a key keeps its counts while it has %s open, whatever becomes of its %s', (kept, closed) => {
    const budget = new Budget(LIMITS);
    budget.open('one', kept).hold(100);
    budget.open('one', closed).close();
    expect(budget.figures).toMatchObject({ bytes: 100, keys: 1, [kept]: 1, [closed]: 0 });
    expect(budget.open('one', closed).hold(51)).toBe('the bytes held for one key pass 150');
  });

  test('a closed account holds nothing more', () => {
    const budget = new Budget(LIMITS);
    const account = budget.open('one', 'requests');
    account.hold(10);
    account.close();
    expect(account.hold(20)).toBeUndefined();
    expect(budget.figures.bytes).toBe(0);
  });

  test('whatever is held and closed, no limit is passed, no count is negative, and at the end nothing is left', () => {
    const step = fc.record({ account: fc.nat(9), bytes: fc.nat(130), closes: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const budget = new Budget({ ...LIMITS, requestsPerKey: 10 });
        const accounts = Array.from({ length: 10 }, (_, i) => budget.open(`key ${i % 3}`, 'requests'));
        for (const { account, bytes, closes } of steps) {
          if (closes) accounts[account]!.close();
          else accounts[account]!.hold(bytes);
          const held = accounts.map(({ heldBytes }) => heldBytes);
          expect(budget.figures.bytes).toBe(held.reduce((sum, each) => sum + each, 0));
          expect(Math.min(...held)).toBeGreaterThanOrEqual(0);
          expect(Math.max(...held)).toBeLessThanOrEqual(LIMITS.connectionBytes);
          expect(budget.figures.bytes).toBeLessThanOrEqual(LIMITS.processBytes);
        }
        for (const account of accounts) account.close();
        expect(budget.figures).toEqual({ bytes: 0, keys: 0, requests: 0, sockets: 0 });
      }),
    );
  });
});

// The share of one key in what all keys share, whichever keys ask in whichever order.
describe('the share of a key', () => {
  const MOST = 100;
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 40 })), {
    maxLength: 80,
  });

  test('all hold what there is at most, one key alone three quarters, and the last quarter is for small ones', () => {
    fc.assert(
      fc.property(steps, (asked) => {
        const held = [0, 0, 0, 0, 0, 0];
        const total = (): number => held.reduce((sum, each) => sum + each, 0);
        for (const [key, more] of asked) {
          const before = total();
          const takes = mayTake(held[key]!, before, more, MOST);
          const isSmall = held[key]! + more <= MOST / 4;
          // Anyone who stays small is refused only where nothing is left; others where the last quarter begins.
          expect(takes).toBe(before + more <= (isSmall ? MOST : 0.75 * MOST));
          if (takes) held[key]! += more;
          expect(total()).toBeLessThanOrEqual(MOST);
          expect(Math.max(...held)).toBeLessThanOrEqual(0.75 * MOST);
        }
      }),
    );
  });

  test('memory: two keys that take all they may leave a quarter to the others', () => {
    const budget = new Budget({ ...UNLIMITED, keyBytes: 500, processBytes: 1000 });
    const fill = (key: string): number => {
      const account = budget.open(key, 'requests');
      while (account.hold(account.heldBytes + 50) === undefined);
      return account.heldBytes;
    };
    expect([fill('a'), fill('b'), fill('c'), fill('d')]).toEqual([500, 250, 250, 0]);
  });
});

// Shares of the keys in the files of answers that wait on disk.
describe('files of answers', () => {
  test('a key opens three quarters of the files at most, and they are free again when they are closed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hexcodes-spools-'));
    const spools = new Spools(folder, { requestBytes: 100, totalBytes: 1000, files: 8 });
    const open: Spool[] = [];
    const fill = (key: string): number => {
      const before = open.length;
      try {
        for (;;) open.push(spools.open(key));
      } catch (error) {
        expect(error).toBeInstanceOf(SpoolFullError);
      }
      return open.length - before;
    };
    expect([fill('a'), fill('b'), fill('c')]).toEqual([6, 2, 0]);
    await Promise.all(open.map((spool) => spool.append(Buffer.alloc(10))));
    expect(spools.totalBytes).toBe(80);
    for (const spool of open.splice(0)) spool.close();
    expect(spools.totalBytes).toBe(0);
    expect(fill('a')).toBe(6);
    for (const spool of open) await spool.written.then(() => spool.close());
    rmSync(folder, { recursive: true });
  });
});

// Openings of networks, and connections in all.
describe('admission', () => {
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

  test('of one connection in all, one is open', () => {
    expect(open(admission(1, 1).door, 3, ipv4(1))).toBe(1);
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
});
