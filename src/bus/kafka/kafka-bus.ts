// Kafka as a bus: consumer groups and transactions. Collectors, sinks and requests need NATS.

import type { Admin, BaseOptions, ClusterMetadata } from '@platformatic/kafka';
import {
  type Bus,
  type BusSettings,
  opened,
  type SetUp,
  type StreamPlan,
  type Waiting,
  type Work,
  type WorkPlan,
} from '../bus.js';
import {
  type Engine,
  EngineFault,
  type Outgoing,
  type Received,
  type Stored,
  StoreFault,
} from '../engine.js';
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
import { type GroupOptions, KafkaGroup } from './group.js';
import {
  type FetchedRecord,
  MESSAGE_BYTES,
  type Output,
  type Partition,
  type Span,
  sizeOf,
} from './spans.js';

// The engine on Kafka: messages of the partitions that a consumer group assigns, and answers that are stored in one
// transaction with the offsets of the group.

interface KafkaEngineOptions extends Omit<GroupOptions, 'take' | 'onLost' | 'outputs'> {
  /** Topics of answers, by the topics of their messages. */
  readonly answers: ReadonlyMap<string, string>;
  readonly dead: string;
  /** Number of partitions of each output topic. */
  readonly partitions: ReadonlyMap<string, number>;
}

/** Header of the producer's id of a message; an answer has it from its message. */
export const ID_HEADER = 'Hexcodes-Id';
/** Headers that this program interprets; all others pass unchanged. */
const OWN_HEADER = /^hexcodes-/i;
const STOP_MS = 10_000;

/** Handle of a message, as `store` needs it. */
interface Handle {
  readonly record: FetchedRecord;
  readonly span: Span;
  /** Called once the message is stored, or known to be read again. */
  onEnd: ((how: 'stored' | 'lost') => void) | undefined;
  isOver: boolean;
}

const decoder = new TextDecoder('utf-8');

class KafkaEngine implements Engine {
  readonly #group: KafkaGroup;
  #waiting: Received[] = [];
  #wake: (() => void) | undefined;
  #fault: Error | undefined;
  #isStopped = false;
  /** Resolves when everything is closed. */
  #running: Promise<void> | undefined;
  /** Offsets after the last delivered message, by partition. */
  readonly #seen = new Map<string, bigint>();

  constructor(private readonly options: KafkaEngineOptions) {
    this.#group = new KafkaGroup({
      ...options,
      outputs: [...options.answers.values(), options.dead],
      take: (record, partition) => {
        this.#waiting.push(this.#received(record, partition));
        this.#wake?.();
      },
      onLost: () => {
        this.#waiting = [];
      },
    });
  }

  get storeFaults(): number {
    return this.#group.transactionFaults;
  }

  /** Counts of messages in the partitions of this member. */
  get look(): { readonly waiting: number; readonly underWay: number } {
    const { pending, underWay } = this.#group.figures;
    return { waiting: pending - underWay, underWay };
  }

  seePartitions(topics: ClusterMetadata['topics']): void {
    this.#group.seePartitions(topics);
  }

  async *receive(): AsyncGenerator<Received> {
    this.#running = this.#group.run().catch((error: Error) => {
      this.#fault = error;
      this.#wake?.();
    });
    while (!this.#isStopped) {
      if (this.#fault !== undefined) throw this.#fault;
      const received = this.#waiting.shift();
      if (received === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else yield received;
    }
    this.#dropWaiting();
  }

  stop(): void {
    this.#isStopped = true;
    this.#dropWaiting();
    this.#group.stop(STOP_MS);
    this.#wake?.();
  }

  /** Resolves when messages under way are stored and the member has left its group. */
  async close(): Promise<void> {
    this.stop();
    await this.#running;
  }

  #dropWaiting(): void {
    for (const { giveBack } of this.#waiting.splice(0).reverse()) giveBack(0);
  }

  #received(record: FetchedRecord, partition: Partition): Received {
    const { topic, offset } = record;
    const name = `${topic}-${record.partition}`;
    const headers = new Map(
      record.headers.map(([key, word]) => [
        decoder.decode(key ?? Buffer.of()),
        decoder.decode(word ?? Buffer.of()),
      ]),
    );
    const id =
      [...headers].find(([key]) => key.toLowerCase() === ID_HEADER.toLowerCase())?.[1] || `${name}:${offset}`;
    let sizeBytes = MESSAGE_BYTES + (record.value?.length ?? 0) + (record.key?.length ?? 0);
    for (const [key, word] of record.headers) sizeBytes += (key?.length ?? 0) + (word?.length ?? 0);
    const handle: Handle = {
      record,
      onEnd: undefined,
      isOver: false,
      span: {
        lastOffset: offset,
        heldBytes: sizeBytes,
        outputs: undefined,
        end: (how) => {
          handle.isOver = true;
          handle.onEnd?.(how);
        },
      },
    };
    partition.spans.push(handle.span);
    const seen = this.#seen.get(name) ?? 0n;
    if (offset >= seen) this.#seen.set(name, offset + 1n);
    return {
      subject: topic,
      id,
      headers,
      handle,
      bytes: record.value ?? Buffer.of(),
      origin: `topic ${topic}, partition ${record.partition}, message ${offset}`,
      deliveries: offset < seen ? 2 : 1,
      // The offset is stored with the answer.
      accept: () => {},
      giveBack: (delayMs) => {
        if (handle.isOver) return;
        // Later messages cannot be stored before it, so all of them are read again.
        if (this.#isStopped) {
          const at = partition.spans.indexOf(handle.span);
          for (const span of at < 0 ? [] : partition.spans.splice(at)) span.end('lost');
          this.#group.wake();
        } else setTimeout(() => handle.isOver || this.#group.restart(), delayMs);
      },
      keep: () => {},
    };
  }

  store({ id, bytes, headers, handle: given, isDead, isBare = false }: Outgoing): Promise<Stored> {
    const handle = given as Handle;
    if (handle.isOver) return Promise.resolve('lost');
    const { record, span } = handle;
    const topic = isDead === true ? this.options.dead : this.options.answers.get(record.topic)!;
    const passed = record.headers.filter(
      ([name]) => !isBare && name !== null && !OWN_HEADER.test(decoder.decode(name)),
    ) as [Buffer, Buffer][];
    const own = [...headers].filter(([name]) => OWN_HEADER.test(name) && name !== ID_HEADER);
    const output: Output = {
      topic,
      // The partition of the message: messages with one key keep their order if both topics have the same number of
      // partitions.
      partition: record.partition % (this.options.partitions.get(topic) ?? 1),
      ...(isBare || record.key === null ? {} : { key: record.key }),
      value: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      headers: new Map([
        ...passed,
        ...[...own, [ID_HEADER, id] as const].map(([name, word]): [Buffer, Buffer] => [
          Buffer.from(name),
          Buffer.from(word),
        ]),
      ]),
    };
    const sizeBytes = sizeOf(output);
    if (sizeBytes > this.#group.maxOutputBytes)
      return Promise.reject(
        new StoreFault('too-large', `the answer is larger than topic ${topic} takes (max.message.bytes)`),
      );
    return new Promise((resolve) => {
      handle.onEnd = resolve;
      span.outputs = [output];
      this.#group.hold(span, sizeBytes);
      this.#group.wake();
    });
  }
}

/** @throws EngineFault for maps that are not valid for topics */
export function answersOf(
  maps: readonly { readonly from: readonly string[]; readonly to: readonly string[] }[],
) {
  const answers = new Map<string, string>();
  for (const { from, to } of maps) {
    const [input, output] = [from.join('.'), to.join('.')];
    for (const topic of [input, output])
      if (!/^[\w.-]{1,249}$/.test(topic))
        throw new EngineFault(
          `${topic}: a topic of Kafka has letters, digits, ".", "_" and "-" only, no * and >`,
        );
    answers.set(input, output);
  }
  for (const output of answers.values())
    if (answers.has(output)) throw new EngineFault(`${output}: answers would be received as messages again`);
  return answers;
}

const SOUND_REPLICAS = 3;
const SETUP_HINT = 'hexcodes worker setup --from makes it';

export class KafkaBus implements Bus {
  readonly name: string;
  readonly #closing: (() => Promise<void>)[] = [];

  /** @throws EngineFault */
  static async open(address: string, settings: BusSettings, waiting: Waiting): Promise<KafkaBus> {
    const found = readKafkaAddress(address);
    const connecting = optionsOf(settings, found);
    const client = await loadClient();
    const where = found.brokers.join(',');
    const open = async (): Promise<KafkaBus> => {
      const admin = new client.Admin({ ...connecting, retries: 0 });
      try {
        await admin.metadata({ topics: [] });
        return new KafkaBus(where, client, connecting, admin, waiting);
      } catch (error) {
        await admin.close().catch(() => {});
        throw error;
      }
    };
    return opened(open, where, waiting, causeOf, (error) => lastingFault(error, where));
  }

  constructor(
    private readonly where: string,
    private readonly client: Client,
    private readonly connecting: BaseOptions,
    private readonly admin: Admin,
    private readonly waiting: Waiting,
  ) {
    this.name = `${where}, Kafka`;
  }

  /**
   * Topics by name. A start waits for them as for a connection.
   * @throws EngineFault where one is missing or not visible to the user
   */
  #topics(names: readonly string[]): Promise<ClusterMetadata['topics']> {
    const ask = async () => (await metadataOf(this.admin, names)).topics;
    return opened(ask, this.where, this.waiting, causeOf, (error) =>
      error instanceof MissingTopic
        ? new EngineFault(`there is no topic ${error.topic}`, SETUP_HINT, { cause: error })
        : lastingFault(error, this.name),
    );
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
      await this.admin.createTopics({ topics: [topic], partitions, replicas, configs });
      return `made topic ${topic}: ${partitions} partitions`;
    } catch (error) {
      if (!hasCode(error, 'TOPIC_ALREADY_EXISTS'))
        throw (
          lastingFault(error, this.name) ??
          new EngineFault(`topic ${topic} cannot be made: ${causeOf(error)}`, undefined, { cause: error })
        );
    }
    await this.admin.incrementalAlterConfigs({
      resources: [
        {
          resourceType: this.client.ConfigResourceTypes.TOPIC,
          resourceName: topic,
          configs: configs.map(({ name, value }) => ({
            name,
            value,
            configOperation: this.client.IncrementalAlterConfigOperationTypes.SET,
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
      client: this.client,
      connecting: this.connecting,
      where: this.name,
      maxHeldBytes,
      group: names.consumer,
      instance,
      inputs,
      answers,
      dead: deadPrefix,
      say: this.waiting.say,
      partitions: new Map(outputs.map((topic) => [topic, partitionsOf(topic)])),
    });
    this.#closing.push(() => engine.close());
    return {
      engine,
      warnings: this.#warnings(topics, answers),
      ackWaitMs: Number.POSITIVE_INFINITY,
      begun: `joins group ${names.consumer} on ${inputs.join(', ')}`,
      giveBack: undefined,
      look: async () => {
        const { topics: seen } = await this.admin.metadata({ topics: inputs, forceUpdate: true });
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

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
    await this.admin.close().catch(() => {});
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
