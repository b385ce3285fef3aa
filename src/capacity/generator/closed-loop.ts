// Load that keeps the server's queue from ever being empty: each connection sends its next request as soon as one is
// answered. It measures cost and service times under backlog, never latency.

import type { Peer } from '../peers/socket-peer.js';
import type { Clock } from './job.js';
import { Latencies } from './latencies.js';

export interface ClosedLoad {
  readonly peers: readonly Peer[];
  readonly exchanges: number;
  readonly sampleEvery: number;
}

/** One piece of the measured time. */
export interface Slice {
  readonly ms: number;
  readonly answered: number;
  /** CPU time of the server; null where it runs elsewhere. */
  readonly cpuUs: number | null;
}

export interface ClosedFigures {
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

export interface ClosedTimes {
  readonly warmUpMs: number;
  readonly durationMs: number;
  readonly sliceMs: number;
}

/** @param cpuUs CPU time of the server until now */
export function runClosedLoop(
  { peers, exchanges, sampleEvery }: ClosedLoad,
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
    // Nothing here reads the times.
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
