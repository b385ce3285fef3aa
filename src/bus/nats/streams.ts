// The streams and the consumer of workers, as `hexcodes worker setup` makes them. Setup may be repeated: existing
// streams are updated to the options where the servers allow it, and no message is touched.
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { type BusLook, type StreamFill, type StreamNames, type StreamPlan, textWithin } from '../bus.js';
import { EngineFault } from '../engine.js';
import { haveCommon, isWithin, type SubjectMap } from '../subjects.js';

type Made = Partial<StreamConfig> & { name: string };

const DUPLICATE_WINDOW_MS = 120_000;
/** Time that answers and dead letters outlive messages: a delivery under way may still be answered. */
const KEPT_LONGER_MS = 60 * 60 * 1000;

/**
 * @returns a line for each stream and consumer
 * @throws EngineFault where the servers refuse one
 */
export async function setUpStreams(jsm: JetStreamManager, plan: StreamPlan): Promise<string[]> {
  requireApart(plan.maps);
  const { names, maps, deadPrefix, sizes, maxAgeMs } = plan;
  const common = { duplicate_window: nanos(Math.min(DUPLICATE_WINDOW_MS, maxAgeMs)) };
  /** One message a subject, so that no answer is stored twice, however late it is repeated. */
  const once = {
    ...common,
    max_msgs_per_subject: 1,
    discard_new_per_subject: true,
    max_age: nanos(maxAgeMs + KEPT_LONGER_MS),
  };
  const { input, output, dead, consumer } = names;
  const sent = maps.map(({ from }) => from.join('.'));
  const answers = maps.map((map) => map.answers);
  const lines = [
    await makeStream(jsm, configOf(plan, input, sent, sizes.input, common)),
    await makeStream(jsm, configOf(plan, output, answers, sizes.output, once)),
    await makeStream(jsm, configOf(plan, dead, [`${deadPrefix}.>`], sizes.dead, once)),
  ];
  const made = await makeConsumer(jsm, input, consumer, {
    ack_wait: nanos(plan.ackWaitMs),
    max_ack_pending: plan.isOrdered ? 1 : plan.maxAckPending,
  });
  return [...lines, `${made}${plan.isOrdered ? ', ordered: one message at a time' : ''}`];
}

const configOf = (
  { maxAgeMs, replicas }: StreamPlan,
  name: string,
  subjects: readonly string[],
  maxBytes: number,
  more: Partial<StreamConfig> = {},
): Made => ({
  name,
  subjects: [...subjects],
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  discard: DiscardPolicy.New,
  num_replicas: replicas,
  max_bytes: maxBytes,
  max_age: nanos(maxAgeMs),
  ...more,
});

/**
 * The stream of single positions, which are kept no longer than the frames made of them.
 * @throws EngineFault
 */
export const setUpPositions = (
  jsm: JetStreamManager,
  plan: StreamPlan,
  { stream, subjects }: NonNullable<StreamPlan['positions']>,
): Promise<string> => makeStream(jsm, configOf(plan, stream, subjects, plan.sizes.positions));

/**
 * Creates a stream, or updates the one with this name.
 * @throws EngineFault
 */
export async function makeStream(jsm: JetStreamManager, config: Made): Promise<string> {
  const { name } = config;
  const before = await jsm.streams.info(name).catch((error: Error) => {
    if (isNotFound(error)) return undefined;
    throw refused(`stream ${name}`, error);
  });
  const line = `stream ${name}: ${(config.subjects ?? []).join(', ')}`;
  try {
    if (before === undefined) {
      await jsm.streams.add(config);
      return `made ${line}`;
    }
    if (before.config.retention !== config.retention)
      throw new Error(`it has the retention ${before.config.retention}, which cannot be changed`);
    await jsm.streams.update(name, config);
    return `kept ${line}`;
  } catch (error) {
    throw refused(`stream ${name}`, error as Error);
  }
}

/**
 * Creates a consumer with explicit acknowledgements, or updates the one with this name.
 * @throws EngineFault
 */
export async function makeConsumer(
  jsm: JetStreamManager,
  stream: string,
  name: string,
  change: Partial<ConsumerConfig>,
): Promise<string> {
  // A limit of deliveries would abandon messages whose workers all died.
  const config: Partial<ConsumerConfig> = { ...change, max_deliver: -1 };
  const line = `consumer ${name} of ${stream}`;
  try {
    const before = await jsm.consumers.info(stream, name).catch((error: Error) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (before !== undefined) {
      await jsm.consumers.update(stream, name, config);
      return `kept ${line}`;
    }
    await jsm.consumers.add(stream, {
      ...config,
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
    });
    return `made ${line}`;
  } catch (error) {
    throw refused(`consumer ${name}`, error as Error);
  }
}

export async function fillOf(jsm: JetStreamManager, name: string): Promise<StreamFill> {
  const { config, state } = await jsm.streams.info(name);
  return { name, messages: state.messages, bytes: state.bytes, maxBytes: Math.max(0, config.max_bytes) };
}

/** @param streams the first is the stream of the consumer */
export async function lookAt(
  jsm: JetStreamManager,
  streams: readonly string[],
  consumer: string,
): Promise<BusLook> {
  const { num_pending, num_ack_pending } = await jsm.consumers.info(streams[0]!, consumer);
  const fills = await Promise.all(streams.map((name) => fillOf(jsm, name)));
  return { waiting: num_pending, underWay: num_ack_pending, streams: fills };
}

function refused(what: string, error: Error): EngineFault {
  const isFull = /insufficient storage/.test(error.message);
  const hint = isFull
    ? 'Servers set the space aside that streams may take: ask for less with --max-bytes'
    : undefined;
  return new EngineFault(`${what} cannot be made: ${error.message}`, hint, { cause: error });
}

// The check before a worker starts: whether streams and consumer exist and hold every answer once, and whether the
// servers would lose acknowledged messages in a power failure.

/** First version whose limits of messages for each subject reject new ones. */
const MIN_VERSION = [2, 9, 0];
/** Streams of earlier versions could lose acknowledged messages in more ways (nats-server's release notes). */
const SOUND_VERSION = [2, 10, 23];
const SOUND_REPLICAS = 3;
const MONITOR_TIMEOUT_MS = 5000;
const MAX_MONITOR_BYTES = 1024 * 1024;
const SETUP_HINT = 'hexcodes worker setup makes it';
const MAP_HINT = 'hexcodes worker setup with the same --map changes it';

interface CheckedStreams {
  readonly warnings: readonly string[];
  readonly ackWaitMs: number;
}

/** @throws EngineFault where answers could be lost or stored twice */
export async function checkStreams(
  jsm: JetStreamManager,
  version: string,
  names: StreamNames,
  maps: readonly SubjectMap[],
  isOrdered: boolean,
): Promise<CheckedStreams> {
  if (isBefore(version, MIN_VERSION))
    throw new EngineFault(`nats-server ${version} cannot hold one message a subject: 2.9 or later is needed`);
  requireApart(maps);
  const input = await infoOf(jsm, names.input);
  const output = await infoOf(jsm, names.output);
  const dead = await infoOf(jsm, names.dead);
  for (const info of [output, dead]) requireOnce(info);
  for (const map of maps) {
    requireTaken(input, map.from.join('.'));
    requireTaken(output, map.answers);
  }
  const consumer = await consumerOf(jsm, names.input, names.consumer);
  const { max_ack_pending = 0, ack_wait = 0 } = consumer;
  if (isOrdered && max_ack_pending !== 1)
    throw new EngineFault(
      `consumer ${names.consumer} hands out ${max_ack_pending} messages at a time, so answers are in no order`,
      'hexcodes worker setup --ordered changes it',
    );
  return {
    warnings: [...streamWarnings(input, output, consumer), ...powerWarnings(version, [input, output, dead])],
    ackWaitMs: ack_wait / 1e6,
  };
}

/** @throws EngineFault where messages of one id under two subjects would have one answer */
function requireApart(maps: readonly SubjectMap[]): void {
  for (const [i, one] of maps.entries())
    for (const other of maps.slice(i + 1))
      if (haveCommon(one.to, other.to))
        throw new EngineFault(
          `--map to ${one.to.join('.')} and to ${other.to.join('.')}: of two messages with one id the second would have no answer`,
          'Give the answers of each map subjects of their own',
        );
}

const isNotFound = ({ message }: Error): boolean => /not found/.test(message);

/** Why what a worker needs cannot be looked at, or that it is missing and how it is made. */
function unread(what: string, missing: string, hint: string): (error: Error) => never {
  return (cause) => {
    if (isNotFound(cause)) throw new EngineFault(missing, hint, { cause });
    throw new EngineFault(`${what} cannot be read: ${cause.message}`, undefined, { cause });
  };
}

/** @throws EngineFault */
export const infoOf = (jsm: JetStreamManager, name: string, hint = SETUP_HINT): Promise<StreamInfo> =>
  jsm.streams.info(name).catch(unread(`stream ${name}`, `there is no stream ${name}`, hint));

/** @throws EngineFault where the stream could hold two messages with one subject */
function requireOnce({ config }: StreamInfo): void {
  if (config.max_msgs_per_subject === 1 && config.discard_new_per_subject === true) return;
  throw new EngineFault(
    `stream ${config.name} could hold an answer twice: it needs max_msgs_per_subject 1 and discard_new_per_subject`,
    'hexcodes worker setup gives it both',
  );
}

/** @throws EngineFault where a stream does not take all subjects of a pattern */
function requireTaken({ config }: StreamInfo, pattern: string): void {
  const isTaken = config.subjects.some((subject) => isWithin(subject.split('.'), pattern.split('.')));
  if (!isTaken)
    throw new EngineFault(
      `stream ${config.name} does not take ${pattern}: it takes ${config.subjects.join(', ')}`,
      MAP_HINT,
    );
}

/** @throws EngineFault where there is no such consumer, or where its acknowledgements are not explicit */
async function consumerOf(jsm: JetStreamManager, stream: string, name: string): Promise<ConsumerConfig> {
  const missing = `stream ${stream} has no consumer ${name}`;
  const { config } = await jsm.consumers
    .info(stream, name)
    .catch(unread(`consumer ${name}`, missing, SETUP_HINT));
  if (config.ack_policy !== AckPolicy.Explicit)
    throw new EngineFault(`consumer ${name} acknowledges ${config.ack_policy}, and must explicitly`);
  return config;
}

function streamWarnings(input: StreamInfo, output: StreamInfo, consumer: ConsumerConfig): string[] {
  const warnings: string[] = [];
  if (input.config.retention !== RetentionPolicy.Limits)
    warnings.push(
      `stream ${input.config.name} forgets the ids of messages that are done with when a server is killed (retention ${input.config.retention}): a producer's repetition would be answered again`,
    );
  const isKeptLonger =
    output.config.max_age === 0 || (input.config.max_age > 0 && output.config.max_age > input.config.max_age);
  if (!isKeptLonger)
    warnings.push(
      `answers are not kept longer than messages: one that is delivered again late could be answered twice (max_age of ${output.config.name})`,
    );
  if ((consumer.max_deliver ?? -1) > 0)
    warnings.push(
      `consumer ${consumer.durable_name} gives a message up after ${consumer.max_deliver} deliveries, also where workers died`,
    );
  return warnings;
}

/** Ways in which acknowledged messages can be lost. */
function powerWarnings(version: string, streams: readonly StreamInfo[]): string[] {
  const few = streams.filter(({ config }) => config.num_replicas < SOUND_REPLICAS);
  return [
    ...(isBefore(version, SOUND_VERSION)
      ? [
          `nats-server ${version}: a power cut may lose acknowledged messages; 2.10.23 and later can sync each`,
        ]
      : []),
    ...(few.length === 0
      ? []
      : [
          `${few.map(({ config }) => config.name).join(', ')}: fewer than ${SOUND_REPLICAS} replicas, so a lost disk loses messages, and a power cut those of the last sync_interval`,
        ]),
  ];
}

/** Warnings about `sync_interval` of a server, read from its monitoring port: clients cannot ask for it. */
export async function syncWarnings(monitor: URL): Promise<string[]> {
  try {
    const answer = await fetch(new URL('/varz', monitor), {
      signal: AbortSignal.timeout(MONITOR_TIMEOUT_MS),
    });
    const { jetstream } = JSON.parse(await textWithin(answer, MAX_MONITOR_BYTES)) as {
      jetstream?: { config?: { sync_always?: boolean; sync_interval?: number } };
    };
    const { sync_always, sync_interval } = jetstream?.config ?? {};
    if (sync_always === true) return [];
    const interval = sync_interval === undefined ? 'about 2 minutes' : `${sync_interval / 1e9} s`;
    return [
      `${monitor.host} syncs its files every ${interval}: a power cut loses what was acknowledged since (sync_interval: always)`,
    ];
  } catch (error) {
    return [`${monitor.host} does not say how it syncs: ${(error as Error).message}`];
  }
}

function isBefore(version: string, least: readonly number[]): boolean {
  const parts = version.split(/[.-]/).map(Number);
  for (const [i, number] of least.entries()) {
    if ((parts[i] ?? 0) !== number) return (parts[i] ?? 0) < number;
  }
  return false;
}
