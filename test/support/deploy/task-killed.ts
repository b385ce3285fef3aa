// Nodes that are killed while an answer is under way through a proxy: what its client gets must not look whole.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Behind } from './behind-proxy.js';
import type { TaskOptions, TaskResult } from './task.js';
import { sendBodies } from './task-bodies.js';

const KILLED_AFTER_MS = 3500;

/** The client is slow, so that the end of its answer is still in the nodes when they die. */
export async function killNodes(behind: Behind, options: TaskOptions): Promise<TaskResult> {
  const sent = sendBodies(behind, { rate: '30M', megabytes: 60, ...options, times: 1 });
  await sleep(KILLED_AFTER_MS);
  for (const node of behind.nodes) node.child.kill('SIGKILL');
  const { done, faults } = await sent;
  if (done > 0) return { done: 0, faults: ['the answer was whole before the nodes were killed'], notes: [] };
  const looksWhole = faults.filter((fault) => fault.includes('curl ended with 0, 200'));
  return { done: 1 - looksWhole.length, faults: looksWhole, notes: faults };
}
