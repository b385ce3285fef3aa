// Load at a rate of its own, whatever the server does. Latency runs from the moment when a request should have started,
// so a server that stalls cannot keep the requests of that time out of the figures (coordinated omission). The requests
// under way are bounded: a request beyond that waits, which is part of its latency, and is skipped and counted when it
// has waited for a second. Starts that the generator itself has delayed are counted too.

import type { Peer, Sent } from '../peers/socket-peer.js';
import type { Clock, Schedule } from './job.js';
import { Latencies } from './latencies.js';

export interface OpenLoad {
  readonly peers: readonly Peer[];
  readonly schedule: Schedule;
  /** How many exchanges were prepared; they are sent in turn. */
  readonly exchanges: number;
  /** Requests per one whose answer is compared in whole; 0: none. */
  readonly sampleEvery: number;
}

export interface OpenTimes {
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
/** A server that is so far behind holds no rate. */
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
  /** Requests of before this moment could not start: all that may be under way was. */
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

  /** Whatever is still under way ends here, and whatever still waits. */
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

  /** The next peer in turn that may send: load spreads over all, as that of many senders does. */
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
