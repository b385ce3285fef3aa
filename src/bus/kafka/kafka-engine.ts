// The engine on Kafka: messages of partitions that a consumer group hands out, and answers that are stored in one
// transaction with the offsets of the group.
import type { ClusterMetadata } from '@platformatic/kafka';
import {
  type Engine,
  EngineFault,
  type Outgoing,
  type Received,
  type Stored,
  StoreFault,
} from '../engine.js';
import { type GroupOptions, KafkaGroup } from './group.js';
import type { FetchedRecord } from './spans.js';
import { MESSAGE_BYTES, type Output, type Partition, type Span, sizeOf } from './spans.js';

export interface KafkaEngineOptions extends Omit<GroupOptions, 'take' | 'onLost' | 'outputs'> {
  /** Topics of answers by those of their messages. */
  readonly answers: ReadonlyMap<string, string>;
  readonly dead: string;
  /** Partitions of each topic that is written. */
  readonly partitions: ReadonlyMap<string, number>;
}

/** Carries the producer's own id of a message, and in answers that of the message. */
export const ID_HEADER = 'Hexcodes-Id';
/** Headers that this program gives a meaning; all others pass as they are. */
const OWN_HEADER = /^hexcodes-/i;
const STOP_MS = 10_000;

/** A message as `store` must know it again. */
interface Handle {
  readonly record: FetchedRecord;
  readonly span: Span;
  /** Called once it is stored, or known to be read again. */
  onEnd: ((how: 'stored' | 'lost') => void) | undefined;
  isOver: boolean;
}

const decoder = new TextDecoder('utf-8');

export class KafkaEngine implements Engine {
  readonly #options: KafkaEngineOptions;
  readonly #group: KafkaGroup;
  #waiting: Received[] = [];
  #wake: (() => void) | undefined;
  #fault: Error | undefined;
  #isStopped = false;
  /** Ended when everything is closed. */
  #running: Promise<void> | undefined;
  /** Offsets after the last message that was handed out, by partition. */
  readonly #seen = new Map<string, bigint>();

  constructor(options: KafkaEngineOptions) {
    this.#options = options;
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

  /** Messages of the partitions of this member. */
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

  /** Resolves when what was worked on is stored and the member has left its group. */
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
        // Messages after it cannot be stored before it, so that all are read again.
        if (this.#isStopped) {
          const at = partition.spans.indexOf(handle.span);
          for (const span of at < 0 ? [] : partition.spans.splice(at)) span.end('lost');
          this.#group.wake();
        } else setTimeout(() => this.#group.restart(), delayMs);
      },
      keep: () => {},
    };
  }

  store({ id, bytes, headers, handle: given, isDead }: Outgoing): Promise<Stored> {
    const handle = given as Handle;
    if (handle.isOver) return Promise.resolve('lost');
    const { record, span } = handle;
    const topic = isDead === true ? this.#options.dead : this.#options.answers.get(record.topic)!;
    const passed = record.headers.filter(
      ([name]) => name !== null && !OWN_HEADER.test(decoder.decode(name)),
    ) as [Buffer, Buffer][];
    const own = [...headers].filter(([name]) => OWN_HEADER.test(name) && name !== ID_HEADER);
    const output: Output = {
      topic,
      // The partition of the message: messages of a key keep their order where both topics have as many partitions.
      partition: record.partition % (this.#options.partitions.get(topic) ?? 1),
      ...(record.key === null ? {} : { key: record.key }),
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

/** @throws EngineFault for maps that topics cannot have */
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
