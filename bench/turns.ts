// CPU times of rivals in one process, taken in turns with tinybench: a round is a Bench of its own in which every
// subject works for the same time, each round through other pieces of its corpus. Time in which another process has the
// core is not counted: it would be counted against whoever works for longer than a time slice.
import { Bench, type BenchOptions, type Statistics } from 'tinybench';
import { quantile, type Spread } from './table.js';

export interface Subject {
  readonly name: string;
  /** Points of a piece. */
  readonly points: number;
  /** Pieces that the corpus is cut into. */
  readonly pieces: number;
  /** Works through piece 0 to pieces - 1. */
  run(piece: number): void;
}

export interface Measured {
  readonly name: string;
  /** Points that one timed task works through: one piece, or several where a piece is short. */
  readonly points: number;
  /** Nanoseconds a point: median and quartiles of the rounds. */
  readonly ns: Spread;
  /** Measurements of every round, in order. */
  readonly rounds: readonly number[];
}

/** CPU time of a task, which the system tells in microseconds: pieces are repeated until a task takes about this. */
const TASK_MS = 0.5;
const MAX_PIECES = 1000;

/** CPU of this process so far. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** One run of each task, without warm-up: the rounds here, warm-ups included, go over all subjects in turns. */
const ONE_RUN: BenchOptions = {
  ...{ concurrency: null, iterations: 1, time: 0, warmup: false, throws: true, now: cpuMs },
};

/** @param warmUps rounds that are not counted, in which the engine compiles the code */
export function takeTurns<const Subjects extends readonly Subject[]>(
  subjects: Subjects,
  rounds: number,
  warmUps = 100,
): { readonly [K in keyof Subjects]: Measured } {
  const turns = subjects.map(
    (subject, at) => new Turn(subject, Math.floor((at * subject.pieces) / subjects.length)),
  );
  for (let round = 0; round < warmUps; round++) runRound(turns, round);
  for (const turn of turns) turn.endWarmUp();
  for (let round = warmUps; round < warmUps + rounds; round++) runRound(turns, round);
  return turns.map((turn) => turn.measured()) as { [K in keyof Subjects]: Measured };
}

/** A round begins with another subject than the one before, so none always finds the caches of the same rival. */
function runRound(turns: readonly Turn[], round: number): void {
  const bench = new Bench(ONE_RUN);
  for (let k = 0; k < turns.length; k++) turns[(k + round) % turns.length]!.addTo(bench, round);
  bench.runSync();
  for (const turn of turns) turn.collect(bench);
}

class Turn {
  /** Milliseconds of the task, one a round. */
  #times: number[] = [];
  #pieces = 1;
  #piece = 0;
  readonly #task = (): void => {
    const { subject } = this;
    for (let k = 0; k < this.#pieces; k++) subject.run((this.#piece + k) % subject.pieces);
  };

  constructor(
    readonly subject: Subject,
    readonly firstPiece: number,
  ) {}

  addTo(bench: Bench, round: number): void {
    bench.add(this.subject.name, this.#task, {
      async: false,
      beforeEach: () => {
        this.#piece = (round * this.#pieces + this.firstPiece) % this.subject.pieces;
      },
    });
  }

  collect(bench: Bench): void {
    const { result } = bench.getTask(this.subject.name)!;
    if (result.state !== 'completed') throw new Error(`${this.subject.name} is ${result.state}`);
    this.#times.push(result.latency.p50);
  }

  endWarmUp(): void {
    const { p50 } = statisticsOf(this.#times);
    this.#pieces = Math.max(1, Math.ceil(TASK_MS / Math.max(p50, TASK_MS / MAX_PIECES)));
    this.#times = [];
  }

  measured(): Measured {
    const points = this.subject.points * this.#pieces;
    const rounds = this.#times.map((ms) => (ms * 1e6) / points);
    const { p50, p75, samples } = statisticsOf(rounds);
    return {
      name: this.subject.name,
      points,
      ns: { median: p50, low: quantile(samples!, 0.25), high: p75 },
      rounds,
    };
  }
}

/** tinybench's statistics of values measured in many rounds: a Bench whose task returns them as its durations. */
function statisticsOf(values: readonly number[]): Statistics {
  let next = 0;
  const bench = new Bench({ ...ONE_RUN, iterations: values.length, retainSamples: true });
  bench.add('rounds', () => ({ overriddenDuration: values[next++]! }), { async: false });
  const [task] = bench.runSync();
  const { result } = task!;
  if (result.state !== 'completed') throw new Error(`the statistics are ${result.state}`);
  return result.latency;
}
