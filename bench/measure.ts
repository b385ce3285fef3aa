// Times of rivals in one process, taken in turns: each round gives every subject one short piece of work, so that what the
// machine does meanwhile hits all alike, and a piece is rarely longer than a time slice. A piece is another part of the
// corpus each round.

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
  readonly points: number;
  /** Nanoseconds a point: median and quartiles of the rounds. */
  readonly ns: Spread;
  /** Of every round, in order. */
  readonly rounds: readonly number[];
}

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** @param warmUps rounds before any is counted: the engine has then compiled what it is going to */
export function takeTurns(subjects: readonly Subject[], rounds: number, warmUps = 100): Measured[] {
  const times = subjects.map((): number[] => []);
  for (let round = -warmUps; round < rounds; round++) {
    for (let turn = 0; turn < subjects.length; turn++) {
      // another one begins each round, and none works on what the one before has just put into the caches
      const at = (turn + round + warmUps) % subjects.length;
      const subject = subjects[at]!;
      const shift = Math.floor((at * subject.pieces) / subjects.length);
      const start = performance.now();
      subject.run((round + warmUps + shift) % subject.pieces);
      const ns = ((performance.now() - start) * 1e6) / subject.points;
      if (round >= 0) times[at]!.push(ns);
    }
  }
  return subjects.map(({ name, points }, at) => ({
    name,
    points,
    ns: spread(times[at]!),
    rounds: times[at]!,
  }));
}

/** How many times as long `slow` takes as `fast`: of the medians; the spread is that of one against the other's median. */
export function ratio(slow: Measured, fast: Measured): Spread {
  return {
    median: slow.ns.median / fast.ns.median,
    low: Math.min(slow.ns.low / fast.ns.median, slow.ns.median / fast.ns.high),
    high: Math.max(slow.ns.high / fast.ns.median, slow.ns.median / fast.ns.low),
  };
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))]!;
  return { median: at(0.5), low: at(0.25), high: at(0.75) };
}

/** `41.3 (40.2-43.0)`: median and quartiles. */
export function spreadText({ median, low, high }: Spread, digits = 1): string {
  const text = (value: number) => value.toFixed(value >= 100 ? 0 : digits);
  return `${text(median)} (${text(low)}-${text(high)})`;
}

/** Rows as a Markdown table. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n');
}
