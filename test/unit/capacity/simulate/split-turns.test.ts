// Several processes in turns: each as one process alone, and a queue where a turn takes nothing.
import { expect, test } from 'vitest';
import { exponential, uniformFrom } from '#dist/capacity/generator/random.js';
import { simulateShared } from '#dist/capacity/simulate/queue.js';
import { simulateSplitTurns, simulateTurns } from '#dist/capacity/simulate/turns.js';

/** Messages with services and processes by chance, some of them at the same moment. */
function load(count: number, processes: number) {
  const uniform = uniformFrom(5);
  let atUs = 0;
  const arrivalsUs = Float64Array.from({ length: count }, () => {
    if (uniform() < 0.7) atUs += exponential(uniform, 10);
    return atUs;
  });
  const services = Float64Array.from({ length: count }, () => exponential(uniform, 5));
  const processOf = Uint16Array.from({ length: count }, () => Math.floor(processes * uniform()));
  return { arrivalsUs, services, processOf, processes };
}

test.each([0, 3, 40])('with turns of %d µs each process works as if it were alone', (turnUs) => {
  const { arrivalsUs, services, processOf, processes } = load(2000, 3);
  const { latenciesUs } = simulateSplitTurns({
    ...{ arrivalsUs, processOf, processes, turnUs: () => turnUs, serviceUs: (message) => services[message]! },
  });
  for (let process = 0; process < processes; process++) {
    const mine = [...processOf.keys()].filter((message) => processOf[message] === process);
    const alone = simulateTurns(
      Float64Array.from(mine, (message) => arrivalsUs[message]!),
      turnUs,
      (at) => services[mine[at]!]!,
    );
    for (const [at, message] of mine.entries()) expect(latenciesUs[message]).toBeCloseTo(alone[at]!, 6);
  }
});

test('turns that take nothing are a queue in the order of arrival', () => {
  const { arrivalsUs, services, processOf } = load(2000, 1);
  const serviceUs = (message: number): number => services[message]!;
  const { latenciesUs, busiestShare } = simulateSplitTurns({
    ...{ arrivalsUs, processOf, processes: 1, turnUs: () => 0, serviceUs },
  });
  const queue = simulateShared(arrivalsUs, 1, serviceUs);
  for (const [at, us] of queue.latenciesUs.entries()) expect(latenciesUs[at]).toBeCloseTo(us, 6);
  expect(busiestShare).toBeCloseTo(queue.busyShare, 9);
});

test('a crowd shares one turn, and the busiest process is counted with its turns', () => {
  const { latenciesUs, busiestShare } = simulateSplitTurns({
    arrivalsUs: Float64Array.of(0, 0, 0, 10, 40),
    processOf: Uint16Array.of(0, 0, 1, 0, 1),
    processes: 2,
    turnUs: () => 20,
    serviceUs: () => 5,
  });
  // Process 0: a turn of two until 30, and then one for the message that came meanwhile, until 55.
  expect([...latenciesUs]).toEqual([25, 30, 25, 45, 25]);
  // Both end at 65 at the latest: 55 of process 0, 50 of process 1.
  expect(busiestShare).toBe(55 / 65);
});

test('nothing to simulate', () => {
  const none = { arrivalsUs: new Float64Array(0), processOf: new Uint16Array(0), processes: 1 };
  expect(simulateSplitTurns({ ...none, turnUs: () => 1, serviceUs: () => 1 }).busiestShare).toBe(0);
});
