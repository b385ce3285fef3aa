// The generator's process: takes one job after the other through its channel, and ends when the channel does.

import { constants, setPriority } from 'node:os';
import { HttpPeer, StreamPeer } from '../peers/service-peers.js';
import type { Exchange, Peer } from '../peers/socket-peer.js';
import { cpuMicrosOf } from '../processes/machine.js';
import { Traffic } from '../traffic/traffic.js';
import type { GeneratorMessage, Job, JobReport, Load, LoadReport } from './job.js';
import { runClosedLoop, runOpenLoop, Schedule, SPINNING_CLOCK, uniformFrom } from './loops.js';

// Runs one job in the generator's process: connections, the loop, the report.

const SLICE_MS = 250;
/** The longest wait for answers after an open job. */
const DRAIN_MS = 5000;
/** Connections that are opened at the same time. */
const OPENING_AT_ONCE = 100;

async function runJob(job: Job, traffic: Traffic, onConnected: () => void): Promise<JobReport> {
  const base = new URL(job.base);
  const open: { load: Load; exchanges: readonly Exchange[]; peers: Peer[] }[] = [];
  try {
    for (const load of job.loads) {
      const exchanges = traffic.exchangesOf(load.kind, load.points, base, job.key);
      open.push({ load, exchanges, peers: await openPeers(load, base, job.key, exchanges) });
    }
    onConnected();
    const cpuUs = () => (job.serverPids.length === 0 ? null : cpuMicrosOf(job.serverPids));
    if (job.mode === 'hold') return await hold(job.durationMs);
    if (job.mode === 'closed') {
      const { exchanges, peers } = open[0]!;
      const times = { warmUpMs: job.warmUpMs, durationMs: job.durationMs, sliceMs: SLICE_MS };
      const subject = { peers, exchanges: exchanges.length, sampleEvery: job.sampleEvery };
      const { slices, services, refused, sampled } = await runClosedLoop(
        subject,
        times,
        SPINNING_CLOCK,
        cpuUs,
      );
      const answered = slices.reduce((sum, slice) => sum + slice.answered, 0);
      return {
        loads: [
          {
            due: answered,
            answered,
            answeredMeanwhile: answered,
            refused,
            sampled,
            skipped: 0,
            late: 0,
            unanswered: 0,
            intended: '',
            naive: '',
            ...bytesOf(peers),
          },
        ],
        durationMs: slices.reduce((sum, { ms }) => sum + ms, 0),
        serverCpuUs: slices.some((slice) => slice.cpuUs === null)
          ? null
          : slices.reduce((sum, slice) => sum + slice.cpuUs!, 0),
        slices,
        services: services.encode(),
      };
    }
    const uniform = uniformFrom(job.seed);
    const loads = open.map(({ load, exchanges, peers }) => ({
      peers,
      schedule: new Schedule(load.arrivals, load.ratePerS, uniform),
      exchanges: exchanges.length,
      sampleEvery: job.sampleEvery,
    }));
    const now = () => ({ cpuUs: cpuUs(), answers: open.map(({ peers }) => answersOf(peers)) });
    let [from, to] = [undefined, undefined] as (ReturnType<typeof now> | undefined)[];
    const timers = [
      setTimeout(() => {
        from = now();
      }, job.warmUpMs),
      setTimeout(() => {
        to = now();
      }, job.warmUpMs + job.durationMs),
    ];
    const times = { warmUpMs: job.warmUpMs, durationMs: job.durationMs, drainMs: DRAIN_MS };
    const figures = await runOpenLoop(loads, times, SPINNING_CLOCK);
    for (const timer of timers) clearTimeout(timer);
    to ??= now();
    return {
      loads: figures.map(({ intended, naive, ...counts }, at) => ({
        ...counts,
        answeredMeanwhile: to!.answers[at]! - (from?.answers[at] ?? 0),
        intended: intended.encode(),
        naive: naive.encode(),
        ...bytesOf(open[at]!.peers),
      })),
      durationMs: job.durationMs,
      serverCpuUs: from === undefined || from.cpuUs === null ? null : to.cpuUs! - from.cpuUs,
      slices: [],
      services: null,
    };
  } finally {
    for (const { peers } of open) for (const peer of peers) peer.close();
  }
}

async function hold(durationMs: number): Promise<JobReport> {
  await new Promise((resolve) => setTimeout(resolve, durationMs));
  return { loads: [], durationMs, serverCpuUs: null, slices: [], services: null };
}

const answersOf = (peers: readonly Peer[]): number => peers.reduce((sum, peer) => sum + peer.answers, 0);

/** Handshakes are in these figures, too: a run sends many requests on each connection. */
function bytesOf(peers: readonly Peer[]): Pick<LoadReport, 'sentBytesPerUnit' | 'receivedBytesPerUnit'> {
  const units = answersOf(peers);
  const per = (bytes: (peer: Peer) => number) =>
    units === 0 ? 0 : Math.round(peers.reduce((sum, peer) => sum + bytes(peer), 0) / units);
  return {
    sentBytesPerUnit: per((peer) => peer.sentBytes),
    receivedBytesPerUnit: per((peer) => peer.receivedBytes),
  };
}

async function openPeers(
  load: Load,
  base: URL,
  key: string,
  exchanges: readonly Exchange[],
): Promise<Peer[]> {
  const peers: Peer[] = [];
  while (peers.length < load.connections) {
    const count = Math.min(OPENING_AT_ONCE, load.connections - peers.length);
    const opening = Array.from({ length: count }, () =>
      load.kind === 'stream'
        ? StreamPeer.open(base, key, exchanges, load.depth)
        : // Nothing is pipelined after a bulk body.
          HttpPeer.open(base, exchanges, load.kind === 'csv' ? 1 : load.depth),
    );
    peers.push(...(await Promise.all(opening)));
  }
  return peers;
}

const tell = (message: GeneratorMessage): void => void process.send?.(message);

process.on('disconnect', () => process.exit(0));
// Signals of a terminal go to all its processes; the parent decides.
process.on('SIGINT', () => {});
try {
  // Other processes of the machine must not delay the starts of requests; the service keeps its usual priority.
  setPriority(constants.priority.PRIORITY_HIGHEST);
} catch {
  // Without the right to do so starts are late more often, and the report counts them.
}
const traffic = await Traffic.load();
process.on('message', (job: Job) => {
  runJob(job, traffic, () => tell({ kind: 'connected' })).then(
    (report) => tell({ kind: 'done', report }),
    (error: unknown) =>
      tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) }),
  );
});
tell({ kind: 'ready' });
