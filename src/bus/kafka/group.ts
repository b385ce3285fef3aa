// A member of a consumer group that stores its answers and its offsets in one transaction. Messages between two
// rebalances are a session; when it ends, everything not stored is dropped here and read again from the stored
// offsets, by this member or another.
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Admin,
  BaseOptions,
  ClusterMetadata,
  ConnectionPool,
  Consumer,
  GroupAssignment,
  Producer,
} from '@platformatic/kafka';
import { EngineFault } from '../engine.js';
import {
  type Client,
  causeOf,
  DEFAULT_BATCH_BYTES,
  hasCode,
  lastingFault,
  MissingTopic,
  maxBatchBytes,
  metadataOf,
  TIMEOUT_MS,
} from './connect.js';
import {
  batchesOf,
  type FetchedRecord,
  type Partition,
  type Ready,
  readySpans,
  recordsOf,
  type Span,
  TransactionSize,
} from './spans.js';

export interface GroupOptions {
  readonly client: Client;
  readonly connecting: BaseOptions;
  /** Name of the brokers in messages. */
  readonly where: string;
  readonly group: string;
  /** Name of this member that stays the same across restarts; undefined: a new one at each start. */
  readonly instance: string | undefined;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly maxHeldBytes: number;
  readonly say: (sentence: string) => void;
  /** Takes a record, which waits in a span of its partition until it is stored. */
  readonly take: (record: FetchedRecord, partition: Partition) => void;
  /** Called when all spans of a session are dropped. */
  readonly onLost: () => void;
}

export interface GroupFigures {
  /** Messages in the partitions of this member that are not stored. */
  pending: number;
  /** Messages of `pending` that were read. */
  underWay: number;
  /** Partitions of this member. */
  partitions: number;
  rebalances: number;
}

/** A transaction that was not committed, or whose outcome is unknown. */
class TransactionFault extends Error {
  /** Whether the group merely has another generation by now. */
  readonly isByRebalance: boolean;

  constructor(override readonly cause: unknown) {
    const isGivenUp = hasCode(cause, 'PRODUCER_FENCED') || hasCode(cause, 'INVALID_PRODUCER_EPOCH');
    super(
      isGivenUp
        ? `the brokers gave a transaction up, as it took ${TIMEOUT_MS / 1000} s or another worker has the same --instance; its messages are read again, in smaller transactions`
        : `answers are not stored yet: ${causeOf(cause)}`,
    );
    const codes = ['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'REBALANCE_IN_PROGRESS', 'FENCED_INSTANCE_ID'];
    this.isByRebalance = codes.some((code) => hasCode(cause, code));
  }
}

interface Joined {
  readonly generationId: number;
  readonly memberId: string;
  readonly assignments: readonly GroupAssignment[];
}

interface Session {
  readonly partitions: readonly (Partition & { next: bigint; high: bigint })[];
  readonly metadata: ClusterMetadata;
  readonly joined: Joined;
  /** Ends the session; the reason is an error, or undefined after a rebalance. */
  readonly over: AbortController;
}

/** Silence after which the brokers drop a member; they accept 6 s and more. */
const SESSION_TIMEOUT_MS = 10_000;
const HEARTBEAT_MS = 2000;
/** Longest wait of an idle fetch, so that a rebalance is noticed. */
const FETCH_WAIT_MS = 500;
const MAX_FETCH_BYTES = 8 * 1024 * 1024;
const PARTITION_FETCH_BYTES = 1024 * 1024;
/** Bytes reserved in a batch of records besides the values: headers are estimated. */
const BATCH_SPARE_BYTES = 16 * 1024;
const UNSTABLE_PAUSE_MS = 100;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5000;
/** Longest start of a session: a rebalance, and the end of the transaction that a dead member left open. */
const BEGIN_MS = 60_000;
/** Longest absence of a topic, while brokers start. */
const GONE_MS = 15_000;
const READ_COMMITTED = 1;

export class KafkaGroup {
  readonly figures: GroupFigures = { pending: 0, underWay: 0, partitions: 0, rebalances: 0 };
  /** Most bytes of one output; known once the producer runs. */
  maxOutputBytes = DEFAULT_BATCH_BYTES - BATCH_SPARE_BYTES;
  readonly #transactionalId: string;
  readonly #stopping = new AbortController();
  readonly #given = new AbortController();
  readonly #transactionSize = new TransactionSize(TIMEOUT_MS / 2);
  #heldBytes = 0;
  /** Bytes of messages on the network for each byte in memory, as of the last fetch; at first a guess. */
  #fetchedShare = 1 / 8;
  #consumer: Consumer<Buffer, Buffer, Buffer, Buffer> | undefined;
  #producer: Producer<Buffer, Buffer, Buffer, Buffer> | undefined;
  #admin: Admin | undefined;
  #pool: ConnectionPool | undefined;
  #session: Session | undefined;
  /** Generation whose partitions this member knows; the client reports the next one before it knows them. */
  #joined: Joined | undefined;
  #goneSinceMs: number | undefined;
  /** Failed transactions, except those that a rebalance ended. */
  transactionFaults = 0;
  /** Called when a span is ready or has ended. */
  #wakes: (() => void)[] = [];

  constructor(private readonly options: GroupOptions) {
    const { group, instance } = options;
    this.#transactionalId = `${group}.${instance ?? `${process.pid}.${Math.random().toString(36).slice(2)}`}`;
  }

  /**
   * Works until `stop`, through outages of the brokers.
   * @throws EngineFault where it cannot go on
   */
  async run(): Promise<void> {
    const { say, where } = this.options;
    let pauseMs = FIRST_PAUSE_MS;
    try {
      while (!this.#isStopping) {
        const startedMs = performance.now();
        try {
          const session = await this.#begun();
          this.#session = session;
          // The member joined again meanwhile.
          if (this.#joined !== session.joined) session.over.abort();
          this.#goneSinceMs = undefined;
          await this.#work(session);
        } catch (error) {
          if (this.#isStopping) break;
          const fault = this.#lasting(error);
          if (fault !== undefined) throw fault;
          const isTransaction = error instanceof TransactionFault;
          if (!isTransaction || !error.isByRebalance)
            say(
              `${where}: ${isTransaction ? error.message : causeOf(error)}; it is tried again, nothing is lost`,
            );
          if (performance.now() - startedMs > MAX_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
          // A leaving member makes the others rebalance, and their transactions fail in turn.
          if (!isTransaction) await this.#closeClients();
          await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal: this.#stopping.signal }).catch(
            () => {},
          );
          pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs);
        } finally {
          this.#forget();
        }
      }
    } finally {
      this.#forget();
      await this.#closeClients();
    }
  }

  /** Stops reading; messages under way are stored within `graceMs`, otherwise read again by another member. */
  stop(graceMs: number): void {
    this.#stopping.abort();
    this.wake();
    setTimeout(() => {
      this.#given.abort();
      this.#session?.over.abort();
      this.wake();
    }, graceMs).unref();
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** To be called when spans have become ready or were removed. */
  wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }

  /** Ends the session: everything not stored is read again. */
  restart(): void {
    this.#session?.over.abort();
    this.wake();
  }

  /** Joins again where topics have more partitions by now: the brokers do not tell the group. */
  seePartitions(topics: ClusterMetadata['topics']): void {
    const session = this.#session;
    const known = session?.metadata.topics;
    const more = [...topics].find(
      ([topic, { partitionsCount }]) =>
        partitionsCount > (known?.get(topic)?.partitionsCount ?? partitionsCount),
    );
    if (session === undefined || more === undefined) return;
    session.over.abort(new Error(`${more[0]} has ${more[1].partitionsCount} partitions now`));
    this.wake();
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => this.#wakes.push(resolve));
  }

  #lasting(error: unknown): EngineFault | undefined {
    if (error instanceof EngineFault) return error;
    const { where } = this.options;
    if (error instanceof MissingTopic) {
      const nowMs = performance.now();
      this.#goneSinceMs ??= nowMs;
      if (nowMs - this.#goneSinceMs > GONE_MS)
        return new EngineFault(
          `topic ${error.topic} of ${where} is gone`,
          'hexcodes worker setup --from makes it',
        );
      return undefined;
    }
    this.#goneSinceMs = undefined;
    return lastingFault(error, where);
  }

  #clients(): {
    readonly consumer: Consumer<Buffer, Buffer, Buffer, Buffer>;
    readonly admin: Admin;
  } {
    const { client, connecting, group, instance, inputs } = this.options;
    if (this.#consumer === undefined) {
      const consumer = new client.Consumer<Buffer, Buffer, Buffer, Buffer>({
        ...connecting,
        groupId: group,
        ...(instance === undefined ? {} : { groupInstanceId: instance }),
        retries: 3,
        autocommit: false,
        heartbeatInterval: HEARTBEAT_MS,
        sessionTimeout: SESSION_TIMEOUT_MS,
        rebalanceTimeout: SESSION_TIMEOUT_MS,
      });
      consumer.topics.trackAll(...inputs);
      consumer.on('consumer:group:join', ({ generationId = -1, memberId, assignments = [] }) => {
        this.#joined = { generationId, memberId, assignments };
        this.figures.rebalances++;
        this.restart();
      });
      // The client reports some faults by this event alone.
      consumer.on(
        'error' as never,
        ((error: Error) => {
          this.#session?.over.abort(error);
          this.wake();
        }) as never,
      );
      this.#consumer = consumer;
    }
    this.#admin ??= new client.Admin({ ...connecting, retries: 3 });
    return { consumer: this.#consumer, admin: this.#admin };
  }

  /** Opens a producer that fences the previous one, whose open transaction is aborted. */
  async #openProducer(): Promise<Producer<Buffer, Buffer, Buffer, Buffer>> {
    if (this.#producer !== undefined) return this.#producer;
    const { client, connecting } = this.options;
    const producer = new client.Producer<Buffer, Buffer, Buffer, Buffer>({
      ...connecting,
      idempotent: true,
      transactionalId: this.#transactionalId,
      retries: 40,
    });
    this.#producer = producer;
    try {
      const first = await producer.beginTransaction({ producerId: -1n, producerEpoch: -1 });
      await first.cancel();
      return producer;
    } catch (error) {
      this.#producer = undefined;
      void Promise.resolve(producer.close(true)).catch(() => {});
      throw error;
    }
  }

  async #closeClients(): Promise<void> {
    const closing = [
      this.#consumer?.close(true),
      this.#producer?.close(true),
      this.#admin?.close(),
      this.#pool?.close(),
    ];
    this.#consumer = this.#producer = this.#admin = this.#pool = undefined;
    this.#joined = undefined;
    const done = Promise.allSettled(closing);
    await Promise.race([done, sleep(SESSION_TIMEOUT_MS, undefined, { ref: false })]);
  }

  /** Begins a session; rejects after BEGIN_MS or the grace of `stop`, because a call of the client may never end. */
  #begun(): Promise<Session> {
    const ended = new AbortController();
    const late = new Promise<never>((_, reject) => {
      const end = (): void => reject(new Error(`no session within ${BEGIN_MS / 1000} s`));
      const timer = setTimeout(end, BEGIN_MS);
      ended.signal.addEventListener('abort', () => clearTimeout(timer));
      this.#given.signal.addEventListener('abort', end, { signal: ended.signal });
    });
    return Promise.race([this.#openSession(), late]).finally(() => ended.abort());
  }

  /** Joins the group if needed, and finds the offsets from which its partitions are read. */
  async #openSession(): Promise<Session> {
    const { inputs, outputs } = this.options;
    const { consumer, admin } = this.#clients();
    await this.#openProducer();
    const metadata = await metadataOf(admin, [...new Set([...inputs, ...outputs])]);
    if (this.#joined === undefined) await consumer.joinGroup({});
    const joined = this.#joined as Joined | undefined;
    if (joined === undefined) throw new Error('the group has taken no member');
    const assigned = joined.assignments.filter(({ partitions }) => partitions.length > 0);
    const partitions: (Partition & { next: bigint; high: bigint })[] = [];
    this.maxOutputBytes = (await maxBatchBytes(this.options.client, admin, outputs)) - BATCH_SPARE_BYTES;
    if (assigned.length > 0) {
      const topics = assigned.map(({ topic, partitions: indexes }) => ({
        name: topic,
        partitionIndexes: indexes,
      }));
      const [found] = await this.#stableOffsets(admin, topics);
      const earliest = await consumer.listOffsets({
        topics: assigned.map(({ topic }) => topic),
        timestamp: -2n,
      });
      for (const { topic, partitions: indexes } of assigned)
        for (const partition of indexes) {
          const stored = found?.topics
            .find(({ name }) => name === topic)
            ?.partitions.find(({ partitionIndex }) => partitionIndex === partition)?.committedOffset;
          const first = earliest.get(topic)?.[partition] ?? 0n;
          if (stored !== undefined && stored >= 0n && stored < first)
            this.#sayDropped(topic, partition, stored, first);
          const next = stored === undefined || stored < first ? first : stored;
          partitions.push({ topic, partition, spans: [], next, high: next });
        }
    }
    this.figures.partitions = partitions.length;
    return { partitions, metadata, joined, over: new AbortController() };
  }

  /** Offsets of the group after all transactions: one of a dead member may still be open. */
  async #stableOffsets(admin: Admin, topics: { name: string; partitionIndexes: number[] }[]) {
    const joined = this.#joined;
    for (;;) {
      try {
        const groups = [{ groupId: this.options.group, topics }];
        return await admin.listConsumerGroupOffsets({ groups, requireStable: true });
      } catch (error) {
        if (!hasCode(error, 'UNSTABLE_OFFSET_COMMIT') || this.#joined !== joined || this.#isStopping)
          throw error;
      }
      await sleep(UNSTABLE_PAUSE_MS);
    }
  }

  #sayDropped(topic: string, partition: number, from: bigint, to: bigint): void {
    this.options.say(
      `${topic}, partition ${partition}: messages ${from} to ${to - 1n} were dropped by its retention before they were answered`,
    );
  }

  /** Reads and stores until the session is over. */
  async #work(session: Session): Promise<void> {
    const { over, metadata, partitions } = session;
    const byLeader = new Map<number, (typeof partitions)[number][]>();
    for (const each of partitions) {
      const leader = metadata.topics.get(each.topic)?.partitions[each.partition]?.leader ?? -1;
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), each]);
    }
    const guarded = async (task: Promise<void>): Promise<void> => {
      try {
        await task;
      } catch (error) {
        over.abort(error);
        this.wake();
      }
    };
    const tasks = [...byLeader].map(([leader, own]) =>
      guarded(this.#read(session, leader, own, byLeader.size)),
    );
    await Promise.all([...tasks, guarded(this.#store(session))]);
    const { reason } = over.signal;
    if (reason instanceof Error && reason.name !== 'AbortError') throw reason;
  }

  async #read(session: Session, leader: number, own: Session['partitions'], leaders: number): Promise<void> {
    const { client, connecting, maxHeldBytes, take } = this.options;
    const { over, metadata } = session;
    const broker = metadata.brokers.get(leader);
    if (broker === undefined) throw new Error(`partitions of ${own[0]?.topic} have no leader`);
    this.#pool ??= new client.ConnectionPool('hexcodes', connecting);
    const pool = this.#pool;
    // Least recently served partitions come first: a broker fills its answer from the first.
    let order = own;
    while (!over.signal.aborted && !this.#isStopping) {
      // Holds the current transaction and the next; a worker that dies has read nothing beyond them in vain.
      const most = Math.min(maxHeldBytes / 2, 2 * this.#transactionSize.bytes);
      const freeBytes = most - this.#heldBytes;
      if (freeBytes < most / 4) {
        await this.#woken();
        continue;
      }
      const maxBytes = Math.min(
        MAX_FETCH_BYTES,
        Math.max(1, Math.ceil((freeBytes * this.#fetchedShare) / leaders)),
      );
      const connection = await pool.get(broker);
      const topics = order.map(({ topic, partition, next }) => ({
        topicId: metadata.topics.get(topic)!.id,
        partitions: [
          {
            partition,
            fetchOffset: next,
            partitionMaxBytes: Math.min(maxBytes, PARTITION_FETCH_BYTES),
            currentLeaderEpoch: -1,
            lastFetchedEpoch: -1,
          },
        ],
      }));
      const answer = await client.fetchV13.api
        .async(connection, FETCH_WAIT_MS, 1, maxBytes, READ_COMMITTED, 0, 0, topics, [], '')
        .catch((error: unknown) => {
          // Retention dropped messages while they waited: the next session begins with the remaining ones.
          if (hasCode(error, 'OFFSET_OUT_OF_RANGE')) return undefined;
          throw error;
        });
      if (answer === undefined) return over.abort();
      if (over.signal.aborted || this.#isStopping) return;
      const names = new Map(own.map(({ topic }) => [metadata.topics.get(topic)!.id, topic]));
      const served = new Set<(typeof own)[number]>();
      let fetchedBytes = 0;
      const heldBefore = this.#heldBytes;
      for (const { topicId, partitions } of answer.responses)
        for (const fetched of partitions) {
          const partition = own.find(
            (each) => each.partition === fetched.partitionIndex && each.topic === names.get(topicId),
          );
          if (partition === undefined) continue;
          for (const { length } of fetched.records ?? []) {
            fetchedBytes += length;
            served.add(partition);
          }
          const { records, next } = recordsOf(partition.topic, fetched, partition.next);
          partition.next = next;
          partition.high = fetched.lastStableOffset;
          for (const record of records) {
            const before = partition.spans.length;
            take(record, partition);
            for (const { heldBytes } of partition.spans.slice(before)) this.#heldBytes += heldBytes;
          }
        }
      order = [...order.filter((each) => !served.has(each)), ...served];
      const takenBytes = this.#heldBytes - heldBefore;
      if (takenBytes > 0) this.#fetchedShare = Math.min(1, fetchedBytes / takenBytes);
      this.#countPending(session);
    }
  }

  /** Counts what a span holds beyond its size when it was made. */
  hold(span: Span, sizeBytes: number): void {
    span.heldBytes += sizeBytes;
    this.#heldBytes += sizeBytes;
  }

  #countPending({ partitions }: Session): void {
    this.figures.underWay = 0;
    this.figures.pending = 0;
    for (const { next, high, spans } of partitions) {
      this.figures.underWay += spans.length;
      this.figures.pending += Math.max(0, Number(high - next)) + spans.length;
    }
  }

  /** Stores ready spans, from the first of each partition, in one transaction after another. */
  async #store(session: Session): Promise<void> {
    const { over, partitions } = session;
    for (;;) {
      const ready = readySpans(partitions, this.#transactionSize.bytes);
      if (ready.length > 0 && !over.signal.aborted) {
        await this.#transact(session, ready);
        for (const { partition, spans } of ready) {
          partition.spans.splice(0, spans.length);
          for (const span of spans) this.#end(span, 'stored');
        }
        this.#countPending(session);
        this.wake();
        continue;
      }
      const isDone = this.#isStopping && partitions.every(({ spans }) => spans.length === 0);
      if (over.signal.aborted || isDone || this.#given.signal.aborted) return;
      await this.#woken();
    }
  }

  async #transact({ joined: { generationId, memberId } }: Session, ready: readonly Ready[]): Promise<void> {
    const { group } = this.options;
    const { consumer } = this.#clients();
    const producer = await this.#openProducer();
    const startedMs = performance.now();
    let sizeBytes = 0;
    for (const { spans } of ready) for (const { heldBytes } of spans) sizeBytes += heldBytes;
    try {
      const { coordinatorId } = consumer;
      const transaction = await producer.beginTransaction();
      await transaction.addConsumer(consumer);
      const sendingMs = performance.now();
      for (const messages of batchesOf(ready, this.maxOutputBytes)) await transaction.send({ messages });
      const sendMs = performance.now() - sendingMs;
      // Calls are made one at a time: the client answers concurrent calls with the outcome of the first.
      for (const { partition, spans } of ready)
        await transaction.addOffset({
          topic: partition.topic,
          partition: partition.partition,
          offset: spans.at(-1)!.lastOffset,
          metadata: { consumer: { groupId: group, memberId, generationId, coordinatorId } },
        } as unknown as Parameters<typeof transaction.addOffset>[0]);
      await transaction.commit();
      this.#transactionSize.committed(sizeBytes, performance.now() - startedMs, sendMs);
    } catch (error) {
      // Whether it was committed is unknown: the offsets tell once a new producer has fenced this one.
      this.#producer = undefined;
      void Promise.resolve(producer.close(true)).catch(() => {});
      const fault = new TransactionFault(error);
      if (!fault.isByRebalance) {
        this.transactionFaults++;
        this.#transactionSize.failed();
      }
      throw fault;
    }
  }

  #end(span: Span, how: 'stored' | 'lost'): void {
    this.#heldBytes -= span.heldBytes;
    span.end(how);
  }

  #forget(): void {
    const session = this.#session;
    this.#session = undefined;
    if (session === undefined) return;
    session.over.abort();
    for (const partition of session.partitions)
      for (const span of partition.spans.splice(0)) this.#end(span, 'lost');
    this.options.onLost();
    this.wake();
  }
}
