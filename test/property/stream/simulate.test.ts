// Client, session and pool under lost, late, doubled and cut messages on the way.
import { expect, test } from 'vitest';
import { StreamCredit } from '#dist/hexcodes/client/stream/credit.js';
import { type FrameAnswerer, type StreamPeer, StreamSession } from '#dist/server/stream/session.js';
import { HexcodesClientError } from '#hexcodes/client';
import { randomFrom } from '../../support/open-world.js';
import { below, type Random } from '../../support/random.js';
import { countIn, encodeFrame, refusalOf } from '../../support/raw-stream.js';

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
