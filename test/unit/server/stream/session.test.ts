// A session of the stream on a socket that sends buffered bytes without calling `drain`, as uWS does at the end of its
// callbacks.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { READY_FRAME, STREAM_TIMES, StreamSession, WINDOW_BYTES } from '#dist/server/stream/session.js';

/** Refuses nothing. */
const ACCOUNT = { hold: () => undefined };
const ANSWER_BYTES = 100_000;

class PeerWithoutDrain {
  sent = 0;
  buffered = 0;
  pings = 0;
  closed: number | undefined;
  /** The next answers are buffered. */
  isFull = false;

  send(message: string | Uint8Array): 0 | 1 {
    if (typeof message === 'string') return 1;
    this.sent++;
    if (!this.isFull) return 1;
    this.buffered += message.length;
    return 0;
  }
  getBufferedAmount(): number {
    return this.buffered;
  }
  ping(): void {
    this.pings++;
  }
  end(code: number): void {
    this.closed = code;
  }
}

function sessionOn(peer: PeerWithoutDrain): StreamSession {
  const answer = new Uint8Array(ANSWER_BYTES);
  const answerer = {
    isBinary: true,
    isSmall: () => true,
    answerNow: () => answer,
    answerLater: () => Promise.resolve(answer),
    giveBack: () => {},
  };
  return new StreamSession({
    peer,
    answerer,
    account: ACCOUNT,
    nowMs: performance.now(),
    onClose: () => {},
  });
}

const frame = (): ArrayBuffer => new ArrayBuffer(16);

/** A session that has taken a number of frames, the first answer of which is buffered. */
function stalledWith(frames: number): { peer: PeerWithoutDrain; session: StreamSession } {
  const peer = new PeerWithoutDrain();
  const session = sessionOn(peer);
  peer.isFull = true;
  for (let n = 0; n < frames; n++) session.take(frame(), true, performance.now());
  expect(peer.sent).toBe(1);
  return { peer, session };
}

test('bytes sent at the end of the callback are noticed without drain', async () => {
  const { peer } = stalledWith(3);
  peer.isFull = false;
  peer.buffered = 0;
  await sleep(5);
  expect(peer.sent).toBe(3);
});

test('bytes sent at the end of a later callback are noticed, too', async () => {
  const { peer, session } = stalledWith(2);
  await sleep(5);
  expect(peer.sent).toBe(1);
  peer.isFull = false;
  session.take(frame(), true, performance.now());
  peer.buffered = 0;
  await sleep(5);
  expect(peer.sent).toBe(3);
});

test('the sweep notices them at the latest', async () => {
  const { peer, session } = stalledWith(2);
  await sleep(5);
  peer.isFull = false;
  peer.buffered = 0;
  session.sweep(performance.now(), STREAM_TIMES);
  expect(peer.sent).toBe(2);
});

test('no frame is answered while an answer is buffered', async () => {
  const { peer, session } = stalledWith(4);
  await sleep(5);
  session.sweep(performance.now(), STREAM_TIMES);
  session.drained(performance.now());
  expect([peer.sent, peer.closed]).toEqual([1, undefined]);
  session.sweep(performance.now() + STREAM_TIMES.noProgressMs + 1, STREAM_TIMES);
  expect(peer.closed).toBe(1013);
});

/** Whether a session whose first answer is buffered is closed over frames of these sizes. */
async function closedOver(sizesBytes: readonly number[]): Promise<number | undefined> {
  const peer = new PeerWithoutDrain();
  const session = sessionOn(peer);
  peer.isFull = true;
  for (const sizeBytes of sizesBytes) session.take(new ArrayBuffer(sizeBytes), true, performance.now());
  await sleep(5);
  return peer.closed;
}

test('sixteen frames may be unanswered, as the ready frame says, and one more closes the connection', async () => {
  const { window } = JSON.parse(READY_FRAME) as { window: number };
  expect(window).toBe(16);
  expect(await closedOver(new Array(16).fill(16))).toBeUndefined();
  expect(await closedOver(new Array(17).fill(16))).toBe(4003);
});

test('4 MiB may be unanswered, as the ready frame says, and one byte more closes the connection', async () => {
  const { window_bytes } = JSON.parse(READY_FRAME) as { window_bytes: number };
  expect([window_bytes, WINDOW_BYTES]).toEqual([4 * 1024 * 1024, 4 * 1024 * 1024]);
  const quarter = window_bytes / 4;
  expect(await closedOver([quarter, quarter, quarter, quarter])).toBeUndefined();
  expect(await closedOver([quarter, quarter, quarter, quarter, 1])).toBe(4003);
  expect(await closedOver([quarter, quarter, quarter, quarter + 1])).toBe(4003);
});
