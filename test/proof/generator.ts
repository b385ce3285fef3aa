// `npm run proof -- generator [--tries 5] [--seconds 20]`: the generator of `hexcodes bench` on real sockets against a
// control server with known delays. Its percentiles must be within 2 % of the truth in a minute that the noise control
// accepts. The truth is what the server recorded of each answer: on a machine that others use too its timers are late
// as well. autocannon, a tool in a closed loop, is run against the same server to show how wrong that is.

import autocannon from 'autocannon';
import type { Behaviour } from '#dist/capacity/control/control-server.js';
import type { Job } from '#dist/capacity/generator/job.js';
import { Latencies } from '#dist/capacity/generator/latencies.js';
import { watchSteal } from '#dist/capacity/processes/machine.js';
import { areQuiet, measureNoise, workSpread } from '#dist/capacity/processes/noise.js';
import { GeneratorProcess, startControlProcess } from '#dist/capacity/processes/pinned-process.js';
import { optionsOf, report } from './run-length.js';

const RATE_PER_S = 500;
const NOISE_MS = 3000;
const MAX_ERROR = 0.02;

interface Case {
  readonly behaviour: Behaviour;
  readonly truths: readonly { readonly percentile: number; readonly injectedMs: number }[];
}

const STALL = { kind: 'stall', everyMs: 2000, stallMs: 200 } as const;
const CASES: readonly Case[] = [
  ...[50, 250].map((delayMs) => ({
    behaviour: { kind: 'delay', delayMs } as const,
    truths: [50, 99].map((percentile) => ({ percentile, injectedMs: delayMs })),
  })),
  // A tenth of the requests meets the stall, at any moment of it.
  {
    behaviour: STALL,
    truths: [
      { percentile: 95, injectedMs: 100 },
      { percentile: 99, injectedMs: 180 },
    ],
  },
];

export default async function proveGenerator(args: string[]): Promise<void> {
  const values = optionsOf(args, { tries: '5', seconds: '20' });
  const seconds = Number(values.seconds);
  const generator = await GeneratorProcess.start();
  const faults: string[] = [];
  const lines: string[] = [];
  for (const { behaviour, truths } of CASES) {
    let wrong: string[] = [];
    let accepted = false;
    for (let tries = 0; tries < Number(values.tries) && (!accepted || wrong.length > 0); tries++) {
      const steal = watchSteal();
      const before = await measureNoise(NOISE_MS);
      const { intended, delays, late } = await openLoop(generator, behaviour, seconds);
      const after = await measureNoise(NOISE_MS);
      const isAccepted = areQuiet([before, after], {
        stealShare: steal(),
        slowness: workSpread([before, after]),
      });
      accepted ||= isAccepted;
      wrong = [];
      for (const { percentile, injectedMs } of truths) {
        const trueMs = delays.atUs(percentile) / 1000;
        const reportedMs = intended.atUs(percentile) / 1000;
        const error = reportedMs / trueMs - 1;
        const line = `${JSON.stringify(behaviour)} p${percentile}: ${injectedMs} ms injected, true ${trueMs.toFixed(2)} ms, reported ${reportedMs.toFixed(2)} ms, ${(100 * error).toFixed(2)} %, ${late} late starts, noise p99 ${before.p99Us} and ${after.p99Us} us`;
        console.log(`${isAccepted ? '' : '(too noisy) '}${line}`);
        if (Math.abs(error) > MAX_ERROR) wrong.push(line);
        else if (isAccepted) lines.push(line);
      }
    }
    if (!accepted) lines.push(`${JSON.stringify(behaviour)}: no minute was quiet enough`);
    else faults.push(...wrong);
  }
  generator.end();
  for (const overallRate of [undefined, RATE_PER_S]) {
    const control = await startControlProcess(STALL);
    const options = { url: control.base, connections: 10, duration: seconds };
    const { latency } = await autocannon(overallRate === undefined ? options : { ...options, overallRate });
    control.end();
    lines.push(
      `autocannon, 10 connections${overallRate === undefined ? '' : `, ${overallRate}/s`}, against the stall: p99 ${latency.p99} ms where 180 ms is true`,
    );
  }
  report('generator', lines.join('\n'), 1, faults);
}

async function openLoop(generator: GeneratorProcess, behaviour: Behaviour, seconds: number) {
  const control = await startControlProcess(behaviour);
  const job: Job = {
    ...{ mode: 'open', base: control.base, key: '', seed: 1, warmUpMs: 2000, durationMs: 1000 * seconds },
    ...{ serverPids: [], sampleEvery: 0 },
    loads: [
      {
        ...{ kind: 'single', points: 1, connections: 16, depth: 64 },
        ...{ ratePerS: RATE_PER_S, arrivals: 'constant', startTogether: 1 },
      },
    ],
  };
  const { loads } = await generator.run(job);
  const delays = await control.delays();
  control.end();
  return { intended: Latencies.decode(loads[0]!.intended), delays, late: loads[0]!.late };
}
