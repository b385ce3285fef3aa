// A fleet of workers on JetStream as a simulation of events: servers and workers are cores that do one thing after the
// other, messages wait, are handed out, answered, stored once and acknowledged; workers and servers die at random and
// come back.
import { EventQueue } from './event-queue.js';
import type { FleetPlan, FleetResult } from './fleet-plan.js';

interface Frame {
  readonly arrivedS: number;
  isStored: boolean;
  isAccepted: boolean;
  deliveries: number;
}

interface Worker {
  /** Rises with each death: what an earlier life had under way does not arrive. */
  life: number;
  isAlive: boolean;
  held: number;
  freeS: number;
}

interface Stream {
  readonly waiting: Frame[];
  /** Messages of `waiting` that are handed out already. */
  next: number;
  readonly workers: Worker[];
  turn: number;
  pending: number;
  freeS: number;
}

/** How long after the last arrival the simulation may go on. */
const SETTLE_S = 300;

export function simulateFleet(plan: FleetPlan): FleetResult {
  return new Fleet(plan).run();
}

class Fleet {
  readonly #plan: FleetPlan;
  readonly #events = new EventQueue();
  readonly #streams: Stream[];
  readonly #frames: Frame[] = [];
  readonly #latenciesS: number[] = [];
  #state: number;
  #isSettled = false;
  #accepted = 0;
  #lastStoredS = 0;
  #storedInTime = 0;
  #redelivered = 0;
  #refused = 0;
  #workerDeaths = 0;
  #serverDeaths = 0;
  #serverBusyS = 0;
  #workerBusyS = 0;

  constructor(plan: FleetPlan) {
    this.#plan = plan;
    this.#state = plan.seed >>> 0 || 1;
    this.#streams = Array.from({ length: plan.streams }, () => ({
      ...{ waiting: [], next: 0, workers: [], turn: 0, pending: 0, freeS: 0 },
    }));
    for (let i = 0; i < plan.workers; i++)
      this.#streams[i % plan.streams]!.workers.push({ life: 0, isAlive: true, held: 0, freeS: 0 });
  }

  run(): FleetResult {
    const { plan, events } = { plan: this.#plan, events: this.#events };
    const total = Math.floor((plan.pointsPerSecond * plan.lengthS) / plan.pointsPerFrame);
    const arrive = (number: number): void => {
      if (number >= total) return;
      const stream = this.#streams[number % plan.streams]!;
      const frame = { arrivedS: events.nowS, isStored: false, isAccepted: false, deliveries: 0 };
      this.#frames.push(frame);
      if (plan.isBacklog === true) {
        stream.waiting.push(frame);
        return;
      }
      this.#serve(stream, plan.serverS.take, () => this.#wait(stream, frame));
      const meanS = plan.pointsPerFrame / plan.pointsPerSecond;
      events.in(this.#exponential(meanS), () => arrive(number + 1));
    };
    if (plan.isBacklog === true) {
      for (let number = 0; number < total; number++) arrive(number);
      for (const stream of this.#streams) this.#handOut(stream);
    } else events.in(0, () => arrive(0));
    for (const stream of this.#streams) {
      for (const worker of stream.workers) this.#killLater(stream, worker);
      this.#killServerLater(stream);
    }
    const isOver = (): boolean => this.#accepted === total;
    while (!isOver() && events.nowS < plan.lengthS + SETTLE_S && events.next());
    this.#isSettled = true;
    const sorted = Float64Array.from(this.#latenciesS).sort();
    const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
    return {
      frames: total,
      lost: this.#frames.filter(({ isStored }) => !isStored).length + total - this.#frames.length,
      redelivered: this.#redelivered,
      refused: this.#refused,
      workerDeaths: this.#workerDeaths,
      serverDeaths: this.#serverDeaths,
      pointsPerSecond: this.#pointsPerSecond(),
      p50S: at(0.5),
      p99S: at(0.99),
      serverLoad: this.#serverBusyS / (events.nowS * plan.streams),
      workerLoad: this.#workerBusyS / (events.nowS * plan.workers),
    };
  }

  #pointsPerSecond(): number {
    const { isBacklog = false, lengthS, pointsPerFrame } = this.#plan;
    const [frames, endS] = isBacklog
      ? [this.#latenciesS.length, this.#lastStoredS]
      : [this.#storedInTime, lengthS];
    return (frames * pointsPerFrame) / endS;
  }

  /** The server of a stream works, then something happens. */
  #serve(stream: Stream, costS: number, then: () => void): void {
    const startS = Math.max(this.#events.nowS, stream.freeS);
    stream.freeS = startS + costS;
    this.#serverBusyS += costS;
    this.#events.at(stream.freeS, then);
  }

  #wait(stream: Stream, frame: Frame): void {
    stream.waiting.push(frame);
    this.#handOut(stream);
  }

  #handOut(stream: Stream): void {
    const { window, maxAckPending, serverS, networkS, ackWaitS } = this.#plan;
    while (stream.next < stream.waiting.length && stream.pending < maxAckPending) {
      const worker = this.#free(stream, window);
      if (worker === undefined) return;
      const frame = stream.waiting[stream.next++]!;
      if (stream.next > 4096) {
        stream.waiting.splice(0, stream.next);
        stream.next = 0;
      }
      worker.held++;
      stream.pending++;
      if (++frame.deliveries > 1) this.#redelivered++;
      const delivery = frame.deliveries;
      const { life } = worker;
      this.#serve(stream, serverS.handOut, () => {
        this.#events.in(networkS, () => this.#work(stream, worker, life, frame));
        this.#awaitAck(stream, worker, life, frame, delivery, ackWaitS);
      });
    }
  }

  /** The next worker in turn that has space. */
  #free(stream: Stream, window: number): Worker | undefined {
    const { workers } = stream;
    for (let i = 0; i < workers.length; i++) {
      const worker = workers[(stream.turn + i) % workers.length]!;
      if (!worker.isAlive || worker.held >= window) continue;
      stream.turn = (stream.turn + i + 1) % workers.length;
      return worker;
    }
    return undefined;
  }

  /** A living worker says that it is still at it; of a dead one the message waits again. */
  #awaitAck(
    stream: Stream,
    worker: Worker,
    life: number,
    frame: Frame,
    delivery: number,
    afterS: number,
  ): void {
    this.#events.in(afterS, () => {
      if (frame.isAccepted || frame.deliveries !== delivery) return;
      if (worker.life === life) {
        this.#awaitAck(stream, worker, life, frame, delivery, afterS);
        return;
      }
      stream.pending--;
      this.#wait(stream, frame);
    });
  }

  #work(stream: Stream, worker: Worker, life: number, frame: Frame): void {
    const { workerS, networkS, serverS } = this.#plan;
    if (worker.life !== life) return;
    const startS = Math.max(this.#events.nowS, worker.freeS);
    worker.freeS = startS + workerS;
    this.#workerBusyS += workerS;
    this.#events.at(worker.freeS, () => {
      if (worker.life !== life) return;
      this.#events.in(networkS, () => {
        this.#serve(stream, serverS.store, () => {
          this.#store(frame);
          this.#events.in(2 * networkS, () => this.#accept(stream, worker, life, frame));
        });
      });
    });
  }

  /** The subject of the answer takes one message. */
  #store(frame: Frame): void {
    if (frame.isStored) {
      this.#refused++;
      return;
    }
    frame.isStored = true;
    this.#latenciesS.push(this.#events.nowS - frame.arrivedS);
    this.#lastStoredS = this.#events.nowS;
    if (this.#events.nowS <= this.#plan.lengthS) this.#storedInTime++;
  }

  /** A worker that is dead by now has acknowledged nothing. */
  #accept(stream: Stream, worker: Worker, life: number, frame: Frame): void {
    if (worker.life !== life) return;
    worker.held--;
    if (!frame.isAccepted) {
      frame.isAccepted = true;
      this.#accepted++;
      stream.pending--;
    }
    this.#handOut(stream);
  }

  #killLater(stream: Stream, worker: Worker): void {
    const { workerLifeS, workerRestartS } = this.#plan;
    if (!Number.isFinite(workerLifeS)) return;
    this.#events.in(this.#exponential(workerLifeS), () => {
      if (this.#isSettled || this.#events.nowS > this.#plan.lengthS) return;
      this.#workerDeaths++;
      worker.life++;
      worker.isAlive = false;
      worker.held = 0;
      this.#events.in(workerRestartS, () => {
        worker.isAlive = true;
        worker.freeS = this.#events.nowS;
        this.#handOut(stream);
        this.#killLater(stream, worker);
      });
    });
  }

  /** While a server is away all that it has to do waits; files keep what it has acknowledged. */
  #killServerLater(stream: Stream): void {
    const { serverLifeS, serverRestartS } = this.#plan;
    if (!Number.isFinite(serverLifeS)) return;
    this.#events.in(this.#exponential(serverLifeS), () => {
      if (this.#events.nowS > this.#plan.lengthS) return;
      this.#serverDeaths++;
      stream.freeS = Math.max(stream.freeS, this.#events.nowS) + serverRestartS;
      this.#killServerLater(stream);
    });
  }

  #exponential(mean: number): number {
    this.#state ^= this.#state << 13;
    this.#state >>>= 0;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return -mean * Math.log((this.#state + 1) / (2 ** 32 + 1));
  }
}
