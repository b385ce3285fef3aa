// A session of the stream over a socket that says less than one would like: the binary may send what it buffered at the end
// of one of its callbacks, and tells nobody.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { STREAM_TIMES, StreamSession } from '#dist/server/stream/session.js';

const ANSWER_BYTES = 100_000;

class QuietPeer {
  sent = 0;
  buffered = 0;
  closed: number | undefined;
  /** Whether the next sends find no room. */
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
  end(code: number): void {
    this.closed = code;
  }
}

function sessionOn(peer: QuietPeer): StreamSession {
  const answer = new Uint8Array(ANSWER_BYTES);
  const answerer = {
    isBinary: true,
    isSmall: () => true,
    answerNow: () => answer,
    answerLater: () => Promise.resolve(answer),
    giveBack: () => {},
    overloaded: () => answer,
  };
  return new StreamSession(peer, answerer, performance.now(), () => {});
}

const frame = (): ArrayBuffer => new ArrayBuffer(16);

/** A session whose first answer found no room, with so many frames taken. */
function stalledWith(frames: number): { peer: QuietPeer; session: StreamSession } {
  const peer = new QuietPeer();
  const session = sessionOn(peer);
  peer.isFull = true;
  for (let n = 0; n < frames; n++) session.take(frame(), true, performance.now());
  expect(peer.sent).toBe(1);
  return { peer, session };
}

test('what was sent at the end of the callback is noticed although nobody tells of it', async () => {
  const { peer } = stalledWith(3);
  peer.isFull = false;
  peer.buffered = 0;
  await sleep(5);
  expect(peer.sent).toBe(3);
});

test('so is what is sent at the end of a later one', async () => {
  const { peer, session } = stalledWith(2);
  await sleep(5);
  expect(peer.sent).toBe(1);
  peer.isFull = false;
  session.take(frame(), true, performance.now());
  peer.buffered = 0;
  await sleep(5);
  expect(peer.sent).toBe(3);
});

test('at the latest the sweep notices', async () => {
  const { peer, session } = stalledWith(2);
  await sleep(5);
  peer.isFull = false;
  peer.buffered = 0;
  session.sweep(performance.now(), STREAM_TIMES);
  expect(peer.sent).toBe(2);
});

test('while the answers lie in the buffer nothing more is converted', async () => {
  const { peer, session } = stalledWith(4);
  await sleep(5);
  session.sweep(performance.now(), STREAM_TIMES);
  session.drained(performance.now());
  expect([peer.sent, peer.closed]).toEqual([1, undefined]);
  session.sweep(performance.now() + STREAM_TIMES.noProgressMs + 1, STREAM_TIMES);
  expect(peer.closed).toBe(1013);
});
