// `npm run proof -- soak [--for 2h] [--parts 10] [--seed S]`: mixed load with faults on one server process. Its memory,
// descriptors and the answers of quiet single requests, which show the delay of its event loop, at the start and after
// every part.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BulkFuzz } from '../support/fuzz-bulk.js';
import { FramesFuzz } from '../support/fuzz-frames.js';
import { HttpFuzz } from '../support/fuzz-http.js';
import { sendHonestSingles } from '../support/honest-singles.js';
import { randomFrom } from '../support/open-world.js';
import { ServerProcess } from '../support/server-process.js';
import { shippedKernel } from '../support/shipped.js';
import { millisecondsOf, report } from './run-length.js';

/** Between the load and a look. */
const SETTLE_MS = 15_000;
/** Connections without an answer are closed after 12 s by uws-pack and after 36 s by 20.57.0 (transport/README U24). */
const MAX_SETTLE_MS = 60_000;
const MAX_GROWTH_MB = 64;

export default async function proveSoak(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      for: { type: 'string', default: '2h' },
      parts: { type: 'string', default: '10' },
      seed: { type: 'string', default: '1' },
    },
  });
  const seed = Number(values.seed);
  const parts = Number(values.parts);
  const partMs = millisecondsOf(values.for) / parts;
  const server = await ServerProcess.start({ isQuiet: true });
  const random = randomFrom(seed);
  const kernel = shippedKernel();
  const http = new HttpFuzz(server, random);
  const bulk = new BulkFuzz(server, kernel, random);
  const frames = new FramesFuzz(server, kernel, random);
  const faults: string[] = [];
  const looks: Look[] = [];
  try {
    looks.push(await look(server));
    for (let part = 0; part < parts && !server.hasEnded; part++) {
      const endMs = performance.now() + partMs;
      const goesOn = (): boolean => performance.now() < endMs;
      await Promise.all([http.run(goesOn), bulk.run(goesOn), frames.run(goesOn)]);
      if (!server.hasEnded) looks.push(await look(server, looks[0]!.descriptors));
      console.log(looks.map(({ text }) => text).at(-1));
    }
    faults.push(...http.faults, ...bulk.faults, ...frames.faults);
    // The first part warms: compiled code, caches and pools.
    const [start, warm, end] = [looks[0]!, looks[1] ?? looks[0]!, looks.at(-1)!];
    if (end.residentMb - warm.residentMb > MAX_GROWTH_MB) faults.push('memory grew');
    if (end.descriptors > start.descriptors) faults.push('descriptors are left open');
    report(
      'soak',
      `${values.for}: ${http.exchanges} exchanges, ${bulk.bodies} bodies, ${frames.messages} messages; at the start ${start.text}, after the first part ${warm.text}, at the end ${end.text}`,
      seed,
      faults,
    );
  } finally {
    await server.kill();
  }
}

interface Look {
  readonly residentMb: number;
  readonly descriptors: number;
  readonly text: string;
}

/** @param dueDescriptors how many there should be; more are waited for */
async function look(server: ServerProcess, dueDescriptors = Number.POSITIVE_INFINITY): Promise<Look> {
  await sleep(SETTLE_MS);
  const { latenciesMs } = await sendHonestSingles(server.port, server.key, {
    clients: 2,
    requests: 500,
    pauseMs: 2,
  });
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const residentMb = server.memoryMb().now;
  const countDescriptors = (): number => readdirSync(`/proc/${server.child.pid}/fd`).length;
  const lastMs = performance.now() + MAX_SETTLE_MS - SETTLE_MS;
  do await sleep(1000);
  while (countDescriptors() > dueDescriptors && performance.now() < lastMs);
  const descriptors = countDescriptors();
  const p99Ms = sorted[Math.floor(0.99 * sorted.length)] ?? Number.NaN;
  const text = `${residentMb.toFixed(0)} MB, ${descriptors} descriptors, singles p99 ${p99Ms.toFixed(1)} ms`;
  return { residentMb, descriptors, text };
}
