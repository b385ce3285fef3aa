// A proof cut into parts for worker threads: options, parts with their seeds, results as they come.

import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { optionsOf } from './run-length.js';

interface Task {
  seed: number;
  size: number;
  partSize: number;
  thread: number;
  threads: number;
}

/** In a worker thread: does every `threads`-th part and posts what comes of it. In the main thread: nothing. */
export function workOnParts<Result>(make: () => (part: number, count: number, seed: number) => Result): void {
  if (isMainThread) return;
  const { seed, size, partSize, thread, threads } = workerData as Task;
  const work = make();
  for (let part = thread; part * partSize < size; part += threads)
    parentPort?.postMessage(work(part, Math.min(partSize, size - part * partSize), seed + part));
}

/**
 * In the main thread: starts `module` (which calls workOnParts) as often as there are threads.
 * @returns the size and seed that `--size` and `--seed` asked for, once every part has been received
 */
export async function proveInThreads<Result>(
  module: string,
  args: string[],
  { size: defaultSize, partSize }: { size: number; partSize: number },
  receive: (result: Result) => void,
): Promise<{ size: number; seed: number }> {
  const values = optionsOf(args, {
    size: String(defaultSize),
    seed: '20261121',
    threads: String(availableParallelism()),
  });
  const [size, seed, threads] = [Number(values.size), Number(values.seed), Number(values.threads)];
  let parts = 0;
  const run = (thread: number) =>
    new Promise<void>((resolve, reject) => {
      const task: Task = { seed, size, partSize, thread, threads };
      const worker = new Worker(new URL(module), { workerData: task });
      worker.on('message', (result: Result) => {
        parts++;
        receive(result);
        console.error(
          `${Math.min(size, parts * partSize).toLocaleString('en')} of ${size.toLocaleString('en')}`,
        );
      });
      worker.on('error', reject);
      worker.on('exit', () => resolve());
    });
  await Promise.all(Array.from({ length: threads }, (_, thread) => run(thread)));
  if (parts !== Math.ceil(size / partSize)) throw new Error(`only ${parts} parts were done`);
  return { size, seed };
}
