// Sessions of the stream: windows, backpressure, and peers that are silent.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  PeerClock,
  READY_FRAME,
  STREAM_TIMES,
  StreamSession,
  WINDOW_BYTES,
} from '#dist/server/stream/session.js';

// A session of the stream on a socket that sends buffered bytes without calling `drain`, as uWS does at the end of
// its callbacks.
describe('sessions', () => {
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
});

// Steps that are due after a peer of a stream has been silent: a ping, then the end; nothing while an answer is owed.
describe('silent peers', () => {
  const TIMES = { idleMs: 1000, pingMs: 100, pongMs: 300, noProgressMs: 200 };

  /** The step that is due at each of these times, with no answer owed and none buffered. */
  function dueAt(clock: PeerClock, times: readonly number[]): (string | undefined)[] {
    return times.map((nowMs) => {
      clock.buffered(0, nowMs);
      return clock.due(nowMs, false, TIMES);
    });
  }

  test('a ping is sent once, and a pong or a frame begins anew', () => {
    const clock = new PeerClock(0);
    expect(dueAt(clock, [99, 100, 101, 399])).toEqual([undefined, 'ping', undefined, undefined]);
    clock.pong(399);
    expect(dueAt(clock, [498, 499, 798])).toEqual([undefined, 'ping', undefined]);
    clock.frame(798);
    expect(dueAt(clock, [897, 898, 1198])).toEqual([undefined, 'ping', 'hanging']);
  });

  test('pongs do not make up for frames', () => {
    const clock = new PeerClock(0);
    for (let nowMs = 100; nowMs < 1000; nowMs += 100) clock.pong(nowMs);
    expect(dueAt(clock, [999, 1000])).toEqual([undefined, 'idle']);
  });

  test('while an answer is owed or buffered the peer may be silent, and is stalled once it takes nothing', () => {
    const clock = new PeerClock(0);
    clock.buffered(0, 5000);
    expect(clock.due(5000, true, TIMES)).toBeUndefined();
    clock.buffered(10, 5000);
    expect(clock.due(5199, false, TIMES)).toBeUndefined();
    clock.buffered(20, 5199);
    expect(clock.due(5200, false, TIMES)).toBe('stalled');
    clock.buffered(19, 5200);
    expect(clock.due(5399, false, TIMES)).toBeUndefined();
  });
});
