// The worker that counts the points of the map by hexagon, so that a million of them do not hold up the page.
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { loadH3 } from '../shell/h3.js';
import { kernelOf } from '../shell/worker-kernel.js';
import type { CountNews, CountTask } from './counting.js';
import { Counter } from './counting.js';

/** Rows that are listed. */
const MAX_LISTED = 100;

let opening: Promise<Kernel> | undefined;
let counter: Promise<{ counter: Counter; uncounted: number }> | undefined;

const tell = (news: CountNews, transfer: Transferable[] = []): void => postMessage(news, { transfer });

addEventListener('message', ({ data }: MessageEvent<CountTask>) => {
  work(data).catch(reportError);
});

async function work(task: CountTask): Promise<void> {
  if (task.kind === 'open') opening = loadH3().then(() => kernelOf(task.paths));
  else if (task.kind === 'points') {
    counter = opening?.then((kernel) => {
      const made = new Counter(kernel, task.positions);
      return { counter: made, uncounted: made.uncounted() };
    });
  } else {
    const now = await counter;
    if (now === undefined) return;
    if (task.kind === 'count') {
      const counted = now.counter.view(task.box, task.finest);
      const { cells, points: numbers, classes, corners, ends } = counted;
      const arrays = [cells, numbers, classes, corners, ends].map(({ buffer }) => buffer);
      tell({ kind: 'counted', counted, uncounted: now.uncounted }, arrays);
    } else {
      const points = now.counter.inCell(task.cell, task.box, task.resolution, MAX_LISTED);
      tell({ kind: 'cell', cell: task.cell, points });
    }
  }
}
