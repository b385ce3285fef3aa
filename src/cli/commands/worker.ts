// `hexcodes worker`: converts the messages of a NATS JetStream stream or of topics of Kafka, on any number of machines.
// Its subcommands make the streams, and run the helpers beside it.
import { type Command, Option } from 'commander';
import type { Bus } from '../../bus/bus.js';
import { AvroReader } from '../../bus/messages/avro.js';
import { MessageConverter } from '../../bus/messages/message-converter.js';
import { DEFAULT_RULES, RequestAnswerer } from '../../bus/messages/message-shape.js';
import { BUSES, type BusKind } from '../../bus/open-bus.js';
import { Worker } from '../../bus/worker.js';
import { BUS_NAMES, type BusConfig, NATS_NAMES } from '../../config/config.js';
import { badUsage, requireCount } from '../../files/exit-codes.js';
import { loadLibrary, workerKernel } from '../../files/library.js';
import { requireResolution } from '../../files/request.js';
import { grouped } from '../../files/terminal/say.js';
import { VERSION } from '../../hexcodes/version.js';
import {
  addPathOptions,
  addReadingOptions,
  addStreamOptions,
  busOf,
  COLLECTED_SUBJECT,
  MAX_TIMER_DAYS,
  mapsOf,
  namesOf,
  pathsOf,
  type ReadingOptions,
  requireSize,
  requireSubject,
  requireTime,
  rulesOf,
  SERVICE_NAME,
  StopSignal,
  type StreamOptions,
  sayer,
  withBus,
} from '../bus-options.js';
import { declareSetup } from '../bus-setup.js';
import { addFlags } from '../settings.js';
import {
  type AdminOptions,
  addAdminOptions,
  GIVE_BACK_AFTER,
  Watched,
  type WatchedFigures,
  type WatchedOptions,
} from '../watched.js';

// Reports counts periodically on standard error, if they have changed, and once more at the end.

/** A count with its words: `[17, 'messages']`. */
type Count = readonly [number, string];

export class CountsReport {
  #last = '';
  readonly #timer: NodeJS.Timeout;

  constructor(
    readonly counts: () => readonly Count[],
    everyMs: number,
    readonly isQuiet: boolean,
  ) {
    this.#timer = setInterval(() => this.#tell(), everyMs);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#tell();
  }

  #tell(): void {
    const line = this.counts()
      .map(([count, words]) => `${grouped(count)} ${words}`)
      .join('  ');
    if (line !== this.#last && !this.isQuiet) process.stderr.write(`${line}\n`);
    this.#last = line;
  }
}

// `hexcodes worker`, without a subcommand: runs a worker until Ctrl-C or SIGTERM, and reports on standard error.

/** Options of commands that run until they are stopped. */
interface RunOptions extends AdminOptions {
  readonly giveBack?: string;
  readonly report: string;
  readonly quiet?: boolean;
}

interface WorkOptions extends StreamOptions, ReadingOptions, RunOptions {
  readonly threads: string;
  readonly hold: string;
  readonly tries: string;
  readonly ordered?: boolean;
  readonly monitor?: string;
  readonly instance?: string;
}

/** Time for messages under way after the order to stop. */
const GRACE_MS = 10_000;
/** Largest interval; a bus without an acknowledgement deadline needs no heartbeat. */
const MAX_KEEP_MS = 60_000;
/** Most messages under way; more are not faster. */
const MAX_MESSAGES = 256;

/**
 * Options of reports, and of space that is freed.
 * @param giveBack help of the option
 */
const addReporting = (command: Command, giveBack: string): Command =>
  command
    .addOption(new Option('--give-back [time]', giveBack).preset(GIVE_BACK_AFTER))
    .option('--report <time>', 'how often the counts are said', '10s')
    .option('-q, --quiet', 'say nothing but faults');

function declareRun(worker: Command): void {
  const run = worker
    .command('run', { isDefault: true })
    .description('run a worker; `hexcodes worker` alone does the same');
  addReporting(
    addAdminOptions(addReadingOptions(addStreamOptions(run)))
      .option('--threads <n>', 'worker threads that convert; 0: the thread that receives does', '0')
      .option('--hold <size>', 'messages and answers that are under way, at most', '64M')
      .option('--tries <n>', 'the number of attempts before a message becomes a dead letter', '3')
      .option('--ordered', 'refuse to run where answers would be in no order (worker setup --ordered)')
      .option('--monitor <url>', 'monitoring port of a server: warn where a power cut would lose messages')
      .option(
        '--instance <name>',
        'name of this worker in its group of Kafka: started again, it goes on at once',
      ),
    'remove messages whose answer is stored for so long, where their stream is 80 % full',
  ).addHelpText(
    'after',
    `
A worker pulls as many messages as --hold allows at the largest size, at most 256. --threads is worth it from 10,000 points
a message. A dead worker of Kafka keeps its partitions waiting up to 20 s; with --instance, one name for each worker, it
continues as soon as it runs again.

Examples:
  $ hexcodes worker --nats nats://10.0.0.7:4222 --creds worker.creds
  $ hexcodes worker --map 'fleet.*.points=fleet.*.hexcodes' --as 'fleet.*.points=ndjson' --threads 2
  $ hexcodes worker --from kafka://10.0.0.8:9092 --map positions=positions.hexcodes --as positions=json`,
  );
  run.action((options: WorkOptions) => withBus(run, (settings) => work(options, settings)));
}

async function work(options: WorkOptions, settings: BusConfig): Promise<void> {
  const [names, maps, rules] = [namesOf(options), mapsOf(options), rulesOf(options)];
  const threads = requireCount('--threads', options.threads, 0, 256);
  const maxHeldBytes = requireSize('--hold', options.hold);
  const tries = requireCount('--tries', options.tries, 1, 100);
  const everyMs = requireTime('--report', options.report, MAX_TIMER_DAYS);
  const monitor = monitorOf(options);
  const say = sayer(false);
  const saySometimes = sayer(options.quiet === true);
  const run = async (bus: Bus, stopped: StopSignal): Promise<void> => {
    const { engine, warnings, ackWaitMs, begun, look, giveBack } = await bus.work({
      names,
      maps,
      maxHeldBytes,
      monitor,
      maxMessages: MAX_MESSAGES,
      instance: options.instance,
      deadPrefix: options.deadSubject,
      isOrdered: options.ordered === true,
      collected: COLLECTED_SUBJECT,
    });
    if (options.giveBack !== undefined && giveBack === undefined)
      throw badUsage('--give-back is for streams of a bounded size; topics drop messages by age');
    for (const warning of warnings) saySometimes(`warning: ${warning}`);
    const pool = threads === 0 ? undefined : await poolOf(threads, maxHeldBytes);
    const { schemaRegistry: registry } = options;
    const avro = registry === undefined ? undefined : await AvroReader.open(registry);
    const converter = new MessageConverter((await loadLibrary()).kernel, rules, pool, avro);
    const worker = new Worker(engine, converter, {
      maps,
      rules,
      tries,
      maxHeldBytes,
      say,
      deadPrefix: options.deadSubject,
      keepEveryMs: Math.min(MAX_KEEP_MS, Math.max(100, ackWaitMs / 3)),
    });
    const watching = {
      role: 'worker',
      look,
      figures: () => figuresOf(worker),
      say: saySometimes,
      giveBack,
    } as const;
    const reporting = { begun: `${begun} of ${bus.name}`, counts: () => countsOf(worker), everyMs };
    await runUntilStopped(worker, watching, reporting, options, stopped).finally(() => pool?.close());
  };
  await onBus(busOf(options.from), settings, say, run, options.from);
}

interface Reporting {
  /** Sentence for the start of the work. */
  readonly begun: string;
  readonly counts: () => readonly Count[];
  readonly everyMs: number;
}

/** Runs a worker or a collector, with its admin port and its counts, until the order to stop. */
async function runUntilStopped(
  runner: Pick<Worker, 'run' | 'stop'>,
  watching: Omit<WatchedOptions, 'giveBackAfterMs'>,
  { begun, counts, everyMs }: Reporting,
  options: RunOptions,
  stopped: StopSignal,
): Promise<void> {
  const { giveBack, quiet } = options;
  const giveBackAfterMs = giveBack === undefined ? undefined : requireTime('--give-back', giveBack);
  const watched = await Watched.open({ ...watching, giveBackAfterMs }, options);
  stopped.onStop(() => {
    watched.stopping();
    runner.stop(GRACE_MS);
  });
  const report = new CountsReport(counts, everyMs, quiet === true);
  watching.say(begun);
  try {
    await runner.run();
  } finally {
    report.end();
    watched.end();
  }
}

/** Opens the bus, and closes it when the work is done; Ctrl-C and SIGTERM are orders to stop. */
async function onBus<B extends Bus>(
  kind: BusKind<B>,
  settings: BusConfig,
  say: (sentence: string) => void,
  work: (bus: B, stopped: StopSignal) => Promise<void>,
  from?: string,
): Promise<void> {
  const stopped = new StopSignal();
  const bus = await kind.open(settings, { isPatient: true, say, signal: stopped.signal }, from);
  try {
    await work(bus, stopped);
  } finally {
    stopped.end();
    await bus.close();
  }
}

async function poolOf(threads: number, maxBytes: number) {
  const { Pool } = await import('../../pool/pool.js');
  return new Pool({
    kernel: await workerKernel(),
    threads,
    maxQueued: 2 * MAX_MESSAGES,
    maxBytes: 2 * maxBytes,
  });
}

function monitorOf({ monitor }: WorkOptions): URL | undefined {
  if (monitor === undefined) return undefined;
  if (!/^https?:\/\//.test(monitor) || !URL.canParse(monitor))
    throw badUsage(`--monitor ${monitor}: must be an address, as http://127.0.0.1:8222`);
  return new URL(monitor);
}

function figuresOf({ figures, storeFaults }: Worker): WatchedFigures {
  const { messages, points, failedPoints, redelivered, already, dead, heldMessages, heldBytes, times } =
    figures;
  return {
    counters: {
      messages,
      points,
      failed_points: failedPoints,
      redelivered,
      already,
      dead_letters: dead,
      store_faults: storeFaults,
    },
    gauges: { held_messages: heldMessages, held_bytes: heldBytes },
    times,
  };
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

interface ServiceOptions {
  readonly name: string;
  readonly queue: string;
  readonly quiet?: boolean;
}

function declareService(worker: Command): void {
  const service = worker
    .command('service')
    .description('answer requests on NATS: a micro service with the endpoints encode and decode');
  addFlags(service, NATS_NAMES)
    .option('--name <word>', 'of the service, and before the subjects of its endpoints', SERVICE_NAME)
    .option('--queue <word>', 'instances with the same queue share the requests', 'hexcodes')
    .option('-q, --quiet', 'say nothing but faults')
    .addHelpText(
      'after',
      `
A request is a frame of the stream, or the JSON body of a batch. Errors have the status of HTTP in the header
Nats-Service-Error-Code. A reply subject that begins with $ gets no answer.

Examples:
  $ hexcodes worker service
  $ nats request hexcodes.encode '{"points":[{"lat":21.0288,"lng":105.8525}]}'
  $ nats micro stats hexcodes`,
    );
  service.action((options: ServiceOptions) => withBus(service, (settings) => runService(options, settings)));
}

async function runService(options: ServiceOptions, settings: BusConfig): Promise<void> {
  const name = requireSubject('--name', options.name);
  await onBus(BUSES.NATS, settings, sayer(false), async (bus, stopped) => {
    const answerer = new RequestAnswerer((await loadLibrary()).kernel);
    const service = await bus.serve(answerer, { name, version: VERSION, queue: options.queue });
    sayer(options.quiet === true)(`answers ${name}.encode and ${name}.decode of ${bus.name}`);
    await Promise.race([new Promise<void>((resolve) => stopped.onStop(resolve)), service.ended]);
    await service.stop();
  });
}

interface CollectOptions extends RunOptions {
  readonly lat?: string;
  readonly lng?: string;
  readonly positions: string;
  readonly stream: string;
  readonly subject: string;
  readonly deadSubject: string;
  readonly resolution?: string;
  readonly points: string;
  readonly wait: string;
}

const MAX_POINTS = 16_384;

function declareCollect(worker: Command): void {
  const collect = worker
    .command('collect')
    .description('collect single positions (JSON, also over MQTT) into frames for workers');
  addReporting(
    addPathOptions(addAdminOptions(addFlags(collect, BUS_NAMES)))
      .option('--positions <name>', 'stream of the single positions', 'HEXCODES_POSITIONS')
      .option('--stream <name>', 'stream of the frames: that of the messages of workers', 'HEXCODES_IN')
      .option('--subject <words>', 'before the subjects of the frames', COLLECTED_SUBJECT)
      .option('--dead-subject <words>', 'before the subjects of dead letters', 'hexcodes.dead')
      .option('-r, --resolution <0-15>', `of the frames (${DEFAULT_RULES.resolution})`)
      .option('--points <n>', 'of a frame, at most', String(MAX_POINTS))
      .option('--wait <time>', 'a position waits no longer for others', '200ms'),
    'remove positions that are in frames for so long, where their stream is 80 % full',
  ).addHelpText(
    'after',
    `
Headers of a frame: Hexcodes-Sources, a JSON array with the vehicle of each point (id, vehicle, deviceId, uniqueId, imei
or the like, at most 1,000 characters, else the subject; a frame ends where the array has 48 KiB), and Hexcodes-Sequences,
17-240, the first and last message of the frame. Several collectors may run. --give-back works with the default --subject
only.

Examples:
  $ hexcodes worker setup --collect 'fleet.*.position'
  $ hexcodes worker collect
  $ mosquitto_pub -q 1 -t fleet/7/position -m '{"id":7,"lat":21.0288,"lng":105.8525}'`,
  );
  collect.action((options: CollectOptions) =>
    withBus(collect, (settings) => collectPositions(options, settings)),
  );
}

async function collectPositions(options: CollectOptions, settings: BusConfig): Promise<void> {
  const { resolution } = options;
  const given = {
    positions: options.positions,
    stream: options.stream,
    subject: requireSubject('--subject', options.subject),
    deadPrefix: requireSubject('--dead-subject', options.deadSubject),
    resolution: resolution === undefined ? DEFAULT_RULES.resolution : requireResolution(resolution),
    maxPoints: requireCount('--points', options.points, 1, MAX_POINTS),
    paths: pathsOf(options),
    waitMs: requireTime('--wait', options.wait),
    say: sayer(false),
  };
  const everyMs = requireTime('--report', options.report, MAX_TIMER_DAYS);
  await onBus(BUSES.NATS, settings, given.say, async (bus, stopped) => {
    const collector = await bus.collect(given);
    const { figures } = collector;
    const watching: Omit<WatchedOptions, 'giveBackAfterMs'> = {
      role: 'collector',
      look: () => collector.look(),
      figures: () => ({
        counters: { points: figures.positions, messages: figures.frames, dead_letters: figures.dead },
        times: figures.times,
      }),
      giveBack: (afterMs) => collector.giveBack(afterMs),
      say: sayer(options.quiet === true),
    };
    const counts = (): Count[] => [
      [figures.positions, 'positions'],
      [figures.frames, 'frames'],
      [figures.dead, 'dead letters'],
    ];
    const begun = `collects ${given.positions} of ${bus.name}`;
    await runUntilStopped(collector, watching, { begun, counts, everyMs }, options, stopped);
  });
}

export default function declare(program: Command): void {
  const worker = program
    .command('worker')
    .description(
      'Convert the messages of a NATS JetStream stream or of topics of Kafka: each answer is stored once.',
    )
    .addHelpText(
      'after',
      `
Without a subcommand it runs a worker. docs/engine.md says what is guaranteed, and how.

Examples:
  $ hexcodes worker setup
  $ hexcodes worker
  $ hexcodes worker setup --map 'fleet.*.points=fleet.*.hexcodes'
  $ hexcodes worker --map 'fleet.*.points=fleet.*.hexcodes' --as 'fleet.*.points=json'`,
    );
  declareRun(worker);
  declareSetup(worker);
  declareCollect(worker);
  declareService(worker);
}
