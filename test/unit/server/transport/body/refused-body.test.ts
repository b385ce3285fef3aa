// The rest of a body that is refused: read on for a minute, up to 1 GiB, and for 256 peers at once.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type BodyOwner, RefusedBodies, RequestBody } from '#dist/server/transport/request-body.js';
import { Turns } from '#dist/server/transport/turns.js';
import type { UwsResponse } from '#dist/server/transport/uws.js';

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
    isBodyChunked = false,
  ) {
    const head = { bodySizeBytes: 1, isBodyChunked, isReadable: true };
    const owner = { head, state: 'open', keyId } as unknown as BodyOwner;
    const res = { onData: (receive: Refused['give']) => (this.#receive = receive) } as unknown as UwsResponse;
    const context = { turns: new Turns(), refusedBodies: bodies, maxPastStopBytes: 1, bodyTimeoutMs: 1 };
    this.body = new RequestBody(owner, res, context);
  }

  readOn(): boolean {
    return this.body.readOn(() => this.ends++);
  }

  give = (chunk: ArrayBuffer, isLast = false): void => this.#receive(chunk, isLast);
}

test('a body that goes on and on is read for a minute', () => {
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

test('it is read on once, and not where nobody would see its end', () => {
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
  for (const each of all) each.body.leaveRefused();
  expect(bodies.count).toBe(0);
});
