// The streams and the consumer of workers, as `hexcodes worker setup` makes them. It may be run again: what is there is
// changed to what is asked for, where the servers allow it, and no message is touched.
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { BusLook, StreamFill, StreamPlan } from '../bus.js';
import { EngineFault } from '../engine.js';

type Made = Partial<StreamConfig> & { name: string };

const DUPLICATE_WINDOW_MS = 120_000;
/** Time that answers and dead letters are kept beyond messages: a delivery under way may still be answered. */
const KEPT_LONGER_MS = 60 * 60 * 1000;

/**
 * @returns a line for each stream and consumer
 * @throws EngineFault where the servers refuse one
 */
export async function setUpStreams(jsm: JetStreamManager, plan: StreamPlan): Promise<string[]> {
  const { names, maps, deadPrefix, sizes } = plan;
  const common = {
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    num_replicas: plan.replicas,
  };
  /** One message a subject, so that no answer is stored twice, however late it is given again. */
  const once = { max_msgs_per_subject: 1, discard_new_per_subject: true };
  const kept = nanos(plan.maxAgeMs + KEPT_LONGER_MS);
  const window = nanos(Math.min(DUPLICATE_WINDOW_MS, plan.maxAgeMs));
  const subjects = maps.map(({ from }) => from.join('.'));
  const lines = [
    await makeStream(jsm, {
      ...common,
      name: names.input,
      subjects,
      max_bytes: sizes.input,
      max_age: nanos(plan.maxAgeMs),
      duplicate_window: window,
    }),
    await makeStream(jsm, {
      ...common,
      ...once,
      max_age: kept,
      duplicate_window: window,
      name: names.output,
      subjects: maps.map(({ answers }) => answers),
      max_bytes: sizes.output,
    }),
    await makeStream(jsm, {
      ...common,
      ...once,
      max_age: kept,
      duplicate_window: window,

      name: names.dead,
      subjects: [`${deadPrefix}.>`],
      max_bytes: sizes.dead,
    }),
  ];
  const { input, consumer } = names;
  const made = await makeConsumer(jsm, input, consumer, {
    ack_wait: nanos(plan.ackWaitMs),
    max_ack_pending: plan.isOrdered ? 1 : plan.maxAckPending,
  });
  return [...lines, `${made}${plan.isOrdered ? ', ordered: one message at a time' : ''}`];
}

/**
 * The stream of single positions, which are kept no longer than the frames that they are collected into.
 * @throws EngineFault
 */
export function setUpPositions(
  jsm: JetStreamManager,
  { sizes, maxAgeMs, replicas }: StreamPlan,
  { stream, subjects }: NonNullable<StreamPlan['positions']>,
): Promise<string> {
  return makeStream(jsm, {
    name: stream,
    subjects: [...subjects],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,

    discard: DiscardPolicy.New,
    max_bytes: sizes.positions,
    max_age: nanos(maxAgeMs),
    num_replicas: replicas,
  });
}

/**
 * Makes a stream, or changes the one of this name.
 * @throws EngineFault
 */
export async function makeStream(jsm: JetStreamManager, config: Made): Promise<string> {
  const { name } = config;
  const before = await jsm.streams.info(name).catch((error: Error) => {
    if (/not found/.test(error.message)) return undefined;
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
 * Makes a consumer with explicit acknowledgements, or changes the one of this name.
 * @throws EngineFault
 */
export async function makeConsumer(
  jsm: JetStreamManager,
  stream: string,
  name: string,
  change: Partial<ConsumerConfig>,
): Promise<string> {
  // A limit of deliveries would leave messages behind that met dying workers only.
  const config: Partial<ConsumerConfig> = { ...change, max_deliver: -1 };
  const line = `consumer ${name} of ${stream}`;
  try {
    const before = await jsm.consumers.info(stream, name).catch(() => undefined);
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
  return { name, messages: state.messages, bytes: state.bytes, mostBytes: Math.max(0, config.max_bytes) };
}

/** @param streams the first of them is that of the consumer */
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
