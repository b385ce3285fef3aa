// Simulated time for the loops of the generator: a clock whose turns take ten microseconds, and peers whose answers are
// due at times that a function gives. The figures of a loop can then be held against the exact truth.
import type { Clock } from '#dist/capacity/generator/arrivals.js';
import type { Outcome, Peer, Sent } from '#dist/capacity/peers/socket-peer.js';

const TURN_MS = 0.01;

export class VirtualClock implements Clock {
  #nowMs = 0;
  #turns: (() => void)[] = [];
  #events: { atMs: number; run: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  nextTurn(callback: () => void): void {
    this.#turns.push(callback);
  }

  at(atMs: number, run: () => void): void {
    let index = this.#events.length;
    while (index > 0 && this.#events[index - 1]!.atMs > atMs) index--;
    this.#events.splice(index, 0, { atMs, run });
  }

  /** As a process that is kept from running. */
  jump(ms: number): void {
    this.#nowMs += ms;
  }

  /** Goes on until the promise is settled. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    work.then(settle, settle);
    for (let turns = 0; !isSettled; turns++) {
      this.#nowMs += TURN_MS;
      while ((this.#events[0]?.atMs ?? Number.POSITIVE_INFINITY) <= this.#nowMs) this.#events.shift()!.run();
      for (const turn of this.#turns.splice(0)) turn();
      if (turns % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return work;
  }
}

export class VirtualPeer implements Peer {
  unanswered = 0;
  answers = 0;
  readonly sentBytes = 0;
  readonly receivedBytes = 0;
  onAnswer: (sent: Sent, outcome: Outcome) => void = () => {};
  onFault: (reason: string) => void = () => {};

  /** @param answerTime when a request that arrives at a time is answered; undefined: never */
  constructor(
    private readonly clock: VirtualClock,
    private readonly answerTime: (arrivalMs: number) => number | undefined,
    readonly mostUnanswered = Number.POSITIVE_INFINITY,
    private readonly outcome: Outcome = 'ok',
  ) {}

  send(sent: Sent): void {
    this.unanswered++;
    const dueMs = this.answerTime(this.clock.nowMs());
    if (dueMs === undefined) return;
    this.clock.at(dueMs, () => {
      this.unanswered--;
      this.answers++;
      this.onAnswer(sent, this.outcome);
    });
  }

  close(): void {}
}
