// How many chunks and bytes a body may bring before its peer is cut off, and in which memory a body is that comes in
// pieces.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { keptMemory } from '#dist/server/kept-memory.js';
import { BodyLimits, type BodyOwner, RequestBody } from '#dist/server/transport/request-body.js';
import { Turns } from '#dist/server/transport/turns.js';
import type { UwsResponse } from '#dist/server/transport/uws.js';

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
    } as unknown as BodyOwner;
    const res = {
      onData: (receive: (chunk: ArrayBuffer, isLast: boolean) => void) => {
        this.#receive = receive;
      },
    } as unknown as UwsResponse;
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

test('a body in pieces holds at most twice what has come, and no more than it has', () => {
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
  keptMemory.giveBack(kept);
  // A body in one piece is in the memory of uWS.
  const whole = new Upload(20 * KIB, 1024 * KIB, keep).chunk(20 * KIB, 4, true).seen[0]!;
  expect(whole.every((byte) => byte === 4)).toBe(true);
  expect(whole.buffer).not.toBe(buffers[3]);
});

test('a body in chunks that passes the limit is refused for each chunk beyond it, and nothing of it is kept', () => {
  const before = keptMemory.freeBytes;
  const upload = new Upload(-1, 100 * KIB);
  upload
    .chunk(60 * KIB, 1)
    .chunk(60 * KIB, 1)
    .chunk(60 * KIB, 1, true);
  expect(upload.tooLarge).toBe(2);
  expect(upload.seen).toEqual([]);
  expect(keptMemory.freeBytes).toBeGreaterThanOrEqual(before);
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

test('bytes count while the reading is stopped, from each stop anew', () => {
  const limits = new BodyLimits(new Turns(), 1000);
  expect(limits.faultOf(5000, false)).toBeUndefined();
  expect(limits.faultOf(1000, true)).toBeUndefined();
  expect(limits.faultOf(5000, false)).toBeUndefined();
  expect(limits.faultOf(999, true)).toBeUndefined();
  expect(limits.faultOf(1, true)).toBeUndefined();
  expect(limits.faultOf(1, true)).toBe('the body brought 1001 bytes while its reading was stopped');
});

test('1,000 requests in one turn, and 4 more for each open connection', async () => {
  const turns = new Turns();
  const taken = (count: number) =>
    Array.from({ length: count }, () => turns.takeRequest()).filter(Boolean).length;
  expect(taken(1001)).toBe(1000);
  // The count has restarted with the connection that was closed.
  expect(taken(1000)).toBe(1000);
  await nextTurn();
  turns.countConnection(1);
  turns.countConnection(1);
  turns.countConnection(-1);
  expect(taken(1005)).toBe(1004);
});
