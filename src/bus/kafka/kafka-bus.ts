// Kafka as a bus: consumer groups and transactions. Collectors, sinks and requests need NATS.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, BaseOptions, ClusterMetadata } from '@platformatic/kafka';
import type {
  Bus,
  BusSettings,
  Collecting,
  CollectorOptions,
  Publisher,
  Serving,
  SetUp,
  StreamPlan,
  Waiting,
  Work,
  WorkPlan,
} from '../bus.js';
import { EngineFault } from '../engine.js';
import {
  type Client,
  causeOf,
  hasCode,
  lastingFault,
  loadClient,
  MissingTopic,
  metadataOf,
  optionsOf,
  readKafkaAddress,
} from './connect.js';
import { answersOf, KafkaEngine } from './kafka-engine.js';

const RETRY_MS = 1000;
const SOUND_REPLICAS = 3;
const SETUP_HINT = 'hexcodes worker setup --from makes it';
const NATS_ONLY = 'needs NATS: requests and replies are not on Kafka';

export class KafkaBus implements Bus {
  readonly name: string;
  readonly #client: Client;
  readonly #connecting: BaseOptions;
  readonly #admin: Admin;
  readonly #waiting: Waiting;
  readonly #closing: (() => Promise<void>)[] = [];

  /** @throws EngineFault */
  static async open(address: string, settings: BusSettings, waiting: Waiting): Promise<KafkaBus> {
    const found = readKafkaAddress(address);
    const connecting = optionsOf(settings, found);
    const client = await loadClient();
    const where = found.brokers.join(',');
    for (let tried = 1; ; tried++) {
      const admin = new client.Admin({ ...connecting, retries: 0 });
      try {
        await admin.metadata({ topics: [] });
        return new KafkaBus(where, client, connecting, admin, waiting);
      } catch (error) {
        await admin.close().catch(() => {});
        const fault = lastingFault(error, where);
        if (fault !== undefined) throw fault;
        const words = `${where} cannot be reached: ${causeOf(error)}`;
        if (!waiting.isPatient) throw new EngineFault(words, undefined, { cause: error });
        if (tried === 1) waiting.say(`${words}; waiting`);
      }
      await sleep(RETRY_MS, undefined, { signal: waiting.signal }).catch(() => {
        throw new EngineFault('stopped before there was a connection');
      });
    }
  }

  constructor(where: string, client: Client, connecting: BaseOptions, admin: Admin, waiting: Waiting) {
    this.name = `${where}, Kafka`;
    this.#client = client;
    this.#connecting = connecting;
    this.#admin = admin;
    this.#waiting = waiting;
  }

  /** Topics by their names. @throws EngineFault where one is missing, or may not be seen */
  async #topics(names: readonly string[]): Promise<ClusterMetadata['topics']> {
    try {
      return (await metadataOf(this.#admin, names)).topics;
    } catch (error) {
      if (error instanceof MissingTopic)
        throw new EngineFault(`there is no topic ${error.topic}`, SETUP_HINT, { cause: error });
      throw lastingFault(error, this.name) ?? new EngineFault(`${this.name}: ${causeOf(error)}`);
    }
  }

  async setUp(plan: StreamPlan): Promise<SetUp> {
    const answers = answersOf(plan.maps);
    const positions = plan.positions?.subjects ?? [];
    const topics = [...new Set([...positions, ...answers.keys(), ...answers.values(), plan.deadPrefix])];
    answersOf(topics.map((topic) => ({ from: [topic], to: [`${topic}.answers`] })));
    const lines: string[] = [];
    for (const topic of topics) lines.push(await this.#makeTopic(topic, plan));
    return { lines, permissions: permissionText(plan, answers) };
  }

  async #makeTopic(topic: string, { maxAgeMs, replicas, partitions = 12 }: StreamPlan): Promise<string> {
    const configs = [
      { name: 'retention.ms', value: String(maxAgeMs) },
      { name: 'cleanup.policy', value: 'delete' },
      ...(replicas < SOUND_REPLICAS ? [] : [{ name: 'min.insync.replicas', value: '2' }]),
    ];
    try {
      await this.#admin.createTopics({ topics: [topic], partitions, replicas, configs });
      return `made topic ${topic}: ${partitions} partitions`;
    } catch (error) {
      if (!hasCode(error, 'TOPIC_ALREADY_EXISTS'))
        throw (
          lastingFault(error, this.name) ??
          new EngineFault(`topic ${topic} cannot be made: ${causeOf(error)}`, undefined, { cause: error })
        );
    }
    await this.#admin.incrementalAlterConfigs({
      resources: [
        {
          resourceType: this.#client.ConfigResourceTypes.TOPIC,
          resourceName: topic,
          configs: configs.map(({ name, value }) => ({
            name,
            value,
            configOperation: this.#client.IncrementalAlterConfigOperationTypes.SET,
          })),
        },
      ],
    });
    const count = (await this.#topics([topic])).get(topic)?.partitionsCount;
    return `kept topic ${topic}: ${count} partitions${count === partitions ? '' : `, not ${partitions}: that would mix up the order of keys`}`;
  }

  async work({ names, maps, deadPrefix, isOrdered, maxHeldBytes, instance }: WorkPlan): Promise<Work> {
    const answers = answersOf(maps);
    const [inputs, outputs] = [[...answers.keys()], [...answers.values(), deadPrefix]];
    const topics = await this.#topics([...new Set([...inputs, ...outputs])]);
    const partitionsOf = (topic: string): number => topics.get(topic)!.partitionsCount;
    if (isOrdered && inputs.some((topic) => partitionsOf(topic) > 1))
      throw new EngineFault(
        'answers are in the order of their messages within a partition only, and there are several',
      );
    const engine = new KafkaEngine({
      client: this.#client,
      connecting: this.#connecting,
      where: this.name,
      maxHeldBytes,
      group: names.consumer,
      instance,
      inputs,
      answers,
      dead: deadPrefix,
      say: this.#waiting.say,
      partitions: new Map(outputs.map((topic) => [topic, partitionsOf(topic)])),
    });
    this.#closing.push(() => engine.close());
    return {
      engine,
      warnings: this.#warnings(topics, answers),
      ackWaitMs: Number.POSITIVE_INFINITY,
      source: inputs.join(', '),
      giveBack: undefined,
      look: async () => {
        const { topics: seen } = await this.#admin.metadata({ topics: inputs, forceUpdate: true });
        engine.seePartitions(seen);
        return { ...engine.look, streams: [] };
      },
    };
  }

  #warnings(topics: ClusterMetadata['topics'], answers: ReadonlyMap<string, string>): string[] {
    const few = [...topics].filter(([, { partitions }]) =>
      partitions.some((each) => each.replicas.length < SOUND_REPLICAS),
    );
    const uneven = [...answers].filter(
      ([from, to]) => topics.get(from)!.partitionsCount !== topics.get(to)!.partitionsCount,
    );
    return [
      ...(few.length === 0
        ? []
        : [
            `${few.map(([topic]) => topic).join(', ')}: fewer than ${SOUND_REPLICAS} replicas, so a lost disk loses messages`,
          ]),
      ...uneven.map(
        ([from, to]) =>
          `${from} and ${to} have different numbers of partitions: keys are in other partitions there`,
      ),
    ];
  }

  collect(_options: CollectorOptions): Promise<Collecting> {
    return Promise.reject(new EngineFault(`collecting ${NATS_ONLY}`));
  }

  serve(): Promise<Serving> {
    return Promise.reject(new EngineFault(`worker service ${NATS_ONLY}`));
  }

  publisher(): Publisher {
    throw new EngineFault(`the sink of positions ${NATS_ONLY}`);
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
    await this.#admin.close().catch(() => {});
  }
}

/** Permissions of a worker as arguments of Kafka's program for ACLs. */
function permissionText({ names, deadPrefix }: StreamPlan, answers: ReadonlyMap<string, string>): string {
  const worker = (words: string): string => `kafka-acls.sh --add --allow-principal User:worker ${words}\n`;
  return [
    ...[...answers.keys()].map((topic) => worker(`--operation Read --operation Describe --topic ${topic}`)),
    ...[...answers.values(), deadPrefix].map((topic) =>
      worker(`--operation Write --operation Describe --operation DescribeConfigs --topic ${topic}`),
    ),
    worker(`--operation Read --group ${names.consumer}`),
    worker(
      `--operation Write --operation Describe --resource-pattern-type prefixed --transactional-id ${names.consumer}.`,
    ),
  ].join('');
}
