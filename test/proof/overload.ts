// `npm run proof -- overload [--for 60s] [--times 3] [--points 1000] [--connections 2000]`: batches at a multiple of
// the capacity, in an open loop from the other core: goodput, every refusal with Retry-After, and how soon the service
// answers as before once it is over. The capacity is what 32 connections reach that send as fast as they are answered.
// Both are counted for a second of the server's CPU, because other programs may have a part of its core.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendHonestSingles } from '../support/honest-singles.js';
import type { OpenLoopOrder, OpenLoopTally } from '../support/load/open-loop.js';
import { quantile } from '../support/quantile.js';
import { ServerProcess } from '../support/server-process.js';
import { millisecondsOf, optionsOf, report } from './run-length.js';

const SERVER_CORE = '0';
const LOAD_CORE = '1';
const MIN_GOODPUT = 0.9;
const MAX_RECOVERY_MS = 5000;
const CLOSED_CONNECTIONS = 32;

export default async function proveOverload(args: string[]): Promise<void> {
  const values = optionsOf(args, { for: '60s', times: '3', points: '1000', connections: '2000' });
  const lengthMs = millisecondsOf(values.for);
  const server = await ServerProcess.start({ core: SERVER_CORE, isQuiet: true });
  const entry = new URL('../support/load/open-loop.js', import.meta.url);
  const generator = fork(entry, [String(server.port), server.key, values.points]);
  spawnSync('taskset', ['-a', '-cp', LOAD_CORE, String(generator.pid)]);
  spawnSync('taskset', ['-a', '-cp', LOAD_CORE, String(process.pid)]);
  try {
    await once(generator, 'message');
    const closed = { perSecond: undefined, connections: CLOSED_CONNECTIONS };
    await order(generator, { ...closed, lengthMs: 5000 });
    const quiet = quantile((await singles(server)).latenciesMs, 0.5);
    const cpu = server.cpuSeconds();
    const before = await order(generator, { ...closed, lengthMs: 10_000 });
    const capacity = rateOf(before);
    const beforeCpu = server.cpuSeconds() - cpu;
    const connections = Number(values.connections);
    const tally = await order(generator, {
      perSecond: Number(values.times) * capacity,
      lengthMs,
      connections,
    });
    const overMs = performance.now();
    const overloadCpu = server.cpuSeconds() - cpu - beforeCpu;
    let recovered = 0;
    do {
      recovered = quantile((await singles(server, 5)).latenciesMs, 0.5);
    } while (!(recovered <= 2 * quiet + 1) && performance.now() - overMs < 60_000);
    const recoveryMs = performance.now() - overMs;
    const restCpu = server.cpuSeconds();
    const after = await order(generator, { ...closed, lengthMs: 10_000 });
    const perCpu = (okOf(before) + okOf(after)) / (beforeCpu + server.cpuSeconds() - restCpu);
    const goodput = okOf(tally) / overloadCpu / perCpu;
    const faults = [...tally.wrong];
    for (const status of Object.keys(tally.byStatus))
      if (!['200', '429', '503'].includes(status))
        faults.push(`${tally.byStatus[status]} answers: ${status}`);
    if (goodput < MIN_GOODPUT) faults.push(`goodput ${goodput.toFixed(2)} of the capacity`);
    if (recoveryMs > MAX_RECOVERY_MS) faults.push(`recovery after ${Math.round(recoveryMs)} ms`);
    if (server.hasEnded) faults.push('the server has ended');
    const perSecond = ((tally.sent + tally.unsent) * 1000) / tally.lengthMs;
    const figures = [
      `batches of ${values.points} for ${values.for}`,
      `capacity ${capacity.toFixed(0)} a second before and ${rateOf(after).toFixed(0)} after`,
      `${perSecond.toFixed(0)} were due a second, ${tally.sent} were sent, ${tally.unsent} found ${connections} connections in use`,
      `answers ${JSON.stringify(tally.byStatus)}`,
      `goodput ${goodput.toFixed(2)} for the CPU, ${((2 * rateOf(tally)) / (capacity + rateOf(after))).toFixed(2)} by the clock`,
      `the server had ${((100_000 * overloadCpu) / tally.lengthMs).toFixed(0)} % of its core under overload, ${((100_000 * beforeCpu) / before.lengthMs).toFixed(0)} % before`,
      `latency of 200, median ${quantile(tally.okLatenciesMs, 0.5).toFixed(0)} ms`,
      `singles as before after ${Math.round(recoveryMs)} ms`,
      `${server.memoryMb().peak.toFixed(0)} MiB at most`,
    ];
    report('overload', figures.join('; '), 0, faults);
  } finally {
    generator.kill('SIGKILL');
    await server.kill();
  }
}

async function order(generator: ChildProcess, what: OpenLoopOrder): Promise<OpenLoopTally> {
  const answered = once(generator, 'message') as Promise<[OpenLoopTally]>;
  generator.send(what);
  return (await answered)[0];
}

/** Answers with 200. */
const okOf = ({ byStatus }: OpenLoopTally): number => byStatus['200'] ?? 0;
const rateOf = (tally: OpenLoopTally): number => (okOf(tally) * 1000) / tally.lengthMs;

async function singles(server: ServerProcess, requests = 50) {
  await sleep(50);
  return sendHonestSingles(server.port, server.key, { clients: 4, requests, pauseMs: 5 });
}
