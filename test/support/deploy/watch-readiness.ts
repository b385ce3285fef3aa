// Asks nodes for their readiness four times a second, as a balancer does, in a process of its own: node
// build/test/support/deploy/watch-readiness.js ADDRESS… prints how long the answers took, as JSON, when its input ends.
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 250;
const PATIENCE_MS = 5000;

export interface Watched {
  readonly failed: number;
  /** Time of each answer, ascending. */
  readonly tookMs: readonly number[];
}

const addresses = process.argv.slice(2);
const tookMs: number[] = [];
let failed = 0;
let isOver = false;
process.stdin.on('end', () => (isOver = true)).resume();

function ask(address: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const call = get(`http://${address}/readyz`, { agent: false, timeout: PATIENCE_MS }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    });
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(undefined));
  });
}

while (!isOver || tookMs.length === 0) {
  for (const address of addresses) {
    const startMs = performance.now();
    if ((await ask(address)) !== 200) failed++;
    tookMs.push(performance.now() - startMs);
  }
  await sleep(EVERY_MS);
}
const watched: Watched = { failed, tookMs: tookMs.sort((a, b) => a - b) };
console.log(JSON.stringify(watched));
