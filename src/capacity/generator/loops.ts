// Load at a rate of its own, whatever the server does. Latency runs from the moment when a request should have started,
// so a stalled server cannot keep the requests of that time out of the figures (coordinated omission). The number of
// requests under way is bounded: a request beyond it waits, which is part of its latency; after a second it is skipped
// and counted. Starts that the generator itself has delayed are counted, too.

import type { Peer, Sent } from '../peers/socket-peer.js';
import { Latencies } from './latencies.js';

// The clock of the loops, and when requests should start: at a fixed rate, evenly or as a Poisson process.

// Seeded random numbers, so that a run can be repeated with the same arrivals.

/** Uniform numbers of 32 bits from 0 (included) to 1 (excluded), by Mulberry32 of Tommy Ettinger (public domain). */
export function uniformFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One draw of the exponential distribution with this mean. */
export function exponential(uniform: () => number, mean: number): number {
  return -Math.log(1 - uniform()) * mean;
}

/** Time as the loops of the generator see it. Tests put a simulated clock in its place. */
interface Clock {
  /** Milliseconds since any moment, with fractions. */
  nowMs(): number;
  /** Calls back once the sockets have been looked at. */
  nextTurn(callback: () => void): void;
}

/** The clock of this process. Its turns never sleep: a timer of Node would be up to a millisecond late. */
export const SPINNING_CLOCK: Clock = {
  nowMs: () => performance.now(),
  nextTurn: (callback) => void setImmediate(callback),
};

export type Arrivals = 'constant' | 'poisson';

/** Intended starts in milliseconds from the beginning of a run, ascending. */
export class Schedule {
  readonly #gapMs: number;
  /** When the next request should start; `take` goes on to the one after it. */
  nextMs: number;

  /** @param ratePerS requests a second, above 0 */
  constructor(
    readonly arrivals: Arrivals,
    ratePerS: number,
    private readonly uniform: () => number,
  ) {
    if (!(ratePerS > 0)) throw new RangeError(`a rate of ${ratePerS} requests a second`);
    this.#gapMs = 1000 / ratePerS;
    this.nextMs = this.#gap();
  }

  take(): void {
    this.nextMs += this.#gap();
  }

  #gap(): number {
    return this.arrivals === 'constant' ? this.#gapMs : exponential(this.uniform, this.#gapMs);
  }
}

interface OpenLoad {
  readonly peers: readonly Peer[];
  readonly schedule: Schedule;
  /** How many exchanges were prepared; they are sent in turn. */
  readonly exchanges: number;
  /** Requests per one whose answer is compared in whole; 0: none. */
  readonly sampleEvery: number;
}

interface OpenTimes {
  /** Sent, and not in the figures. */
  readonly warmUpMs: number;
  /** Time that the figures cover. */
  readonly durationMs: number;
  /** The longest wait for answers after the last request. */
  readonly drainMs: number;
}

/** The figures of one load; requests of the warm-up are in none of them. */
export interface OpenFigures {
  /** Requests that should have started. */
  due: number;
  answered: number;
  refused: number;
  /** Not sent, as too much was under way for too long. */
  skipped: number;
  /** Started more than LATE_MS after their time, by the fault of the generator. */
  late: number;
  /** Without an answer at the end; their latencies are recorded as what they had reached. */
  unanswered: number;
  /** Answers compared in whole. */
  sampled: number;
  /** From the intended start to the end of the answer. */
  readonly intended: Latencies;
  /** From the actual start, as tools in a closed loop count. */
  readonly naive: Latencies;
}

const LATE_MS = 1;
/** Longest wait of a request before its start: a server that is further behind holds no rate. */
const MAX_WAIT_MS = 1000;

export async function runOpenLoop(
  loads: readonly OpenLoad[],
  { warmUpMs, durationMs, drainMs }: OpenTimes,
  clock: Clock,
): Promise<OpenFigures[]> {
  const startMs = clock.nowMs();
  const fromMs = startMs + warmUpMs;
  const endMs = fromMs + durationMs;
  const senders = loads.map((load) => new Sender(load, startMs, fromMs, clock));
  await new Promise<void>((resolve, reject) => {
    for (const { load } of senders)
      for (const peer of load.peers) peer.onFault = (reason) => reject(new Error(reason));
    const turn = (): void => {
      const nowMs = clock.nowMs();
      let isWaiting = false;
      for (const sender of senders) {
        sender.sendDue(Math.min(nowMs, endMs));
        isWaiting ||= sender.isWaiting;
      }
      if (nowMs < endMs || (isWaiting && nowMs < endMs + drainMs)) clock.nextTurn(turn);
      else resolve();
    };
    turn();
  });
  return senders.map((sender) => sender.end(endMs));
}

class Sender {
  readonly figures: OpenFigures = {
    due: 0,
    answered: 0,
    refused: 0,
    skipped: 0,
    late: 0,
    unanswered: 0,
    sampled: 0,
    intended: new Latencies(),
    naive: new Latencies(),
  };
  readonly #underWay = new Set<Sent>();
  #count = 0;
  #peer = 0;
  /** Requests due before this moment could not start, as the most that may be under way were. */
  #fullUntilMs = 0;

  constructor(
    readonly load: OpenLoad,
    private readonly startMs: number,
    private readonly fromMs: number,
    private readonly clock: Clock,
  ) {
    for (const peer of load.peers) peer.onAnswer = (sent, outcome) => this.#answered(sent, outcome === 'ok');
  }

  get isWaiting(): boolean {
    return this.#underWay.size > 0;
  }

  sendDue(untilMs: number): void {
    const { schedule } = this.load;
    for (;;) {
      const intendedMs = this.startMs + schedule.nextMs;
      if (intendedMs > untilMs) return;
      const peer = this.#freePeer();
      const nowMs = this.clock.nowMs();
      if (peer === undefined) this.#fullUntilMs = nowMs;
      if (peer === undefined && nowMs - intendedMs < MAX_WAIT_MS) return;
      schedule.take();
      const isCounted = intendedMs >= this.fromMs;
      if (isCounted) this.figures.due++;
      if (peer !== undefined) this.#send(peer, intendedMs, nowMs, isCounted);
      else if (isCounted) this.figures.skipped++;
    }
  }

  #send(peer: Peer, intendedMs: number, sentMs: number, isCounted: boolean): void {
    const { exchanges, sampleEvery } = this.load;
    if (isCounted && sentMs - Math.max(intendedMs, this.#fullUntilMs) > LATE_MS) this.figures.late++;
    const count = this.#count++;
    const isSampled = sampleEvery > 0 && count % sampleEvery === 0;
    const sent = { exchange: count % exchanges, intendedMs, sentMs, isSampled };
    this.#underWay.add(sent);
    peer.send(sent);
  }

  /** Ends the run: requests under way are unanswered, those that still wait are skipped. */
  end(endMs: number): OpenFigures {
    for (const { schedule } = this.load; this.startMs + schedule.nextMs <= endMs; schedule.take()) {
      if (this.startMs + schedule.nextMs < this.fromMs) continue;
      this.figures.due++;
      this.figures.skipped++;
    }
    for (const sent of this.#underWay) {
      if (sent.intendedMs < this.fromMs) continue;
      this.figures.unanswered++;
      this.#record(sent);
    }
    return this.figures;
  }

  /** The next peer in turn that may send, so that the load spreads over all connections as that of many senders. */
  #freePeer(): Peer | undefined {
    const { peers } = this.load;
    for (let tries = 0; tries < peers.length; tries++) {
      this.#peer = (this.#peer + 1) % peers.length;
      const peer = peers[this.#peer]!;
      if (peer.unanswered < peer.maxUnanswered) return peer;
    }
    return undefined;
  }

  #answered(sent: Sent, isOk: boolean): void {
    this.#underWay.delete(sent);
    if (sent.intendedMs < this.fromMs) return;
    if (!isOk) this.figures.refused++;
    else this.figures.answered++;
    if (sent.isSampled) this.figures.sampled++;
    this.#record(sent);
  }

  #record({ intendedMs, sentMs }: Sent): void {
    const nowMs = this.clock.nowMs();
    this.figures.intended.recordMs(nowMs - intendedMs);
    this.figures.naive.recordMs(nowMs - sentMs);
  }
}

// Load that keeps the server's queue from ever being empty: each connection sends its next request as soon as one is
// answered. It measures cost and service times under backlog, never latency.

/** One piece of the measured time. */
export interface Slice {
  readonly ms: number;
  readonly answered: number;
  /** CPU time of the server; null where it runs elsewhere. */
  readonly cpuUs: number | null;
}

interface ClosedFigures {
  readonly slices: readonly Slice[];
  readonly refused: number;
  readonly sampled: number;
  /** Service times as the ends of answers show them. */
  readonly services: Latencies;
}

/** Gaps between ends of answers that are kept for the service times. */
const MAX_GAPS = 500_000;

/** Longest wait for a first answer before a run ends. */
const GRACE_MS = 20_000;

interface ClosedTimes {
  readonly warmUpMs: number;
  readonly durationMs: number;
  readonly sliceMs: number;
}

/** @param cpuUs CPU time of the server until now */
export function runClosedLoop(
  { peers, exchanges, sampleEvery }: Omit<OpenLoad, 'schedule'>,
  { warmUpMs, durationMs, sliceMs }: ClosedTimes,
  clock: Clock,
  cpuUs: () => number | null,
): Promise<ClosedFigures> {
  const slices: Slice[] = [];
  const gaps = new Gaps();
  let [count, answered, answeredOfTurn, refused, sampled] = [0, 0, 0, 0, 0];
  let isOver = false;
  const send = (peer: Peer): void => {
    const isSampled = sampleEvery > 0 && count % sampleEvery === 0;
    // The times are not read.
    peer.send({ exchange: count++ % exchanges, intendedMs: 0, sentMs: 0, isSampled });
  };
  return new Promise((resolve, reject) => {
    for (const peer of peers) {
      peer.onFault = (reason) => reject(new Error(reason));
      peer.onAnswer = (sent, outcome) => {
        answered++;
        answeredOfTurn++;
        if (outcome === 'refused') refused++;
        else if (sent.isSampled) sampled++;
        if (!isOver) send(peer);
      };
    }
    const fromMs = clock.nowMs() + warmUpMs;
    let sliceEndMs = fromMs;
    let slice: { startMs: number; answered: number; cpuUs: number | null } | undefined;
    let gapFromMs: number | undefined;
    const turn = (): void => {
      const nowMs = clock.nowMs();
      if (answeredOfTurn > 0) {
        if (gapFromMs !== undefined && slice !== undefined) gaps.add(nowMs - gapFromMs, answeredOfTurn);
        gapFromMs = nowMs;
        answeredOfTurn = 0;
      }
      if (nowMs >= sliceEndMs) {
        sliceEndMs += sliceMs;
        const spentUs = cpuUs();
        if (slice !== undefined)
          slices.push({
            ms: nowMs - slice.startMs,
            answered: answered - slice.answered,
            cpuUs: spentUs === null || slice.cpuUs === null ? null : spentUs - slice.cpuUs,
          });
        slice = { startMs: nowMs, answered, cpuUs: spentUs };
      }
      const isLongEnough = nowMs >= fromMs + durationMs && slices.some((each) => each.answered > 0);
      if (!isLongEnough && nowMs < fromMs + durationMs + GRACE_MS) {
        clock.nextTurn(turn);
        return;
      }
      isOver = true;
      resolve({ slices, refused, sampled, services: gaps.services() });
    };
    for (const peer of peers) while (peer.unanswered < peer.maxUnanswered) send(peer);
    turn();
  });
}

/** Times between turns that brought answers, each with how many it brought. */
class Gaps {
  readonly #ms: number[] = [];
  readonly #answers: number[] = [];

  add(ms: number, answers: number): void {
    if (this.#ms.length >= MAX_GAPS) return;
    this.#ms.push(ms);
    this.#answers.push(answers);
  }

  /**
   * Answers that come together have shared their time. A usual service takes the median share; whatever a gap has
   * beyond that is a pause (the collector, another process), which one request of the gap has met. The sum of all times
   * stays.
   */
  services(): Latencies {
    const services = new Latencies();
    const usualMs = this.#medianShare();
    for (let at = 0; at < this.#ms.length; at++) {
      const [ms, answers] = [this.#ms[at]!, this.#answers[at]!];
      if (ms <= usualMs * answers) services.recordMs(ms / answers, answers);
      else {
        if (answers > 1) services.recordMs(usualMs, answers - 1);
        services.recordMs(ms - usualMs * (answers - 1));
      }
    }
    return services;
  }

  #medianShare(): number {
    const order = this.#ms.map((ms, at) => ({ share: ms / this.#answers[at]!, answers: this.#answers[at]! }));
    order.sort((a, b) => a.share - b.share);
    let left = order.reduce((sum, { answers }) => sum + answers, 0) / 2;
    for (const { share, answers } of order) {
      left -= answers;
      if (left <= 0) return share;
    }
    return 0;
  }
}
