// `hexcodes worker setup`: makes the streams and the consumer of workers. No other command makes any.
import type { Command } from 'commander';
import type { StreamPlan, StreamSizes } from '../bus/bus.js';
import { type BusLoad, busBytesPerSecond, collectedPoints, lasting, SPARE } from '../bus/sizing.js';
import type { BusConfig } from '../config/config.js';
import { requireCount } from '../files/exit-codes.js';
import { grouped, say, visible, visibleLines } from '../files/terminal/say.js';
import {
  addStreamOptions,
  busOf,
  COLLECTED_SUBJECT,
  mapsOf,
  namesOf,
  requireSize,
  requireTime,
  SERVICE_NAME,
  type StreamOptions,
  sayer,
  withBus,
} from './bus-options.js';
import { gathered } from './conversion-options.js';

interface Options extends StreamOptions {
  readonly maxBytes: string;
  readonly maxAge: string;
  readonly replicas: string;
  readonly ackWait: string;
  readonly pending: string;
  readonly partitions: string;
  readonly pointsPerSecond?: string;
  readonly pointsPerMessage?: string;
  readonly keep?: string;
  readonly backlog?: string;
  readonly ordered?: boolean;
  readonly collect?: string[];
  readonly positions: string;
}

export function declareSetup(worker: Command): void {
  const setup = worker
    .command('setup')
    .description('make the streams and the consumer of workers, or change them to match the options');
  addStreamOptions(setup)
    .option('--max-bytes <size>', 'of the messages, and of the answers; a full stream refuses more', '1G')
    .option('--max-age <time>', 'how long messages are kept; answers stay an hour longer', '24h')
    .option('--replicas <n>', 'servers that hold each message: 1, 3 or 5', '1')
    .option('--ack-wait <time>', 'the time after which a message of a dead worker is delivered again', '5s')
    .option('--points-per-second <n>', 'rate that the streams are to hold for --keep; computes --max-bytes')
    .option('--keep <time>', 'how long messages and answers are to be kept at this rate (--max-age)')
    .option(
      '--backlog <time>',
      'how long messages may wait for workers, which run with --give-back: room for these and all answers (--keep)',
    )
    .option('--points-per-message <n>', 'of a message at this rate (4096; what is collected in 200 ms)')
    .option('--pending <n>', 'messages that all workers together may be working on', '4096')
    .option('--partitions <n>', 'of each topic of Kafka', '12')
    .option('--ordered', 'one message at a time: answers are in the order of the messages')
    .option(
      '--collect <pattern>',
      'subjects of single positions for `worker collect`, may be given several times',
      gathered,
    )
    .option('--positions <name>', 'stream of the single positions', 'HEXCODES_POSITIONS')
    .addHelpText(
      'after',
      `
The permissions that producers, workers and operators need go to standard output, for the configuration of nats-server:
deploy/nats/hexcodes.conf shows how it uses them.

Examples:
  $ hexcodes worker setup
  $ hexcodes worker setup --map 'fleet.*.points=fleet.*.hexcodes' --max-bytes 20G --max-age 7d --replicas 3
  $ hexcodes worker setup --points-per-second 10000 --keep 24h --collect 'fleet.*.position'
  $ hexcodes worker setup --from kafka://10.0.0.8:9092 --map positions=positions.hexcodes --replicas 3`,
    );
  setup.action((options: Options) => {
    const isMaxBytesGiven = setup.getOptionValueSource('maxBytes') !== 'default';
    return withBus(setup, (settings) => setUp(options, isMaxBytesGiven, settings));
  });
}

async function setUp(options: Options, isMaxBytesGiven: boolean, settings: BusConfig): Promise<void> {
  const { collect, positions } = options;
  const names = namesOf(options);
  const maxBytes = requireSize('--max-bytes', options.maxBytes);
  const maxAgeMs = requireTime('--max-age', options.keep ?? options.maxAge);
  const load = loadOf(options);
  const backlogMs = options.backlog === undefined ? maxAgeMs : requireTime('--backlog', options.backlog);
  const kept = keptOf(
    maxAgeMs,
    Math.min(Math.max(backlogMs, MIN_BACKLOG_MS), maxAgeMs),
    collect !== undefined,
  );
  const sizes = sizesOf(maxBytes, isMaxBytesGiven, kept, load);
  const plan = {
    names,
    maps: mapsOf(options),
    deadPrefix: options.deadSubject,
    maxBytes,
    maxAgeMs,
    replicas: requireCount('--replicas', options.replicas, 1, 5),
    ackWaitMs: requireTime('--ack-wait', options.ackWait),
    sizes,
    maxAckPending: requireCount('--pending', options.pending, 1, 1_000_000),
    isOrdered: options.ordered === true,
    partitions: requireCount('--partitions', options.partitions, 1, 10_000),
    positions: collect === undefined ? undefined : { stream: positions, subjects: collect },
    collected: COLLECTED_SUBJECT,
    service: SERVICE_NAME,
    givesBack: options.backlog !== undefined,
  };
  const kind = busOf(options.from);
  const bus = await kind.open(settings, { isPatient: false, say: sayer(false) }, options.from);
  try {
    const { lines, permissions } = await bus.setUp(plan);
    for (const line of lines) say(`${visible(line)}\n`);
    say(`${visible(lastsLine(plan, kept, load, kind.isBounded))}\n`);
    process.stdout.write(visibleLines(permissions));
  } finally {
    await bus.close();
  }
}

/** Default number of points of a message. */
const POINTS_PER_MESSAGE = 4096;
/** Default wait of the collector. */
const COLLECT_MS = 200;
/** Dead letters are few: their stream has this fraction of the size of the others. */
const DEAD_SHARE = 8;
const MIN_BYTES = 16 * 1024 * 1024;
/** Workers remove answered messages after 150 s at the earliest. */
const MIN_BACKLOG_MS = 300_000;
const ANSWERS_KEPT_LONGER_MS = 3_600_000;

/** undefined if no rate is given */
function loadOf({ pointsPerSecond, pointsPerMessage, collect }: Options): BusLoad | undefined {
  if (pointsPerSecond === undefined) return undefined;
  const rate = requireCount('--points-per-second', pointsPerSecond, 1, 1_000_000_000);
  const isCollected = collect !== undefined;
  const points =
    pointsPerMessage === undefined
      ? isCollected
        ? collectedPoints(rate, COLLECT_MS)
        : POINTS_PER_MESSAGE
      : requireCount('--points-per-message', pointsPerMessage, 1, 49_152);
  return { pointsPerSecond: rate, pointsPerMessage: points, isCollected };
}

/** Retention of each stream. */
type Kept = Readonly<Record<'input' | 'output' | 'positions', number>>;

/** Frames of a collector stay in any case: it resumes from them. */
const keptOf = (maxAgeMs: number, backlogMs: number, isCollected: boolean): Kept => ({
  input: isCollected ? maxAgeMs : backlogMs,
  output: maxAgeMs,
  positions: backlogMs,
});

function sizesOf(
  maxBytes: number,
  isMaxBytesGiven: boolean,
  kept: Kept,
  load: BusLoad | undefined,
): StreamSizes {
  if (load === undefined || isMaxBytesGiven)
    return { input: maxBytes, output: maxBytes, positions: maxBytes, dead: Math.ceil(maxBytes / DEAD_SHARE) };
  const { input, output, positions } = busBytesPerSecond(load);
  const needed = (bytesPerSecond: number, keptMs: number): number =>
    Math.max(MIN_BYTES, Math.ceil((SPARE * bytesPerSecond * keptMs) / 1000));
  return {
    input: needed(input, kept.input),
    output: needed(output, kept.output + ANSWERS_KEPT_LONGER_MS),
    positions: needed(positions, kept.positions),
    dead: Math.ceil(needed(input, kept.output) / DEAD_SHARE),
  };
}

/** How long the streams last at the given rate; without one, the rate at which they last for their retention. */
function lastsLine(
  { names, sizes, maxAgeMs, positions }: Pick<StreamPlan, 'names' | 'sizes' | 'maxAgeMs' | 'positions'>,
  keep: Kept,
  load: BusLoad | undefined,
  isBounded: boolean,
): string {
  const isCollected = positions !== undefined;
  const asked = load ?? { pointsPerSecond: 1, pointsPerMessage: POINTS_PER_MESSAGE, isCollected };
  const bytes = busBytesPerSecond(asked);
  const per = `in messages of ${grouped(asked.pointsPerMessage)} points`;
  const hours = maxAgeMs / 3_600_000;
  const kept = `${rounded(hours)} h`;
  if (!isBounded) {
    const all = (bytes.input + bytes.output + bytes.positions) * (maxAgeMs / 1000);
    return load === undefined
      ? `kept for ${kept}, however much it is: ${grouped(1000)} points/s ${per} need ${gigabytes(1000 * all)} a replica`
      : `${grouped(load.pointsPerSecond)} points/s ${per} kept for ${kept} need ${gigabytes(all)} a replica`;
  }
  const streams = [
    { name: names.input, maxBytes: sizes.input, bytesPerSecond: bytes.input, keepMs: keep.input },
    { name: names.output, maxBytes: sizes.output, bytesPerSecond: bytes.output, keepMs: keep.output },
    ...(positions === undefined
      ? []
      : [
          {
            name: positions.stream,
            maxBytes: sizes.positions,
            bytesPerSecond: bytes.positions,
            keepMs: keep.positions,
          },
        ]),
  ];
  if (load === undefined) {
    const rate = Math.min(
      ...streams.map((each) => each.maxBytes / each.bytesPerSecond / (each.keepMs / 1000)),
    );
    return `lasts ${kept} of ${kept} up to ${grouped(Math.floor(rate))} points/s ${per}; --points-per-second computes the sizes of a rate`;
  }
  const [first] = lasting(streams);
  const of = streams.find(({ name }) => name === first!.name)!;
  const needed = (SPARE * of.bytesPerSecond * of.keepMs) / 1000;
  const words = `${grouped(load.pointsPerSecond)} points/s ${per}: ${first!.name} lasts ${rounded(first!.hours)} h of ${rounded(first!.wantedHours)} h`;
  return first!.hours < first!.wantedHours
    ? `warning: at ${words}, and is full then: ${gigabytes(needed)} needed`
    : `at ${words}; ${streams.map(({ name, maxBytes }) => `${name} ${gigabytes(maxBytes)}`).join(', ')}`;
}

const rounded = (hours: number): string => String(Number(hours.toPrecision(2)));
const gigabytes = (sizeBytes: number): string => `${Number((sizeBytes / 1e9).toPrecision(2))} GB`;
