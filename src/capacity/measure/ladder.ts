// The kernel ladder: what a point costs in process, by tinybench, from one position in a call to whole batches. Tasks
// take turns: a round is a Bench of its own in which each runs once, so what the machine does meanwhile hits all alike.
import { Bench } from 'tinybench';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { landPositions, POSITIONS } from '../traffic/positions.js';
import { type LadderStep, samplesOf } from './results.js';

/** Points that each task works through: tasks of less than 10 µs would show the clock. */
const TASK_POINTS = 4096;
const WARM_UP_ROUNDS = 30;

interface Step {
  readonly name: string;
  run(firstPoint: number): void;
}

export function measureLadder(library: Hexcodes, rounds: number): LadderStep[] {
  const pairs = landPositions(library);
  const records = library.encodeBatch(pairs);
  const codes = Array.from({ length: POSITIONS }, (_, at) =>
    String.fromCharCode(...records.subarray(at * 20, at * 20 + 19)).replace(/\0+$/, ''),
  );
  const batches = (size: number) => (first: number) => {
    for (let at = first; at < first + TASK_POINTS; at += size)
      library.encodeBatch(pairs.subarray(2 * at, 2 * (at + size)));
  };
  const steps: Step[] = [
    {
      name: 'encode() of one position to an object',
      run: (first) => {
        for (let at = first; at < first + TASK_POINTS; at++)
          library.encode(pairs[2 * at]!, pairs[2 * at + 1]!);
      },
    },
    ...[1, 64, 1024, 4096].map((size) => ({ name: `encodeBatch() of ${size}`, run: batches(size) })),
    {
      name: 'decode() of one text to an object',
      run: (first) => {
        for (let at = first; at < first + TASK_POINTS; at++) library.decode(codes[at]!);
      },
    },
    {
      name: 'decodeBatch() of 4096',
      run: (first) => void library.decodeBatch(records.subarray(20 * first, 20 * (first + TASK_POINTS))),
    },
  ];
  const times = steps.map(() => [] as number[]);
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    const bench = new Bench({ concurrency: null, iterations: 1, time: 0, warmup: false, throws: true });
    const first = (round * TASK_POINTS) % POSITIONS;
    // Another one begins each time, so none always finds the caches as the same rival leaves them.
    for (let k = 0; k < steps.length; k++) {
      const { name, run } = steps[(k + round) % steps.length]!;
      bench.add(name, () => run(first), { async: false });
    }
    bench.runSync();
    if (round < WARM_UP_ROUNDS) continue;
    for (const [at, { name }] of steps.entries()) {
      const { result } = bench.getTask(name)!;
      if (result.state !== 'completed') throw new Error(`${name} is ${result.state}`);
      times[at]!.push((result.latency.p50 * 1e6) / TASK_POINTS);
    }
  }
  return steps.map(({ name }, at) => ({
    name,
    nsPerPoint: samplesOf(times[at]!.map((ns) => Number(ns.toPrecision(4)))),
  }));
}
