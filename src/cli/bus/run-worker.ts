// `hexcodes worker`, without a subcommand: runs a worker until Ctrl-C or SIGTERM, and says what it does on standard
// error.
import type { Command } from 'commander';
import { MessageConverter } from '../../bus/messages/message-converter.js';
import { connectBus } from '../../bus/nats/connect.js';
import { NatsEngine } from '../../bus/nats/nats-engine.js';
import { checkStreams, syncWarnings } from '../../bus/nats/start-check.js';
import { Worker } from '../../bus/worker.js';
import type { BusConfig } from '../../config/config.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { loadLibrary, workerKernel } from '../../files/library.js';
import { type Count, CountsReport } from './counts-report.js';
import { requireCount, requireSize, requireTime } from './quantities.js';
import {
  addReadingOptions,
  addStreamOptions,
  mapsOf,
  namesOf,
  type ReadingOptions,
  rulesOf,
  type StreamOptions,
  sayer,
  withBus,
} from './shared-options.js';
import { StopSignal } from './stop-signal.js';

interface Options extends StreamOptions, ReadingOptions {
  readonly threads: string;
  readonly hold: string;
  readonly tries: string;
  readonly ordered?: boolean;
  readonly monitor?: string;
  readonly report: string;
  readonly quiet?: boolean;
}

/** Time in which messages under way may end after the order to stop. */
const GRACE_MS = 10_000;
/** More messages under way than this are no faster. */
const MOST_MESSAGES = 256;

export function declareRun(worker: Command): void {
  const run = worker
    .command('run', { isDefault: true })
    .description('run a worker; `hexcodes worker` alone does the same');
  addReadingOptions(addStreamOptions(run))
    .option('--threads <n>', 'worker threads that convert; 0: the thread that receives does', '0')
    .option('--hold <size>', 'messages and answers that are under way, at most', '64M')
    .option('--tries <n>', 'a message is converted so often before it is a dead letter', '3')
    .option('--ordered', 'refuse to run where answers would be in no order (worker setup --ordered)')
    .option('--monitor <url>', 'monitoring port of a server: warn where a power cut would lose messages')
    .option('--report <time>', 'how often the counts are said', '10s')
    .option('-q, --quiet', 'say nothing but faults')
    .addHelpText(
      'after',
      `
Examples:
  $ hexcodes worker --nats nats://10.0.0.7:4222 --creds worker.creds
  $ hexcodes worker --map 'fleet.*.points=fleet.*.hexcodes' --as 'fleet.*.points=ndjson' --threads 2`,
    );
  run.action((options: Options) => withBus(run, (settings) => work(options, settings)));
}

async function work(options: Options, settings: BusConfig): Promise<void> {
  const [names, maps, rules] = [namesOf(options), mapsOf(options), rulesOf(options)];
  const threads = requireCount('--threads', options.threads, 0, 256);
  const mostHeldBytes = requireSize('--hold', options.hold);
  const tries = requireCount('--tries', options.tries, 1, 100);
  const reportMs = requireTime('--report', options.report);
  const monitor = monitorOf(options);
  const say = sayer(false);
  const saySometimes = sayer(options.quiet === true);
  const stopped = new StopSignal();
  const { nc, jsm } = await connectBus(settings, { isPatient: true, say, signal: stopped.signal });
  try {
    const version = nc.info?.version ?? '';
    const isOrdered = options.ordered === true;
    const { warnings, ackWaitMs } = await checkStreams(jsm, version, names, maps, isOrdered);
    for (const warning of [...warnings, ...(monitor === undefined ? [] : await syncWarnings(monitor))])
      saySometimes(`warning: ${warning}`);
    // Each message may have the size that the servers take, and its answer too.
    const fitting = Math.floor(mostHeldBytes / (2 * (nc.info?.max_payload ?? 1)));
    const mostMessages = Math.min(MOST_MESSAGES, Math.max(1, fitting));
    const engine = new NatsEngine(nc, { stream: names.input, consumer: names.consumer, mostMessages });
    const pool = threads === 0 ? undefined : await poolOf(threads, mostHeldBytes);
    const converter = new MessageConverter((await loadLibrary()).kernel, rules, pool);
    const worker = new Worker(engine, converter, {
      ...{ maps, rules, tries, mostHeldBytes, say },
      deadPrefix: options.deadSubject,
      keepEveryMs: Math.max(100, ackWaitMs / 3),
    });
    stopped.onStop(() => worker.stop(GRACE_MS));
    const reporting = new CountsReport(() => countsOf(worker), reportMs, options.quiet === true);
    saySometimes(`works on ${names.input} of ${nc.getServer()}, nats-server ${version}`);
    try {
      await worker.run();
    } finally {
      reporting.end();
      await pool?.close();
    }
    if (!nc.isClosed()) await nc.drain();
  } finally {
    stopped.end();
    if (!nc.isClosed()) await nc.close();
  }
}

async function poolOf(threads: number, maxBytes: number) {
  const { Pool } = await import('../../pool/pool.js');
  return new Pool({
    kernel: await workerKernel(),
    threads,
    maxQueued: 2 * MOST_MESSAGES,
    maxBytes: 2 * maxBytes,
  });
}

function monitorOf({ monitor }: Options): URL | undefined {
  if (monitor === undefined) return undefined;
  if (!/^https?:\/\//.test(monitor) || !URL.canParse(monitor))
    throw new CliFailure(EXIT.USAGE, `--monitor ${monitor}: must be an address, as http://127.0.0.1:8222`);
  return new URL(monitor);
}

function countsOf({ figures, storeFaults }: Worker): Count[] {
  return [
    [figures.messages, 'messages'],
    [figures.points, 'points'],
    [figures.failedPoints, 'without a code'],
    [figures.redelivered, 'delivered again'],
    [figures.already, 'answered already'],
    [figures.dead, 'dead letters'],
    [storeFaults, 'tries to store failed'],
  ];
}
