// Limits of the transport: the work of one turn of the event loop (requests, chunks and bytes of bodies), bodies that
// are refused, and the system below it: native builds, receive buffer, open files. Then what peers may hold: bytes,
// requests and sockets of keys; and who may open a connection.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  Admission,
  Budget,
  type BudgetLimits,
  connectionsWithin,
  filesBeside,
  mayTake,
  networkOf,
  receiveBufferWarning,
  SocketTurn,
  Turns,
  UNLIMITED,
} from '#dist/server/transport/limits.js';
import { BodyLimits, RefusedBodies, RequestBody } from '#dist/server/transport/request-body.js';

// One turn of the event loop takes 1,000 requests, and four more for each open connection.
describe('requests and frames', () => {
  const taken = (turns: Turns, requests: number): boolean[] =>
    Array.from({ length: requests }, () => turns.takeRequest());
  test('without connections the request after 1,000 is refused, and the count restarts', () => {
    const turns = new Turns();
    const answers = taken(turns, 2002);
    expect(answers.flatMap((isTaken, i) => (isTaken ? [] : [i]))).toEqual([1000, 2001]);
  });

  test('each open connection adds four, and a closed one takes them away', () => {
    const turns = new Turns();
    for (let i = 0; i < 2000; i++) turns.countConnection(1);
    expect(taken(turns, 9000)).not.toContain(false);
    expect(turns.takeRequest()).toBe(false);
    for (let i = 0; i < 1999; i++) turns.countConnection(-1);
    expect(taken(turns, 1004)).not.toContain(false);
    expect(turns.takeRequest()).toBe(false);
  });

  test('a turn of the event loop later all are taken again', async () => {
    const turns = new Turns();
    for (let turn = 0; turn < 3; turn++) {
      expect(taken(turns, 1000)).not.toContain(false);
      await nextTurn();
    }
  });

  test.each([
    [1, 64, 1000],
    [64 * 1024, 32, 256],
    [2 * 1024 * 1024, 1, 8],
  ])(
    'frames of %s bytes: %s are answered at once, %s in all, and the next closes the socket',
    async (sizeBytes, atOnce, inAll) => {
      const socket = new SocketTurn(new Turns());
      for (let turn = 0; turn < 2; turn++) {
        const taken = Array.from({ length: inAll + 1 }, () => socket.take(sizeBytes));
        expect(taken.lastIndexOf('answer now')).toBe(atOnce - 1);
        expect(taken.indexOf('close the socket')).toBe(inAll);
        expect(taken[inAll - 1]).toBe('answer in a later turn');
        await nextTurn();
      }
    },
  );
});

// How many chunks and bytes a body may bring before its peer is cut off, and in which memory a body is that comes in
// pieces.
describe('bodies', () => {
  const KIB = 1024;

  /** A body that is read as a whole, and what was seen of it. */
  class Upload {
    readonly held: number[] = [];
    readonly seen: Uint8Array[] = [];
    tooLarge = 0;
    #receive: (chunk: ArrayBuffer, isLast: boolean) => void = () => {};

    /** @param work called with the whole body */
    constructor(
      bodySizeBytes: number,
      limitBytes: number,
      work: (body: Uint8Array, of: RequestBody) => Uint8Array = (bytes) => bytes.slice(),
    ) {
      const owner = {
        head: { bodySizeBytes, isBodyChunked: false },
        ...{ state: 'open', keyId: '', hasDeadline: true },
        guard: (run: () => void) => run(),
        hold: (bytes: number) => this.held.push(bytes),
        endBody: (_isLate: boolean, run: () => void) => run(),
      } as never;
      const res = {
        onData: (receive: (chunk: ArrayBuffer, isLast: boolean) => void) => {
          this.#receive = receive;
        },
      } as never;
      const context = { turns: new Turns(), maxPastStopBytes: 1, bodyTimeoutMs: 1000 };
      const body = new RequestBody(
        owner,
        res,
        context as unknown as ConstructorParameters<typeof RequestBody>[2],
      );
      body.read(
        limitBytes,
        () => this.tooLarge++,
        (bytes) => this.seen.push(work(bytes, body)),
      );
    }

    chunk(sizeBytes: number, fill: number, isLast = false): this {
      const bytes = new Uint8Array(sizeBytes).fill(fill);
      this.#receive(bytes.buffer, isLast);
      // As uWS does, whose memory it is.
      bytes.fill(255);
      return this;
    }
  }

  test('a body in pieces holds at most twice the bytes received, and never more than its own size', () => {
    const upload = new Upload(500 * KIB, 1024 * KIB);
    upload
      .chunk(100 * KIB, 1)
      .chunk(150 * KIB, 2)
      .chunk(250 * KIB, 3, true);
    expect(upload.held).toEqual([200 * KIB, 500 * KIB]);
    const whole = Buffer.concat([100, 150, 250].map((size, i) => Buffer.alloc(size * KIB, i + 1)));
    expect(Buffer.compare(upload.seen[0]!, whole)).toBe(0);
  });

  test('its memory holds the next body, unless the handler keeps it', () => {
    const buffers: ArrayBufferLike[] = [];
    const look = (bytes: Uint8Array): Uint8Array => {
      buffers.push(bytes.buffer);
      return bytes.slice();
    };
    const keep = (bytes: Uint8Array, body: RequestBody): Uint8Array => {
      buffers.push(bytes.buffer);
      return body.keep(bytes);
    };
    const send = (fill: number, work: typeof keep): Uint8Array =>
      new Upload(300 * KIB, 1024 * KIB, work).chunk(200 * KIB, fill).chunk(100 * KIB, fill, true).seen[0]!;
    send(1, look);
    const kept = send(2, keep);
    send(3, look);
    expect(buffers[1]).toBe(buffers[0]);
    expect(kept.buffer).toBe(buffers[1]);
    expect(buffers[2]).not.toBe(buffers[1]);
    expect(kept.every((byte) => byte === 2)).toBe(true);
    // A body in one piece is in the memory of uWS.
    const whole = new Upload(20 * KIB, 1024 * KIB, keep).chunk(20 * KIB, 4, true).seen[0]!;
    expect(whole.every((byte) => byte === 4)).toBe(true);
    expect(whole.buffer).not.toBe(buffers[3]);
  });

  test('a body in chunks that passes the limit is refused for each chunk beyond it, and nothing of it is kept', () => {
    const upload = new Upload(-1, 100 * KIB);
    upload
      .chunk(60 * KIB, 1)
      .chunk(60 * KIB, 1)
      .chunk(60 * KIB, 1, true);
    expect(upload.tooLarge).toBe(2);
    expect(upload.seen).toEqual([]);
  });

  test('100,000 chunks in one turn of the event loop, and as many in the next', async () => {
    const limits = new BodyLimits(new Turns(), 1000);
    const faults = (count: number) =>
      Array.from({ length: count }, () => limits.faultOf(1, false)).filter((fault) => fault !== undefined);
    expect(faults(100_000)).toEqual([]);
    expect(faults(1)).toEqual(['too many chunks of a body in one turn of the event loop']);
    await nextTurn();
    expect(faults(100_000)).toEqual([]);
    expect(faults(1)).toHaveLength(1);
  });

  test('bytes are counted while reading is paused, from zero at each pause', () => {
    const limits = new BodyLimits(new Turns(), 1000);
    expect(limits.faultOf(5000, false)).toBeUndefined();
    expect(limits.faultOf(1000, true)).toBeUndefined();
    expect(limits.faultOf(5000, false)).toBeUndefined();
    expect(limits.faultOf(999, true)).toBeUndefined();
    expect(limits.faultOf(1, true)).toBeUndefined();
    expect(limits.faultOf(1, true)).toBe('the body brought 1001 bytes while its reading was stopped');
  });
});

// The rest of a body that is refused: read on for a minute, up to 1 GiB, and for 256 peers at once. Bodies of 64 KiB at
// most are besides that count, and may rest as long as the transport lets them.
describe('refused bodies', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  const KIB = 1024;

  /** A body whose request is refused, and what becomes of it. */
  class Refused {
    ends = 0;
    readonly body: RequestBody;
    #receive: (chunk: ArrayBuffer, isLast: boolean) => void = () => {};

    constructor(
      readonly bodies = new RefusedBodies(),
      keyId = '',
      bodySizeBytes = 2 ** 30,
    ) {
      const head = { bodySizeBytes, isBodyChunked: false, isReadable: true };
      const owner = { head, state: 'open', keyId } as never;
      const res = {
        onData: (receive: Refused['give']) => (this.#receive = receive),
      } as never;
      const context = { turns: new Turns(), refusedBodies: bodies, maxPastStopBytes: 1, bodyTimeoutMs: 1 };
      this.body = new RequestBody(owner, res, context);
    }

    readOn(): boolean {
      return this.body.readOn(() => this.ends++);
    }

    give = (chunk: ArrayBuffer, isLast = false): void => this.#receive(chunk, isLast);
  }

  test('an endless body is read for a minute', () => {
    const refused = new Refused();
    expect(refused.readOn()).toBe(true);
    for (let second = 0; second < 59; second++) {
      vi.advanceTimersByTime(1000);
      refused.give(new ArrayBuffer(1));
    }
    vi.advanceTimersByTime(500);
    expect(refused.ends).toBe(0);
    for (let second = 0; second < 3; second++) {
      vi.advanceTimersByTime(1000);
      refused.give(new ArrayBuffer(1));
    }
    vi.advanceTimersByTime(10);
    expect([refused.ends, refused.bodies.count]).toEqual([1, 0]);
  });

  test('a body is read on until it has ended, is silent for three seconds, or has passed 1 GiB', () => {
    const [ended, silent, large] = [new Refused(), new Refused(), new Refused()];
    for (const each of [ended, silent, large]) expect(each.readOn()).toBe(true);
    ended.give(new ArrayBuffer(KIB), true);
    const part = new ArrayBuffer(64 * KIB * KIB);
    for (let i = 0; i < 16; i++) large.give(part);
    vi.advanceTimersByTime(2900);
    expect([ended.ends, silent.ends, large.ends]).toEqual([1, 0, 0]);
    large.give(new ArrayBuffer(1));
    vi.advanceTimersByTime(200);
    expect([ended.ends, silent.ends, large.ends]).toEqual([1, 1, 1]);
  });

  test('it is drained once, and not after it was left', () => {
    const refused = new Refused();
    expect([refused.readOn(), refused.readOn(), refused.bodies.count]).toEqual([true, false, 1]);
    refused.body.leaveRefused();
    expect([refused.readOn(), refused.bodies.count, refused.ends]).toEqual([false, 0, 0]);
  });

  test('256 bodies at once, 64 of one key; those that are over make room', () => {
    const bodies = new RefusedBodies();
    const all: Refused[] = [];
    const open = (keyId: string): boolean => {
      const refused = new Refused(bodies, keyId);
      if (!refused.readOn()) return false;
      all.push(refused);
      return true;
    };
    for (const keyId of ['', 'a', 'b', 'c']) for (let i = 0; i < 66; i++) expect(open(keyId)).toBe(i < 64);
    expect([bodies.count, open('d')]).toEqual([256, false]);
    all[0]!.body.leaveRefused();
    expect([bodies.count, open(''), bodies.count, open('')]).toEqual([255, true, 256, false]);
    const small = Array.from({ length: 300 }, () => new Refused(bodies, '', 64 * KIB));
    for (const each of small) expect(each.readOn()).toBe(true);
    expect([bodies.count, open(''), new Refused(bodies, '', 64 * KIB + 1).readOn()]).toEqual([
      556,
      false,
      false,
    ]);
    vi.advanceTimersByTime(3100);
    expect([bodies.count, small[0]!.ends]).toEqual([300, 0]);
    small[0]!.give(new ArrayBuffer(1), true);
    vi.advanceTimersByTime(1);
    expect([bodies.count, small[0]!.ends]).toEqual([299, 1]);
    for (const each of [...all, ...small]) each.body.leaveRefused();
    expect(bodies.count).toBe(0);
  });
});

// The system below the transport: its native builds, its receive buffer, and its open files.

// The builds of uWebSockets.js that ship are the ones that were tested: their native code has the recorded digests,
// and the lockfile holds both packages to theirs.
describe('builds', () => {
  /** sha256 of the binaries for Linux, by their place below node_modules. */
  const BINARIES: Record<string, string> = {
    'uWebSockets.js/uws_linux_x64_115.node':
      '5b126ee00bf754b02e97e4c27090365a8562c5820c93f93918ac2212d4503e91',
    'uWebSockets.js/uws_linux_x64_127.node':
      '4b55b1f2cb7a7913febbb65a89496412b96af77e838552980092ba6b33723aac',
    'uWebSockets.js/uws_linux_x64_137.node':
      '98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05',
    'uWebSockets.js/uws_linux_arm64_115.node':
      '6bdbc8ff976b4371af1906175e9025804bacc38a414969f4f02314e6b99f206c',
    'uWebSockets.js/uws_linux_arm64_127.node':
      '82b79bd18d1e3563de336156005bd01b7f39fc387b65173d69a29da4ee79f895',
    'uWebSockets.js/uws_linux_arm64_137.node':
      '88618b30ddf6b2b62310db89f40a701616676352aac5e0f6184dd8ef876199ce',
    'uws-pack/dist/bin/uws_linux_x64_115.node':
      '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e',
    'uws-pack/dist/bin/uws_linux_x64_127.node':
      '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
    'uws-pack/dist/bin/uws_linux_arm64_115.node':
      'c0e29fc143b46b584f3debec7910014ec228198fc1f17aaeacd1de7991bd3769',
    'uws-pack/dist/bin/uws_linux_arm64_127.node':
      'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
  };

  const PACKAGES: Record<string, { name: string; version: string }> = {
    'uWebSockets.js': { name: '@btc-vision/uwebsockets.js', version: '20.57.0' },
    'uws-pack': { name: 'uws-pack', version: '20.0.8' },
  };

  interface Lock {
    packages: Record<
      string,
      { name?: string; version: string; integrity?: string; hasInstallScript?: boolean }
    >;
  }
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;

  test.each(Object.entries(BINARIES))('%s is the binary that was tested', (path, digest) => {
    const bytes = readFileSync(`node_modules/${path}`);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest);
  });

  test.each(Object.entries(PACKAGES))(
    'the lockfile holds %s to its version and integrity',
    (place, { name, version }) => {
      const entry = lock.packages[`node_modules/${place}`];
      expect(entry?.name ?? place).toBe(name);
      expect(entry?.version).toBe(version);
      expect(entry?.integrity).toMatch(/^sha512-/);
      expect(entry?.hasInstallScript).toBeUndefined();
    },
  );
});

// The warning about a system that lets one peer keep the transport reading.
describe('the receive buffer', () => {
  test('the usual setting of Linux is warned of, with the value to set', () => {
    const warning = receiveBufferWarning(() => '4096\t131072\t6291456\n');
    expect(warning).toContain('6291456 bytes');
    expect(warning).toContain('"4096 131072 400000"');
  });

  test('exactly the buffer can still be filled', () => {
    expect(receiveBufferWarning(() => '4096 131072 524288')).toBeDefined();
    expect(receiveBufferWarning(() => '4096 131072 524287')).toBeUndefined();
  });

  test('nothing is said where it is set, and where the setting does not exist', () => {
    expect(receiveBufferWarning(() => '4096\t131072\t400000\n')).toBeUndefined();
    expect(receiveBufferWarning(() => 'odd')).toBeUndefined();
    expect(
      receiveBufferWarning(() => {
        throw new Error('ENOENT');
      }),
    ).toBeUndefined();
  });
});

test.each([
  [50_000, 1_048_576, 998_512],
  [50_000, 1024, 64],
  [500, 1024, 460],
  [50_000, 192, 64],
  [50_000, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
])('%s connections of %s files leave %s files to answers on disk', (wanted, limit, files) => {
  expect(filesBeside(wanted, limit)).toBe(files);
});

test('connections are as many as there are file descriptors for', () => {
  expect(connectionsWithin(50_000, 1_048_576)).toEqual({ maxConnections: 50_000, warning: undefined });
  expect(connectionsWithin(50_000, Number.POSITIVE_INFINITY)).toEqual({
    maxConnections: 50_000,
    warning: undefined,
  });
  expect(connectionsWithin(50_000, 1024)).toMatchObject({
    maxConnections: 896,
    warning: expect.stringContaining('at most 896 connections instead of 50000'),
  });
  expect(connectionsWithin(20, 150)).toEqual({ maxConnections: 20, warning: undefined });
  expect(() => connectionsWithin(50_000, 150)).toThrow('the process may have 150 open files');
});

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

  test('whatever is held and closed, no limit is exceeded, no count is negative, and at the end nothing remains', () => {
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

  test('an opening that was counted in a crowd is given back behind it, too', () => {
    const { door, clock } = admission(1000, 30);
    expect(door.wantsKeys).toBe(false);
    expect(open(door, 530, ipv4(2))).toBe(530);
    for (let gone = 0; gone < 100; gone++) door.closed();
    expect([door.isCrowded, door.wantsKeys]).toEqual([false, true]);
    for (let shown = 0; shown < 30; shown++) door.keyShown(ipv4(2));
    expect(open(door, 101, ipv4(2))).toBe(100);
    clock.nowMs += 30_000;
    for (let gone = 0; gone < 100; gone++) door.closed();
    expect(door.wantsKeys).toBe(false);
  });

  test('drawn crowds: peers that show their keys are let in while fewer than the openings of their network wait', () => {
    const step = fc.tuple(fc.constantFrom('open', 'show', 'close', 'others', 'leave', 'wait'), fc.nat(40));
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 200 }), (steps) => {
        const { door, clock } = admission(100, 4);
        let [waiting, shown, others] = [0, 0, 0];
        for (const [what, count] of steps) {
          if (what === 'others') others += open(door, Math.min(count, 40 - others), ipv4(1));
          else if (what === 'wait') clock.nowMs += 50 * count;
          for (let n = 0; n < count; n++) {
            if (what === 'open' && waiting < 4 && waiting + shown < 34) {
              expect(door.opened(ipv4(2))).toBeUndefined();
              waiting++;
            } else if (what === 'show' && waiting > 0) {
              if (door.wantsKeys) door.keyShown(ipv4(2));
              [waiting, shown] = [waiting - 1, shown + 1];
            } else if (what === 'close' && shown > 0) {
              door.closed();
              shown--;
            } else if (what === 'leave' && others > 0) {
              door.closed();
              others--;
            }
          }
        }
      }),
      { numRuns: 1500 },
    );
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

  test('the cache of networks is bounded, and keeps the latest', () => {
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
