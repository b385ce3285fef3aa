// The stream without sockets: sessions of the service (backpressure, peers that are silent), the client's window, and
// both under lost, late, doubled and cut messages on the way.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { StreamCredit } from '#dist/hexcodes/client/stream/credit.js';
import {
  type FrameAnswerer,
  PeerClock,
  READY_FRAME,
  STREAM_TIMES,
  type StreamPeer,
  StreamSession,
  WINDOW_BYTES,
} from '#dist/server/stream/session.js';
import { HexcodesClientError } from '#hexcodes/client';
import { randomFrom } from '../../support/open-world.js';
import { below, type Random } from '../../support/random.js';
import { countIn, encodeFrame, refusalOf } from '../../support/raw-stream.js';

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

  test('bytes sent at the end of a later callback are noticed without drain', async () => {
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

  test('a ping is sent once, and a pong or a frame restarts the interval', () => {
    const clock = new PeerClock(0);
    expect(dueAt(clock, [99, 100, 101, 399])).toEqual([undefined, 'ping', undefined, undefined]);
    clock.pong(399);
    expect(dueAt(clock, [498, 499, 798])).toEqual([undefined, 'ping', undefined]);
    clock.frame(798);
    expect(dueAt(clock, [897, 898, 1198])).toEqual([undefined, 'ping', 'hanging']);
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

// The stream's protocol without sockets: order, window, what is sent again, what is refused.
describe('windows', () => {
  const READY = { ...JSON.parse(READY_FRAME), window: 3 };
  const WINDOW = JSON.stringify({ ...READY, window_bytes: 200 });

  function opened(ready = WINDOW): StreamCredit {
    const credit = new StreamCredit();
    credit.open(ready);
    return credit;
  }

  /** One point a frame: 32 bytes of request. */
  function write(credit: StreamCredit, frames: number): void {
    for (let i = 0; i < frames; i++) {
      credit.write(Uint8Array.from(encodeFrame(0, Float64Array.of(21, 105))), 1);
    }
  }

  function seqOf(frame: Uint8Array): number {
    return new DataView(frame.buffer, frame.byteOffset).getUint32(4, true);
  }

  /** An encode answer of one point. */
  function answer(seq: number, frameStatus = 0): Uint8Array {
    const count = frameStatus === 0 ? 1 : 0;
    const bytes = new Uint8Array(16 + 20 * count);
    bytes.set([1, 1, frameStatus, 0]);
    new DataView(bytes.buffer).setUint32(4, seq, true);
    new DataView(bytes.buffer).setUint32(8, count, true);
    return bytes;
  }

  const noPause = (): number => 0;

  test('sends no more than the window and answers in order', () => {
    const credit = opened();
    write(credit, 5);
    expect([0, 0, 0].map(() => seqOf(credit.send(0)!))).toEqual([0, 1, 2]);
    expect(credit.send(0)).toBeUndefined();
    credit.answer(answer(0), 0, noPause);
    expect(seqOf(credit.send(0)!)).toBe(3);
    expect(credit.take()?.firstIndex).toBe(0);
    expect(credit.take()).toBeUndefined();
  });

  test('frames that fill the window to the byte have room, one byte more has none', () => {
    const credit = opened();
    write(credit, 2);
    expect([136, 137].map((bytes) => credit.hasSpace(bytes))).toEqual([true, false]);
    const whole = opened(JSON.stringify({ ...READY, window_bytes: 64 }));
    write(whole, 2);
    expect([0, 0].map(() => whole.send(0)?.length)).toEqual([32, 32]);
    const oneShort = opened(JSON.stringify({ ...READY, window_bytes: 63 }));
    write(oneShort, 2);
    expect([0, 0].map(() => oneShort.send(0)?.length)).toEqual([32, undefined]);
  });

  test('over a limit of the key no other frame is sent before the refused one', () => {
    const credit = opened();
    write(credit, 3);
    credit.send(0);
    credit.answer(answer(0, 2), 1000, (_, overLimit) => (overLimit ? 50 : 0));
    expect([credit.send(1049), credit.pausedUntilMs()]).toEqual([undefined, 1050]);
    expect([1050, 1050, 1050].map((nowMs) => seqOf(credit.send(nowMs)!))).toEqual([0, 1, 2]);
  });

  test.each([
    ['another seq', answer(7)],
    ['a malformed-frame answer', answer(0, 1)],
    ['an unknown frame status', answer(0, 9)],
    ['a wrong size', answer(0).subarray(0, 35)],
    ['a wrong version', answer(0).fill(2, 0, 1)],
    ['less than a header', new Uint8Array(15)],
    ['another operation', answer(0).fill(2, 1, 2)],
  ])('refuses %s as no answer', (_, bytes) => {
    const credit = opened();
    write(credit, 1);
    credit.send(0);
    expect(() => credit.answer(bytes, 0, noPause)).toThrow(expect.objectContaining({ code: 'PROTOCOL' }));
  });

  test.each([
    '',
    '[]',
    '{}',
    WINDOW.replace('"format":1', '"format":2'),
    WINDOW.replace('"window":3', '"window":0'),
  ])('refuses %j as a ready frame', (ready) => {
    expect(() => new StreamCredit().open(ready)).toThrow(expect.objectContaining({ code: 'PROTOCOL' }));
  });
});

/** The status of a frame that is refused as the service is overloaded. */
const FRAME_OVERLOADED = 3;

// One run of the stream without sockets, threads and time: the client's credit and the service's session between two
// queues of messages and a pool, all driven by one seed. Connections are lost at any moment with all that was under
// way, a message cut in the middle included; messages and pool answers come late; the pool is full at times. On a
// broken way an answer is doubled or dropped: then the client must refuse to go on.

/** Step after which faults cease, so that every run can end. */
const FAULTY_STEPS = 600;
/** Steps without an answer after which the client takes the connection for lost, as its timer would. */
const ANSWER_TIMEOUT_STEPS = 1000;
/** A run that takes more hangs. */
const MAX_STEPS = 20_000;

interface SimulatedRun {
  readonly points: number;
  readonly connections: number;
  readonly refusals: number;
  /** The client refused to go on, as it must on a way that doubles or drops messages. */
  readonly wasRefused: boolean;
  readonly fault: string | undefined;
}

/** @param isBroken whether the way doubles and drops single messages, which no TCP connection does */
async function simulateStream(random: Random, isBroken: boolean): Promise<SimulatedRun> {
  const client = new StreamCredit();
  const points = 1 + below(400, random);
  const chance = {
    loss: random() * 0.05,
    full: random() * 0.3,
    small: random(),
    doubled: isBroken ? 0.1 : 0,
  };
  let way: Way | undefined;
  let nowMs = 0;
  let heardMs = 0;
  let written = 0;
  let taken = 0;
  let connections = 0;
  let refusals = 0;
  let isFaulty = true;
  const result = (fault?: string, wasRefused = false): SimulatedRun => ({
    points,
    connections,
    refusals,
    wasRefused,
    fault,
  });

  const steps: (() => void)[] = [
    () => {
      const count = Math.min(points - written, below(30, random));
      if (count === 0 || !client.hasSpace(16 + 16 * count)) return;
      const pairs = Float64Array.from({ length: 2 * count }, (_, i) => written + (i >> 1));
      client.write(Uint8Array.from(encodeFrame(0, pairs)), count);
      written += count;
    },
    () => {
      if (way === undefined) {
        connections++;
        way = new Way(random, chance.small, () => isFaulty && random() < chance.full);
        return;
      }
      const frame = way.isReady ? client.send(nowMs) : undefined;
      if (frame !== undefined) way.toServer.push(frame.slice());
    },
    () => way?.deliverToServer(),
    () => way?.answerFromPool(),
    () => way?.drain(),
    () => {
      const message = way?.toClient.shift();
      if (way === undefined || message === undefined) return;
      heardMs = nowMs;
      if (typeof message === 'string') {
        client.open(message);
        way.isReady = true;
        return;
      }
      const lot = isFaulty ? random() : 1;
      if (lot < chance.doubled / 2) return;
      if (lot < chance.doubled) way.toClient.unshift(message.slice());
      client.answer(message, nowMs, () => {
        refusals++;
        return 1;
      });
    },
    () => {
      for (let answers = client.take(); answers !== undefined; answers = client.take()) {
        if (answers.firstIndex !== taken) throw new Error(`points from ${answers.firstIndex}, due ${taken}`);
        for (let i = 0; i < answers.count; i++) {
          const text = 'hexcode' in answers ? answers.hexcode(i) : undefined;
          if (text !== `P${taken}`) throw new Error(`point ${taken} was answered ${text}`);
          taken++;
        }
      }
    },
    () => {
      if (way === undefined) return;
      const isLate = client.sent > 0 && nowMs - heardMs > ANSWER_TIMEOUT_STEPS;
      if (!isLate && (!isFaulty || random() >= chance.loss)) return;
      heardMs = nowMs;
      way.lose();
      way = undefined;
      client.lose();
    },
  ];

  try {
    for (let step = 0; taken < points; step++) {
      if (step > MAX_STEPS) return result(`hangs at ${taken} of ${points} points`);
      isFaulty = step < FAULTY_STEPS;
      nowMs++;
      steps[below(steps.length, random)]!();
      // The session continues after a pool's answer in a microtask.
      if (way?.isAnswering === true) await way.settled();
      if (way?.closed !== undefined) return result(`the session closed with ${way.closed}`);
    }
    way?.lose();
    return client.pending === 0 ? result() : result(`${client.pending} frames are left`);
  } catch (error) {
    way?.lose();
    if (isBroken && error instanceof HexcodesClientError && error.code === 'PROTOCOL')
      return result(undefined, true);
    return result(String(error));
  }
}

/** A connection: the session at its far end, the socket that buffers its answers, and what is under way. */
class Way {
  readonly toServer: Uint8Array[] = [];
  readonly toClient: (string | Uint8Array)[] = [];
  isReady = false;
  isAnswering = false;
  /** The code with which the session closed. */
  closed: number | undefined;
  readonly #random: Random;
  readonly #session: StreamSession;
  /** Sent, and not taken by the network yet. */
  #buffered: (string | Uint8Array)[] = [];
  #bufferedBytes = 0;
  #pool: (() => void)[] = [];

  constructor(random: Random, smallShare: number, isPoolFull: () => boolean) {
    this.#random = random;
    const peer: StreamPeer = {
      send: (message) => {
        this.#buffered.push(typeof message === 'string' ? message : message.slice());
        this.#bufferedBytes += wireBytes(message.length);
        if (this.#random() < 0.7) this.#flush();
        return this.#bufferedBytes === 0 ? 1 : 0;
      },
      getBufferedAmount: () => this.#bufferedBytes,
      ping: () => {},
      end: (code) => {
        this.closed = code;
      },
    };
    const answerer: FrameAnswerer = {
      isBinary: true,
      isSmall: () => random() < smallShare,
      answerNow: numbered,
      answerLater: (frame) => {
        const answer = numbered(frame);
        if (isPoolFull()) return Promise.resolve(refusalOf(frame, FRAME_OVERLOADED));
        return new Promise((resolve) => this.#pool.push(() => resolve(answer)));
      },
      giveBack: () => {},
    };
    this.#session = new StreamSession({
      peer,
      answerer,
      account: { hold: () => undefined },
      nowMs: 0,
      onClose: () => {},
    });
  }

  deliverToServer(): void {
    const frame = this.toServer.shift();
    if (frame === undefined) return;
    this.isAnswering = true;
    this.#session.take(frame.slice().buffer as ArrayBuffer, true, 0);
  }

  answerFromPool(): void {
    const answer = this.#pool.shift();
    if (answer === undefined) return;
    this.isAnswering = true;
    answer();
  }

  async settled(): Promise<void> {
    for (let i = 0; i < 4; i++) await Promise.resolve();
    this.isAnswering = false;
  }

  /** The network takes some of what is buffered. */
  drain(): void {
    if (this.#bufferedBytes === 0) return;
    this.isAnswering = true;
    if (this.#random() < 0.5) this.#flush();
    else this.#pass();
    this.#session.drained(0);
  }

  lose(): void {
    this.#session.gone();
  }

  #flush(): void {
    while (this.#buffered.length > 0) this.#pass();
  }

  #pass(): void {
    const message = this.#buffered.shift();
    if (message === undefined) return;
    this.#bufferedBytes -= wireBytes(message.length);
    this.toClient.push(message);
  }
}

/** An answer whose records hold, instead of codes, the numbers that the points were made of. */
function numbered(frame: Uint8Array): Uint8Array {
  const count = countIn(frame);
  const answer = Buffer.alloc(16 + 20 * count);
  answer.set(frame.subarray(0, 16));
  answer[2] = 0;
  const pairs = new DataView(frame.buffer, frame.byteOffset + 16);
  for (let i = 0; i < count; i++) answer.write(`P${pairs.getFloat64(16 * i, true)}`, 16 + 20 * i, 'latin1');
  return answer;
}

/** Bytes of a WebSocket frame of the server: it has no mask. */
function wireBytes(payloadBytes: number): number {
  return payloadBytes + (payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10);
}

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
console.log(`simulate: seed ${seed}`);

test('lost connections, late answers, a full pool: every point exactly once, in order', async () => {
  let connections = 0;
  for (let run = 0; run < 1000; run++) {
    const outcome = await simulateStream(randomFrom(seed + run), false);
    expect(outcome, `seed ${seed + run}`).toMatchObject({ fault: undefined, wasRefused: false });
    connections += outcome.connections;
  }
  expect(connections).toBeGreaterThan(1500);
});

test('a way that doubles or drops messages: the client refuses to go on, and no point is wrong', async () => {
  let refused = 0;
  for (let run = 0; run < 300; run++) {
    const outcome = await simulateStream(randomFrom(seed + run), true);
    expect(outcome.fault, `seed ${seed + run}`).toBeUndefined();
    if (outcome.wasRefused) refused++;
  }
  expect(refused).toBeGreaterThan(100);
});
